"""Infinite Push by gradient projection in the dual, one variable a pair: the reference for the fast solver.

Agarwal (2011), Figure 2: alpha starts at C / (1000 m n), takes steps of length ``step / sqrt(t)`` down the
dual objective Q (3.9) and is projected on its constraints; the answer is the iterate with the smallest Q. Her
projection on the l_{1,inf} ball is followed by setting negative entries to zero; here both constraints are
projected on together, which is the Euclidean projection her analysis asks for. Time and memory grow with the
number of pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run, Status, relative_gap
from toprank.convex.projections import project_l1_inf
from toprank.convex.push import PushSolution
from toprank.convex.push_problem import PushProblem

__all__ = ["LARGEST", "gradient_projection"]

Floats = NDArray[np.float64]
LARGEST = 5_000_000
"""More pairs than this are refused."""


def gradient_projection(
    problem: PushProblem, *, step: float | None, tol: float, run: Run, max_iter: int
) -> PushSolution:
    """The Infinite Push by Agarwal's algorithm.

    Parameters
    ----------
    problem : PushProblem
        With the hinge, the highest negative as threshold and equal costs.
    step : float or None
        Agarwal's eta_0; None for the inverse of the largest curvature of Q.
    tol : float
        Relative gap between value and bound to stop at.
    run : Run
    max_iter : int
        Agarwal's t_max.
    """
    n_pos, n_neg = len(problem.positives), len(problem.negatives)
    _check(problem)
    radius = float(problem.costs[0])
    alpha = np.full((n_pos, n_neg), radius / (1000.0 * n_neg))
    length = 1.0 / _largest_curvature(problem, run) if step is None else step
    best, bound = problem.zero(), -math.inf
    status, done = Status.ITERATION_LIMIT, 0
    for done in range(max_iter + 1):
        point = problem.at(problem.combine(alpha.sum(axis=1), -alpha.sum(axis=0)))
        dual = float(alpha.sum() - 0.5 * point.coef @ point.coef)
        if dual > bound:
            best, bound = point, dual
        if relative_gap(best.value, bound) <= tol:
            status = Status.OPTIMAL
            break
        if not run.report(Progress(best.value, bound, iterations=done, phase="gradient projection")):
            status = run.stopped_by or Status.STOPPED
            break
        margins = np.subtract.outer(point.positive_scores, point.negative_scores)
        alpha -= length / math.sqrt(done + 1.0) * (margins - 1.0)
        alpha = project_l1_inf(alpha, radius)
    return PushSolution(best, bound, status, done)


def _check(problem: PushProblem) -> None:
    n_pairs = len(problem.positives) * len(problem.negatives)
    if n_pairs > LARGEST:
        raise ValueError(
            f"solver='gradient_projection' keeps a variable for each of {n_pairs} pairs;"
            " use solver='column_generation'."
        )
    if np.ptp(problem.costs) > 1e-12 * problem.costs[0]:
        raise ValueError(
            "solver='gradient_projection' knows no sample_weight; use solver='column_generation'."
        )


def _largest_curvature(problem: PushProblem, run: Run) -> float:
    """The largest eigenvalue of sum over pairs of (x_i - x_j)(x_i - x_j)^T, by power iteration."""
    n_pos, n_neg = len(problem.positives), len(problem.negatives)
    direction = run.rng.standard_normal(problem.design.n_features)
    size = 0.0
    for _ in range(50):
        norm = float(np.linalg.norm(direction))
        if norm == 0.0:
            break
        point = problem.at(direction / norm)
        up, down = point.positive_scores, point.negative_scores
        direction = problem.combine(n_neg * up - down.sum(), n_pos * down - up.sum())
        size = float(np.linalg.norm(direction))
    return max(size, 1e-300)
