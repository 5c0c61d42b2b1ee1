"""Statistics of two classes that are no sum over positions: precision, push losses, parts of the ROC curve.

Positions count from 1 at the top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.base import BipartiteStatistic, register
from toprank.statistics.counts import CountTable
from toprank.statistics.groups import TieGroups
from toprank.statistics.inputs import WHOLE_WEIGHTS
from toprank.statistics.queries import QueryGroups

__all__ = [
    "AveragePrecision",
    "InfinitePushLoss",
    "PNormPushLoss",
    "PairwiseMisrankingError",
    "PartialAUCFPR",
    "PositivesAtTop",
    "ReciprocalRank",
]

Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class PairwiseMisrankingError(BipartiteStatistic):
    """How often a negative is ranked at or above a positive: 1 - AUC, a loss.

    Rudin & Wang (2018), Eq. (2).

    Examples
    --------
    >>> PairwiseMisrankingError()([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.25
    """

    name: ClassVar[str] = "pairwise_misranking_error"
    greater_is_better: ClassVar[bool] = False

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Share of the pairs in which the negative comes first."""
        positive = self._read_order(y_best_first)
        above = np.cumsum(~positive)
        return float(above[positive].sum() / (positive.sum() * above[-1]))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """Every negative above costs the same."""
        return CountTable.by_count(-np.arange(n_neg + 1.0) / (n_pos * n_neg))

    def _expected(self, groups: TieGroups) -> float:
        pairs = groups.n_pos * groups.n_neg
        return (pairs - ordered_pairs(groups)) / pairs

    def _expected_each(self, groups: QueryGroups) -> Floats:
        pairs = groups.n_pos * groups.n_neg
        return np.asarray((pairs - ordered_pairs_each(groups)) / pairs)


@register
@dataclass(frozen=True)
class ReciprocalRank(BipartiteStatistic):
    """One over the position of the first positive; its mean over queries is the MRR.

    Rudin & Wang's MRR, a sum over all positives, is `ReciprocalRankSum`.

    Examples
    --------
    >>> ReciprocalRank()([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    0.5
    """

    name: ClassVar[str] = "reciprocal_rank"
    aliases: ClassVar[tuple[str, ...]] = ("mrr",)

    def of_order(self, y_best_first: ArrayLike) -> float:
        """One over the position of the first positive."""
        return 1.0 / (1 + int(np.argmax(self._read_order(y_best_first))))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """Only the first positive counts."""
        first = np.zeros(n_pos)
        first[0] = 1.0
        return CountTable.by_count(1.0 / np.arange(1.0, n_neg + 2.0), first)

    def _expected(self, groups: TieGroups) -> float:
        from toprank.statistics import _kernels

        if not groups.whole:
            raise ValueError(f"{self} {WHOLE_WEIGHTS}")
        return float(_kernels.first_positive(groups.positives, groups.negatives))

    def _expected_each(self, groups: QueryGroups) -> Floats:
        from toprank.statistics import _query_kernels

        return np.asarray(_query_kernels.first_positive(groups.positives, groups.negatives, groups.starts))


@register
@dataclass(frozen=True)
class AveragePrecision(BipartiteStatistic):
    """The precision at each positive's position, averaged over the positives.

    AP = 1/n+ Σ over positives of (positives at or above) / position (Agarwal 2011, Eq. (6.26), counting the
    positive itself; Boyd et al. 2012, Appendix B). Equal to scikit-learn's ``average_precision_score`` where
    no scores are equal and no ``sample_weight`` is given. Otherwise they differ: here each of several items
    with one score, and each of the copies that a weight stands for, has a position and a precision of its
    own; scikit-learn gives all of them the precision at the end of the group, which for whole weights is
    never less than ``ties="worst"`` gives.

    Examples
    --------
    >>> round(AveragePrecision()([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)
    0.8333
    """

    name: ClassVar[str] = "average_precision"
    aliases: ClassVar[tuple[str, ...]] = ("ap",)

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Mean over the positives of the precision at their position."""
        positions = np.flatnonzero(self._read_order(y_best_first)) + 1
        return float(np.mean(np.arange(1, positions.size + 1) / positions))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """The j-th positive, counted from one, times one over its position."""
        position = np.arange(1.0, n_pos + n_neg + 1.0)
        return CountTable(1.0 / position, 1, np.arange(1.0, n_pos + 1.0) / n_pos)

    def _expected(self, groups: TieGroups) -> float:
        from toprank.statistics import _kernels

        groups.require_order(str(self))
        kernel = _kernels.average_precision if groups.whole else _kernels.average_precision_masses
        return float(kernel(groups.positives, groups.negatives) / groups.n_pos)

    def _expected_each(self, groups: QueryGroups) -> Floats:
        from toprank.statistics import _query_kernels

        sums = _query_kernels.average_precision(groups.positives, groups.negatives, groups.starts)
        return np.asarray(sums / groups.n_pos)


@register
@dataclass(frozen=True)
class PositivesAtTop(BipartiteStatistic):
    """How many positives are ranked above every negative.

    The quantity the Infinite Push maximises (Agarwal 2011, Section 3).

    Parameters
    ----------
    fraction : bool
        Divide by the number of positives; then it is one minus `InfinitePushLoss`.

    Examples
    --------
    >>> PositivesAtTop()([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    2.0
    """

    fraction: bool = False
    name: ClassVar[str] = "positives_at_top"
    examples: ClassVar[tuple[str, ...]] = ("positives_at_top", "positives_at_top(fraction=true)")

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Positives before the first negative."""
        positive = self._read_order(y_best_first)
        return float(np.argmin(positive) / (positive.sum() if self.fraction else 1))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """One for a positive with no negative above."""
        values = np.zeros(n_neg + 1)
        values[0] = 1.0 / n_pos if self.fraction else 1.0
        return CountTable.by_count(values)

    def _expected(self, groups: TieGroups) -> float:
        groups.require_order(str(self))
        return _positives_at_top(groups) / (groups.n_pos if self.fraction else 1.0)

    def _expected_each(self, groups: QueryGroups) -> Floats:
        return np.asarray(_positives_at_top_each(groups) / (groups.n_pos if self.fraction else 1.0))


@register
@dataclass(frozen=True)
class InfinitePushLoss(BipartiteStatistic):
    """The share of positives ranked at or below the highest negative, a loss.

    R_∞ = max over negatives j of 1/n+ Σ over positives i of 1[f(x_i) <= f(x_j)] (Agarwal 2011, Eq. (3.1), a
    tie counted as a mistake unless ``ties`` says otherwise).

    Examples
    --------
    >>> InfinitePushLoss()([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    0.3333333333333333
    """

    name: ClassVar[str] = "infinite_push_loss"
    greater_is_better: ClassVar[bool] = False

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Share of the positives after the first negative."""
        positive = self._read_order(y_best_first)
        return float(positive[np.argmin(positive) :].sum() / positive.sum())

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """A positive with a negative above costs the same however many there are."""
        values = np.full(n_neg + 1, -1.0 / n_pos)
        values[0] = 0.0
        return CountTable.by_count(values)

    def _expected(self, groups: TieGroups) -> float:
        groups.require_order(str(self))
        return (groups.n_pos - _positives_at_top(groups)) / groups.n_pos

    def _expected_each(self, groups: QueryGroups) -> Floats:
        return np.asarray((groups.n_pos - _positives_at_top_each(groups)) / groups.n_pos)


@register
@dataclass(frozen=True)
class PNormPushLoss(BipartiteStatistic):
    """For each negative the share of positives at or below it, to the power p, averaged: a loss.

    R_p = 1/n- Σ over negatives j of (1/n+ Σ over positives i of 1[f(x_i) <= f(x_j)])^p: the 0-1 loss that the
    P-Norm Push bounds, in shares instead of counts so that it lies between 0 and 1. R_1 is the pairwise
    misranking error, and R_p^(1/p) tends to `InfinitePushLoss` as p grows; the root, which changes no
    preference, is left out.

    Parameters
    ----------
    p : float
        Positive; the larger, the more the highest negatives count.

    Examples
    --------
    >>> PNormPushLoss(p=2)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.125
    """

    p: float = 4.0
    name: ClassVar[str] = "p_norm_push_loss"
    greater_is_better: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = ("p_norm_push_loss", "p_norm_push_loss(p=1)")

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", positive_number(self.p, "p of p_norm_push_loss"))

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Mean over the negatives of (share of the positives after it)^p."""
        positive = self._read_order(y_best_first)
        below = positive[::-1].cumsum()[::-1][~positive]
        return float(np.mean((below / positive.sum()) ** self.p))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """The sum over negatives, summed by positives instead: see `toprank.statistics.counts`."""
        powers = (np.arange(n_pos + 1.0) / n_pos) ** self.p
        return CountTable.by_count(-np.arange(n_neg + 1.0) / n_neg, np.diff(powers)[::-1].copy())

    def _expected(self, groups: TieGroups) -> float:
        from toprank.statistics import _kernels

        groups.require_order(str(self))
        total = _kernels.push(groups.positives, groups.negatives, groups.n_pos, self.p)
        return float(total / groups.n_neg)

    def _expected_each(self, groups: QueryGroups) -> Floats:
        from toprank.statistics import _query_kernels

        arrays = groups.positives, groups.negatives, groups.starts
        return np.asarray(_query_kernels.push(*arrays, groups.n_pos, self.p) / groups.n_neg)


@register
@dataclass(frozen=True)
class PartialAUCFPR(BipartiteStatistic):
    """The area under the ROC curve between two false positive rates.

    ∫ from ``min_fpr`` to ``max_fpr`` of TPR d FPR, the ROC curve a staircase (Dodd & Pepe 2003). With
    ``standardize`` it is rescaled so that a random list has 1/2 and a perfect one 1 (McClish 1989), which is
    scikit-learn's ``roc_auc_score(max_fpr=...)`` where no tie crosses the limit: scikit-learn cuts a tied
    block along its diagonal, whereas ``ties="mean"`` here is the mean over the orders of the tied items.

    Parameters
    ----------
    max_fpr, min_fpr : float
        Between 0 and 1, ``min_fpr`` below ``max_fpr``.
    standardize : bool

    Examples
    --------
    >>> PartialAUCFPR(max_fpr=0.5)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.25
    """

    max_fpr: float = 0.1
    min_fpr: float = 0.0
    standardize: bool = False
    name: ClassVar[str] = "partial_auc_fpr"
    examples: ClassVar[tuple[str, ...]] = (
        "partial_auc_fpr(max_fpr=0.4)",
        "partial_auc_fpr(max_fpr=0.7,min_fpr=0.2)",
        "partial_auc_fpr(max_fpr=0.5,standardize=true)",
    )

    def __post_init__(self) -> None:
        if not 0 <= self.min_fpr < self.max_fpr <= 1:
            raise ValueError(f"0 <= min_fpr < max_fpr <= 1 must hold, got {self.min_fpr} and {self.max_fpr}")

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Integral of the staircase."""
        positive = self._read_order(y_best_first)
        heights = np.cumsum(positive)[~positive] / positive.sum()
        edges = np.linspace(0.0, 1.0, heights.size + 1).clip(self.min_fpr, self.max_fpr)
        return self._scale(float(np.sum(heights * np.diff(edges))))

    def _scale(self, area: float) -> float:
        if not self.standardize:
            return area
        lowest = (self.max_fpr**2 - self.min_fpr**2) / 2
        return 0.5 * (1 + (area - lowest) / (self.max_fpr - self.min_fpr - lowest))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """Of each positive, how much of the range lies right of the negatives above it."""
        left = np.linspace(0.0, 1.0, n_neg + 1).clip(self.min_fpr, self.max_fpr)
        area = (self.max_fpr - left) / n_pos
        if self.standardize:
            none, everything = self._scale(0.0), self._scale(1.0)
            area = none / n_pos + (everything - none) * area
        return CountTable.by_count(area)

    def _expected(self, groups: TieGroups) -> float:
        from toprank.statistics import _kernels

        groups.require_order(str(self))
        low, high = self.min_fpr * groups.n_neg, self.max_fpr * groups.n_neg
        area = _kernels.area_between(groups.positives, groups.negatives, low, high)
        return self._scale(float(area / (groups.n_pos * groups.n_neg)))

    def _expected_each(self, groups: QueryGroups) -> Floats:
        from toprank.statistics import _query_kernels

        arrays = groups.positives, groups.negatives, groups.starts
        low, high = self.min_fpr * groups.n_neg, self.max_fpr * groups.n_neg
        areas = _query_kernels.area_between(*arrays, low, high) / (groups.n_pos * groups.n_neg)
        return np.array([self._scale(float(area)) for area in areas])


def _positives_at_top(groups: TieGroups) -> float:
    """Positives above the first negative; one tied with N of them is above all once in N + 1 orders."""
    first = int(np.argmax(groups.negatives > 0))
    tied = groups.positives[first] / (groups.negatives[first] + 1)
    return float(groups.positives[:first].sum() + tied)


def _positives_at_top_each(groups: QueryGroups) -> Floats:
    """As `_positives_at_top` for every query."""
    from toprank.statistics import _query_kernels

    return np.asarray(_query_kernels.positives_at_top(groups.positives, groups.negatives, groups.starts))


def ordered_pairs_each(groups: QueryGroups) -> Floats:
    """As `ordered_pairs` for every query."""
    from toprank.statistics import _query_kernels

    arrays = groups.positives, groups.negatives, groups.starts
    return np.asarray(_query_kernels.ordered_pairs(*arrays, groups.n_neg))


def ordered_pairs(groups: TieGroups) -> float:
    """Mass of positive-negative pairs in the right order, a tie counted half."""
    from toprank.statistics import _kernels

    return float(_kernels.ordered_pairs(groups.positives, groups.negatives, groups.n_neg))


def positive_number(value: float, what: str) -> float:
    """Refuse a parameter that is no positive finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"{what} must be a positive number, got {value!r}")
    return float(value)
