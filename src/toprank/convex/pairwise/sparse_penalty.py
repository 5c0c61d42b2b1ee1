"""RankSVM with few features: minimise sum_k penalty_k |w_k| + C * mean pairwise loss.

The l1 penalty goes with the squared hinge (Lai et al. 2013) or the plain one. Each step minimises a
quadratic model of the loss plus the penalty by coordinate descent; the plain hinge is smoothed over a
shrinking zone, and when few pairs are left in it a linear program settles them. Derivatives of the pairs,
scaled until they respect |X^T (...)| <= penalty, are dual feasible and give the bound. Concave penalties are
a sequence of such problems (`concave_penalty`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Progress, Run, Status, relative_gap
from toprank.convex.algebra.design import DIRECT_LIMIT, Design
from toprank.convex.pairwise.hessian import pair_hessian
from toprank.convex.pairwise.polish import fixed_pairs
from toprank.convex.pairwise.rank_svm import PairLoss
from toprank.losses.pairwise import PairPoint

__all__ = ["weighted_l1"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDEST = 0.5
SETTLED = 0.3
MAX_TRIALS = 30
SWEEPS = 200


@dataclass(frozen=True)
class _Iterate:
    """Coefficients, scores, the loss there and its gradient with respect to the coefficients."""

    coef: Floats
    scores: Floats
    point: PairPoint
    force: Floats


def weighted_l1(
    problem: PairLoss, penalty: Floats, run: Run, *, tol: float, max_iter: int, start: Floats | None = None
) -> tuple[Floats, Outcome]:
    """Solve the weighted l1 problem to a relative duality gap.

    Parameters
    ----------
    problem : PairLoss
        Rows, pairs, C and which loss.
    penalty : array of shape (n_features,)
        Positive cost of each coefficient's size.
    run : Run
    tol : float
        Relative gap between value and bound to stop at.
    max_iter : int
        Steps.
    start : array, optional
        Coefficients to start from.
    """
    if start is None or not start.any():
        start = np.zeros(problem.design.n_features)
        if problem.loss == "hinge":
            # At zero every pair is beyond the zone of the smoothed hinge, whose model is then flat.
            rough = replace(problem, loss="squared_hinge")
            start, _ = weighted_l1(rough, penalty, run.part(silent=True), tol=1e-2, max_iter=50)
    descent = _L1Descent(problem, penalty, run, tol, max_iter)
    outcome = descent.go(start)
    return descent.best, outcome


class _L1Descent:
    """Proximal Newton steps, with the best value, the best bound and the width of the zone."""

    def __init__(self, problem: PairLoss, penalty: Floats, run: Run, tol: float, max_iter: int) -> None:
        self.problem, self.penalty, self.run = problem, penalty, run
        self.tol, self.max_iter = tol, max_iter
        self.hinge = problem.loss == "hinge"
        self.smoothing = WIDEST if self.hinge else 0.0
        self.best = np.zeros(problem.design.n_features)
        self.value, self.bound = math.inf, 0.0
        self._columns: Ints = np.empty(0, dtype=np.int64)
        self._narrow: Design = problem.design

    def go(self, start: Floats) -> Outcome:
        """Descend until the gap is closed, the budget is spent, or rounding stops all progress."""
        now = self._at(start)
        stalled = False
        for iteration in range(self.max_iter + 1):
            self._record(now)
            status = self._status(iteration)
            if status is not None:
                break
            if self.hinge and (stalled or self._settled(now)):
                if self._settle(now):
                    status = Status.OPTIMAL
                    break
                self.smoothing *= 0.2
                now = self._at(now.coef, now.scores)
            elif stalled:
                status = Status.FINISHED
                break
            following = self._step(now)
            stalled = following is None
            now = following or now
        bound = min(self.bound, self.value)
        return Outcome(self.value, bound, status or Status.FINISHED, self.run.seconds, iteration)

    def _at(self, coef: Floats, scores: Floats | None = None) -> _Iterate:
        design = self.problem.design
        scores = design.scores(coef) if scores is None else scores
        point = replace(self.problem, smoothing=self.smoothing).at(scores)
        return _Iterate(coef, scores, point, self.problem.C * design.combine(point.gradient))

    # -- value, bound, status -----------------------------------------------------------------

    def _record(self, now: _Iterate) -> None:
        value = float(self.penalty @ np.abs(now.coef)) + self.problem.C * now.point.value
        if value < self.value:
            self.value, self.best = value, now.coef
        inner, C = now.point, self.problem.C
        scale = self._largest_scale(now.force)
        if self.hinge:
            bound = C * min(scale, 1.0) * inner.derivative_sum
        else:
            scale = min(scale, 0.5 * inner.derivative_sum / inner.value) if inner.value > 0 else 0.0
            bound = C * (scale * inner.derivative_sum - scale**2 * inner.value)
        self.bound = max(self.bound, bound)

    def _largest_scale(self, force: Floats) -> float:
        """How far the derivatives can be scaled before some |X^T (...)| exceeds its penalty."""
        size = np.abs(force)
        with np.errstate(divide="ignore"):
            return float((self.penalty / size).min(initial=np.inf)) if size.any() else math.inf

    def _status(self, iteration: int) -> Status | None:
        if relative_gap(self.value, self.bound) <= self.tol:
            return Status.OPTIMAL
        if not self.run.report(Progress(self.value, self.bound, iterations=iteration)):
            return self.run.stopped_by
        return Status.ITERATION_LIMIT if iteration == self.max_iter else None

    def _settled(self, now: _Iterate) -> bool:
        """Whether the smoothed problem is solved much better than the smoothing allows."""
        inner, C, mu = now.point, self.problem.C, self.smoothing
        penalty = float(self.penalty @ np.abs(now.coef))
        total, squares = inner.derivative_sum, inner.derivative_squares
        smooth_value = penalty + C * (total + float(inner.gradient @ now.scores) + mu * (total - squares))
        scale = min(self._largest_scale(now.force), 1.0)
        smooth_bound = C * ((1.0 + mu) * scale * total - mu * scale**2 * squares)
        plain_gap = penalty + C * inner.value - C * scale * total
        return smooth_value - smooth_bound < SETTLED * plain_gap

    # -- steps --------------------------------------------------------------------------------

    def _step(self, now: _Iterate) -> _Iterate | None:
        """Minimise the quadratic model plus the penalty, then look how far to go."""
        self._choose_columns(now)
        columns = self._columns
        matrix = pair_hessian(self._narrow, now.point)
        matrix *= self.problem.C
        matrix.flat[:: len(matrix) + 1] += 1e-12 * (1.0 + np.trace(matrix) / max(len(matrix), 1))
        step = self._model_minimum(matrix, now.force[columns], now.coef[columns], self.penalty[columns])
        direction = np.zeros_like(now.coef)
        direction[columns] = step
        return self._line_search(now, direction)

    def _choose_columns(self, now: _Iterate) -> None:
        """All features if they are few, else those in use and the worst violators."""
        design = self.problem.design
        if design.n_features <= DIRECT_LIMIT:
            self._columns = np.arange(design.n_features)
            return
        wrong = np.abs(now.force) - self.penalty
        used = np.flatnonzero((now.coef != 0) | np.isin(np.arange(len(wrong)), self._columns))
        room = max(50, len(used) // 2)
        worst = np.argsort(-wrong, kind="stable")[:room]
        columns = np.union1d(used, worst[wrong[worst] > 0])
        if not np.array_equal(columns, self._columns):
            self._columns = columns
            self._narrow = design.columns(columns)

    def _model_minimum(self, matrix: Floats, force: Floats, coef: Floats, penalty: Floats) -> Floats:
        from toprank.convex.algebra import _row_kernels as _pair_kernels

        step, image = np.zeros_like(coef), np.zeros_like(coef)
        wrong = np.where(coef != 0, np.abs(force + penalty * np.sign(coef)), np.abs(force) - penalty)
        tolerance = 1e-3 * max(float(wrong.max(initial=0.0)), 0.0)
        for _ in range(50):
            left = _pair_kernels.descend_coordinates(
                matrix, force, coef, penalty, step, image, SWEEPS, tolerance
            )
            if left <= tolerance or self.run.should_stop():
                break
        return step

    def _line_search(self, now: _Iterate, direction: Floats) -> _Iterate | None:
        """The longest of 1, 1/2, 1/4, ... at which the objective is not yet rising steeply."""
        start_slope = self._slope(now.coef, direction, now.force)
        if not start_slope < 0:
            return None
        move = self.problem.design.scores(direction)
        length = 1.0
        for _ in range(MAX_TRIALS):
            coef = now.coef + length * direction
            there = self._at(coef, now.scores + length * move)
            if -self._slope(coef, -direction, there.force) <= 0.5 * abs(start_slope):
                return there
            length *= 0.5
        return None

    def _slope(self, coef: Floats, direction: Floats, force: Floats) -> float:
        """The derivative of the objective when leaving `coef` in a direction."""
        size = np.where(coef != 0, np.sign(coef) * direction, np.abs(direction))
        return float(force @ direction + self.penalty @ size)

    # -- the last pairs -----------------------------------------------------------------------

    def _settle(self, now: _Iterate) -> bool:
        """Settle the pairs near the kink by a linear program; whether that closed the gap."""
        problem = self.problem
        fixed = fixed_pairs(problem.design, problem.pairs, problem.C, now.scores, self.smoothing)
        if fixed is None:
            return False
        self._choose_columns(now)
        columns = self._columns
        found = _linear_program(
            fixed.differences[:, columns], fixed.costs, fixed.force[columns], self.penalty[columns], self.run
        )
        if found is None:
            return False
        coef = np.zeros_like(now.coef)
        coef[self._columns], alpha = found
        value = float(self.penalty @ np.abs(coef)) + problem.C * problem.at(problem.design.scores(coef)).value
        if value < self.value:
            self.value, self.best = value, coef
        force = fixed.force + fixed.differences.T @ alpha
        scale = min(self._largest_scale(force), 1.0)
        self.bound = max(self.bound, scale * float(fixed.total + alpha.sum()))
        return relative_gap(self.value, self.bound) <= self.tol


def _linear_program(
    differences: Any, costs: Floats, force: Floats, penalty: Floats, run: Run
) -> tuple[Floats, Floats] | None:
    """Minimise penalty.|w| - force.w + costs.max(0, 1 - D w); w and the pairs' dual variables, or None."""
    import scipy.sparse as sp
    from scipy.optimize import linprog

    n_pairs, n_features = differences.shape
    rows: Any = sp.hstack([-sp.csr_array(differences), sp.csr_array(differences), -sp.eye_array(n_pairs)])
    cost = np.concatenate([penalty - force, penalty + force, costs])
    if not np.isfinite(cost).all():
        return None
    solve: Any = linprog
    options = {"time_limit": run.remaining()} if np.isfinite(run.remaining()) else {}
    solved = solve(
        cost, A_ub=rows.tocsr(), b_ub=-np.ones(n_pairs), bounds=(0, None), method="highs", options=options
    )
    if solved.status != 0:
        return None
    coef = solved.x[:n_features] - solved.x[n_features : 2 * n_features]
    return coef, np.clip(-solved.ineqlin.marginals, 0.0, costs)
