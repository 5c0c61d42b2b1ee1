"""Infinite Push, TopPush and their family on millions of rows: column generation with a duality gap.

The dual problem has one variable per row,

    max  - sum_i c_i loss*(a_i / c_i) - 1/2 | sum_i a_i x_i - sum_j b_j x_j |^2,
    0 <= b_j <= cap_j A,   sum b = sum a = A,

and almost all of them sit at an end of their interval. Each round decides most rows, solves the rest by an
interior-point method (`restricted` beside this file), scores all rows with the answer, and corrects the
decisions that turn out wrong (`parts`). The dual value of every round bounds the optimum from below.
Where many rows are active, a first answer comes from `start`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from toprank.control import Progress, Run, Status, relative_gap
from toprank.convex.algebra.row_systems import UndecidedRows, row_system
from toprank.convex.top_push.parts import (
    HingePositives,
    LogisticPositives,
    Negatives,
    PositivePart,
    Positives,
    SquaredPositives,
)
from toprank.convex.top_push.problem import Seen, TopPushPoint, TopPushProblem, best_between, certain
from toprank.convex.top_push.restricted import Restricted, RestrictedSolution, solve_restricted
from toprank.convex.top_push.start import first_answer, worth_a_start
from toprank.losses.top_push import Hinge, SquaredHinge

__all__ = ["TopPushSolution", "solve_top_push"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
STALLED = 8
SHRINKINGS = 40
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class TopPushSolution:
    """The best point found, the largest dual value (no w does better), and how it ended.

    Attributes
    ----------
    point : TopPushPoint or QueryPushPoint
        Its coefficients and value.
    bound : float
    status : Status
    rounds : int
    """

    point: Seen
    bound: float
    status: Status
    rounds: int

    @property
    def trivial(self) -> bool:
        """Whether w = 0 is the answer: the negatives that count surround the mean of the positives."""
        return self.status is Status.OPTIMAL and not self.point.coef.any()


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float,
    run: Run,
    max_iter: int = 1000,
    start: Floats | None = None,
) -> TopPushSolution:
    """Minimise to a relative duality gap of `tol`.

    Parameters
    ----------
    problem : TopPushProblem
    tol : float
    run : Run
    max_iter : int
        Most rounds.
    start : array, optional
        Coefficients to start from.
    """
    rounds = _Rounds(problem, start, tol, run)
    status = Status.OPTIMAL if rounds.closed(tol) else Status.ITERATION_LIMIT
    while status is not Status.OPTIMAL and rounds.count < max_iter:
        try:
            rounds.advance(tol, run)
        except LinAlgError:  # rounding has left nothing positive definite: the best so far is the answer
            status = Status.FINISHED
            break
        if rounds.closed(tol):
            status = Status.OPTIMAL
            break
        if not run.report(Progress(rounds.best.value, rounds.bound, iterations=rounds.count, phase="push")):
            status = run.stopped_by or Status.STOPPED
            break
        if rounds.stalled >= STALLED:
            status = Status.FINISHED
            break
    # Rounding may lift a bound a hair above the value it meets.
    return TopPushSolution(rounds.best, min(rounds.bound, rounds.best.value), status, rounds.count)


class _Rounds:
    """The state between rounds: the best point, the bound, and the decisions on both classes."""

    def __init__(self, problem: TopPushProblem, start: Floats | None, tol: float, run: Run) -> None:
        self.problem = problem
        self.best = problem.zero()
        self.bound, parts = 0.0, None
        if start is None and worth_a_start(problem):
            answer = first_answer(problem, tol=tol, run=run)
            start, parts, self.best, self.bound = answer.coef, answer.parts, answer.best, answer.bound
        first = problem.at(problem.mean_difference() if start is None else start)
        if start is not None and first.value < self.best.value:
            self.best = first
        self.positives: Positives
        if isinstance(problem.surrogate, Hinge):
            self.positives = HingePositives(problem, self.best)
        elif isinstance(problem.surrogate, SquaredHinge):
            self.positives = SquaredPositives(problem, self.best)
        else:
            self.positives = LogisticPositives(problem, self.best, run.rng)
        self.negatives = Negatives(problem, first.negative_scores, parts)
        self.count = 0
        self.stalled = 0

    @property
    def gap(self) -> float:
        return relative_gap(self.best.value, self.bound)

    def closed(self, tol: float) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= certain(self.best, tol)

    def advance(self, tol: float, run: Run) -> None:
        """One round: solve the restricted problem, look at all rows, correct the decisions."""
        before, value = self.gap, self.best.value
        tol = certain(self.best, tol)
        part, free = self.positives.part(), self.negatives.free
        # A round that changed nothing is repeated with more digits.
        accuracy = max(0.03 * before, 0.3 * tol) * value * 0.1**self.stalled
        answer = self._solve(part, free, accuracy, run)
        self.bound = max(self.bound, answer.bound)
        self.best = best_between(self.best, answer.point)
        n_pos = len(part.free)
        wrong = self.positives.update(self.best, answer.point, part.free, answer.y[:n_pos])
        wrong += self.negatives.update(
            answer.point.negative_scores, answer.cutoff, free, -answer.y[n_pos:] / max(answer.mass, TINY)
        )
        self.count += 1
        better = self.gap < 0.99 * before or self.best.value < 0.999 * value
        self.stalled = 0 if wrong or better else self.stalled + 1

    def _solve(self, part: PositivePart, free: Rows, accuracy: float, run: Run) -> _Answer:
        problem = self.problem
        shares = self.negatives.shares
        numbers = np.concatenate([problem.positives[part.free], problem.negatives[free]])
        # T is measured from the center where it has a slope, so are the positives then.
        shift = part.center if part.curvature > 0.0 else None
        rows = UndecidedRows(problem.rows(numbers), shift=shift, count=len(part.free))
        tilt = part.center
        if shares.any():
            tilt = tilt - problem.combine(np.zeros(len(problem.positives)), shares)
        base, lean = part.metric.solve(part.pull), part.metric.solve(tilt)
        restricted = Restricted(
            system=row_system(rows, part.metric),
            base_scores=rows.times(base),
            costs=part.costs,
            caps=None if problem.caps is None else problem.caps[free],
            mass=part.mass,
            share=1.0 - float(shares.sum()),
            tilt_scores=rows.times(lean),
            tilt_base=float(tilt @ base),
            tilt_square=float(tilt @ lean),
            curvature=part.curvature,
            start_mass=part.start_mass,
            soft=isinstance(problem.surrogate, SquaredHinge),
        )
        solution = solve_restricted(restricted, tol=accuracy, run=run)
        coef = base + solution.mass * lean + part.metric.solve(rows.transposed(solution.y))
        return self._answer(part, free, solution, shares, coef)

    def _answer(
        self, part: PositivePart, free: Rows, solution: RestrictedSolution, shares: Floats, coef: Floats
    ) -> _Answer:
        """Score all rows with the coefficients of a restricted problem and bound the optimum."""
        problem, y, n_pos = self.problem, solution.y, len(part.free)
        point = problem.at(coef)
        level = solution.level + float(part.center @ coef)
        dual = self.positives.dual(part.free, y[:n_pos], point.positive_scores, level)
        pull = coef
        if part.curvature > 0.0:
            shares[free] = -y[n_pos:] / max(solution.mass, TINY)
            pull = problem.combine(dual, -dual.sum() * shares / shares.sum())
        bound = _dual_value(problem, dual, float(pull @ pull))
        return _Answer(point, bound, solution.cutoff, solution.mass, y)


@dataclass(frozen=True)
class _Answer:
    """What a restricted problem says about the whole one."""

    point: TopPushPoint
    bound: float
    cutoff: float
    mass: float
    y: Floats


def _dual_value(problem: TopPushProblem, dual: Floats, square: float) -> float:
    """The dual value of a and b, or of half of them, a quarter, ... while that is better.

    It is concave in the multiple and zero at zero, so some multiple of every dual point says something.
    """
    best, scale = -np.inf, 1.0
    for _ in range(SHRINKINGS):
        conjugates = problem.surrogate.conjugate(scale * dual / problem.costs)
        value = -float(problem.costs @ conjugates) - 0.5 * scale * scale * square
        if value <= best:
            break
        best, scale = value, 0.5 * scale
    return max(best, 0.0)
