"""Statistics for labels with more than two values, ordinal or real: Kendall's tau, C-index, VUS and others.

A larger label belongs nearer to the top. Every statistic here orders pairs (or chains) of items with
different labels; the worst order of tied items is the one that gets all their pairs wrong at once. Those that
look at the top K only are in `toprank.statistics.localized`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.base import RankStatistic, register
from toprank.statistics.counts import PairSum
from toprank.statistics.groups import TIES, Ties
from toprank.statistics.inputs import WHOLE_WEIGHTS, read_values, repeated
from toprank.statistics.localized import LocalAUC, LocalizedRankingLoss, WeakRankingLoss
from toprank.statistics.pairs import (
    LevelledList,
    PairCounts,
    comparable_mass,
    concordance_index,
    count_pairs,
    pair_counts,
)
from toprank.statistics.top_gain import TopGain

__all__ = [
    "CIndex",
    "HardRankingLoss",
    "IntegratedAUC",
    "KendallTau",
    "LocalAUC",
    "LocalizedRankingLoss",
    "OrdinalAUC",
    "PairCounts",
    "SpearmanRho",
    "TopGain",
    "VolumeUnderSurface",
    "WeakRankingLoss",
    "concordance_index",
    "pair_counts",
]

Floats = NDArray[np.float64]


class _LevelStatistic(RankStatistic):
    """A statistic of the list sorted by score and label; subclasses define `_of_list`."""

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Value of a list without ties: the labels in order, best first."""
        labels = read_values(y_best_first, "y_best_first")
        return self._checked_value(labels, -np.arange(labels.size, dtype=np.float64), "worst", None)

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        return self._of_list(LevelledList.of(labels, scores, weight), ties)

    @abstractmethod
    def _of_list(self, items: LevelledList, ties: Ties) -> float:
        """Value of a sorted list."""


