import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import get_tags

import pairwise_oracles as oracle
from toprank.control import SearchStoppedWarning, Status
from toprank.rankers.greedy_rank_rls import GreedyRankRLS
from toprank.rankers.rank_rls import RankRLS
from toprank.rankers.rank_svm import RankSVM
from toprank.rankers.tuning.named import RankSVMCV
from toprank.rankers.tuning.search_cv import RankerCV


def toy(n=60, n_features=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize("squared", [False, True])
def test_kernel_optimum_agrees_with_clarabel(squared):
    X, y = toy(24)
    ranker = RankSVM(
        20.0, loss="squared_hinge" if squared else "hinge", kernel="rbf", gamma=0.5, tol=1e-9
    ).fit(X, y)
    gram = rbf_kernel(X, gamma=0.5)
    value, _ = oracle.rank_svm(X, y, 20.0, squared=squared, gram=gram)
    assert ranker.outcome_.status is Status.OPTIMAL
    assert ranker.outcome_.value == pytest.approx(value, rel=1e-6)
    new = np.random.default_rng(1).normal(size=(5, 3))
    direct = rbf_kernel(new, X, gamma=0.5) @ ranker.dual_coef_ + ranker.intercept_
    np.testing.assert_allclose(ranker.decision_function(new), direct)


def test_kernels_given_in_other_ways():
    X, y = toy(30)
    reference = RankSVM(kernel="rbf", gamma=0.5).fit(X, y).decision_function(X)
    gram = rbf_kernel(X, gamma=0.5)
    precomputed = RankSVM(kernel="precomputed").fit(gram, y).decision_function(gram)
    np.testing.assert_allclose(precomputed, reference, atol=1e-6)
    by_rows = RankSVM(kernel=lambda a, b: np.exp(-0.5 * np.sum((a - b) ** 2))).fit(X, y)
    np.testing.assert_allclose(by_rows.decision_function(X), reference, atol=1e-6)
    landmarks = RankSVM(kernel="rbf", gamma=0.5, approximation="nystroem", n_components=30, random_state=0)
    np.testing.assert_allclose(landmarks.fit(X, y).decision_function(X), reference, atol=1e-3)
    few = clone(landmarks).set_params(n_components=20, n_landmarks=30).fit(X, y)
    assert np.corrcoef(few.decision_function(X), reference)[0, 1] > 0.99
    fourier = RankSVM(kernel="rbf", gamma=0.5, approximation="fourier", n_components=3000, random_state=0)
    assert np.corrcoef(fourier.fit(X, y).decision_function(X), reference)[0, 1] > 0.98
    linear = RankSVM(kernel="linear").fit(X, y)
    np.testing.assert_allclose(
        linear.decision_function(X), RankSVM().fit(X, y).decision_function(X), atol=1e-5
    )


def test_kernels_that_cannot_be():
    X, y = toy(10)
    with pytest.raises(ValueError, match="square matrix"):
        RankSVM(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="needs kernel='rbf'"):
        RankSVM(kernel="poly", approximation="fourier").fit(X, y)
    with pytest.raises(ValueError, match="selects features"):
        RankSVM(kernel="rbf", norm="l1").fit(X, y)
    nystroem = {"kernel": "rbf", "approximation": "nystroem", "n_components": 5}
    with pytest.raises(ValueError, match=r"n_landmarks=4 rows have no n_components=5"):
        RankSVM(**nystroem, n_landmarks=4).fit(X, y)
    with pytest.raises(ValueError, match=r"n_landmarks=0"):
        RankSVM(**nystroem, n_landmarks=0).fit(X, y)
    with pytest.raises(ValueError, match=r"n_landmarks=9 is for approximation='nystroem'"):
        RankSVM(kernel="rbf", n_landmarks=9).fit(X, y)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        RankSVM(kernel="precomputed").fit(-np.eye(4), [0, 1, 0, 1])
    with pytest.raises(AttributeError, match="dual_coef_"):
        RankSVM().fit(X, y).dual_coef_  # noqa: B018


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
@pytest.mark.parametrize("options", [{}, {"weighting": "queries"}, {"sample_weight": True}])
def test_the_graded_hinge_multiplies_leads_by_the_difference_of_the_labels(kind, options):
    rng = np.random.default_rng(4)
    X, qid = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    y = rng.integers(0, 4, 40) * 1.5 if kind == "ordinal" else X[:, 0] + rng.normal(size=40)
    given = dict(options)
    weight = rng.integers(1, 4, 40).astype(float) if given.pop("sample_weight", False) else None
    ranker = RankSVM(5.0, loss="graded_hinge", levels=kind, tol=1e-9, **given)
    ranker.fit(X, y, sample_weight=weight, qid=qid)
    value, coef = oracle.rank_svm(X, y, 5.0, graded=True, qid=qid, weight=weight, **given)
    np.testing.assert_allclose(ranker.coef_, coef, atol=1e-6)
    assert ranker.outcome_.value == pytest.approx(value, rel=1e-8)
    assert ranker.outcome_.status == "optimal"


def test_the_graded_hinge_with_more_pairs_than_can_be_settled_one_by_one():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(260, 3))
    y = np.round(80.0 + 60.0 * X[:, 0] + 40.0 * rng.normal(size=260))
    ranker = RankSVM(1e-3, loss="graded_hinge", levels="continuous").fit(X, y)
    assert ranker.outcome_.status == "optimal"
    assert ranker.outcome_.gap <= 1e-6
    upper, lower = np.nonzero(y[:, None] > y[None, :])
    leads = (y[upper] - y[lower]) * ((X[upper] - X[lower]) @ ranker.coef_)
    value = 0.5 * ranker.coef_ @ ranker.coef_ + 1e-3 * np.maximum(0.0, 1.0 - leads).mean()
    assert ranker.outcome_.value == pytest.approx(value, rel=1e-10)


