"""The Infinite Push with few features: |w|_1 in place of 1/2 |w|^2 makes it a linear program.

    min  |w|_1 + sum_i c_i xi_i       xi_i >= 1 + t_q - w.x_i,   xi_i >= 0,   t_q >= w.x_j

for positives i and negatives j of each query q (Rakotomamonjy 2012, "Sparse support vector infinite push").
Multipliers a of the positives and b of the negatives, with sums alike in each query, are dual feasible once
they are scaled until |sum_i a_i x_i - sum_j b_j x_j| <= 1 in every feature: their bound is sum_i a_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.control import Run, Status, relative_gap
from toprank.convex.top_push.by_query import PushList, QueryPushProblem
from toprank.convex.top_push.column_generation import TopPushSolution
from toprank.convex.top_push.problem import TopPushProblem

__all__ = ["sparse_push"]

Floats = NDArray[np.float64]


def sparse_push(problem: TopPushProblem | QueryPushProblem, *, tol: float, run: Run) -> TopPushSolution:
    """Minimise |w|_1 plus the losses of the hinge and the highest negative.

    Parameters
    ----------
    problem : TopPushProblem or QueryPushProblem
    tol : float
        Relative gap to the bound that is asked for.
    run : Run
    """
    whole = _as_lists(problem)
    coef, bound, status = np.zeros(whole.design.n_features), 0.0, run.stopped_by
    if not run.should_stop():
        found = _solve(whole, run)
        if found is not None:
            coef, bound = found
    point = _L1Point(coef, _value(whole, coef))
    zero = _L1Point(np.zeros_like(coef), _value(whole, np.zeros_like(coef)))
    point = point if point.value < zero.value else zero
    closed = relative_gap(point.value, bound) <= tol
    status = Status.OPTIMAL if closed else run.stopped_by or (Status.FINISHED if bound else Status.TIME_LIMIT)
    return TopPushSolution(point, min(bound, point.value), status, 1)


class _L1Point:
    """Coefficients and the objective there."""

    def __init__(self, coef: Floats, value: float) -> None:
        self.coef, self.value = coef, value


def _as_lists(problem: TopPushProblem | QueryPushProblem) -> QueryPushProblem:
    """One list is a problem of lists too."""
    if isinstance(problem, QueryPushProblem):
        return problem
    one = PushList(problem.positives, problem.negatives, problem.costs, problem.negative_weight, problem.caps)
    return QueryPushProblem(
        problem.design, (one,), np.array([0, problem.design.n_rows], dtype=np.intp), problem.surrogate
    )


def _value(problem: QueryPushProblem, coef: Floats) -> float:
    point = problem.seen(coef, problem.design.scores(coef))
    return float(np.abs(coef).sum() + point.value - 0.5 * coef @ coef)


def _solve(problem: QueryPushProblem, run: Run) -> tuple[Floats, float] | None:
    from scipy.optimize import linprog

    d, up, down, costs, query_up, query_down = _flat(problem)
    n_lists = len(problem.lists)
    X: Any = problem.design.X
    rows = sp.csr_array(sp.vstack([-sp.csr_array(X[up]), sp.csr_array(X[down])]))
    of_list = sp.vstack([_members(query_up, n_lists), -_members(query_down, n_lists)])
    lack = sp.vstack([-sp.eye_array(len(up)), sp.csr_array((len(down), len(up)))])
    left = np.concatenate([-np.ones(len(up)), np.zeros(len(down))])
    options = {"time_limit": run.remaining()} if np.isfinite(run.remaining()) else {}
    solve: Any = linprog
    solved = solve(
        np.concatenate([np.ones(2 * d), np.zeros(n_lists), costs]),
        A_ub=sp.csr_array(sp.hstack([rows, -rows, of_list, lack])),
        b_ub=left,
        bounds=[(0, None)] * (2 * d) + [(None, None)] * n_lists + [(0, None)] * len(up),
        method="highs",
        options=options,
    )
    if solved.status != 0:
        return None
    multipliers = np.maximum(-solved.ineqlin.marginals, 0.0)
    bound = _bound(problem, np.minimum(multipliers[: len(up)], costs), multipliers[len(up) :])
    return solved.x[:d] - solved.x[d : 2 * d], bound


def _bound(problem: QueryPushProblem, on_positives: Floats, on_negatives: Floats) -> float:
    """What the multipliers prove, after rounding has been made up for."""
    _, up, down, _, query_up, query_down = _flat(problem)
    n_lists = len(problem.lists)
    wanted = np.bincount(query_up, weights=on_positives, minlength=n_lists)
    given = np.bincount(query_down, weights=on_negatives, minlength=n_lists)
    fitting = np.where(given > 0.0, wanted / np.where(given > 0.0, given, 1.0), 0.0)
    on_positives = np.where((given > 0.0)[query_up], on_positives, 0.0)
    numbers = np.zeros(problem.design.n_rows)
    numbers[up], numbers[down] = on_positives, -on_negatives * fitting[query_down]
    steepest = float(np.abs(problem.design.combine(numbers)).max(initial=0.0))
    return float(on_positives.sum()) / max(1.0, steepest)


def _flat(problem: QueryPushProblem) -> tuple[int, Any, Any, Floats, Any, Any]:
    """Row numbers, costs and lists of all positives and negatives."""
    begins = problem.start[:-1]
    up = np.concatenate([begin + one.positives for begin, one in zip(begins, problem.lists, strict=True)])
    down = np.concatenate([begin + one.negatives for begin, one in zip(begins, problem.lists, strict=True)])
    numbers = np.arange(len(problem.lists))
    query_up = np.repeat(numbers, [len(one.positives) for one in problem.lists])
    query_down = np.repeat(numbers, [len(one.negatives) for one in problem.lists])
    costs = np.concatenate([one.costs for one in problem.lists])
    return problem.design.n_features, up, down, costs, query_up, query_down


def _members(query: Any, n_lists: int) -> Any:
    return sp.csr_array((np.ones(len(query)), (np.arange(len(query)), query)), shape=(len(query), n_lists))
