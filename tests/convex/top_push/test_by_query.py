"""Thresholds of several lists: against Clarabel, which knows the problem as it is written down."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from toprank.control import Run, Status
from toprank.convex.algebra import design
from toprank.convex.top_push.by_query import QueryPushProblem, solve_by_query
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean

LOSSES = {
    "hinge": lambda z: cp.pos(1 + z),
    "squared_hinge": lambda z: cp.square(cp.pos(1 + z)),
    "logistic": cp.logistic,
}
RULES = {
    "highest": (Highest(), lambda scores: cp.max(scores)),
    "two": (
        MeanOfHighest(2),
        lambda scores: cp.sum_largest(scores, min(2, scores.size)) / min(2, scores.size),
    ),
    "half": (QuantileMean(0.5), lambda scores: cp.sum_largest(scores, scores.size / 2) / (scores.size / 2)),
}


def data(seed, n=60, d=4, queries=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    query = rng.permutation(np.arange(n) % queries)
    y = (X[:, 0] + rng.normal(size=n) > 0.5).astype(np.int64)
    for one in range(queries):
        y[np.flatnonzero(query == one)[:2]] = 0, 1
    return X, y, query


def posed(X, y, query, weight=None, *, C=1.0, loss="hinge", rule=None):
    weight = np.ones(len(y)) if weight is None else weight
    return QueryPushProblem.from_labels(
        X, y, query, weight, C=C, surrogate=SURROGATES[loss], rule=rule or Highest()
    )


def by_clarabel(X, y, query, *, C, loss, rule):
    """The least objective, as a conic program: mean over queries of the mean over their positives."""
    w, terms = cp.Variable(X.shape[1]), []
    for one in np.unique(query):
        level = RULES[rule][1](X[(query == one) & (y == 0)] @ w)
        up = X[(query == one) & (y == 1)]
        terms.append(cp.sum(LOSSES[loss](level - up @ w)) / len(up))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * sum(terms) / len(terms)))
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("loss", SURROGATES)
@pytest.mark.parametrize("C", [0.3, 30.0])
def test_agrees_with_clarabel(loss, rule, C):
    X, y, query = data(3)
    found = solve_by_query(
        posed(X, y, query, C=C, loss=loss, rule=RULES[rule][0]), tol=1e-7, run=Run(), max_iter=1000
    )
    assert found.status is Status.OPTIMAL
    least = by_clarabel(X, y, query, C=C, loss=loss, rule=rule)
    assert found.point.value == pytest.approx(least, rel=2e-6)
    assert found.bound <= least * (1 + 1e-6)


@pytest.mark.parametrize("loss", SURROGATES)
def test_sparse_rows_and_more_features_than_are_factorised(loss, monkeypatch):
    X, y, query = data(5)
    X[np.abs(X) < 0.9] = 0.0
    known = solve_by_query(posed(X, y, query, loss=loss), tol=1e-7, run=Run())
    sparse = solve_by_query(posed(sp.csr_matrix(X), y, query, loss=loss), tol=1e-7, run=Run())
    assert sparse.point.value == pytest.approx(known.point.value, rel=1e-6)
    monkeypatch.setattr(design, "DIRECT_LIMIT", 2)
    iterative = solve_by_query(posed(X, y, query, loss=loss), tol=1e-6, run=Run())
    assert iterative.point.value == pytest.approx(known.point.value, rel=2e-6)


def test_weights_count_as_repetitions():
    X, y, query = data(7)
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    rule = MeanOfHighest(3)
    weighted = solve_by_query(posed(X, y, query, weight, rule=rule), tol=1e-7, run=Run())
    repeated = solve_by_query(posed(X[rows], y[rows], query[rows], rule=rule), tol=1e-7, run=Run())
    assert weighted.point.value == pytest.approx(repeated.point.value, rel=1e-6)


def test_a_shift_of_a_query_changes_nothing():
    X, y, query = data(9)
    far = X + 1e4 * np.random.default_rng(0).normal(size=(5, X.shape[1]))[query]
    near, moved = (solve_by_query(posed(rows, y, query, C=5.0), tol=1e-7, run=Run()) for rows in (X, far))
    assert moved.point.value == pytest.approx(near.point.value, rel=1e-6)


def test_zero_is_optimal_where_every_mean_is_in_the_hull():
    X = np.array([[-1.0], [1.0], [0.0]] * 2)
    y, query = np.array([0, 0, 1] * 2), np.repeat([0, 1], 3)
    found = solve_by_query(posed(X, y, query, C=100.0), tol=1e-6, run=Run())
    assert found.trivial


def test_few_steps_are_an_iteration_limit_and_a_stop_leaves_a_point():
    problem = posed(*data(11), C=100.0)
    assert solve_by_query(problem, tol=1e-9, run=Run(), max_iter=2).status is Status.ITERATION_LIMIT
    stopped = solve_by_query(problem, tol=1e-9, run=Run(callback=lambda progress: False))
    assert stopped.status is Status.STOPPED
    assert np.isfinite(stopped.point.value)
