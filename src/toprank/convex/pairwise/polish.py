"""Settle the pairs near the kink of the hinge one by one, by an interior-point method.

With the pairs far above and far below the kink fixed, what is left of the RankSVM dual is a quadratic program
in the few pairs k between them (Agarwal 2011, (4.20), on those pairs):

    max  sum_k alpha_k - 1/2 |g + D^T alpha|^2,   0 <= alpha_k <= c_k,

where the rows of D are the differences x_i - x_j and g collects the fixed pairs. Its answer is dual
feasible for the whole problem, so it gives a bound whether or not the right pairs were fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.row_systems import Identity, UndecidedRows, row_system
from toprank.losses.pairs import Pairs
from toprank.losses.pairwise import PairPoint, pairs_beyond, pairwise_loss

__all__ = ["PAIR_LIMIT", "FixedPairs", "box_program", "fixed_pairs", "polish"]

Floats = NDArray[np.float64]
PAIR_LIMIT = 4000
MAX_STEPS = 80
TO_BOUNDARY = 0.995


@dataclass(frozen=True)
class FixedPairs:
    """The pairs near the kink, and what all others add up to when fixed at 0 or at their full weight.

    Parameters
    ----------
    differences : array or sparse matrix of shape (n_pairs, n_features)
        x_i - x_j of the pairs near the kink.
    costs : array of shape (n_pairs,)
        Their full weights, C included.
    force, total : array of shape (n_features,), float
        Sum of weight * (x_i - x_j), and of the weights, of the fixed pairs.
    """

    differences: Any
    costs: Floats
    force: Floats
    total: float


def fixed_pairs(
    design: Design, pairs: Pairs, C: float, scores: Floats, smoothing: float
) -> FixedPairs | None:
    """The pairs near the kink, in a zone as wide as their number allows; None when there are too many."""
    point = _widest_zone(pairs, scores, smoothing)
    if point is None:
        return None
    uppers, lowers, weight = point.zone_pairs()
    weighed = weight > 0
    uppers, lowers, costs = uppers[weighed], lowers[weighed], C * weight[weighed]
    differences = design.X[uppers] - design.X[lowers]
    above = pairs_beyond(pairs, scores, 0.5 / point.slope)
    return FixedPairs(differences, costs, -C * design.combine(above.gradient), C * above.derivative_sum)


def polish(
    design: Design, pairs: Pairs, C: float, scores: Floats, smoothing: float, run: Run
) -> tuple[Floats, float] | None:
    """Better coefficients and a bound from the pairs near the kink; None when there are too many."""
    fixed = fixed_pairs(design, pairs, C, scores, smoothing)
    if fixed is None:
        return None
    alpha = box_program(fixed.differences, fixed.costs, fixed.force, run)
    coef = fixed.force + fixed.differences.T @ alpha
    return coef, float(fixed.total + alpha.sum() - 0.5 * coef @ coef)


def _widest_zone(pairs: Pairs, scores: Floats, smoothing: float) -> PairPoint | None:
    widths = [smoothing * factor for factor in (10.0, 3.0, 1.0)]
    if pairs.count <= PAIR_LIMIT:
        widths = [2.0 * float(np.ptp(scores)) + 4.0]
    for width in widths:
        point = pairwise_loss(pairs, scores, smoothing=width)
        if point.n_zone_pairs <= PAIR_LIMIT:
            return point
    return None


def box_program(rows: Any, costs: Floats, force: Floats, run: Run) -> Floats:
    """Maximise sum(alpha) - 1/2 |force + rows^T alpha|^2 over 0 <= alpha <= costs, to rounding.

    Mehrotra's predictor-corrector on alpha and the multipliers of its two bounds.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
    costs : array of shape (n,), positive
    force : array of shape (d,)
    run : Run
        Looked at for the stop button only.

    Examples
    --------
    >>> box_program(np.array([[2.0], [0.5]]), np.ones(2), np.zeros(1), Run()).round(6)
    array([0., 1.])
    """
    if not len(costs):
        return np.zeros(0)
    system = row_system(UndecidedRows(rows), Identity())
    base = np.asarray(rows @ force) - 1.0
    point = _BoxPoint.start(base, costs, system)
    accuracy = 1e-15 * (1.0 + float(np.abs(base).max(initial=0.0)))
    for _ in range(MAX_STEPS):
        # Relative to alpha: with large features it is small beside its upper end.
        if point.gap <= accuracy * float(point.alpha.sum()) or run.should_stop():
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            following = point.step()
        if following is None:
            break
        point = following
    return np.clip(point.alpha, 0.0, costs)


@dataclass(frozen=True)
class _BoxPoint:
    """Alpha, its distance from the upper bound, and the multipliers of both bounds."""

    alpha: Floats
    room: Floats
    lower: Floats
    upper: Floats
    system: Any

    @classmethod
    def start(cls, base: Floats, costs: Floats, system: Any) -> _BoxPoint:
        alpha = 0.5 * costs
        slope = base + system.times(alpha)
        lift = 1e-2 + float(np.abs(slope).mean())
        return cls(
            alpha, costs - alpha, np.maximum(slope, 0.0) + lift, np.maximum(-slope, 0.0) + lift, system
        )

    @property
    def gap(self) -> float:
        return float(self.alpha @ self.lower + self.room @ self.upper)

    def step(self) -> _BoxPoint | None:
        """A predictor and a corrector step; None when rounding leaves no step to take."""
        self.system.factor(1.0 / (self.lower / self.alpha + self.upper / self.room))
        affine = self._direction(0.0, 0.0, 0.0)
        target = self._target(affine)
        move = self._direction(target, affine[0] * affine[1], -affine[0] * affine[2])
        length = TO_BOUNDARY * self._longest(move)
        if not length > 1e-12:
            return None
        change, lower, upper = move
        return _BoxPoint(
            self.alpha + length * change,
            self.room - length * change,
            self.lower + length * lower,
            self.upper + length * upper,
            self.system,
        )

    def _direction(
        self, target: float, lower_product: Floats | float, upper_product: Floats | float
    ) -> tuple[Floats, Floats, Floats]:
        """Newton's direction towards products alpha * lower = room * upper = target."""
        lower_right = (target - lower_product) / self.alpha - self.lower
        upper_right = (target - upper_product) / self.room - self.upper
        right = lower_right - upper_right
        change = self.system.solve(right[:, np.newaxis])[:, 0]
        lower = lower_right - self.lower / self.alpha * change
        upper = upper_right + self.upper / self.room * change
        return change, lower, upper

    def _target(self, affine: tuple[Floats, Floats, Floats]) -> float:
        """Mehrotra's centring: the cube of what the predictor leaves of the gap."""
        length = self._longest(affine)
        change, lower, upper = affine
        left = float(
            (self.alpha + length * change) @ (self.lower + length * lower)
            + (self.room - length * change) @ (self.upper + length * upper)
        )
        return (max(left, 0.0) / self.gap) ** 3 * self.gap / (2 * len(self.alpha))

    def _longest(self, move: tuple[Floats, Floats, Floats]) -> float:
        change, lower, upper = move
        pairs = ((self.alpha, change), (self.room, -change), (self.lower, lower), (self.upper, upper))
        ratios = [float((-here[step < 0] / step[step < 0]).min(initial=np.inf)) for here, step in pairs]
        return min(1.0, *ratios)
