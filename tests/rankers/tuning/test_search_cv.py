from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from toprank import AccuracyAtTop, ExactRanker, PluginRanker, RankThenRerank, statistics
from toprank.control import SearchStoppedWarning
from toprank.rankers.p_norm_push import PNormPush
from toprank.rankers.rank_rls import RankRLS
from toprank.rankers.rank_svm import RankSVM
from toprank.rankers.top_push import TopPush
from toprank.rankers.tuning.folds import ranking_folds
from toprank.rankers.tuning.named import PNormPushCV, RankRLSCV, RankSVMCV
from toprank.rankers.tuning.path import regularisation_path
from toprank.rankers.tuning.search_cv import RankerCV


def toy(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0.8).astype(int)


@pytest.mark.parametrize("statistic", ["auc", "ndcg@5", "average_precision"])
def test_scores_are_the_statistic_on_held_out_rows(statistic):
    X, y = toy()
    folds = StratifiedKFold(3)
    search = RankerCV(RankSVM(tol=1e-9), [0.01, 1.0], statistic=statistic, cv=folds).fit(X, y)
    for number, (train, test) in enumerate(folds.split(X, y)):
        for place, C in enumerate([0.01, 1.0]):
            alone = RankSVM(C, tol=1e-9).fit(X[train], y[train])
            expected = statistics.get(statistic)(y[test], alone.decision_function(X[test]))
            assert search.scores_[number, place] == pytest.approx(expected)
    best = search.scores_.mean(axis=0)
    assert [0.01, 1.0][int(np.argmax(best))] == search.C_
    np.testing.assert_allclose(search.ranker_.coef_, RankSVM(search.C_, tol=1e-9).fit(X, y).coef_, atol=1e-6)
    expected = statistics.get(statistic)(y, search.decision_function(X))
    assert search.score(X, y) == pytest.approx(expected)


def test_rankers_without_queries_can_be_searched():
    X, y = toy()
    # Far enough apart that the mean of the positives is outside the hull of the negatives.
    X[y == 1, 0] += 4.0
    search = RankerCV(TopPush(), [0.1, 1.0], cv=2, random_state=0).fit(X, y)
    assert search.ranker_.C == search.C_
    assert np.isfinite(search.scores_).all()


def test_leave_pair_out_chooses_as_rank_rls_says():
    X, y = toy(40)
    search = RankRLSCV([0.1, 1.0, 10.0]).fit(X, y)
    expected = RankRLS().leave_pair_out(X, y, Cs=[0.1, 1.0, 10.0])
    np.testing.assert_allclose(search.scores_, expected[np.newaxis])
    assert [0.1, 1.0, 10.0][int(np.argmax(expected))] == search.C_
    with pytest.raises(ValueError, match="use cv=5"):
        RankRLSCV(statistic="ndcg@5").fit(X, y)
    assert RankRLSCV(cv=3, statistic="ndcg@5", random_state=0).fit(X, y).scores_.shape == (3, 7)


def test_graded_labels_and_queries():
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(80, 3)), rng.integers(0, 8, 80)
    grade = np.digitize(X[:, 1] + 0.5 * rng.normal(size=80), [-0.5, 0.5]).astype(float)
    search = RankSVMCV([0.1, 10.0], levels="ordinal", cv=4, random_state=0).fit(X, grade, qid=qid)
    assert search.scores_.shape == (4, 2)
    assert search.score(X, grade, qid=qid) > 0.7
    assert set(search.predict(X)) <= {0.0, 1.0, 2.0}


def test_precomputed_kernels_are_split_both_ways():
    X, y = toy(40)
    gram = rbf_kernel(X)
    given = RankSVMCV([0.1, 1.0], kernel="precomputed", cv=2, random_state=0).fit(gram, y)
    made = RankSVMCV([0.1, 1.0], kernel="rbf", cv=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(given.scores_, made.scores_)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_share_out_every_label(n_folds):
    rng = np.random.default_rng(2)
    grade = np.repeat([0.0, 1.0], [95, 7])
    folds = list(ranking_folds(grade, None, n_folds, rng))
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(102))
    for train, test in folds:
        assert not set(train) & set(test)
        assert 7 // n_folds <= grade[test].sum() <= -(-7 // n_folds)


