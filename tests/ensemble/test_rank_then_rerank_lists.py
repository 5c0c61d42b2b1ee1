"""RankThenRerank on whole lists: the statistic named is the one maximised, within queries too."""

import json
import math
import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import oracles
from toprank import (
    AccuracyAtTop,
    DirectRanker,
    ExactRanker,
    RankerCV,
    RankSVM,
    RankSVMCV,
    RankThenRerank,
    TreeRank,
    datasets,
    statistics,
)
from toprank.control import Status
from toprank.ensemble.rank_then_rerank import BaseOrderKeptWarning, OneClassTopWarning
from toprank.exact import verify
from toprank.model.plain import estimator_from_plain, estimator_to_plain
from toprank.statistics import LinearRankStatistic
from toprank.statistics.base import registered

LINEAR = sorted(
    {
        spec
        for kind in registered().values()
        if issubclass(kind, LinearRankStatistic)
        for spec in (kind.examples or (kind.name,))
    }
)


class Weighed(ClassifierMixin, BaseEstimator):
    """A base with given coefficients."""

    def __init__(self, coef=(1.0, 0.5)):
        self.coef = coef

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, :2] @ self.coef


def problem(queries=1, n=14, seed=0, noise=1.5):
    rng = np.random.default_rng(seed)
    X, lists = rng.normal(size=(n * queries, 2)), np.arange(n * queries) % queries
    return X, (X[:, 0] + noise * rng.normal(size=len(X)) > 0.3).astype(int), lists


def first_rows(scores, lists, count):
    """Whether each row is among the first of its list, one row after the other."""
    return np.array(
        [
            sum(other > own for other in scores[lists == q]) < count
            for own, q in zip(scores, lists, strict=True)
        ]
    )


def mean_value(spec, lists, y, scores):
    """The mean over the lists with both classes."""
    values = []
    for q in set(lists.tolist()):
        ranked = [int(label) for _, label in sorted(zip(-scores[lists == q], y[lists == q], strict=True))]
        if len(set(ranked)) == 2:
            values.append(oracles.longer_order(spec, ranked))
    return sum(values) / len(values)


def reordered(X, inside, coef):
    return np.where(inside, 1000 + X @ coef, X @ (1.0, 0.5))


def best_by_angles(spec, X, y, lists, inside):
    """The best statistic over all linear orders of the rows inside: two features, every angle."""
    rows = np.flatnonzero(inside)
    across = [X[i] - X[k] for i in rows for k in rows if i != k and lists[i] == lists[k]]
    angles = np.sort([(math.atan2(b, a) + math.pi / 2) % (2 * math.pi) for a, b in across])
    middles = np.append((angles[1:] + angles[:-1]) / 2, (angles[0] + angles[-1]) / 2 + math.pi)
    return max(
        mean_value(spec, lists, y, reordered(X, inside, (math.cos(angle), math.sin(angle))))
        for angle in middles
    )


# -- the statistic of the whole list ---------------------------------------------------------------


@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("spec", LINEAR)
def test_no_linear_order_of_the_top_gives_the_whole_list_more(spec, queries):
    for seed in range(2):
        X, y, lists = problem(queries, seed=seed)
        qid = lists if queries > 1 else None
        ranker = RankThenRerank(Weighed(), ExactRanker(spec, random_state=0), top=7).fit(X, y, qid=qid)
        inside = first_rows(X @ (1.0, 0.5), lists, 7)
        best = best_by_angles(spec, X, y, lists, inside)
        assert ranker.certificate_.proved
        assert ranker.score(X, y, qid=qid) == pytest.approx(best, rel=1e-9)
        # What the certificate is about and what lies below the top make the statistic of the whole list.
        stated = ranker.problem(X, y, qid=qid)
        assert not verify(stated, ranker.certificate_, seconds=0).failed
        rest = best - ranker.certificate_.value
        for coef in np.random.default_rng(seed).normal(size=(5, 2)):
            whole = mean_value(spec, lists, y, reordered(X, inside, coef))
            assert stated.evaluate(coef) + rest == pytest.approx(whole, rel=1e-9, abs=1e-12)
        assert spec in ranker.certificate_.statistic


