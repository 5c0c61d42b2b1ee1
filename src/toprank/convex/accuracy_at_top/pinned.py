"""Accuracy at the Top with the quantile pinned to one item: a support vector machine without intercept.

With the quantile pinned to the score of z_k, every item only matters relative to it. For rows r_i = y_i
(z_i - z_k) and costs c_i, problem (2) of Boyd, Cortes, Mohri and Radovanovic (2012) and its dual (3) are

    min  1/2 |w|^2 + sum_i c_i (1 - r_i.w)_+           max  sum_i a_i - 1/2 |R^T a|^2,   0 <= a_i <= c_i,

with w = R^T a at the optimum. Mehrotra's predictor-corrector solves both at once. Each step factorises one
matrix: d x d when there are fewer features than rows, n x n when only inner products are known (their dual
(4)).

Every w = R^T a of a dual point a is close to the optimum w* when its duality gap is small: the primal is
strongly convex in w and the dual strongly concave in R^T a, so |w - w*|^2 <= gap.

Doubles hold w = R^T a to so many digits only: the relative gap cannot be expected below about 1e-14 times
the sum of the costs times the largest |r_i|^2. Features of unit spread stay clear of that, features in the
thousands may not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from toprank.convex.algebra.row_systems import GramSystem

__all__ = ["FeatureRows", "GramRows", "PinnedRows", "PinnedSolution", "solve_pinned"]

Floats = NDArray[np.float64]
MAX_STEPS = 100
TO_BOUNDARY = 0.995
SMALLEST_STEP = 1e-13
SMALLEST_PART = 1e-13
PATIENCE = 3
"""Steps without a better gap before rounding is taken to have the last word."""
POLISH_FROM = 1e-4
"""Relative gap from which on the rows at a bound are guessed."""
NO_FURTHER = 0.1
"""The complementarity products need not fall below this share of the gap that is asked for."""
STIFF = 1e8
"""Trace of R^T D R from which on a solution is refined."""
REFINEMENTS = 3
MOST_FREE = 400
FEW = 40
"""No guess with more rows on the margin than are independent, unless they are few, nor with too many."""


class PinnedRows(Protocol):
    """The rows R of a pinned problem, known by themselves or by their inner products."""

    @property
    def rank(self) -> int:
        """No more than so many rows are linearly independent."""
        ...

    def margins(self, dual: Floats) -> Floats:
        """R R^T a: the margin of each row under w = R^T a."""
        ...

    def gram(self, some: NDArray[np.intp]) -> Floats:
        """The inner products of some rows."""
        ...

    def factor(self, weights: Floats) -> None:
        """Prepare for the diagonal D = weights."""
        ...

    def solve(self, right: Floats) -> Floats:
        """The solution of (D^-1 + R R^T) y = right."""
        ...


class FeatureRows:
    """Rows in full, for fewer features than rows: factorises I + R^T D R.

    >>> rows = FeatureRows(np.array([[1.0], [2.0]]))
    >>> rows.margins(np.array([1.0, 0.5]))
    array([2., 4.])
    """

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    @property
    def rank(self) -> int:
        return min(self.rows.shape)

    def margins(self, dual: Floats) -> Floats:
        return self.rows @ (dual @ self.rows)

    def gram(self, some: NDArray[np.intp]) -> Floats:
        return self.rows[some] @ self.rows[some].T

    def factor(self, weights: Floats) -> None:
        self._weights = weights
        scaled = self.rows * np.sqrt(weights)[:, np.newaxis]
        matrix = scaled.T @ scaled
        self._stiff = float(np.trace(matrix)) > STIFF
        matrix.flat[:: len(matrix) + 1] += 1.0
        self._factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, right: Floats) -> Floats:
        solution = self._solve_once(right)
        # Heavy rows cost digits; the residuals give them back.
        for _ in range(REFINEMENTS if self._stiff else 0):
            solution += self._solve_once(right - solution / self._weights - self.margins(solution))
        return solution

    def _solve_once(self, right: Floats) -> Floats:
        move = cho_solve(self._factor, (self._weights * right) @ self.rows, check_finite=False)
        return self._weights * (right - self.rows @ move)


class GramRows(GramSystem):
    """Rows known by their inner products R R^T, for kernels and for more features than rows.

    >>> GramRows(np.array([[1.0, 2.0], [2.0, 4.0]])).margins(np.array([1.0, 0.5]))
    array([2., 4.])
    """

    @property
    def rank(self) -> int:
        return len(self._gram)

    def margins(self, dual: Floats) -> Floats:
        return self.times(dual)

    def gram(self, some: NDArray[np.intp]) -> Floats:
        return self._gram[np.ix_(some, some)]

    def solve(self, right: Floats) -> Floats:
        return super().solve(right[:, np.newaxis])[:, 0]


@dataclass(frozen=True)
class PinnedSolution:
    """A dual point, the margins of the rows under its w = R^T a, and both values.

    Attributes
    ----------
    dual : array
        a, one number in [0, c_i] for each row.
    margins : array
        r_i.w of each row.
    value, bound : float
        The objective (2) at w and the dual objective (3) at a.
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


