"""The Infinite Push with an l1 norm: against Clarabel, which knows the problem as it is written down."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import toprank
from toprank.control import Run, Status
from toprank.convex.top_push.by_query import QueryPushProblem
from toprank.convex.top_push.linear_program import sparse_push
from toprank.convex.top_push.problem import TopPushProblem
from toprank.losses.top_push import Highest, Hinge
from toprank.rankers.parts.top_push import ZeroOptimumWarning


def data(seed, n=50, d=6, queries=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    query = rng.permutation(np.arange(n) % queries)
    y = (1.5 * X[:, 0] + rng.normal(size=n) > 0.7).astype(np.int64)
    for one in range(queries):
        y[np.flatnonzero(query == one)[:2]] = 0, 1
    return X, y, query


def by_clarabel(X, y, query, C):
    w, terms = cp.Variable(X.shape[1]), []
    for one in np.unique(query):
        up, down = X[(query == one) & (y == 1)], X[(query == one) & (y == 0)]
        terms.append(cp.sum(cp.pos(1 + cp.max(down @ w) - up @ w)) / len(up))
    problem = cp.Problem(cp.Minimize(cp.norm1(w) + C * sum(terms) / len(terms)))
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("C", [3.0, 50.0])
@pytest.mark.parametrize("several", [False, True])
def test_agrees_with_clarabel(C, several):
    X, y, query = data(0)
    query = query if several else np.zeros_like(query)
    said = {"C": C, "surrogate": Hinge(), "rule": Highest()}
    if several:
        problem = QueryPushProblem.from_labels(X, y, query, np.ones(len(y)), **said)
    else:
        problem = TopPushProblem.from_labels(X, y, np.ones(len(y)), **said)
    found = sparse_push(problem, tol=1e-6, run=Run())
    least = by_clarabel(X, y, query, C)
    assert found.status is Status.OPTIMAL
    assert found.point.value == pytest.approx(least, rel=1e-6)
    assert found.bound <= least * (1 + 1e-7)


def test_few_features_are_used_and_sparse_rows_give_the_same():
    X, y, query = data(1, d=12)
    ranker = toprank.InfinitePush(C=5.0, norm="l1").fit(X, y, qid=query)
    assert 0 < np.count_nonzero(ranker.coef_) < 12
    assert np.count_nonzero(toprank.InfinitePush(C=5.0).fit(X, y, qid=query).coef_) == 12
    sparse = toprank.InfinitePush(C=5.0, norm="l1").fit(sp.csr_matrix(X), y, qid=query)
    assert sparse.outcome_.value == pytest.approx(ranker.outcome_.value)


def test_a_price_above_all_gain_leaves_zero_and_says_which_C():
    X, y, _ = data(2)
    with pytest.warns(ZeroOptimumWarning, match="at C=0.01"):
        ranker = toprank.InfinitePush(C=0.01, norm="l1").fit(X, y)
    assert ranker.zero_is_optimal_


def test_no_time_is_said():
    X, y, _ = data(3)
    problem = TopPushProblem.from_labels(X, y, np.ones(len(y)), C=1.0, surrogate=Hinge(), rule=Highest())
    run = Run()
    run.stop(Status.TIME_LIMIT)
    found = sparse_push(problem, tol=1e-6, run=run)
    assert found.status is Status.TIME_LIMIT
    assert not found.point.coef.any()


@pytest.mark.parametrize("more", [{"kernel": "rbf"}, {"solver": "gradient_projection"}])
def test_what_does_not_go_together_is_refused(more):
    X, y, _ = data(4)
    with pytest.raises(ValueError, match=r"norm='l[12]'"):
        toprank.InfinitePush(norm="l1", **more).fit(X, y)