def test_folds_keep_queries_whole_and_never_lack_a_class():
    qid = np.array([0, 1, 2, 0, 1, 2, 3, 3])
    for train, test in ranking_folds(np.arange(8.0), qid, 3, np.random.default_rng(0)):
        assert not set(qid[train]) & set(qid[test])
    few = list(ranking_folds(np.array([0.0, 0, 0, 0, 1, 1]), None, 5, np.random.default_rng(0)))
    assert len(few) == 2
    with pytest.raises(ValueError, match="cannot be made"):
        list(ranking_folds(np.array([0.0, 0, 1]), None, 2, np.random.default_rng(0)))


def varies(grade, qid):
    """Whether some query holds two different labels, by looking at all pairs."""
    return any(
        a != b and q == r for a, q in zip(grade, qid, strict=True) for b, r in zip(grade, qid, strict=True)
    )


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=24),
    st.integers(2, 6),
    st.booleans(),
    st.integers(0, 5),
)
def test_every_part_of_every_fold_can_be_ranked(rows, n_folds, queries, seed):
    grade = np.array([row[0] for row in rows], dtype=float)
    qid = np.unique([row[1] for row in rows], return_inverse=True)[1]
    of_rows = qid if queries else np.zeros(len(rows), dtype=int)
    if queries:
        possible = sum(varies(grade[qid == q], qid[qid == q]) for q in set(qid)) >= 2
    else:
        possible = len(rows) >= 4 and np.unique(grade, return_counts=True)[1].max() <= len(rows) - 2
    deal = partial(ranking_folds, grade, qid if queries else None, n_folds, np.random.default_rng(seed))
    if not possible:
        with pytest.raises(ValueError, match="cv=.*qid" if queries else "cv="):
            list(deal())
        return
    folds = list(deal())
    assert len(folds) >= 2
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(len(rows)))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(rows)))
        assert varies(grade[train], of_rows[train])
        assert varies(grade[test], of_rows[test])
        if queries:
            assert not set(qid[train]) & set(qid[test])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "search",
    [RankSVMCV([0.1, 1.0]), RankerCV(RankSVM(), [0.1, 1.0]), PNormPushCV(4, [0.1, 1.0])],
    ids=lambda search: type(search).__name__,
)
def test_queries_that_cannot_be_ranked_do_not_spoil_the_folds(search, seed):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(120, 3)), np.repeat(np.arange(12), 10)
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    y[qid >= 6] = 0
    y[np.arange(0, 60, 10)], y[np.arange(1, 60, 10)] = 0, 1
    fitted = clone(search).set_params(random_state=seed).fit(X, y, qid=qid)
    assert fitted.scores_.shape == (5, 2)
    assert np.isfinite(fitted.scores_).all()


def test_too_few_queries_and_bad_splitters_are_named():
    X, y = toy(40)
    qid = np.arange(40) // 20
    y[:20], y[20:] = 0, np.arange(20) % 2
    with pytest.raises(ValueError, match=r"cv=5 folds cannot be made: queries \(qid\).*1 of them"):
        RankSVMCV([1.0]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match=r"cv=GroupKFold.*fold [01] lacks a query \(qid\)"):
        RankSVMCV([1.0], cv=GroupKFold(2)).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="AccuracyAtTop in RankerCV learns from one list"):
        RankerCV(AccuracyAtTop(), [1.0]).fit(X, y, qid=qid)
    assert RankSVMCV([1.0], cv=np.int64(2), random_state=0).fit(X, y).scores_.shape == (2, 1)


