"""Rankers that push at the top, with a threshold for each query."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

import toprank
from toprank.rankers.parts.top_push import ZeroOptimumWarning

RANKERS = {
    "InfinitePush": toprank.InfinitePush(C=10.0),
    "InfinitePush(rbf)": toprank.InfinitePush(C=10.0, kernel="rbf"),
    "TopPush": toprank.TopPush(C=10.0),
    "TopPushK": toprank.TopPushK(k=2, C=10.0),
    "TauFPL": toprank.TauFPL(negative_share=0.4, C=10.0),
    "PatMat": toprank.PatMat(0.4, C=10.0, tol=1e-8),
    "Grill": toprank.Grill(0.4, C=10.0, random_state=0, tol=1e-9),
    "AccuracyAtTop": toprank.AccuracyAtTop(0.4, C=0.1, solver="local", random_state=0),
}


def data(seed=0, n=48, d=3, queries=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    qid = rng.permutation(np.arange(n) % queries)
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.4).astype(int), qid


@pytest.mark.parametrize("name", RANKERS)
def test_a_query_of_one_class_says_nothing(name):
    X, y, qid = data()
    y[qid == 1], y[qid == 2] = 0, 1
    kept = ~np.isin(qid, [1, 2])
    whole = fitted(name, X, y, qid)
    part = fitted(name, X[kept], y[kept], qid[kept])
    assert whole.outcome_.value == pytest.approx(part.outcome_.value, rel=1e-5)


@pytest.mark.parametrize("name", RANKERS)
def test_one_query_is_one_list(name):
    X, y, _ = data(1)
    alone, named = fitted(name, X, y, None), fitted(name, X, y, np.full(len(y), "only"))
    assert named.outcome_.value == pytest.approx(alone.outcome_.value, rel=1e-5)


@pytest.mark.parametrize("name", RANKERS)
def test_where_a_query_lies_does_not_matter(name):
    """Queries far from each other are no easier and no harder: rows are compared within their own."""
    X, y, qid = data(2)
    moved = X + 5.0 * qid[:, np.newaxis]
    if "rbf" not in name:
        near, far = fitted(name, X, y, qid), fitted(name, moved, y, qid)
        assert far.outcome_.value == pytest.approx(near.outcome_.value, rel=1e-4)
        np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-2 * np.abs(near.coef_).max())


@pytest.mark.parametrize("name", RANKERS)
def test_queries_of_one_class_only_are_refused(name):
    X, _, qid = data()
    with pytest.raises(ValueError, match="no query has rows of both classes"):
        fitted(name, X, qid % 2, qid)


def fitted(name, X, y, qid):
    from sklearn.base import clone

    return clone(RANKERS[name]).fit(X, y, qid=qid)


def quantile(scores, share):
    k = int(np.clip(np.floor(share * len(scores) + 0.5), 1, len(scores) - 1))
    return np.sort(scores)[::-1][k - 1]


def at_the_top(w, X, y, qid, *, share, C):
    """Problem (1), pair by pair within queries."""
    value = w @ w / 2
    for one in np.unique(qid):
        scores, label = X[qid == one] @ w, y[qid == one]
        level = quantile(scores, share)
        for up in scores[label == 1]:
            for down in scores[label == 0]:
                value += C * (max(0, 1 + down - level) + max(0, 1 + level - up))
    return value


def test_accuracy_at_the_top_of_each_query_against_a_grid():
    X, y, qid = data(4, n=24, d=1, queries=3)
    found = toprank.AccuracyAtTop(0.3, C=0.02, solver="local", random_state=0).fit(X, y, qid=qid)
    assert found.outcome_.value == pytest.approx(at_the_top(found.coef_, X, y, qid, share=0.3, C=0.02))
    grid = np.linspace(-5, 5, 4001)
    least = min(at_the_top(np.array([w]), X, y, qid, share=0.3, C=0.02) for w in grid)
    assert found.outcome_.value <= least * (1 + 1e-3)
    alone = toprank.AccuracyAtTop(0.3, C=0.02, solver="local", random_state=0).fit(X, y)
    assert alone.outcome_.value != pytest.approx(found.outcome_.value, rel=1e-2)


@pytest.mark.parametrize("weighting", ["balanced", "rows"])
def test_other_prices_are_those_of_each_query(weighting):
    X, y, qid = data(5, n=24, d=1, queries=3)
    found = toprank.AccuracyAtTop(0.3, C=0.1, solver="local", weighting=weighting, random_state=0).fit(
        X, y, qid=qid
    )
    w, value = found.coef_, found.coef_ @ found.coef_ / 2
    for one in np.unique(qid):
        scores, label = X[qid == one] @ w, y[qid == one]
        level, n = quantile(scores, 0.3), len(label)
        up = n / 2 / label.sum() if weighting == "balanced" else 1.0
        down = n / 2 / (n - label.sum()) if weighting == "balanced" else 1.0
        value += 0.1 * up * np.maximum(0, 1 + level - scores[label == 1]).sum()
        value += 0.1 * down * np.maximum(0, 1 + scores[label == 0] - level).sum()
    assert found.outcome_.value == pytest.approx(value)


def test_grill_is_the_mean_over_queries():
    X, y, qid = data(6, n=24, d=1, queries=3)
    found = toprank.Grill(0.3, C=3.0, random_state=0).fit(X, y, qid=qid)

    def value(w):
        parts = []
        for one in np.unique(qid):
            scores, label = X[qid == one] @ w, y[qid == one]
            level = quantile(scores, 0.3)
            up, down = 1 + level - scores[label == 1], 1 + scores[label == 0] - level
            parts.append(np.maximum(0, up).mean() + np.maximum(0, down).mean())
        return w @ w / 2 + 3.0 * np.mean(parts)

    assert found.outcome_.value == pytest.approx(value(found.coef_))
    assert found.outcome_.value <= min(value(np.array([w])) for w in np.linspace(-5, 5, 4001)) * (1 + 1e-3)


@pytest.mark.parametrize("negative_share", [None, 0.3])
def test_pat_mat_is_the_mean_over_queries(negative_share):
    X, y, qid = data(7, d=2)
    found = toprank.PatMat(0.3, C=5.0, negative_share=negative_share, tol=1e-9).fit(X, y, qid=qid)

    def value(w):
        parts = []
        for one in np.unique(qid):
            scores, label = X[qid == one] @ w, y[qid == one]
            counted = scores if negative_share is None else scores[label == 0]
            level = brentq(lambda t, s=counted: np.mean(np.maximum(0, 1 + s - t) ** 2) - 0.3, -50, 50)
            parts.append(np.mean(np.maximum(0, 1 + level - scores[label == 1]) ** 2))
        return w @ w / 2 + 5.0 * np.mean(parts)

    assert found.outcome_.value == pytest.approx(value(found.coef_), rel=1e-8)
    search = minimize(value, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    assert found.outcome_.value == pytest.approx(search.fun, rel=1e-5)


@pytest.mark.parametrize(
    ("ranker", "hint"),
    [
        (toprank.AccuracyAtTop(0.3), "solver='local' takes them"),
        (toprank.InfinitePush(solver="gradient_projection"), "solver='column_generation' takes them"),
    ],
)
def test_solvers_of_one_list_say_which_takes_queries(ranker, hint):
    X, y, qid = data()
    assert not ranker.ranker_tags.queries
    with pytest.raises(ValueError, match=hint):
        ranker.fit(X, y, qid=qid)


def test_no_answer_but_zero_is_said_of_queries_too():
    X = np.array([[-1.0], [1.0], [0.0], [-1.0], [1.0], [0.1]])
    with pytest.warns(ZeroOptimumWarning, match="in each query"):
        ranker = toprank.TopPush().fit(X, [0, 0, 1] * 2, qid=[0, 0, 0, 1, 1, 1])
    assert ranker.zero_is_optimal_
    assert ranker.coef_[0] > 0
