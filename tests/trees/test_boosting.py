"""`GradientBoostingRanker`: both engines, queries, grades, long lists, early stopping, hostile rows."""

import builtins
import importlib.util
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from toprank import GradientBoostingRanker, statistics
from toprank.control import SearchStoppedWarning, Status
from toprank.losses.objectives import LossPoint

ENGINES = [
    "sklearn",
    pytest.param(
        "lightgbm",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("lightgbm") is None, reason="the extra `boosting` is not installed"
        ),
    ),
]
LOSSES = ["logistic", "squared_hinge", "p_norm", "top_push"]


def rings(n=600, seed=0):
    """Positives in a ring: no linear score ranks them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    radius = X[:, 0] ** 2 + X[:, 1] ** 2
    y = ((radius > 0.7) & (radius < 2.5)) ^ (rng.random(n) < 0.05)
    return X, y.astype(int)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_the_ring(engine, loss):
    X, y = rings()
    fresh, labels = rings(2000, seed=1)
    ranker = GradientBoostingRanker(
        loss, n_estimators=60, engine=engine, negative_share=0.3 if loss == "top_push" else None
    )
    ranker.fit(X, y)
    assert roc_auc_score(labels, ranker.decision_function(fresh)) > 0.88
    assert ranker.losses_[-1] < 0.6 * ranker.losses_[0]
    assert ranker.feature_importances_.argmin() == 2
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loss_of_ones_own(engine):
    """Distances from given scores: trees that follow its gradient come to those scores."""
    X, y = rings(200)
    aim = np.where(y == 1, 1.0, -1.0) * (1 + X[:, 2] ** 2)

    def squares(labels):
        assert labels.grade.tolist() == y.tolist()
        return lambda scores: LossPoint(
            0.5 * ((scores - aim) ** 2).mean(), (scores - aim) / len(aim), np.full(len(aim), 1 / len(aim))
        )

    ranker = GradientBoostingRanker(squares, n_estimators=200, min_samples_leaf=1, engine=engine).fit(X, y)
    scores = ranker.decision_function(X) - ranker.intercept_
    assert np.abs(scores - aim).max() < 0.1 * np.abs(aim).max()
    assert ranker.losses_[0] == pytest.approx(0.5 * (aim**2).mean())


@pytest.mark.parametrize("engine", ENGINES)
def test_one_tree_by_hand(engine):
    """Two leaves. At equal scores each of the 4 pairs of the p-norm push with p = 1 weighs 1/4.

    The gradient is -1/2 for a positive and 1/2 for a negative (times 4 rows), the curvature
    1/2 (1 - 1/2) for each, so that Newton's step is 2 up for positives and 2 down for negatives.
    """
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    ranker = GradientBoostingRanker(
        "p_norm", p=1, n_estimators=1, learning_rate=0.5, min_samples_leaf=1, max_leaf_nodes=2, engine=engine
    ).fit(X, y)
    scores = ranker.decision_function(X) - ranker.intercept_
    # FLOOR of the curvature is one thousandth of its mean.
    np.testing.assert_allclose(scores, 0.5 * 2 / 1.001 * np.array([-1, -1, 1, 1]), rtol=1e-6)
    assert ranker.trees_.numbers[0] == pytest.approx(1.5, abs=0.01)
    assert ranker.losses_.tolist() == [0.0]


@pytest.mark.skipif(
    importlib.util.find_spec("lightgbm") is None, reason="the extra `boosting` is not installed"
)
@pytest.mark.parametrize("missing", [False, True])
def test_trees_of_lightgbm_score_as_in_lightgbm(missing):
    from toprank.losses.objectives import Labels, make_objective
    from toprank.trees.engines import LightGBM, TreeOptions
    from toprank.trees.nodes import PackedTrees

    X, y = rings()
    if missing:
        X[::5, 0] = np.nan
    engine = LightGBM(X, TreeOptions(0.1, 15, None, 5, 0.0, 255, 1, 0))
    objective = make_objective(Labels(y.astype(float)), "logistic")
    rounds = [engine.step(objective) for _ in range(5)]
    ours = PackedTrees.joined([PackedTrees.of(one.tree, one.values) for one in rounds])
    fresh = rings(300, seed=4)[0]
    fresh[::7, 1] = np.nan
    np.testing.assert_allclose(ours.total(fresh), engine._booster.predict(fresh, raw_score=True), rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_needs_no_library_to_score(engine, monkeypatch):
    X, y = rings(300)
    ranker = GradientBoostingRanker(n_estimators=5, engine=engine).fit(X, y)
    expected = ranker.decision_function(X)
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.partition(".")[0] == "lightgbm":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.setattr(builtins, "__import__", refuse)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)


def test_without_lightgbm_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("toprank.trees.engines.find_spec", lambda name: None)
    X, y = rings(100)
    with pytest.raises(ValueError, match=r"pip install toprank\[boosting\]"):
        GradientBoostingRanker(engine="lightgbm").fit(X, y)
    assert GradientBoostingRanker(n_estimators=2).fit(X, y).n_iter_ == 2


# -- lists ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "p_norm", "top_push"])
def test_rows_are_compared_within_their_query(engine, loss):
    """Each query has a level of its own that says nothing of the labels: without queries it misleads."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 20)
    level = rng.normal(size=40)[qid]
    X = np.column_stack((rng.normal(size=800), level))
    y = (X[:, 0] + 3 * level + 0.3 * rng.normal(size=800) > 3 * level).astype(int)
    y[level > 0.5] = 1 - y[level > 0.5] * (rng.random((level > 0.5).sum()) < 0.1)
    ranker = GradientBoostingRanker(loss, n_estimators=30, engine=engine).fit(X, y, qid=qid)
    # The order of the queries does not matter.
    turned = rng.permutation(800)
    again = GradientBoostingRanker(loss, n_estimators=30, engine=engine).fit(
        X[turned], y[turned], qid=qid[turned]
    )
    np.testing.assert_allclose(ranker.losses_[0], again.losses_[0])
    assert ranker.feature_importances_[0] > 0.5
    assert ranker.score(X, y, qid=qid) > 0.7


