"""RankSVM: minimise 1/2 |w|^2 + C * mean over pairs of hinge(1 - w.x_i + w.x_j), or of its square.

Agarwal (2011), (4.18). The squared hinge is smooth enough for Newton's method. The plain hinge is smoothed
over a zone that shrinks as the iterate settles: the derivatives of the smoothed pairs, between 0 and 1, are
feasible dual variables at every step, so that the gap is known throughout. When few pairs are left in the
zone they are settled one by one by an interior-point method. A fit starts from the solution on an eighth of
the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Progress, Run, Status, relative_gap
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import Iterate, minimise, newton_step, start_at
from toprank.convex.pairwise.hessian import pair_hessian
from toprank.convex.pairwise.polish import PAIR_LIMIT, polish
from toprank.losses.pairs import Pairs
from toprank.losses.pairwise import PairPoint, pairwise_loss

__all__ = ["PairLoss", "rank_svm"]

Floats = NDArray[np.float64]

SUBSET = 8
"""A warm start uses one row in so many."""
SMALL = 8000
"""With no more rows than this there is no warm start from fewer."""
WIDEST = 0.5
"""Half width of the first zone, in units of what pairs are to be won by."""
SETTLED = 0.3
"""The zone shrinks when what Newton's method can still gain is below this share of what smoothing costs."""
ROUNDS = 6
"""How often in a row the pairs near the kink are settled, each time around the last answer."""


@dataclass(frozen=True)
class PairLoss:
    """The mean pairwise loss as a function of X w, and its weight C: what `smooth.minimise` wants."""

    design: Design
    pairs: Pairs
    C: float
    loss: str
    smoothing: float = 0.0

    def at(self, scores: Floats) -> PairPoint:
        """The loss at given scores."""
        return pairwise_loss(self.pairs, scores, loss=self.loss, smoothing=self.smoothing)

    def hessian(self, point: PairPoint) -> Floats:
        """The Hessian of the loss with respect to the coefficients."""
        return pair_hessian(self.design, point)


def rank_svm(
    problem: PairLoss, run: Run, *, tol: float, max_iter: int, start: Floats | None = None
) -> tuple[Floats, Outcome]:
    """Solve a linear RankSVM to a relative duality gap.

    Parameters
    ----------
    problem : PairLoss
        Rows, pairs, C and which loss.
    run : Run
    tol : float
        Relative gap between value and bound to stop at.
    max_iter : int
        Newton steps on all rows.
    start : array, optional
        Coefficients to start from, instead of a solution on fewer rows.

    Returns
    -------
    coef : array of shape (n_features,)
    outcome : Outcome
    """
    smoothing = _widest(problem)
    if start is None:
        start, smoothing = _warm_start(problem, run, tol)
    if problem.loss == "squared_hinge":
        found, outcome = minimise(problem, start, run, tol=tol, max_iter=max_iter)
        return found.coef, outcome
    descent = _HingeDescent(problem, run, tol, max_iter)
    outcome = descent.go(start, smoothing)
    return descent.best, outcome


def _warm_start(problem: PairLoss, run: Run, tol: float) -> tuple[Floats, float]:
    """Coefficients and zone of a rough solution on fewer rows, or on all of them with the squared hinge."""
    rows = problem.pairs.every(SUBSET) if problem.design.n_rows > SMALL else None
    if rows is None:
        rough = replace(problem, loss="squared_hinge", smoothing=0.0)
        zero = np.zeros(problem.design.n_features)
        found, _ = minimise(rough, zero, run.part(silent=True), tol=1e-2, max_iter=50)
        return found.coef, _widest(problem)
    fewer = replace(problem, design=problem.design.take(rows), pairs=problem.pairs.subset(rows))
    inner = run.part(silent=True)
    start, smoothing = _warm_start(fewer, inner, tol)
    rough_tol = max(tol, 1e-3)
    if problem.loss == "squared_hinge":
        found, _ = minimise(fewer, start, inner, tol=rough_tol, max_iter=50)
        return found.coef, smoothing
    descent = _HingeDescent(fewer, inner, rough_tol, 50)
    descent.go(start, smoothing)
    return descent.best, descent.smoothing


def _widest(problem: PairLoss) -> float:
    return WIDEST * problem.pairs.mean_margin