def test_the_direct_search_maximises_the_same():
    X, y, lists = problem(n=60)
    inside = first_rows(X @ (1.0, 0.5), lists, 30)
    best = best_by_angles("lift@30%", X, y, lists, inside)
    ranker = RankThenRerank(Weighed(), DirectRanker("lift@30%", random_state=0), top=30).fit(X, y)
    assert ranker.score(X, y) == pytest.approx(best)
    assert ranker.reranker_.statistic == "lift@30%"


def test_statistics_reach_the_last_step_of_a_pipeline():
    X, y, lists = problem(n=60)
    inside = first_rows(X @ (1.0, 0.5), lists, 30)
    pipeline = make_pipeline(StandardScaler(), ExactRanker("lift@30%"))
    ranker = RankThenRerank(Weighed(), pipeline, top=30, random_state=0, time_limit=20.0).fit(X, y)
    assert ranker.statistic == "lift@30%"
    assert ranker.score(X, y) == pytest.approx(best_by_angles("lift@30%", X, y, lists, inside))
    assert isinstance(ranker.reranker_[-1].random_state, int)


@pytest.mark.skipif(
    not os.environ.get("TOPRANK_DATA"), reason="TOPRANK_DATA names no folder with the data sets"
)
def test_five_percent_of_pima_are_39_rows_inside_the_top_100_too():
    data = datasets.load("pima")
    values = {}
    for spec in ("precision@5%", "precision@39"):
        ranker = RankThenRerank(reranker=ExactRanker(spec, time_limit=20.0), top=100, cv=None)
        values[spec] = ranker.fit(data.X, data.y).score(data.X, data.y)
    assert values == {"precision@5%": 1.0, "precision@39": 1.0}


def test_a_certificate_says_what_it_is_about():
    X, y, _ = problem(n=60)
    for spec, words in [("auc", "auc (part of the first 20 of 60 rows)"), ("dcg", "dcg")]:
        ranker = RankThenRerank(Weighed(), ExactRanker(spec), top=20).fit(X, y)
        assert ranker.certificate_.statistic == words
        assert ranker.outcome_.value == ranker.certificate_.value
        assert ranker.reranker_.statistic == ranker.statistic == spec
    X, y, names = queries()
    y[names == "bee"] = 1
    ranker = RankThenRerank(Weighed(), ExactRanker("auc"), top=8).fit(X, y, qid=names)
    assert ranker.certificate_.statistic == "auc (part of the first rows of 4 queries)"


def test_rerankers_that_name_no_statistic_are_judged_by_dcg():
    X, y, _ = problem(n=80)
    for reranker in (RankSVMCV([0.1, 1.0], cv=2, random_state=0), LogisticRegression()):
        ranker = RankThenRerank(reranker=reranker, top=40).fit(X, y)
        assert ranker.score(X, y) == statistics.get("dcg")(y, ranker.decision_function(X))


# -- a base that does better -----------------------------------------------------------------------


# As published: the base's list of the rows it learned from, its score kept from the reranker.
IN_SAMPLE = {"cv": None, "pass_score": False, "random_state": 0}


def overfitted():
    X, y, _ = problem(n=150)
    return X, y, RandomForestClassifier(30, max_depth=4, random_state=0)


def test_the_order_of_a_better_base_is_kept_and_said_to_be_better():
    X, y, base = overfitted()
    with pytest.warns(
        BaseOrderKeptWarning, match=r"the best linear order of .* is worse than the base's own"
    ):
        ranker = RankThenRerank(base, ExactRanker("dcg"), top=50, **IN_SAMPLE).fit(X, y)
    dcg = statistics.get("dcg")
    scores = ranker.base_.predict_proba(X)[:, 1]
    assert ranker.certificate_.proved
    assert not ranker.reranked_
    assert ranker.rank(X).tolist() == np.argsort(-scores, kind="stable").tolist()
    assert ranker.outcome_.value == pytest.approx(dcg(y, scores))
    assert ranker.outcome_.status is Status.FINISHED
    assert math.isnan(ranker.outcome_.bound)
    assert ranker.certificate_.value < dcg(y, scores)
    note = ranker.outcome_.notes[-1]
    assert f"{ranker.certificate_.value:.6g} against" in note