def test_one_list_longer_than_others_allow():
    """LightGBM's own ranker is fatal above 10,000 rows in a query."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0.5).astype(int)
    ranker = GradientBoostingRanker(n_estimators=5).fit(X, y)
    assert roc_auc_score(y, ranker.decision_function(X)) > 0.65


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_real_valued_labels(engine, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=500)
    ranker = GradientBoostingRanker(loss, engine=engine, n_estimators=50).fit(X, y)
    assert ranker.score(X, y) == statistics.get("c_index")(y, ranker.decision_function(X))
    assert ranker.score(X, y) > 0.9
    assert ranker.ranker_tags.labels == {"binary", "ordinal", "continuous"}
    for wrong in ({"loss": "p_norm"}, {"negative_share": 0.2}):
        with pytest.raises(ValueError, match="needs two labels"):
            GradientBoostingRanker(**{"loss": loss, **wrong}).fit(X, y)


# -- stopping -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", ["auc", "average_precision", "precision@10%", "weak_ranking_loss@20"])
def test_it_stops_early_by_any_statistic(statistic):
    X, y = rings(400, seed=2)
    ranker = GradientBoostingRanker(
        n_estimators=300,
        learning_rate=0.3,
        min_samples_leaf=5,
        statistic=statistic,
        validation_fraction=0.3,
        n_iter_no_change=5,
        random_state=0,
    ).fit(X, y)
    values = ranker.validation_values_
    assert len(values) < 300
    better = np.argmax if statistics.get(statistic).greater_is_better else np.argmin
    assert better(values) == ranker.n_iter_ - 1
    assert len(values) - ranker.n_iter_ == 5
    assert len(ranker.trees_.roots) == ranker.n_iter_


def test_a_callback_that_says_stop_leaves_the_trees_so_far():
    X, y = rings(200)
    with pytest.warns(SearchStoppedWarning):
        ranker = GradientBoostingRanker(callback=lambda progress: False).fit(X, y)
    assert ranker.outcome_.status is Status.STOPPED
    assert ranker.n_iter_ == 1


# -- weights, seeds, hostile rows -------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_without_weight_are_not_there(engine, loss):
    X, y = rings(200)
    weight = np.where(np.arange(200) % 4 == 0, 0.0, 1.0 + (X[:, 2] > 0))
    kept = weight > 0
    options = {"loss": loss, "engine": engine, "n_estimators": 10, "min_samples_leaf": 5, "random_state": 0}
    one = GradientBoostingRanker(**options).fit(X, y, weight)
    other = GradientBoostingRanker(**options).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(one.trees_.numbers, other.trees_.numbers)


@pytest.mark.parametrize("engine", ENGINES)
def test_constant_features_leave_no_tree(engine):
    y = np.arange(100_000) % 3 == 0
    ranker = GradientBoostingRanker(engine=engine).fit(np.ones((len(y), 2)), y)
    assert len(ranker.trees_.roots) == 0
    assert np.ptp(ranker.decision_function(np.ones((5, 2)))) == 0
    assert ranker.feature_importances_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_values_and_one_feature(engine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = np.arange(200) % 2
    X[y == 1] = np.nan
    ranker = GradientBoostingRanker(engine=engine, n_estimators=3).fit(X, y)
    assert roc_auc_score(y, ranker.decision_function(X)) == 1.0


def test_threads_do_not_change_the_model():
    X, y = rings(500)
    one, two = (
        GradientBoostingRanker(n_estimators=10, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"loss": "hinge"}, "loss='hinge' is not one of"),
        ({"engine": "xgboost"}, "engine='xgboost' is not one of"),
        ({"negative_share": 2.0}, "negative_share=2.0 must be strictly between 0 and 1"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 must be a whole number of at least 2"),
        ({"statistic": "nonsense"}, "nonsense"),
    ],
)
def test_wrong_parameters_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        GradientBoostingRanker(**wrong, validation_fraction=0.5).fit(*rings(60))


def test_queries_of_one_label_each_leave_nothing_to_order():
    X, y = rings(60)
    with pytest.raises(ValueError, match="no query with items of both classes"):
        GradientBoostingRanker("top_push").fit(X, y, qid=np.arange(60))
