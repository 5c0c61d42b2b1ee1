"""Projected gradients on a box against Clarabel."""

import cvxpy as cp
import numpy as np
import pytest

from toprank.control import Status
from toprank.convex.algebra.projected_gradient import DualPoint, projected_gradient

ROWS = np.random.default_rng(0).normal(size=(8, 3))
COST = 0.7


def descend(step, max_iter, bound):
    values = []

    def record(point, done):
        values.append(point.alpha.sum() - 0.5 * point.coef @ point.coef)
        return Status.OPTIMAL if values[-1] >= bound else None

    status, done = projected_gradient(
        np.full(8, 1e-3),
        look=lambda alpha: DualPoint(alpha, alpha @ ROWS, ROWS @ (alpha @ ROWS)),
        margins=lambda scores: scores,
        target=1.0,
        project=lambda alpha: np.clip(alpha, 0.0, COST),
        record=record,
        step=step,
        max_iter=max_iter,
        rng=np.random.default_rng(0),
    )
    return status, done, values


@pytest.fixture(scope="module")
def optimum():
    alpha = cp.Variable(8)
    goal = cp.sum(alpha) - 0.5 * cp.sum_squares(ROWS.T @ alpha)
    problem = cp.Problem(cp.Maximize(goal), [alpha >= 0, alpha <= COST])
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize("step", [None, 0.05])
def test_both_kinds_of_steps_reach_the_optimum(step, optimum):
    status, done, values = descend(step, 20_000, optimum * (1 - 1e-6))
    assert status is Status.OPTIMAL
    assert done == len(values) - 1
    assert max(values) <= optimum * (1 + 1e-6)


def test_accelerated_steps_are_the_faster_ones(optimum):
    assert descend(None, 20_000, optimum * (1 - 1e-4))[1] < descend(0.05, 20_000, optimum * (1 - 1e-4))[1]


def test_the_limit_of_steps_is_kept(optimum):
    status, done, values = descend(None, 3, np.inf)
    assert (status, done, len(values)) == (Status.ITERATION_LIMIT, 3, 4)
