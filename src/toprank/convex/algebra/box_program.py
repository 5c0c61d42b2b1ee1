"""Support vector machines without intercept: a quadratic program over a box, by an interior-point method.

For rows r_i, known by themselves or by their inner products K, with costs c_i and targets t_i, the problem
and its dual are

    min  1/2 |w|^2 + sum_i c_i (t_i - r_i.w)_+        max  sum_i t_i a_i - 1/2 |R^T a|^2,   0 <= a_i <= c_i,

with w = R^T a at the optimum. Each step factorises one matrix, d x d or n x n (`row_systems`).

Every w = R^T a of a dual point a is close to the optimum w* when its duality gap is small: the primal is
strongly convex in w and the dual strongly concave in R^T a, so |w - w*|^2 <= gap.

Doubles hold w = R^T a to so many digits only: the relative gap cannot be expected below about 1e-14 times
the sum of the costs times the largest |r_i|^2. Features of unit spread stay clear of that, features in the
thousands may not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from toprank.convex.algebra.interior_point import InteriorPoint, Step
from toprank.convex.algebra.row_systems import RowSystem

__all__ = ["BoxSolution", "box_program"]

Floats = NDArray[np.float64]
MAX_STEPS = 100
SMALLEST_STEP = 1e-13
SMALLEST_PART = 1e-13
PATIENCE = 3
"""Steps without a better gap before rounding is taken to have the last word."""
GUESS_FROM = 1e-4
"""Relative gap from which on the rows at a bound are guessed."""
NO_FURTHER = 0.1
"""The complementarity products need not fall below this share of the gap that is asked for."""
MOST_FREE = 400
FEW = 40
"""No guess with more rows on the margin than are independent, unless they are few, nor with too many."""


@dataclass(frozen=True)
class BoxSolution:
    """A dual point, the margins of the rows under its w = R^T a, and both values.

    Attributes
    ----------
    dual : array
        a, one number in [0, c_i] for each row.
    margins : array
        r_i.w of each row.
    value, bound : float
        The objective at w and the dual objective at a.
    steps : int
        Interior-point steps made.
    """

    dual: Floats
    margins: Floats
    value: float
    bound: float
    steps: int

    @property
    def gap(self) -> float:
        """The duality gap, never negative."""
        return max(self.value - self.bound, 0.0)

    @property
    def radius(self) -> float:
        """The optimum w* is no further than this from w."""
        return float(np.sqrt(self.gap))


def box_program(
    system: RowSystem,
    costs: Floats,
    *,
    tol: float,
    gap: float = 0.0,
    targets: Floats | float = 1.0,
    max_steps: int = MAX_STEPS,
    should_stop: Callable[[], bool] | None = None,
) -> BoxSolution:
    """Solve a program until its duality gap is small enough, or as far as rounding lets it.

    Parameters
    ----------
    system : RowSystem
        The rows, with K = R R^T.
    costs : array
        c_i > 0, the price of one unit of lacking margin.
    tol, gap : float
        It ends with a duality gap of at most `gap`, or `tol` times the value.
    targets : array or float
        The margin each row should have. Rows that surely pay can be left out: with w_0 = sum of c_i r_i
        over them, the rest is the same problem in w - w_0 with the targets 1 - r_i.w_0.
    max_steps : int
    should_stop : callable, optional
        Asked before every step; the best point so far is the answer when it says yes.

    Examples
    --------
    Two rows on a line, both with margin w; the first unit of margin is worth its price:

    >>> from toprank.convex.algebra.row_systems import FeatureSystem
    >>> answer = box_program(FeatureSystem(np.array([[1.0], [1.0]])), np.array([1.0, 1.0]), tol=1e-9)
    >>> answer.margins.round(6), round(answer.value, 6), round(answer.bound, 6)
    (array([1., 1.]), 0.5, 0.5)
    """
    wanted = np.broadcast_to(np.float64(targets), costs.shape)
    best = _iterate(_BoxPoint(system, costs, wanted), tol, gap, max_steps, should_stop)
    if best.gap <= max(gap, tol * best.value) or (should_stop is not None and should_stop()):
        return best
    # Long rows with high prices: the quick start is so far from feasible that rounding wins. Now with care.
    other = _iterate(_BoxPoint(system, costs, wanted, careful=True), tol, gap, max_steps, should_stop)
    return other if other.gap < best.gap else best


def _iterate(
    point: _BoxPoint, tol: float, gap: float, max_steps: int, should_stop: Callable[[], bool] | None
) -> BoxSolution:
    """Steps until the gap is small, rounding has the last word, or someone says stop."""
    best, stalled = point.solution(0), 0
    for step in range(1, max_steps + 1):
        done = best.gap <= max(gap, tol * best.value)
        if done or stalled >= PATIENCE or (should_stop is not None and should_stop()):
            break
        # The value is far too large at first: what is left to do is seen from the bound.
        enough = max(gap, tol * best.bound)
        try:
            length = point.advance(NO_FURTHER * enough / (2 * len(point.costs)))
        except LinAlgError:
            break
        now = point.solution(step)
        if enough < now.gap and min(now.gap, point.products) <= GUESS_FROM * min(now.value, abs(now.bound)):
            exact = point.guessed(step)
            now = exact if exact is not None and exact.gap < now.gap else now
        if now.gap < best.gap:
            best, stalled = now, 0
        elif point.products <= enough:
            stalled += 1
        if length < SMALLEST_STEP:
            break
    return best


class _BoxPoint(InteriorPoint):
    """`dual` stacks a and c - a, `slack` their partners zeta = r.w - t + xi and xi."""

    def __init__(self, system: RowSystem, costs: Floats, targets: Floats, *, careful: bool = False) -> None:
        self.system, self.costs, self.targets = system, costs, targets
        self._count = len(costs)
        # In the middle of the box; the slacks are those of w = 0, which the first steps bring into line.
        half = 0.5 * costs
        self.margins = system.times(half)
        self.dual = np.concatenate([half, half])
        self.slack = np.repeat([1.0, 2.0], self._count)
        if careful:
            self._start_feasible(half)

    def _start_feasible(self, half: Floats) -> None:
        """The best multiple of the costs, by an exact line search in the dual, with slacks that fit."""
        curvature = float(half @ self.margins)
        part = min(1.0, max(float(half @ self.targets), 0.0) / curvature) if curvature > 0.0 else 1.0
        part = max(part, SMALLEST_PART)
        self.margins = part * self.margins
        self.dual = np.concatenate([part * half, self.costs - part * half])
        lack = self.targets - self.margins
        loss = np.maximum(lack, 0.0) + 1.0
        self.slack = np.concatenate([loss - lack, loss])

    def solution(self, steps: int) -> BoxSolution:
        """Both values at w = R^T a, with the smallest slacks that w allows."""
        return self._solution(self.dual[: self._count], self.margins, steps)

    def guessed(self, steps: int) -> BoxSolution | None:
        """The optimum, if the interior point already tells which rows are at a bound; else a worse point.

        Rows on the margin, and only those, have a strictly between 0 and c: that is one linear system.
        """
        n, scale = self._count, self.slack * np.tile(self.costs, 2)
        small = self.dual < scale
        upper = small[n:]
        free = np.flatnonzero(~upper & ~small[:n])
        if len(free) > min(max(self.system.rank, FEW), MOST_FREE):
            return None
        dual = np.where(upper, self.costs, 0.0)
        lack = self.targets[free] - self.system.times(dual)[free]
        answer = np.linalg.lstsq(self.system.gram(free), lack, rcond=None)[0]
        dual[free] = np.clip(answer, 0.0, self.costs[free])
        return self._solution(dual, self.system.times(dual), steps)

    def _solution(self, dual: Floats, margins: Floats, steps: int) -> BoxSolution:
        half = 0.5 * float(dual @ margins)
        value = half + float(self.costs @ np.maximum(self.targets - margins, 0.0))
        return BoxSolution(dual, margins, value, float(dual @ self.targets) - half, steps)

    def _linearise(self, target: Floats) -> Step:
        n = self._count
        self._ratio = self.slack / self.dual
        self.system.factor(1.0 / (self._ratio[:n] + self._ratio[n:]))
        self._lack = self.slack[:n] - self.slack[n:] + self.targets - self.margins
        return self._direction(target)

    def _direction(self, target: Floats) -> Step:
        n, push = self._count, target / self.dual
        change = self.system.solve(push[:n] - push[n:] + self._lack)
        dual = np.concatenate([change, -change])
        return Step(dual, push - self._ratio * dual)

    def _move(self, step: Step, length: float) -> None:
        super()._move(step, length)
        # From scratch: what rounding took from the margins is put right by the next step.
        self.margins = self.system.times(self.dual[: self._count])
