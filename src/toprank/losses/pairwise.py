"""Hinge losses over all pairs that should be ordered, at the price of one sort.

A pair is an item i that belongs above an item j: a higher label, in the same query. Its loss is a
function of ``u = 1 - s_i + s_j``, or ``m - s_i + s_j`` where its block has a margin m. Sums over all pairs
are prefix sums over the sorted scores (Joachims 2006; Chapelle and Keerthi 2010), so the number of pairs
never matters: a loss, its gradient and a product with its Hessian cost O(n log n) for n items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.losses.pairs import Pairs, SortedLists

__all__ = ["PairPoint", "pairs_beyond", "pairwise_loss"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairPoint:
    """The pairwise loss at one vector of scores.

    Parameters
    ----------
    value : float
        Weighted mean of the loss over all pairs.
    gradient : array of shape (n_items,)
        Derivative with respect to the scores.
    derivative_sum : float
        Weighted sum over the pairs of the derivative with respect to u, times what the pair is to be won by:
        the linear part of the dual value.
    derivative_squares : float
        Weighted sum over the pairs of its square.
    slope : float
        Second derivative inside the zone where it is not zero.
    """

    value: float
    gradient: Floats
    derivative_sum: float
    derivative_squares: float
    slope: float
    pairs: Pairs
    lists: SortedLists
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    def curvature_product(self, direction: Floats) -> Floats:
        """Hessian with respect to the scores, times a direction."""
        from toprank.losses import _kernels

        product = np.zeros(len(direction))
        kernel: Any = _kernels.zone_product
        kernel(direction, *self._lists(), product)
        product *= self.slope
        return product

    @cached_property
    def curvature(self) -> Floats:
        """Diagonal of the Hessian with respect to the scores."""
        from toprank.losses import _kernels

        diagonal = np.zeros(self.pairs.n_items)
        kernel: Any = _kernels.zone_weights
        kernel(*self._lists(), diagonal)
        # Weights that come and go along the list can leave rounding errors below zero.
        return np.maximum(diagonal, 0.0) * self.slope

    @property
    def rounding(self) -> float:
        """What rounding may have added to `derivative_sum`: scores are divided by the width of the zone."""
        reach = 1.0 + float(np.ptp(self.lists.lower_scores)) + float(np.ptp(self.lists.upper_scores))
        return 4.0 * float(np.finfo(np.float64).eps) * (1.0 + self.slope * reach) * self.pairs.widest_margin

    @cached_property
    def n_zone_pairs(self) -> int:
        """Number of pairs inside the zone where the loss is curved."""
        return int((self.last - self.first).sum(dtype=np.int64))

    def zone_pairs(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Upper item, lower item, weight and margin of every pair inside the zone."""
        from toprank.losses import _kernels

        uppers, lowers, blocks = (np.empty(self.n_zone_pairs, dtype=np.int64) for _ in range(3))
        lists = self.lists
        _kernels.zone_pairs(
            lists.upper, lists.upper_start, lists.lower, lists.lower_start, self.first, self.last,
            uppers, lowers, blocks,
        )  # fmt: skip
        weight = self.pairs.block_weight[blocks]
        if len(self.pairs.weight):
            weight = weight * self.pairs.weight[uppers] * self.pairs.weight[lowers]
        margins = self.pairs.block_margin
        return uppers, lowers, weight, margins[blocks] if len(margins) else np.ones(len(blocks))

    def _lists(self) -> tuple[Any, ...]:
        lists = self.lists
        return (
            lists.upper, lists.upper_start, lists.lower, lists.lower_start,
            self.pairs.weight, self.pairs.block_weight, self.first, self.last,
        )  # fmt: skip


def pairwise_loss(pairs: Pairs, scores: Floats, *, loss: str = "hinge", smoothing: float = 0.0) -> PairPoint:
    """Everything about the loss at these scores, from one sort.

    Parameters
    ----------
    pairs : Pairs
    scores : array of shape (n_items,)
    loss : "hinge" or "squared_hinge"
    smoothing : float
        Half width of the zone in which the derivative of the hinge rises from 0 to 1; the value is always
        that of the plain hinge.

    Examples
    --------
    >>> point = pairwise_loss(Pairs.from_labels([1, 0]), np.array([0.25, 0.0]))
    >>> point.value, point.gradient
    (0.75, array([-1.,  1.]))
    """
    squared = loss == "squared_hinge"
    return _point(pairs, scores, _margins(squared, smoothing), squared)


def pairs_beyond(pairs: Pairs, scores: Floats, width: float) -> PairPoint:
    """The plain hinge with a derivative of one for the pairs above a zone of half `width`, and of zero below.

    Its `gradient` and `derivative_sum` are those of the pairs above the zone alone: nothing is lost to
    rounding where there are few of them, or none.

    >>> point = pairs_beyond(Pairs.from_labels([1, 0, 0]), np.array([0.25, 0.0, 2.0]), 1.0)
    >>> point.derivative_sum, point.gradient
    (0.5, array([-0.5,  0. ,  0.5]))
    """
    return _point(pairs, scores, (width, width, 0.0), False)


def _point(pairs: Pairs, scores: Floats, margins: tuple[float, float, float], squared: bool) -> PairPoint:
    from toprank.losses import _kernels

    lists = pairs.sorted_lists(scores)
    gradient = np.zeros(pairs.n_items)
    first = np.empty(len(lists.upper), dtype=np.int32)
    last = np.empty_like(first)
    value, total, squares = _kernels.pair_sums(
        lists.upper, lists.upper_scores, lists.upper_start, lists.lower, lists.lower_scores,
        lists.lower_start, pairs.weight, pairs.block_weight, pairs.block_margin, *margins, squared, gradient,
        first, last,
    )  # fmt: skip
    return PairPoint(value, gradient, total, squares, margins[2], pairs, lists, first, last)


def _margins(squared: bool, smoothing: float) -> tuple[float, float, float]:
    """Where the derivative starts to rise, where it is one, and its slope in between."""
    if squared:
        return 0.0, np.inf, 2.0
    return -smoothing, smoothing, 0.5 / smoothing if smoothing > 0 else 0.0