class _PairStatistic(RankStatistic):
    """A statistic of how many pairs are in the right order; subclasses define `_of_pairs`."""

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Value of a list without ties: the labels in order, best first."""
        labels = read_values(y_best_first, "y_best_first")
        return self._checked_value(labels, -np.arange(labels.size, dtype=np.float64), "worst", None)

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        if weight is None:
            pairs = count_pairs(labels, scores, None)
            return self._of_pairs(pairs.ordered(ties), pairs.comparable, pairs.total)
        items = LevelledList.of(labels, scores, weight)
        ordered = items.ordered(items.weight, items.weight, ties)
        n = float(items.masses.sum())
        whole = not bool((items.weight != np.floor(items.weight)).any())
        return self._of_pairs(
            ordered, comparable_mass(items.masses), n * (n - 1.0) / 2.0 if whole else math.nan
        )

    @abstractmethod
    def _of_pairs(self, ordered: float, comparable: float, total: float) -> float:
        """Value from the pairs in the right order, those with different labels, and all.

        There is no number of all pairs, NaN, where weights are fractional.
        """

    def graded_form(self, y: Floats) -> PairSum:
        """Every pair in the right order is worth the same."""
        sign = 1.0 if self.greater_is_better else -1.0
        masses = np.unique(y, return_counts=True)[1].astype(np.float64)
        comparable, total = comparable_mass(masses), y.size * (y.size - 1.0) / 2.0
        none, all_right = (sign * self._of_pairs(pairs, comparable, total) for pairs in (0.0, comparable))
        return PairSum.of(y, lambda upper, lower, masses: np.array((all_right - none) / comparable), none)

    def _need_total(self, total: float) -> None:
        if math.isnan(total):
            raise ValueError(f"{self} {WHOLE_WEIGHTS}")


@register
@dataclass(frozen=True)
class HardRankingLoss(_PairStatistic):
    """The share of all pairs of items that are in the wrong order: a loss.

    L = 1/(n (n - 1)) Σ over i ≠ j of 1[(Y_i - Y_j)(s(X_i) - s(X_j)) < 0] (Werner 2020, Eq. (2.2) to (2.4)).
    Pairs with equal labels are never wrong but do count in the denominator. Equal scores: ``ties="best"`` is
    Eq. (2.3), ``ties="mean"`` is Eq. (2.2) with the rule of Definition 2.1 b).

    Parameters
    ----------
    standardize : bool
        Divide by the number of pairs with different labels instead, so that the worst list has 1; this is
        1 - C-index.

    Examples
    --------
    >>> HardRankingLoss()([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    0.16666666666666666
    """

    standardize: bool = False
    name: ClassVar[str] = "hard_ranking_loss"
    greater_is_better: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = ("hard_ranking_loss", "hard_ranking_loss(standardize=true)")

    def _of_pairs(self, ordered: float, comparable: float, total: float) -> float:
        if self.standardize:
            return (comparable - ordered) / comparable
        self._need_total(total)
        return (comparable - ordered) / total


@register
@dataclass(frozen=True)
class KendallTau(_PairStatistic):
    """Pairs in the right order minus pairs in the wrong order, as a share: from -1 to 1.

    τ = 1/(n (n - 1)) Σ over i ≠ j of sign((Y_i - Y_j)(s(X_i) - s(X_j))) (Werner 2020, Section 2.4), that is
    τ_a; without equal labels it is 1 - 2 × `HardRankingLoss` (Lemma 2.1). Variant b divides by the root of
    all pairs times the pairs with different labels instead. A tie in the scores is worth -1, 0 or 1 by the
    tie policy; for the textbook τ_b, whose denominator shrinks with ties in the scores, see
    ``pair_counts(...).tau_b``.

    Parameters
    ----------
    variant : {"a", "b"}

    Examples
    --------
    >>> KendallTau()([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    0.6666666666666666
    """

    variant: str = "a"
    name: ClassVar[str] = "kendall_tau"
    examples: ClassVar[tuple[str, ...]] = ("kendall_tau", "kendall_tau(variant=b)")

    def __post_init__(self) -> None:
        if self.variant not in ("a", "b"):
            raise ValueError(f"variant of kendall_tau must be 'a' or 'b', got {self.variant!r}")

    def _of_pairs(self, ordered: float, comparable: float, total: float) -> float:
        self._need_total(total)
        balance = 2.0 * ordered - comparable
        return balance / (total if self.variant == "a" else math.sqrt(total * comparable))


@register
@dataclass(frozen=True)
class SpearmanRho(RankStatistic):
    """The correlation between the places in the list and the ranks of the labels: from -1 to 1.

    Equal labels share the mean of their ranks. A list has no equal places: tied scores stand in the worst or
    the best order, or at the mean of their places, by the tie policy; the spread of the places stays that of
    1..n. Without tied scores it is scipy's `spearmanr`.

    Examples
    --------
    >>> SpearmanRho()([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    0.8
    """

    name: ClassVar[str] = "spearman_rho"
    aliases: ClassVar[tuple[str, ...]] = ("spearman",)
    examples: ClassVar[tuple[str, ...]] = ("spearman_rho",)

    def graded_form(self, y: Floats) -> PairSum:
        """Every pair is worth the difference of its ranks: the place of an item counts those it is above."""
        middle, most = (y.size + 1.0) / 2.0, self.of_order(np.sort(y)[::-1])

        def worth(upper: NDArray[Any], lower: NDArray[Any], masses: Floats) -> Floats:
            ranks = np.cumsum(masses) - (masses - 1.0) / 2.0
            spread = y.size * (y.size**2 - 1.0) / 12.0 * float(masses @ (ranks - middle) ** 2)
            return np.asarray((ranks[upper] - ranks[lower]) / math.sqrt(spread))

        return PairSum.of(y, worth, -most)

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Value of a list without ties: the labels in order, best first."""
        labels = read_values(y_best_first, "y_best_first")
        return self._checked_value(labels, -np.arange(labels.size, dtype=np.float64), "worst", None)

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        from scipy.stats import rankdata  # half a second to load

        labels, scores = repeated(labels, scores, weight, str(self))
        ranks = rankdata(labels)
        if ties == "mean":
            places = rankdata(scores)
        else:
            # The larger label lower in a tie is worst, higher is best.
            order = np.lexsort((-ranks if ties == "worst" else ranks, scores))
            places = np.empty(len(scores))
            places[order] = np.arange(1.0, len(scores) + 1.0)
        middle = (len(scores) + 1.0) / 2.0
        together = float((ranks - middle) @ (places - middle))
        spread = len(scores) * (len(scores) ** 2 - 1.0) / 12.0
        return together / math.sqrt(spread * float((ranks - middle) @ (ranks - middle)))


@register
@dataclass(frozen=True)
class CIndex(_PairStatistic):
    """How often the item with the larger label scores higher: the C-index.

    C = 1/(Σ_{i<j} n_i n_j) Σ over i < j, (x, x') in C_i × C_j of 1[s(x') > s(x)] (Werner 2020, Section 2.5,
    after Fürnkranz et al. 2009). With two classes it is the AUC. For censored times see `concordance_index`.

    Examples
    --------
    >>> CIndex()([3, 2, 2, 1], [0.9, 0.1, 0.8, 0.3])
    0.8
    """

    name: ClassVar[str] = "c_index"
    aliases: ClassVar[tuple[str, ...]] = ("concordance_index",)

    def _of_pairs(self, ordered: float, comparable: float, total: float) -> float:
        return ordered / comparable


@register
@dataclass(frozen=True)
class OrdinalAUC(_LevelStatistic):
    """The AUC of every two levels of an ordinal label, averaged: all pairs of levels count the same.

    U = 2/(d (d - 1)) Σ_{i<j} AUC(s, C_i ∪ C_j) (Werner 2020, Section 2.5, after Fürnkranz et al. 2009).

    Examples
    --------
    >>> OrdinalAUC()([3, 2, 2, 1], [0.9, 0.1, 0.8, 0.3])
    0.8333333333333334
    """

    name: ClassVar[str] = "ordinal_auc"
    aliases: ClassVar[tuple[str, ...]] = ("furnkranz_u",)

    def graded_form(self, y: Floats) -> PairSum:
        """A pair is worth one over the pairs of its two levels."""
        d = np.unique(y).size
        return PairSum.of(y, lambda up, low, masses: 2.0 / (d * (d - 1) * masses[up] * masses[low]))

    def _of_list(self, items: LevelledList, ties: Ties) -> float:
        # An AUC is a sum over pairs of 1/(n_i n_j): a product, so one pass serves all pairs of levels.
        share = items.weight / items.masses[items.levels]
        return 2.0 * items.ordered(share, share, ties) / (items.n_levels * (items.n_levels - 1))


@register
@dataclass(frozen=True)
class VolumeUnderSurface(_LevelStatistic):
    """How often items drawn one from each level are all in the right order: the VUS.

    W = 1/(Π n_i) Σ over X_1 in C_1, ..., X_d in C_d of 1[s(X_1) < ... < s(X_d)] (Werner 2020, Section 2.5,
    after Waegeman et al. 2008). The volume under the ROC surface (Definition 2.5) is the same number; where
    scores tie, its surface is filled with flat pieces, which gives L tied items of a chain the credit 1/L!:
    ``ties="mean"``. W is ``ties="worst"``, the default. With two classes it is the AUC; a random list has
    1/d!.

    Examples
    --------
    >>> VolumeUnderSurface()([3, 2, 2, 1], [0.9, 0.1, 0.8, 0.3])
    0.5
    """

    name: ClassVar[str] = "vus"
    aliases: ClassVar[tuple[str, ...]] = ("waegeman_w",)

    def _of_list(self, items: LevelledList, ties: Ties) -> float:
        from toprank.statistics import _pair_kernels

        share = items.weight / items.masses[items.levels]
        policy = TIES.index(ties)
        chains = _pair_kernels.ordered_chains(items.levels, items.scores, share, items.n_levels, policy)
        return float(chains)


@register
@dataclass(frozen=True)
class IntegratedAUC(_LevelStatistic):
    """The AUC of "label above t" against "label below t", averaged over all thresholds t: the IAUC.

    IAUC = ∫ AUC_t dF(t), F the distribution of the label (Werner 2020, Section 3.3, after Clémençon & Achab
    2017); on a sample, the average over the rows i of the AUC of {Y > Y_i} against {Y < Y_i}, wherever both
    sides have items. With two levels no label lies between others, and the one split there is gives the AUC.

    Examples
    --------
    >>> IntegratedAUC()([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    1.0
    """

    name: ClassVar[str] = "integrated_auc"
    aliases: ClassVar[tuple[str, ...]] = ("iauc",)

    def graded_form(self, y: Floats) -> PairSum:
        """A pair counts at every threshold between its levels."""

        def worth(upper: NDArray[Any], lower: NDArray[Any], masses: Floats) -> Floats:
            if masses.size == 2:
                return np.array(1.0 / comparable_mass(masses))
            at_or_below, below = _by_threshold(masses)
            return np.asarray((below[upper] - at_or_below[lower]) / masses[1:-1].sum())

        return PairSum.of(y, worth)

    def _of_list(self, items: LevelledList, ties: Ties) -> float:
        masses = items.masses
        if items.n_levels == 2:
            return items.ordered(items.weight, items.weight, ties) / comparable_mass(masses)
        at_or_below, below = _by_threshold(masses)
        weight = items.weight
        total = items.ordered(weight * below[items.levels], weight, ties)
        total -= items.ordered(weight, weight * at_or_below[items.levels], ties)
        return min(max(total / float(masses[1:-1].sum()), 0.0), 1.0)


def _by_threshold(masses: Floats) -> tuple[Floats, Floats]:
    """Of each level, the thresholds at or below it and those below it, by what a pair is worth there.

    A pair of levels a < b counts at every threshold between them, with mass/(mass above × mass below).
    """
    up_to = np.cumsum(masses)
    inner = masses[1:-1] / (up_to[:-2] * (up_to[-1] - up_to[1:-1]))
    at_or_below = np.concatenate(([0.0], np.cumsum(inner), [inner.sum()]))
    return at_or_below, np.concatenate(([0.0], at_or_below[:-1]))