def test_of_two_labels_the_graded_hinge_is_the_hinge_and_it_is_refused_where_it_has_no_meaning():
    X, y = toy(20)
    graded, plain = (RankSVM(3.0, loss=loss).fit(X, y) for loss in ("graded_hinge", "hinge"))
    np.testing.assert_allclose(graded.coef_, plain.coef_, atol=1e-5)
    with pytest.raises(ValueError, match="needs labels, whose differences count"):
        RankSVM(loss="graded_hinge").fit_pairs(X, [(0, 1)])
    with pytest.raises(ValueError, match="is for norm='l2', not 'l1'"):
        RankSVM(loss="graded_hinge", norm="l1").fit(X, y)
    with pytest.raises(ValueError, match="y has 1001 different ones"):
        RankSVM(loss="graded_hinge").fit(np.zeros((1001, 1)), np.arange(1001) / 7)


def test_graded_labels_and_unsorted_queries():
    rng = np.random.default_rng(2)
    X, grade, qid = rng.normal(size=(45, 3)), rng.integers(0, 4, 45) * 0.5, rng.integers(0, 4, 45)
    ranker = RankSVM(10.0, levels="ordinal", tol=1e-9).fit(X, grade, qid=qid)
    _, coef = oracle.rank_svm(X, grade, 10.0, qid=qid)
    np.testing.assert_allclose(ranker.coef_, coef, atol=1e-5)
    shuffled = rng.permutation(45)
    names = np.array(["z", "a", "m", "b"])[qid]
    again = RankSVM(10.0, levels="ordinal", tol=1e-9).fit(X[shuffled], grade[shuffled], qid=names[shuffled])
    np.testing.assert_allclose(again.coef_, ranker.coef_, atol=1e-6)


def test_graded_predict_before_fit_says_not_fitted():
    for ranker in (RankSVM(levels="ordinal"), RankRLS(levels="ordinal"), GreedyRankRLS(levels="ordinal")):
        with pytest.raises(NotFittedError):
            ranker.predict([[0.0]])


