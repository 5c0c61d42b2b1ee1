"""Trees as weak rankers of `RankBoost`."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from toprank import PNormPush, RankBoost, TreeRank

STUMP = TreeRank(max_depth=1, min_samples_leaf=1)


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, ((X[:, 0] ** 2 + X[:, 1] > 0.7) ^ (rng.random(n) < 0.1)).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_of_one_split_is_the_steepest_stump(weighted):
    """The split that gains most weighted AUC is the threshold along which the loss falls fastest."""
    X, y = data()
    weight = np.linspace(1, 2, len(y)) if weighted else None
    trees, stumps = (
        RankBoost(weak_rankers=one, n_estimators=15).fit(X, y, weight) for one in (STUMP, "stumps")
    )
    np.testing.assert_allclose(trees.losses_, stumps.losses_, rtol=1e-9)
    np.testing.assert_allclose(trees.decision_function(X), stumps.decision_function(X), atol=1e-9)


def test_deeper_trees_learn_more():
    X, y = data(400)
    fresh, labels = data(2000, seed=1)
    ranker = RankBoost(weak_rankers=TreeRank(max_depth=3), n_estimators=30).fit(X, y)
    assert roc_auc_score(labels, ranker.decision_function(fresh)) > 0.85
    assert (np.diff(ranker.losses_) < 0).all()
    assert len(ranker.weak_estimators_) == len(ranker.weak_weights_) == 30
    assert not ranker.ranker_tags.linear


def test_early_stopping_and_other_estimators():
    X, y = data(300)
    watched = RankBoost(
        weak_rankers=TreeRank(max_depth=4), n_estimators=200, validation_fraction=0.3, random_state=0
    )
    assert len(watched.fit(X, y).weak_estimators_) < 200
    line = PNormPush(4, solver="boosting", weak_rankers=LogisticRegression(), n_estimators=3).fit(X, y)
    assert np.isfinite(line.decision_function(X)).all()
    with pytest.raises(ValueError, match="sample_weight: KNeighborsClassifier takes no weights"):
        RankBoost(weak_rankers=KNeighborsClassifier()).fit(X, y)


def test_nothing_to_tell_apart_ends_it():
    ranker = RankBoost(weak_rankers=STUMP).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert ranker.weak_estimators_ == []
    assert np.ptp(ranker.decision_function(np.ones((3, 2)))) == 0
