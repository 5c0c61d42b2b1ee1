"""Settle the pairs near the kink of the hinge one by one, by an interior-point method.

With the pairs far above and far below the kink fixed, what is left of the RankSVM dual is a quadratic program
in the few pairs k between them (Agarwal 2011, (4.20), on those pairs):

    max  sum_k m_k alpha_k - 1/2 |g + D^T alpha|^2,   0 <= alpha_k <= c_k,

where the rows of D are the differences x_i - x_j, m_k is what a pair is to be won by (one, as a rule) and g
collects the fixed pairs. Its answer is dual
feasible for the whole problem, so it gives a bound whether or not the right pairs were fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run
from toprank.convex.algebra.box_program import box_program
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.row_systems import UndecidedRows, row_system
from toprank.losses.pairs import Pairs
from toprank.losses.pairwise import PairPoint, pairs_beyond, pairwise_loss

__all__ = ["PAIR_LIMIT", "FixedPairs", "fixed_pairs", "polish"]

Floats = NDArray[np.float64]
PAIR_LIMIT = 4000
TO_ROUNDING = 1e-14
"""A relative gap below which values differ by rounding only."""


@dataclass(frozen=True)
class FixedPairs:
    """The pairs near the kink, and what all others add up to when fixed at 0 or at their full weight.

    Parameters
    ----------
    differences : array or sparse matrix of shape (n_pairs, n_features)
        x_i - x_j of the pairs near the kink.
    costs, margins : arrays of shape (n_pairs,)
        Their full weights, C included, and what they are to be won by.
    force, total : array of shape (n_features,), float
        Sum of weight * (x_i - x_j), and of weight * margin, of the fixed pairs.
    """

    differences: Any
    costs: Floats
    margins: Floats
    force: Floats
    total: float


def fixed_pairs(
    design: Design, pairs: Pairs, C: float, scores: Floats, smoothing: float
) -> FixedPairs | None:
    """The pairs near the kink, in a zone as wide as their number allows; None when there are too many."""
    point = _widest_zone(pairs, scores, smoothing)
    if point is None:
        return None
    uppers, lowers, weight, margins = point.zone_pairs()
    weighed = weight > 0
    uppers, lowers, costs = uppers[weighed], lowers[weighed], C * weight[weighed]
    differences = design.X[uppers] - design.X[lowers]
    above = pairs_beyond(pairs, scores, 0.5 / point.slope)
    force = -C * design.combine(above.gradient)
    return FixedPairs(differences, costs, margins[weighed], force, C * above.derivative_sum)


def polish(
    design: Design, pairs: Pairs, C: float, scores: Floats, smoothing: float, run: Run
) -> tuple[Floats, float] | None:
    """Better coefficients and a bound from the pairs near the kink; None when there are too many."""
    fixed = fixed_pairs(design, pairs, C, scores, smoothing)
    if fixed is None:
        return None
    alpha = _settle(fixed, run)
    coef = fixed.force + fixed.differences.T @ alpha
    return coef, float(fixed.total + fixed.margins @ alpha - 0.5 * coef @ coef)


def _widest_zone(pairs: Pairs, scores: Floats, smoothing: float) -> PairPoint | None:
    widths = [smoothing * factor for factor in (10.0, 3.0, 1.0)]
    if pairs.count <= PAIR_LIMIT:
        widths = [2.0 * float(np.ptp(scores)) + 2.0 + 2.0 * pairs.widest_margin]
    for width in widths:
        point = pairwise_loss(pairs, scores, smoothing=width)
        if point.n_zone_pairs <= PAIR_LIMIT:
            return point
    return None


def _settle(fixed: FixedPairs, run: Run) -> Floats:
    """The weights alpha of the pairs near the kink, to rounding."""
    if not len(fixed.costs):
        return np.zeros(0)
    system = row_system(UndecidedRows(fixed.differences))
    targets = fixed.margins - np.asarray(fixed.differences @ fixed.force)
    answer = box_program(system, fixed.costs, targets=targets, tol=TO_ROUNDING, should_stop=run.should_stop)
    return np.clip(answer.dual, 0.0, fixed.costs)
