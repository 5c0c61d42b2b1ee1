"""Rows the user brings to stop by, over every ranker whose tags say that it takes some."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from ranker_variants import VARIANTS
from toprank import PNormPush, RankBoost, RankSVM
from toprank.base import WatchedRanker

WATCHED = {
    name: one
    for name, one in VARIANTS.items()
    if one.make().ranker_tags.validation and "_fraction" not in name
}


def rows(seed=0, n=160):
    """Noisy enough that boosting comes to its best early, of four columns without ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] + 2.0 * rng.normal(size=n) > 0.5).astype(int)


def steps_of(ranker):
    return (
        "max_iter" if hasattr(ranker, "max_iter") and not hasattr(ranker, "n_estimators") else "n_estimators"
    )


def watching(name, steps, statistic="auc", **options):
    """A ranker of so many steps, all of them taken, whose rows to stop by are judged by the statistic."""
    ranker = WATCHED[name].make()
    judged = "validation_statistic" if hasattr(ranker, "validation_statistic") else "statistic"
    options = {judged: statistic, "random_state": 0, "n_iter_no_change": steps, "l2": 1.0, **options}
    known = ranker.get_params(deep=False)
    return ranker.set_params(
        **{key: value for key, value in options.items() if key in known}, **{steps_of(ranker): steps}
    )


def test_there_are_such_rankers_and_others():
    classes = {type(one.make()).__name__ for one in WATCHED.values()}
    assert {
        "RankBoost",
        "PNormPush",
        "GradientBoostingRanker",
        "GradientFreeBoosting",
        "LogitBoost",
    } <= classes
    others = [one.make() for one in VARIANTS.values()]
    assert {type(one) for one in others if one.ranker_tags.validation} == {
        type(one) for one in others if isinstance(one, WatchedRanker)
    }


BY_AUC = [name for name in WATCHED if not name.startswith("PNormPush") and "levels" not in name]


@pytest.mark.parametrize("name", BY_AUC)
def test_what_is_followed_is_the_value_of_the_model_of_so_many_steps(name):
    """Each value against a ranker of its own, of that many steps, judged by scikit-learn."""
    X, y = rows()
    learn, held = slice(0, 100), slice(100, None)
    # Leaves of trees would be equal but for rounding otherwise.
    weight = np.random.default_rng(1).uniform(1.0, 2.0, size=100)
    given = (X[learn], y[learn], *([weight] if WATCHED[name].make().ranker_tags.weights else []))
    watched = watching(name, 6).fit(*given, X_val=X[held], y_val=y[held])
    found = watched.validation_values_
    for steps in range(1, len(found) + 1):
        scores = watching(name, steps).fit(*given).decision_function(X[held])
        # Ties are mistakes to us and half a mistake to them: break them against the positives.
        order = np.unique(np.round(scores, 9), return_inverse=True)[1] - 0.5 * y[held]
        assert found[steps - 1] == pytest.approx(roc_auc_score(y[held], order), abs=1e-9), steps
    best = watching(name, max(1, watched.n_iter_)).fit(*given)
    np.testing.assert_allclose(
        best.decision_function(X[held]) - best.intercept_,
        watched.decision_function(X[held]) - watched.intercept_,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", [name for name in WATCHED if WATCHED[name].make().ranker_tags.queries])
def test_queries_of_both_kinds_of_rows(name):
    X, y = rows(1)
    qid = np.arange(160) % 8
    learn, held = qid < 5, qid >= 5
    options = {"qid": qid[learn], "X_val": X[held], "y_val": y[held]}
    ranker = watching(name, 4)
    watched = ranker.fit(X[learn], y[learn], **options, qid_val=qid[held])
    apart = watched.validation_values_
    together = ranker.fit(X[learn], y[learn], **options, qid_val=np.zeros(held.sum())).validation_values_
    assert not np.array_equal(apart, together)
    with pytest.raises(ValueError, match="qid is given without qid_val"):
        ranker.fit(X[learn], y[learn], **options)
    with pytest.raises(ValueError, match="within any query of qid_val"):
        ranker.fit(X[learn], y[learn], **options, qid_val=np.arange(held.sum()))


@pytest.mark.parametrize(
    "name",
    [name for name in WATCHED if WATCHED[name].make().ranker_tags.weights and "=continuous" not in name],
)
def test_weights_of_rows_to_stop_by(name):
    """A row of weight two is that row twice, one of weight zero is not there."""
    X, y = rows(2)
    weight = np.arange(60) % 3
    again = np.repeat(np.arange(100, 160), weight)
    ranker = watching(name, 4)
    told = ranker.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:], sample_weight_val=weight)
    told = told.validation_values_
    repeated = ranker.fit(X[:100], y[:100], X_val=X[again], y_val=y[again]).validation_values_
    np.testing.assert_allclose(told, repeated, rtol=1e-9)
    with pytest.raises(ValueError, match="y_val has one class only with a positive sample_weight_val"):
        ranker.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:], sample_weight_val=y[100:])


