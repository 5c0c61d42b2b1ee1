"""P-Norm Push: minimise 1/2 |w|^2 + C log R_p(X w) by Newton's method in the log domain.

Where the classes are far apart, in units of 1 / C, scores grow with C until log R_p is a maximum with corners
too sharp for Newton's method. Smaller C have rounder ones: their answers, one after the other, lead there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.control import Outcome, Run, Status, relative_gap
from toprank.convex.algebra.design import Design, dense
from toprank.convex.algebra.newton import Iterate, minimise, start_at
from toprank.losses.p_norm_push import PNormPushItems, PNormPushPoint

__all__ = ["LogPush", "log_push"]

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-9
"""Rows whose share of the Hessian is below this, over their number, are left out of it."""
DIRECT_STEPS = 25
"""Newton steps before smaller C are tried."""
RISE = 4.0
"""Each C on the way is so many times the last."""
STAGE_STEPS = 20
"""Most Newton steps with each."""


@dataclass(frozen=True)
class LogPush:
    """log R_p as a function of X w, and its weight C: what `smooth.minimise` wants."""

    design: Design
    items: PNormPushItems
    C: float
    p: float

    def at(self, scores: Floats) -> PNormPushPoint:
        """The loss at given scores."""
        return self.items.at(scores, self.p)

    def hessian(self, point: PNormPushPoint) -> Floats:
        """The softmax covariances of the rows, positives and negatives."""
        spread = point.spread
        matrix = self.design.gram(np.where(spread < NEGLIGIBLE / len(spread), 0.0, spread))
        for side, share, factor in point.sides():
            means = self._means(side, share) * np.sqrt(factor / self.items.n_queries)
            matrix -= means.T @ means
        return matrix

    def _means(self, side: Any, share: Floats) -> Floats:
        """The mean row of each query, weighted by share."""
        shape = (self.items.n_queries, self.design.n_rows)
        averaging = sp.csr_array((share, (side.query, side.item)), shape=shape)
        return dense(averaging @ self.design.X)


def log_push(
    problem: LogPush, start: Floats, run: Run, *, tol: float, max_iter: int
) -> tuple[Floats, Outcome]:
    """Minimise to a relative gap of `tol`: directly, or where that does not get there from smaller C."""
    found, outcome = minimise(problem, start, run, tol=tol, max_iter=min(max_iter, DIRECT_STEPS))
    stopped = outcome.status in (Status.OPTIMAL, Status.TIME_LIMIT, Status.INTERRUPTED, Status.STOPPED)
    if stopped or max_iter <= DIRECT_STEPS:
        return found.coef, outcome
    begin, bound = _from_smaller(problem, run, tol)
    first = start_at(problem, begin)
    if first.value > found.value:
        first = start_at(problem, found.coef)
    if relative_gap(first.value, bound) > tol:
        left = max_iter - DIRECT_STEPS
        first, outcome = minimise(problem, first.coef, run, tol=tol, max_iter=left)
        bound = max(bound, outcome.bound)
    bound = min(bound, first.value)
    status = Status.OPTIMAL if relative_gap(first.value, bound) <= tol else outcome.status
    steps = outcome.iterations + DIRECT_STEPS
    return first.coef, Outcome(first.value, bound, status, run.seconds, steps, outcome.notes)


def _from_smaller(problem: LogPush, run: Run, tol: float) -> tuple[Floats, float]:
    """Coefficients from a ladder of smaller C, from where all rows of a class count alike; and a bound.

    With w = T v, the problem in v with C / T for C is T^-2 times that in w with T log R_p(X w / T) for log
    R_p(X w), which is no larger for T >= 1: means of powers rise with the power. So T^2 times a bound on the
    one is a bound on the other, and one that rounding disturbs less.
    """
    means = problem.design.combine(problem.at(np.zeros(problem.design.n_rows)).gradient)
    # At this C no score is far from zero, measured by what one unit of the loss is.
    smallest = 1.0 / max(problem.p * float(means @ means), 1.0 / problem.C)
    rungs = int(np.ceil(np.log(problem.C / smallest) / np.log(RISE)))
    coef, bound = np.zeros(problem.design.n_features), -math.inf
    for rung in range(rungs, 0, -1):
        posed = replace(problem, C=problem.C / RISE**rung)
        begin = min((start_at(posed, coef), start_at(posed, RISE * coef)), key=_value)
        found, outcome = minimise(posed, begin.coef, run.part(silent=True), tol=tol, max_iter=STAGE_STEPS)
        coef, bound = found.coef, max(bound, RISE ** (2 * rung) * outcome.bound)
    return min((start_at(problem, coef), start_at(problem, RISE * coef)), key=_value).coef, bound


def _value(iterate: Iterate[PNormPushPoint]) -> float:
    return iterate.value