def solve_pinned(
    rows: PinnedRows,
    costs: Floats,
    *,
    tol: float,
    gap: float = 0.0,
    targets: Floats | float = 1.0,
    max_steps: int = MAX_STEPS,
    should_stop: Callable[[], bool] | None = None,
) -> PinnedSolution:
    """Solve a pinned problem until its duality gap is small enough.

    Parameters
    ----------
    rows : PinnedRows
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

    >>> answer = solve_pinned(FeatureRows(np.array([[1.0], [1.0]])), np.array([1.0, 1.0]), tol=1e-9)
    >>> answer.margins.round(6), round(answer.value, 6), round(answer.bound, 6)
    (array([1., 1.]), 0.5, 0.5)
    """
    wanted = np.broadcast_to(np.float64(targets), costs.shape)
    best = _iterate(_Point(rows, costs, wanted), tol, gap, max_steps, should_stop)
    if best.gap <= max(gap, tol * best.value) or (should_stop is not None and should_stop()):
        return best
    # Long rows with high prices: the quick start is so far from feasible that rounding wins. Now with care.
    other = _iterate(_Point(rows, costs, wanted, careful=True), tol, gap, max_steps, should_stop)
    return other if other.gap < best.gap else best


def _iterate(
    point: _Point, tol: float, gap: float, max_steps: int, should_stop: Callable[[], bool] | None
) -> PinnedSolution:
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
        if enough < now.gap and min(now.gap, point.products) <= POLISH_FROM * min(now.value, abs(now.bound)):
            exact = point.polished(step)
            now = exact if exact is not None and exact.gap < now.gap else now
        if now.gap < best.gap:
            best, stalled = now, 0
        elif point.products <= enough:
            stalled += 1
        if length < SMALLEST_STEP:
            break
    return best