def test_graded_cuts_follow_the_weights():
    """A row of weight two is two rows, a row of weight zero none; also for what `predict` calls a grade."""
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(40, 2)), rng.integers(0, 4, 40)
    grade = np.digitize(X[:, 0] + rng.normal(size=40), [-0.5, 0.5]).astype(float)
    fresh = rng.normal(size=(200, 2))
    for make in (lambda: RankSVM(levels="ordinal", tol=1e-10), lambda: RankRLS(levels="ordinal")):
        weighted = make().fit(X, grade, sample_weight=weight)
        repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(grade, weight))
        np.testing.assert_allclose(weighted.cuts_, repeated.cuts_, atol=1e-6)
        assert not np.allclose(weighted.cuts_, make().fit(X, grade).cuts_, atol=1e-2)
        np.testing.assert_array_equal(weighted.predict(fresh), repeated.predict(fresh))


def test_graded_tags_say_neither_classes_nor_regression():
    binary, graded = get_tags(RankSVM()), get_tags(RankSVM(levels="ordinal"))
    assert binary.estimator_type == "classifier"
    assert not binary.classifier_tags.multi_class
    assert graded.estimator_type is None
    assert graded.classifier_tags is None
    for search in (RankSVMCV(levels="ordinal"), RankerCV(RankRLS(levels="ordinal"))):
        assert get_tags(search).estimator_type is None


def test_graded_predictions_repeat_the_shares_of_the_grades():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    grade = np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.7]) * 10
    ranker = RankSVM(levels="ordinal").fit(X, grade)
    predicted = ranker.predict(X)
    assert np.unique(predicted, return_counts=True)[1].tolist() == np.bincount(grade // 10).tolist()
    assert ranker.score(X, grade) > 0.85
    with pytest.raises(ValueError, match="two different labels"):
        RankSVM(levels="ordinal").fit(X, np.ones(90))
    with pytest.raises(ValueError, match="words have no order"):
        RankSVM(levels="ordinal").fit(X, ["a"] * 45 + ["b"] * 45)
    with pytest.raises(ValueError, match="levels='graded' must be one of 'auto'"):
        RankSVM(levels="graded").fit(X, grade)


def test_real_labels_use_every_pair():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    _, coef = oracle.rank_svm(X, y, 5.0)
    np.testing.assert_allclose(RankSVM(5.0, levels="ordinal", tol=1e-9).fit(X, y).coef_, coef, atol=1e-5)


def test_weights_for_kinds_of_pairs():
    rng = np.random.default_rng(5)
    X, grade = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    kinds = {(2, 0): 5.0, (2, 1): 1.0, (1, 0): 0.2}
    ranker = RankSVM(10.0, levels="ordinal", weighting=kinds, tol=1e-9).fit(X, grade)
    _, coef = oracle.rank_svm(X, grade, 10.0, weighting=kinds)
    np.testing.assert_allclose(ranker.coef_, coef, atol=1e-5)
    top = RankSVM(10.0, levels="ordinal", weighting="top@3").fit(X, grade)
    assert not np.allclose(top.coef_, RankSVM(10.0, levels="ordinal").fit(X, grade).coef_)
    X, y = toy()
    named = RankSVM(weighting={("yes", "no"): 7.0}).fit(X, np.where(y, "yes", "no"))
    np.testing.assert_allclose(named.coef_, RankSVM().fit(X, y).coef_, atol=1e-6)
    with pytest.raises(ValueError, match="weighting='top@x' is not one of"):
        RankSVM(weighting="top@x").fit(X, y)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("ranker", [RankSVM(), RankSVM(1e6), RankSVM(1e6, loss="squared_hinge")], ids=str)
def test_extreme_data_have_an_optimum(make, ranker):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 3))
    cases = [
        (X, (X[:, 0] > 0).astype(int)),
        (X, np.eye(30, dtype=int)[0]),
        (X, 1 - np.eye(30, dtype=int)[0]),
        (np.c_[X, np.full(30, 7.0)], rng.integers(0, 2, 30)),
        (np.ones((30, 2)), rng.integers(0, 2, 30)),
        (X * [1e7, 1.0, 1e-7], rng.integers(0, 2, 30)),
    ]
    for rows, y in cases:
        ranker.fit(make(rows), y)
        assert ranker.outcome_.status is Status.OPTIMAL
        assert np.isfinite(ranker.decision_function(make(rows))).all()
    assert not RankSVM().fit(np.ones((30, 2)), rng.integers(0, 2, 30)).coef_.any()