def test_an_unproved_order_is_only_the_best_found():
    X, y, base = overfitted()
    with pytest.warns(BaseOrderKeptWarning, match="the best linear order found of"):
        RankThenRerank(base, DirectRanker("dcg", random_state=0), top=50, **IN_SAMPLE).fit(X, y)


def test_rerankers_with_another_aim_are_not_measured_by_the_statistic():
    X, y, base = overfitted()
    for reranker in (ExactRanker(penalty=0.2), RankSVM(), LogisticRegression()):
        assert RankThenRerank(base, reranker, top=50).fit(X, y).reranked_


# -- queries ---------------------------------------------------------------------------------------


def queries(seed=0, n=20, count=5):
    X, y, lists = problem(count, n=n, seed=seed)
    names = np.array(["ant", "bee", "cow", "dog", "elk"])[lists]
    return X, y, names


class Second(ClassifierMixin, BaseEstimator):
    """A reranker that scores by a column and remembers what it learned from."""

    def fit(self, X, y, qid=None):
        self.classes_, self.rows_, self.qid_ = np.unique(y), np.asarray(X), qid
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 1]


def lists_by_hand(X, names, top):
    """Row numbers query after query: the first rows by the second column, the others by the base."""
    base, ranked = X @ (1.0, 0.5), []
    for name in sorted(set(names)):
        rows = sorted(np.flatnonzero(names == name), key=lambda i: -base[i])
        ranked += sorted(rows[:top], key=lambda i: -X[i, 1]) + rows[top:]
    return [int(row) for row in ranked]


def test_the_top_of_every_query_is_reranked():
    X, y, names = queries()
    ranker = RankThenRerank(Weighed(), Second(), top=6).fit(X, y, qid=names)
    assert ranker.n_top_ == 30
    assert ranker.by_query_
    inside = first_rows(X @ (1.0, 0.5), names, 6)
    learned = {tuple(row) for row in ranker.reranker_.rows_}
    mixed = [len(set(y[inside & (names == name)])) == 2 for name in names]
    assert learned == {tuple(row) for row in X[inside & mixed]}
    for rows, of in ((X, names), (queries(seed=3)[0][:37], queries(seed=3)[2][:37])):
        assert ranker.rank(rows, qid=of).tolist() == lists_by_hand(rows, of, 6)
        scores = ranker.decision_function(rows, qid=of)
        order = np.lexsort((-scores, of))
        assert order.tolist() == lists_by_hand(rows, of, 6)


def test_without_queries_a_threshold_from_the_training_queries_decides():
    X, y, names = queries()
    ranker = RankThenRerank(Weighed(), Second(), top=6).fit(X, y, qid=names)
    base = X @ (1.0, 0.5)
    last = [np.sort(base[names == name])[-6] for name in set(names)]
    assert ranker.threshold_ == np.median(last)
    inside = base >= ranker.threshold_
    ranked = ranker.rank(X)
    assert set(ranked[: inside.sum()]) == set(np.flatnonzero(inside))
    assert ranked[: inside.sum()].tolist() == sorted(np.flatnonzero(inside), key=lambda i: -X[i, 1])


def test_scores_within_queries_are_those_that_were_optimised():
    X, y, names = queries(seed=1)
    ranker = RankThenRerank(Weighed(), ExactRanker("ndcg@5"), top=8, random_state=0).fit(X, y, qid=names)
    scores = ranker.decision_function(X, qid=names)
    by_hand = np.mean([statistics.get("ndcg@5")(y[names == q], scores[names == q]) for q in set(names)])
    assert ranker.score(X, y, qid=names) == pytest.approx(by_hand)
    # The top holds all positions that count.
    assert ranker.outcome_.value == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="inconsistent"):
        ranker.decision_function(X, qid=names[:-1])