def test_path_equals_single_fits():
    X, y = toy(300)
    for ranker in (RankSVM(tol=1e-10), PNormPush(8, tol=1e-12), RankSVM(loss="squared_hinge", tol=1e-12)):
        path = regularisation_path(ranker, X, y, [10.0, 0.1, 1.0])
        assert path.Cs.tolist() == [0.1, 1.0, 10.0]
        for C, coef, outcome in zip(path.Cs, path.coefs, path.outcomes, strict=True):
            alone = type(ranker)(**{**ranker.get_params(), "C": C}).fit(X, y)
            np.testing.assert_allclose(coef, alone.coef_, atol=1e-4)
            assert outcome.value == pytest.approx(alone.outcome_.value, rel=1e-8)


def test_limits_reach_the_inner_fits():
    X, y = toy()
    with pytest.warns(SearchStoppedWarning):
        search = RankerCV(RankSVM(), cv=3, time_limit=1e-9, random_state=0).fit(X, y)
    assert np.isfinite(search.decision_function(X)).all()
    assert search.ranker_.time_limit is None
    with pytest.raises(ValueError, match="Cs is empty"):
        RankerCV(RankSVM(), []).fit(X, y)


def test_any_parameters_are_chosen_by_every_combination():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0.4).astype(int)
    folds = list(StratifiedKFold(3).split(X, y))
    grid = {"loss": ["hinge", "squared_hinge"], "C": [0.01, 1.0]}
    search = RankerCV(RankSVM(tol=1e-8), grid=grid, cv=folds, statistic="dcg").fit(X, y)
    assert search.params_ == [
        {"loss": loss, "C": C} for loss in ("hinge", "squared_hinge") for C in (0.01, 1.0)
    ]
    for number, (train, test) in enumerate(folds):
        for place, point in enumerate(search.params_):
            alone = RankSVM(tol=1e-8, **point).fit(X[train], y[train])
            expected = statistics.get("dcg")(y[test], alone.decision_function(X[test]))
            assert search.scores_[number, place] == pytest.approx(expected)
    assert search.best_params_ == search.params_[int(np.argmax(search.scores_.mean(axis=0)))]
    assert search.best_params_["C"] == search.C_
    assert search.ranker_.loss == search.best_params_["loss"]


def test_the_top_and_what_is_inside_are_parameters_too():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0.4).astype(int)
    ranker = RankThenRerank(reranker=ExactRanker(time_limit=1), cv=2)
    grid = {"top": [20, 40], "reranker__penalty": [0.0, 0.05]}
    search = RankerCV(ranker, grid=grid, cv=2, random_state=0).fit(X, y)
    assert search.score(X, y) == statistics.get("dcg")(y, search.decision_function(X)), "the ranker's own"
    assert len(search.params_) == 4
    assert search.ranker_.top == search.best_params_["top"]
    assert search.ranker_.reranker.penalty == search.best_params_["reranker__penalty"]
    assert not hasattr(search, "C_")
    assert ranker.top == 50, "the ranker given stays as it was"


def test_estimators_as_values_are_copied():
    X = np.random.default_rng(5).normal(size=(40, 2))
    bases = [LogisticRegression(), GaussianNB()]
    search = RankerCV(PluginRanker(), grid={"estimator": bases}, cv=2, random_state=0).fit(X, X[:, 0] > 0)
    assert not any(hasattr(base, "classes_") for base in bases)
    assert isinstance(search.best_params_["estimator"], (LogisticRegression, GaussianNB))


@pytest.mark.parametrize(
    "grid, complaint",
    [
        ({"penalty": [1.0]}, "grid: RankSVM has no parameter 'penalty'; it has C, .*loss"),
        ({}, "grid is empty"),
        ({"C": []}, "grid is empty"),
        ({"C": [-1.0]}, "C"),
    ],
)
def test_a_grid_that_cannot_be_tried(grid, complaint):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=complaint):
        RankerCV(RankSVM(), grid=grid, cv=2).fit(X, y)
