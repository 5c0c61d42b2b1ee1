"""Minimise 1/2 |w|^2 + C loss(X w) by Newton's method, with a bound on the distance to the optimum.

The objective F is strongly convex with constant one, so ``F(w) - 1/2 |grad F(w)|^2`` is a lower bound on its
minimum at every w. Newton systems are factorised for few features and solved by conjugate gradients for
many (Chapelle and Keerthi 2010); the line search looks at the derivative, which stays exact where
differences of values have drowned in rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from toprank.control import Outcome, Progress, Run, Status, relative_gap
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.linear_systems import Factor, conjugate_gradients

__all__ = [
    "Iterate",
    "ScorePoint",
    "SmoothProblem",
    "minimise",
    "newton_step",
    "start_at",
]

Floats = NDArray[np.float64]
MAX_TRIALS = 25
ROUNDING = 1e-15
"""Gaps below this, relative to the objective, are lost in its rounding."""


class ScorePoint(Protocol):
    """A loss at one vector of scores."""

    @property
    def value(self) -> float:
        """The loss."""
        ...

    @property
    def gradient(self) -> Floats:
        """Its derivative with respect to the scores."""
        ...

    @property
    def curvature(self) -> Floats:
        """The diagonal of its Hessian with respect to the scores, or an upper bound on it."""
        ...

    def curvature_product(self, direction: Floats) -> Floats:
        """Its Hessian with respect to the scores times a direction."""
        ...


Point = TypeVar("Point", bound=ScorePoint)


class SmoothProblem(Protocol[Point]):
    """A convex loss of the scores X w, differentiable once and twice almost everywhere, and its weight C."""

    @property
    def design(self) -> Design:
        """The rows X."""
        ...

    @property
    def C(self) -> float:
        """What the loss is multiplied by."""
        ...

    def at(self, scores: Floats) -> Point:
        """The loss, without C, at given scores."""
        ...

    def hessian(self, point: Point) -> Floats:
        """The d x d matrix X^T (Hessian of the loss, without C) X."""
        ...


@dataclass(frozen=True)
class Iterate(Generic[Point]):
    """Coefficients, their scores, the loss there, and value and gradient of the whole objective."""

    coef: Floats
    scores: Floats
    point: Point
    value: float
    gradient: Floats

    @property
    def bound(self) -> float:
        """A lower bound on the minimum, by strong convexity."""
        return self.value - 0.5 * float(self.gradient @ self.gradient)


def start_at(
    problem: SmoothProblem[Point], coef: Floats, scores: Floats | None = None, point: Point | None = None
) -> Iterate[Point]:
    """The iterate at given coefficients; scores and loss are computed where they are not known."""
    if scores is None:
        scores = problem.design.scores(coef)
    if point is None:
        point = problem.at(scores)
    value = 0.5 * float(coef @ coef) + problem.C * point.value
    gradient = coef + problem.C * problem.design.combine(point.gradient)
    return Iterate(coef, scores, point, value, gradient)


def minimise(
    problem: SmoothProblem[Point], start: Floats, run: Run, *, tol: float, max_iter: int
) -> tuple[Iterate[Point], Outcome]:
    """Newton's method until the relative gap between value and bound is at most `tol`."""
    now = start_at(problem, start)
    status: Status | None = None
    for iteration in range(max_iter + 1):
        lost = max(ROUNDING * abs(now.value), ROUNDING**2 * problem.C)
        bound = now.bound if now.value - now.bound > lost else now.value
        status = _state(now.value, bound, run, tol, iteration, max_iter)
        following = newton_step(problem, now) if status is None else None
        if following is None:
            break
        now = following
    notes: tuple[str, ...] = ()
    if status is None:
        notes = ("Rounding errors leave no way further down.",)
    return now, Outcome(now.value, bound, status or Status.FINISHED, run.seconds, iteration, notes)


def _state(value: float, bound: float, run: Run, tol: float, iteration: int, max_iter: int) -> Status | None:
    if relative_gap(value, bound) <= tol:
        return Status.OPTIMAL
    if not run.report(Progress(value, bound, iterations=iteration)):
        return run.stopped_by
    return Status.ITERATION_LIMIT if iteration == max_iter else None


def newton_step(problem: SmoothProblem[Point], now: Iterate[Point]) -> Iterate[Point] | None:
    """One Newton step with a line search; None when rounding leaves no way down."""
    direction = _direction(problem, now)
    slope = float(now.gradient @ direction)
    if not slope < 0:
        return None
    move = problem.design.scores(direction)
    found = _line_search(problem, now, direction, move, slope)
    if found is None:
        return None
    length, point = found
    return start_at(problem, now.coef + length * direction, now.scores + length * move, point)


def _direction(problem: SmoothProblem[Point], now: Iterate[Point]) -> Floats:
    design, C = problem.design, problem.C
    if design.direct:
        matrix = problem.hessian(now.point)
        matrix *= C
        matrix.flat[:: len(matrix) + 1] += 1.0
        try:
            return -Factor(matrix).solve(now.gradient)
        except LinAlgError:
            return -now.gradient
    diagonal = 1.0 + C * design.column_squares(now.point.curvature)
    product = _hessian_product(problem, now.point)
    size = float(np.sqrt(now.gradient @ now.gradient))
    return conjugate_gradients(product, -now.gradient, diagonal, min(0.1, float(np.sqrt(size))))


def _hessian_product(problem: SmoothProblem[Point], point: Point) -> Callable[[Floats], Floats]:
    """The Hessian of the objective times a vector; rows without curvature are left out."""
    design, C = problem.design, problem.C
    curved = np.flatnonzero(point.curvature)
    if not design.in_memory or 2 * len(curved) > design.n_rows:
        return lambda v: np.asarray(v + C * design.combine(point.curvature_product(design.scores(v))))
    rows = design.X[curved]
    scores = np.zeros(design.n_rows)

    def product(v: Floats) -> Floats:
        scores[curved] = rows @ v
        return np.asarray(v + C * (point.curvature_product(scores)[curved] @ rows))

    return product


def _line_search(
    problem: SmoothProblem[Point], now: Iterate[Point], direction: Floats, move: Floats, start_slope: float
) -> tuple[float, Point] | None:
    """A step length at which the derivative along the direction has shrunk enough, and the loss there."""
    linear, quadratic = float(now.coef @ direction), float(direction @ direction)
    low, low_slope = 0.0, start_slope
    high, high_slope = np.inf, np.inf
    length = 1.0
    for _ in range(MAX_TRIALS):
        point = problem.at(now.scores + length * move)
        slope = linear + length * quadratic + problem.C * float(point.gradient @ move)
        if -0.9 * abs(start_slope) <= slope <= 0.5 * abs(start_slope):
            return length, point
        if slope < 0:
            low, low_slope = length, slope
        else:
            high, high_slope = length, slope
        length = _next_length(low, low_slope, high, high_slope)
    return None if low == 0.0 else (low, problem.at(now.scores + low * move))


def _next_length(low: float, low_slope: float, high: float, high_slope: float) -> float:
    """The secant's zero, kept well inside the bracket; doubling while there is no upper end."""
    if not np.isfinite(high):
        return 2.0 * low
    zero = low - low_slope * (high - low) / (high_slope - low_slope)
    margin = 0.05 * (high - low)
    return min(max(zero, low + margin), high - margin)