@pytest.mark.parametrize("C", [0, -1.0, np.inf, np.nan, "1", True, None])
def test_impossible_C_is_refused(C):
    with pytest.raises(ValueError, match="must be a positive finite number"):
        RankSVM(C).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "log"}, "loss='log' is not one of 'hinge', 'squared_hinge'"),
        ({"norm": "l0"}, "norm='l0' is not one of"),
        ({"solver": "sgd"}, "solver='sgd' is not one of"),
        ({"norm": "lq", "q": 1.0}, "q=1.0 must lie between 0 and 1"),
        ({"solver": "gradient_projection", "loss": "squared_hinge"}, "is for loss='hinge'"),
        ({"weighting": "documents"}, "weighting='documents' is not one of"),
    ],
)
def test_parameters_that_cannot_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        RankSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_queries_without_pairs_are_an_error():
    with pytest.raises(ValueError, match="no pair to order"):
        RankSVM().fit([[0.0], [1.0]], [0, 1], qid=[0, 1])


def test_bagging_makes_an_ensemble():
    X, y = toy(200)
    ensemble = BaggingClassifier(RankSVM(), n_estimators=5, random_state=0).fit(X, y)
    assert len(ensemble.estimators_) == 5
    scores = ensemble.decision_function(X)
    mean = np.mean([member.decision_function(X) for member in ensemble.estimators_], axis=0)
    np.testing.assert_allclose(scores, mean)
    assert (ensemble.predict(X) == y).mean() > 0.6


def test_warm_start_and_gradient_projection():
    X, y = toy(400, 5)
    ranker = RankSVM(1.0, warm_start=True, loss="squared_hinge").fit(X, y)
    ranker.set_params(C=1.1).fit(X, y)
    np.testing.assert_allclose(
        ranker.coef_, RankSVM(1.1, loss="squared_hinge", tol=1e-12).fit(X, y).coef_, atol=1e-3
    )
    small, labels = X[:20], y[:20]
    slow = RankSVM(solver="gradient_projection", step_size=0.01, max_iter=5000, tol=1e-3).fit(small, labels)
    assert slow.outcome_.value == pytest.approx(RankSVM().fit(small, labels).outcome_.value, rel=1e-2)
    with pytest.warns(SearchStoppedWarning):
        RankSVM(solver="gradient_projection", max_iter=2).fit(small, labels)


def test_repeated_rows_are_weights():
    X, y = toy(50)
    rng = np.random.default_rng(7)
    times = rng.integers(1, 9, 50)
    repeated = RankSVM(tol=1e-9).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = RankSVM(tol=1e-9).fit(X, y, sample_weight=times)
    np.testing.assert_allclose(repeated.coef_, weighted.coef_, atol=1e-5)
    assert repeated.intercept_ == pytest.approx(weighted.intercept_, abs=1e-5)


@pytest.mark.parametrize("weighting", ["top", "top@5", {(1, 0): 1.0}])
def test_weights_of_grades_need_grades(weighting):
    X = np.random.default_rng(0).normal(size=(30, 2))
    ranker = RankSVM(weighting=weighting)
    assert ranker.ranker_tags.labels == {"binary", "ordinal"}
    with pytest.raises(ValueError, match="RankSVM does not learn from continuous labels, for weighting="):
        ranker.fit(X, X[:, 0])