def test_a_share_is_not_held_out_where_rows_are_brought():
    X, y = rows()
    brought = {"X_val": X[100:], "y_val": y[100:]}
    plain = RankBoost(weak_rankers="stumps").fit(X[:100], y[:100], **brought)
    shared = RankBoost(weak_rankers="stumps", validation_fraction=0.5).fit(X[:100], y[:100], **brought)
    np.testing.assert_array_equal(shared.stump_weights_, plain.stump_weights_)
    np.testing.assert_array_equal(shared.validation_values_, plain.validation_values_)


def test_labels_are_those_of_y_whatever_they_are_called():
    X, y = rows()
    words = np.array(["legit", "fraud"])[y]
    plain = RankBoost().fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    named = RankBoost(pos_label="fraud").fit(X[:100], words[:100], X_val=X[100:], y_val=words[100:])
    np.testing.assert_array_equal(named.validation_values_, plain.validation_values_)
    with pytest.raises(ValueError, match="y_val has 'Fraud', but y has only"):
        named.fit(X[:100], words[:100], X_val=X[100:102], y_val=["Fraud", "legit"])


def test_grades_may_be_others_than_were_learned_from_but_not_words():
    X, y = rows()
    grades = y + (np.arange(160) % 5 == 0)
    ranker = RankBoost(validation_statistic="c_index", n_estimators=5)
    ranker.fit(X[:100], grades[:100], X_val=X[100:], y_val=10.0 * grades[100:])
    assert len(ranker.validation_values_) == 5
    with pytest.raises(ValueError, match="y_val"):
        ranker.fit(X[:100], grades[:100], X_val=X[100:102], y_val=["good", "bad"])


def test_columns_far_from_zero_are_followed_as_near_ones():
    X, y = rows()
    near = RankBoost().fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    far = RankBoost().fit(X[:100] + 1e6, y[:100], X_val=X[100:] + 1e6, y_val=y[100:])
    np.testing.assert_allclose(far.validation_values_, near.validation_values_, rtol=1e-6)


def test_columns_in_another_order_are_an_error_of_that_argument():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match=r"X_val: .*feature names"):
        RankBoost().fit(frame[:100], y[:100], X_val=frame.loc[100:, list("badc")], y_val=y[100:])


def test_who_does_not_stop_early_says_so():
    X, y = rows()
    with pytest.raises(ValueError, match=r"X_val: PNormPush with solver='newton'"):
        PNormPush().fit(X, y, X_val=X, y_val=y)
    with pytest.raises(TypeError, match="X_val"):
        RankSVM().fit(X, y, X_val=X, y_val=y)


def test_a_statistic_that_should_fall_is_told_as_it_is():
    """Its values are those of the statistic, and the smallest is kept."""
    X, y = rows()
    for name in BY_AUC:
        ranker = watching(name, 5, "hard_ranking_loss(standardize=true)")
        ranker.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
        values = ranker.validation_values_
        assert (values >= 0).all(), name
        assert ranker.n_iter_ == 1 + int(np.argmin(values)) or values.min() >= 0.5, name