class _HingeDescent:
    """Newton steps on the smoothed hinge, with the best value, the best bound and the width of the zone."""

    def __init__(self, problem: PairLoss, run: Run, tol: float, max_iter: int) -> None:
        self.problem = problem
        self.run = run
        self.tol = tol
        self.max_iter = max_iter
        self.best = np.zeros(problem.design.n_features)
        self.value = math.inf
        self.bound = -math.inf
        self.smoothing = _widest(problem)

    def go(self, start: Floats, smoothing: float) -> Outcome:
        """Descend until the gap is closed, the budget is spent, or rounding stops all progress."""
        now = self._at(start, smoothing)
        stalled = False
        for iteration in range(self.max_iter + 1):
            newton, smoothed = self._record(now)
            status = self._status(iteration)
            if status is not None:
                break
            if (stalled or newton < SETTLED * smoothed or self._few) and self._settle(now):
                status = Status.OPTIMAL
                break
            if stalled:
                status = Status.FINISHED
                break
            now = self._fit_zone(now, newton, smoothed, first=iteration == 0)
            following = newton_step(self._smoothed(), now)
            stalled = following is None
            now = following or now
        return Outcome(
            self.value, min(self.bound, self.value), status or Status.FINISHED, self.run.seconds, iteration
        )

    @property
    def _few(self) -> bool:
        return self.problem.pairs.count <= PAIR_LIMIT

    def _smoothed(self) -> PairLoss:
        return replace(self.problem, smoothing=self.smoothing)

    def _at(self, coef: Floats, smoothing: float, scores: Floats | None = None) -> Iterate[PairPoint]:
        self.smoothing = smoothing
        return start_at(self._smoothed(), coef, scores)

    def _record(self, now: Iterate[PairPoint]) -> tuple[float, float]:
        """Keep the best value and bound; returns Newton's and the smoothing's part of the gap here."""
        if now.value < self.value:
            self.value, self.best = now.value, now.coef
        force = now.gradient - now.coef
        bound = self.problem.C * (now.point.derivative_sum - now.point.rounding) - 0.5 * float(force @ force)
        self.bound = max(self.bound, bound)
        newton = 0.5 * float(now.gradient @ now.gradient)
        return newton, max(now.value - bound - newton, 0.0)

    def _status(self, iteration: int) -> Status | None:
        if relative_gap(self.value, self.bound) <= self.tol:
            return Status.OPTIMAL
        if not self.run.report(Progress(self.value, self.bound, iterations=iteration)):
            return self.run.stopped_by
        return Status.ITERATION_LIMIT if iteration == self.max_iter else None

    def _fit_zone(
        self, now: Iterate[PairPoint], newton: float, smoothed: float, *, first: bool
    ) -> Iterate[PairPoint]:
        """Shrink the zone once the iterate has settled; widen an inherited one that is far too narrow."""
        smoothing = self.smoothing
        if newton < SETTLED * smoothed:
            # In the bulk of the pairs the cost of smoothing falls with the square of the width.
            ideal = 0.7 * math.sqrt(self.tol * self.value / smoothed)
            smoothing *= max(0.02, min(0.2, ideal))
        elif first and smoothing < _widest(self.problem) and newton > 100 * smoothed:
            smoothing = min(
                _widest(self.problem), smoothing * math.sqrt(newton / max(100 * smoothed, 1e-300))
            )
        if smoothing == self.smoothing:
            return now
        return self._at(now.coef, smoothing, now.scores)

    def _settle(self, now: Iterate[PairPoint]) -> bool:
        """Settle the pairs near the kink one by one, as long as that helps; whether it closed the gap."""
        problem, scores = self.problem, now.scores
        for _ in range(ROUNDS):
            before = self.value - self.bound
            found = polish(problem.design, problem.pairs, problem.C, scores, self.smoothing, self.run)
            if found is None:
                return False
            coef, bound = found
            scores = problem.design.scores(coef)
            value = 0.5 * float(coef @ coef) + problem.C * problem.at(scores).value
            if value < self.value:
                self.value, self.best = value, coef
            self.bound = max(self.bound, bound)
            if relative_gap(self.value, self.bound) <= self.tol:
                return True
            if self.value - self.bound > 0.5 * before:
                return False
        return False
