"""Infinite Push by gradient projection in the dual, one variable a pair: the reference for the fast solver.

Agarwal (2011), Figure 2: alpha starts at C / (1000 m n), takes steps down the dual objective Q (3.9) and is
projected on its constraints; the answer is the iterate with the smallest Q. Her projection on the l_{1,inf}
ball is followed by setting negative entries to zero; here both constraints are projected on together, which
is the Euclidean projection her analysis asks for. Positives that count differently have variables in units
of what they count. Time and memory grow with the number of pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run, Status, relative_gap
from toprank.convex.algebra.projected_gradient import DualPoint, projected_gradient
from toprank.convex.top_push.column_generation import TopPushSolution
from toprank.convex.top_push.problem import TopPushPoint, TopPushProblem
from toprank.convex.top_push.projections import project_l1_inf

__all__ = ["LARGEST", "gradient_projection"]

Floats = NDArray[np.float64]
LARGEST = 5_000_000
"""More pairs than this are refused."""


def gradient_projection(
    problem: TopPushProblem, *, step: float | None, tol: float, run: Run, max_iter: int
) -> TopPushSolution:
    """The Infinite Push by Agarwal's algorithm.

    Parameters
    ----------
    problem : TopPushProblem
        With the hinge and the highest negative as threshold.
    step : float or None
        Agarwal's eta_0; None for accelerated steps of a safe length.
    tol : float
        Relative gap between value and bound to stop at.
    run : Run
    max_iter : int
        Agarwal's t_max.
    """
    _check(problem)
    search = _Search(problem, tol, run)
    n_pos, n_neg = len(problem.positives), len(problem.negatives)
    status, done = projected_gradient(
        np.full((n_pos, n_neg), search.radius / (1000.0 * n_neg)),
        look=search.look,
        margins=search.margins,
        target=search.unit,
        project=lambda matrix: project_l1_inf(matrix, search.radius),
        record=search.record,
        step=step,
        max_iter=max_iter,
        rng=run.rng,
    )
    assert search.best is not None
    return TopPushSolution(search.best, search.bound, status, done)


class _Search:
    """The dual as `projected_gradient` wants it, with the best point and the bound.

    Attributes
    ----------
    radius : float
        The mean cost of the positives.
    unit : array of shape (n_pos, 1)
        Each positive's cost over that: what a dual variable of its pairs stands for.
    """

    def __init__(self, problem: TopPushProblem, tol: float, run: Run) -> None:
        self._problem, self._tol, self._run = problem, tol, run
        self.radius = float(problem.costs.mean())
        self.unit = (problem.costs / self.radius)[:, np.newaxis]
        self.best: TopPushPoint | None = None
        self.bound = -math.inf

    def look(self, alpha: Floats) -> DualPoint:
        by_pair = self.unit * alpha
        coef = self._problem.combine(by_pair.sum(axis=1), -by_pair.sum(axis=0))
        return DualPoint(alpha, coef, self._problem.design.scores(coef))

    def margins(self, scores: Floats) -> Floats:
        problem = self._problem
        return self.unit * np.subtract.outer(scores[problem.positives], scores[problem.negatives])

    def record(self, point: DualPoint, done: int) -> Status | None:
        problem = self._problem
        dual = float((self.unit * point.alpha).sum() - 0.5 * point.coef @ point.coef)
        if dual > self.bound or self.best is None:
            scores = point.scores
            self.best = TopPushPoint(
                problem, point.coef, scores[problem.positives], scores[problem.negatives]
            )
            self.bound = dual
        value = self.best.value
        if relative_gap(value, self.bound) <= self._tol:
            return Status.OPTIMAL
        progress = Progress(value, self.bound, iterations=done, phase="gradient projection")
        return None if self._run.report(progress) else self._run.stopped_by or Status.STOPPED


def _check(problem: TopPushProblem) -> None:
    n_pairs = len(problem.positives) * len(problem.negatives)
    if n_pairs > LARGEST:
        raise ValueError(
            f"solver='gradient_projection' keeps a variable for each of {n_pairs} pairs;"
            " use solver='column_generation'."
        )
