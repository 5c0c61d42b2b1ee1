"""RankSVM by gradient projection in the dual, one variable a pair: the reference for the fast solver.

Agarwal (2011), Figure 3: alpha starts at a thousandth of its upper bound, takes steps down the dual objective
Q (4.20) and is clipped to its box; the answer is the iterate with the smallest Q. Time and memory grow with
the number of pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Progress, Run, Status, relative_gap
from toprank.convex.algebra.projected_gradient import DualPoint, projected_gradient
from toprank.convex.pairwise.rank_svm import PairLoss

__all__ = ["LARGEST", "gradient_projection"]

Floats = NDArray[np.float64]
LARGEST = 5_000_000
"""More pairs than this are refused."""


def gradient_projection(
    problem: PairLoss, run: Run, *, step: float | None, tol: float, max_iter: int
) -> tuple[Floats, Outcome]:
    """The hinge-loss RankSVM by Agarwal's algorithm.

    Parameters
    ----------
    problem : PairLoss
        With the plain hinge and no margins of its own.
    run : Run
    step : float or None
        Agarwal's eta_0; None for accelerated steps of a safe length.
    tol : float
        Relative gap between value and bound to stop at.
    max_iter : int
        Agarwal's t_max.
    """
    pairs = problem.pairs
    if pairs.count > LARGEST:
        raise ValueError(
            f"solver='gradient_projection' keeps a variable for each of {pairs.count} pairs;"
            " use solver='newton'."
        )
    search = _Search(problem, tol, run)
    status, done = projected_gradient(
        search.costs / 1000.0,
        look=search.look,
        margins=search.margins,
        target=1.0,
        project=lambda alpha: np.clip(alpha, 0.0, search.costs),
        record=search.record,
        step=step,
        max_iter=max_iter,
        rng=run.rng,
    )
    return search.best, Outcome(search.value, search.bound, status, run.seconds, done)


class _Search:
    """The dual as `projected_gradient` wants it, with the best coefficients, their value and the bound."""

    def __init__(self, problem: PairLoss, tol: float, run: Run) -> None:
        self._problem, self._tol, self._run = problem, tol, run
        self._upper, self._lower, weight = problem.pairs.listed()
        self.costs = problem.C * weight
        self.best, self.value, self.bound = np.zeros(problem.design.n_features), math.inf, -math.inf

    def look(self, alpha: Floats) -> DualPoint:
        count = self._problem.pairs.n_items
        gained = np.bincount(self._upper, weights=alpha, minlength=count)
        spent = np.bincount(self._lower, weights=alpha, minlength=count)
        coef = self._problem.design.combine(np.asarray(gained - spent, dtype=np.float64))
        return DualPoint(alpha, coef, self._problem.design.scores(coef))

    def margins(self, scores: Floats) -> Floats:
        return scores[self._upper] - scores[self._lower]

    def record(self, point: DualPoint, done: int) -> Status | None:
        penalty = 0.5 * float(point.coef @ point.coef)
        dual = float(point.alpha.sum()) - penalty
        if dual > self.bound:
            self.bound, self.best = dual, point.coef
            self.value = penalty + self._problem.C * self._problem.at(point.scores).value
        if relative_gap(self.value, self.bound) <= self._tol:
            return Status.OPTIMAL
        going = self._run.report(Progress(self.value, self.bound, iterations=done))
        return None if going else self._run.stopped_by or Status.STOPPED