class _Point:
    """An interior point: a and c - a, with their partners zeta = r.w - 1 + xi and xi."""

    def __init__(self, rows: PinnedRows, costs: Floats, targets: Floats, *, careful: bool = False) -> None:
        self.rows, self.costs, self.targets = rows, costs, targets
        # In the middle of the box; the slacks are those of w = 0, which the first steps bring into line.
        self.a, self.f = 0.5 * costs, 0.5 * costs
        self.margins = rows.margins(self.a)
        self.zeta, self.xi = np.ones(len(costs)), np.full(len(costs), 2.0)
        if careful:
            self._start_feasible()

    def _start_feasible(self) -> None:
        """The best multiple of the costs, by an exact line search in the dual, with slacks that fit."""
        curvature = float(self.a @ self.margins)
        part = min(1.0, max(float(self.a @ self.targets), 0.0) / curvature) if curvature > 0.0 else 1.0
        part = max(part, SMALLEST_PART)
        self.a, self.margins = part * self.a, part * self.margins
        self.f = self.costs - self.a
        lack = self.targets - self.margins
        self.xi = np.maximum(lack, 0.0) + 1.0
        self.zeta = self.xi - lack

    @property
    def products(self) -> float:
        """The sum of the complementarity products: the gap, where the slacks fit the margins."""
        return float(self.a @ self.zeta + self.f @ self.xi)

    def solution(self, steps: int) -> PinnedSolution:
        """Both values at w = R^T a, with the smallest slacks that w allows."""
        return self._solution(self.a, self.margins, steps)

    def polished(self, steps: int) -> PinnedSolution | None:
        """The optimum, if the interior point already tells which rows are at a bound; else a worse point.

        Rows on the margin, and only those, have a strictly between 0 and c: that is one linear system.
        """
        upper = self.f < self.xi * self.costs
        free = np.flatnonzero(~upper & (self.a >= self.zeta * self.costs))
        if len(free) > min(max(self.rows.rank, FEW), MOST_FREE):
            return None
        dual = np.where(upper, self.costs, 0.0)
        lack = self.targets[free] - self.rows.margins(dual)[free]
        answer = np.linalg.lstsq(self.rows.gram(free), lack, rcond=None)[0]
        dual[free] = np.clip(answer, 0.0, self.costs[free])
        return self._solution(dual, self.rows.margins(dual), steps)

    def _solution(self, dual: Floats, margins: Floats, steps: int) -> PinnedSolution:
        half = 0.5 * float(dual @ margins)
        value = half + float(self.costs @ np.maximum(self.targets - margins, 0.0))
        return PinnedSolution(dual, margins, value, float(dual @ self.targets) - half, steps)

    def advance(self, least: float) -> float:
        """One predictor-corrector step; returns its length.

        No product is aimed below `least`: small ones make the system stiff and cost the margins their digits.
        """
        a, f, zeta, xi = self.a, self.f, self.zeta, self.xi
        self.rows.factor(1.0 / (zeta / a + xi / f))
        lack = zeta - self.margins + self.targets - xi
        on_a, on_f = -a * zeta, -f * xi
        predictor = self._direction(on_a, on_f, lack)
        length = self._longest(*predictor)
        now = self.products
        da, dzeta, dxi = predictor
        reached = (a + length * da) @ (zeta + length * dzeta) + (f - length * da) @ (xi + length * dxi)
        center = max(float((reached / now) ** 3) * now / (2 * len(a)), least)
        da, dzeta, dxi = self._direction(on_a + center - da * dzeta, on_f + center + da * dxi, lack)
        length = min(1.0, TO_BOUNDARY * self._longest(da, dzeta, dxi))
        self._move(length, da, dzeta, dxi)
        return length

    def _direction(self, on_a: Floats, on_f: Floats, lack: Floats) -> tuple[Floats, Floats, Floats]:
        """Newton's direction for a zeta = now + on_a, (c - a) xi = now + on_f, and feasible slacks."""
        ratio_a, ratio_f = on_a / self.a, on_f / self.f
        da = self.rows.solve(ratio_a - ratio_f + lack)
        return da, ratio_a - self.zeta / self.a * da, ratio_f + self.xi / self.f * da

    def _longest(self, da: Floats, dzeta: Floats, dxi: Floats) -> float:
        """The longest step of at most one that keeps everything non-negative."""
        part = da / self.a
        worst = max(-part.min(), (da / self.f).max(), -(dzeta / self.zeta).min(), -(dxi / self.xi).min(), 1.0)
        return 1.0 / float(worst)

    def _move(self, length: float, da: Floats, dzeta: Floats, dxi: Floats) -> None:
        self.a = self.a + length * da
        self.f = self.f - length * da
        self.zeta = self.zeta + length * dzeta
        self.xi = self.xi + length * dxi
        # From scratch: what rounding took from the margins is put right by the next step.
        self.margins = self.rows.margins(self.a)