def test_queries_reach_a_base_that_takes_them():
    X, y, names = queries()
    ranker = RankThenRerank(RankSVM(tol=1e-8), DirectRanker(random_state=0), top=8).fit(X, y, qid=names)
    np.testing.assert_allclose(ranker.base_.coef_, RankSVM(tol=1e-8).fit(X, y, qid=names).coef_)
    pooled = RankSVM(tol=1e-8).fit(X, y).coef_
    assert not np.allclose(ranker.base_.coef_, pooled)
    inner = make_pipeline(StandardScaler(), RankSVM())
    assert RankThenRerank(inner, inner, top=8).fit(X, y, qid=names).by_query_


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        (RankThenRerank(TreeRank(), ExactRanker()), "TreeRank"),
        (RankThenRerank(make_pipeline(StandardScaler(), TreeRank()), ExactRanker()), "TreeRank"),
        (RankThenRerank(None, TreeRank()), "TreeRank"),
        (RankThenRerank(None, LogisticRegression()), "LogisticRegression"),
        (RankThenRerank(None, make_pipeline(StandardScaler(), LogisticRegression())), "LogisticRegression"),
        (RankThenRerank(RankerCV(AccuracyAtTop()), ExactRanker()), "AccuracyAtTop in RankerCV"),
    ],
)
def test_estimators_that_cannot_take_queries_are_named(ranker, name):
    X, y, names = queries()
    with pytest.raises(
        ValueError, match=f"qid: {name} in RankThenRerank learns from one list and takes no queries"
    ):
        ranker.fit(X, y, qid=names)


def test_queries_with_one_class_on_top_are_passed_over():
    X, y, names = queries()
    inside = first_rows(X @ (1.0, 0.5), names, 6)
    y[inside & (names == "bee")] = 1
    y[inside & (names == "cow")] = 0
    ranker = RankThenRerank(Weighed(), Second(), top=6).fit(X, y, qid=names)
    assert len(set(ranker.reranker_.qid_)) <= 3
    assert not {tuple(row) for row in ranker.reranker_.rows_} & {tuple(row) for row in X[names == "bee"]}
    # They are ranked like all the others.
    assert ranker.rank(X, qid=names).tolist() == lists_by_hand(X, names, 6)


def test_no_query_with_both_classes_on_top_keeps_the_base_order():
    X, y, names = queries()
    inside = first_rows(X @ (1.0, 0.5), names, 6)
    y[inside] = (names[inside] > "bee").astype(int)
    with pytest.warns(OneClassTopWarning, match="of every query hold one class only"):
        ranker = RankThenRerank(Weighed(), ExactRanker(), top=6, fewest_of_a_class=0).fit(X, y, qid=names)
    assert ranker.reranker_ is None
    assert ranker.rank(X).tolist() == np.argsort(-(X @ (1.0, 0.5)), kind="stable").tolist()
    assert math.isfinite(ranker.score(X, y, qid=names))


def test_no_query_with_both_classes_at_all_is_an_error():
    X, _, names = queries()
    with pytest.raises(ValueError, match="one class only in every query"):
        RankThenRerank(Weighed(), ExactRanker(), top=6).fit(X, (names > "bee").astype(int), qid=names)


def test_models_of_queries_survive_as_text():
    X, y, names = queries()
    ranker = RankThenRerank(None, ExactRanker("ndcg"), top=6, random_state=0).fit(X, y, qid=names)
    twin = estimator_from_plain(json.loads(json.dumps(estimator_to_plain(ranker))))
    assert np.array_equal(twin.decision_function(X, qid=names), ranker.decision_function(X, qid=names))
    assert not verify(twin.problem(X, y, qid=names), twin.certificate_, seconds=0).failed
    assert verify(twin.problem(X, y), twin.certificate_, seconds=0).failed


# -- time ------------------------------------------------------------------------------------------


class Timed(Weighed):
    """A base that knows a time limit."""

    def __init__(self, coef=(1.0, 0.5), time_limit=None):
        self.coef = coef
        self.time_limit = time_limit

    def fit(self, X, y):
        self.given_ = self.time_limit
        return super().fit(X, y)


@pytest.mark.parametrize(("own", "given"), [(None, 5.0), (3.0, 3.0), (60.0, 5.0)])
def test_a_base_that_knows_a_time_limit_gets_half_of_it_at_most(own, given):
    X, y, _ = problem(n=60)
    reranker = DirectRanker(random_state=0)
    ranker = RankThenRerank(Timed(time_limit=own), reranker, time_limit=10.0, cv=None).fit(X, y)
    assert given - 0.5 < ranker.base_.given_ <= given
    assert ranker.base_.time_limit == own
