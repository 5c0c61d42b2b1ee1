"""What scikit-learn's tools say of our trees: importance by any statistic, partial dependence; reranking."""

import numpy as np
import pytest
from sklearn.inspection import partial_dependence, permutation_importance

from toprank import (
    CRank,
    DirectRanker,
    GradientBoostingRanker,
    LogitBoost,
    RankingForest,
    RankOver,
    RankThenRerank,
    TreeRank,
    statistics,
)

TREES = [
    TreeRank(),
    RankOver(random_state=0),
    RankingForest(20, random_state=0),
    GradientBoostingRanker(n_estimators=20),
    LogitBoost(n_estimators=30),
]


def rows(n=300, seed=0):
    """The first column counts by its size, the second a little, the third not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (np.abs(X[:, 0]) + 0.4 * X[:, 1] + 0.2 * rng.normal(size=n) > 1.2).astype(int)


@pytest.mark.parametrize("name", ["auc", "dcg@20", "local_auc@10%"])
@pytest.mark.parametrize("ranker", TREES, ids=lambda one: type(one).__name__)
def test_importance_is_what_a_statistic_loses(ranker, name):
    X, y = rows()
    fitted = ranker.fit(X, y)
    scorer = statistics.scorer(name)
    found = permutation_importance(fitted, X, y, scoring=scorer, n_repeats=5, random_state=0)
    assert found.importances_mean[0] > found.importances_mean[2]
    # By hand: the same column permuted by the same generator.
    rng = np.random.RandomState(np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1))
    mixed = X.copy()
    mixed[:, 0] = mixed[rng.permutation(len(X)), 0]
    statistic = statistics.get(name)
    lost = statistic(y, fitted.decision_function(X)) - statistic(y, fitted.decision_function(mixed))
    assert found.importances[0, 0] == pytest.approx(lost)


@pytest.mark.parametrize("ranker", TREES, ids=lambda one: type(one).__name__)
def test_partial_dependence_sees_the_shape(ranker):
    X, y = rows()
    fitted = ranker.fit(X, y)
    found = partial_dependence(fitted, X, [0], response_method="decision_function", grid_resolution=9)
    curve, grid = found["average"][0], found["grid_values"][0]
    assert curve[[0, -1]].min() > curve[np.abs(grid).argmin()]  # high at both ends
    mixed = X.copy()
    mixed[:, 0] = grid[0]
    assert curve[0] == pytest.approx(fitted.decision_function(mixed).mean())


def test_partial_dependence_of_grades():
    X, _ = rows()
    fitted = CRank().fit(X, np.digitize(X[:, 0], [-1.0, 0.0, 1.0]))
    found = partial_dependence(fitted, X, [0], response_method="decision_function", grid_resolution=5)
    curve = found["average"][0]
    assert (np.diff(curve) >= 0).all()
    assert curve[-1] > curve[0] + 1


def test_a_forest_is_reranked_with_its_score_as_a_feature():
    X, y = rows()
    ranker = RankThenRerank(
        RankingForest(20), DirectRanker("dcg", n_restarts=1), top=60, pass_score=True, random_state=0
    ).fit(X, y)
    assert ranker.passes_score_
    assert ranker.reranker_.n_features_in_ == 4
