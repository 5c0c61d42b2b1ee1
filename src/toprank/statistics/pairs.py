"""Pairs of items with different labels: how many are in the right order, how many tie. O(n log n)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.groups import TIES, Ties, check_ties
from toprank.statistics.inputs import WHOLE_WEIGHTS, as_vector, read_sample_weight, read_scores, read_values

__all__ = [
    "LevelledList",
    "PairCounts",
    "comparable_mass",
    "concordance_index",
    "count_pairs",
    "pair_counts",
    "tie_credit",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# With more different labels, sorting them costs less than a tree of counters.
_FEW_LEVELS = 256


def tie_credit(ties: Ties) -> float:
    """What a pair with equal scores is worth: 0 at worst, one half on average, 1 at best."""
    return TIES.index(ties) / 2.0


def comparable_mass(masses: Floats) -> float:
    """Pairs of items from different levels, given the mass of each level."""
    return float(masses[1:] @ np.cumsum(masses)[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class LevelledList:
    """Items sorted by score, then label, both ascending; labels as numbers of their levels.

    Parameters
    ----------
    levels : array of int64
        0 for the smallest label, d - 1 for the largest.
    scores, weight : arrays of float64
    masses : array of float64
        Total weight of each level.
    """

    levels: Integers
    scores: Floats
    weight: Floats
    masses: Floats

    @classmethod
    def of(cls, labels: Floats, scores: Floats, weight: Floats | None = None) -> LevelledList:
        """Sort the items; every weight is one unless given."""
        _, levels = np.unique(labels, return_inverse=True)
        order = np.lexsort((levels, scores))
        mass = np.ones(labels.size) if weight is None else weight[order]
        levels = levels[order].astype(np.int64)
        masses = np.asarray(np.bincount(levels, weights=mass), dtype=np.float64)
        return cls(levels, scores[order], mass, masses)

    @property
    def n_levels(self) -> int:
        """Number of different labels."""
        return int(self.masses.size)

    def sums(self, upper: Floats, lower: Floats) -> tuple[float, float]:
        """Sum of upper[i] lower[j] over pairs, i of the higher label: right order, and equal scores."""
        from toprank.statistics import _pair_kernels

        ordered, tied = _pair_kernels.pair_sums(self.levels, self.scores, upper, lower, self.n_levels)
        return float(ordered), float(tied)

    def ordered(self, upper: Floats, lower: Floats, ties: Ties) -> float:
        """As `sums`, in one number: a tie is worth what the policy says."""
        ordered, tied = self.sums(upper, lower)
        return ordered + tie_credit(ties) * tied


@dataclass(frozen=True, slots=True)
class PairCounts:
    """All pairs of a list, sorted into five heaps, and the textbook coefficients made from them.

    The coefficients here treat equal scores as the textbooks do, each in its own way; the statistics of the
    same names follow the tie policy of this package instead.

    Parameters
    ----------
    concordant, discordant : float
        Different labels, different scores, in the right or the wrong order.
    tied_scores, tied_labels, tied_both : float
        Only the scores are equal; only the labels are; both are.

    Examples
    --------
    >>> counts = pair_counts([1, 2, 3, 4], [0.1, 0.3, 0.2, 0.4])
    >>> counts.concordant, counts.discordant, round(counts.tau_a, 6)
    (5.0, 1.0, 0.666667)
    """

    concordant: float
    discordant: float
    tied_scores: float
    tied_labels: float
    tied_both: float

    @property
    def total(self) -> float:
        """Number of pairs, n (n - 1)/2."""
        return self.comparable + self.tied_labels + self.tied_both

    @property
    def comparable(self) -> float:
        """Number of pairs with different labels."""
        return self.concordant + self.discordant + self.tied_scores

    def ordered(self, ties: Ties) -> float:
        """Pairs in the right order; one with equal scores is worth what the tie policy says."""
        return self.concordant + tie_credit(ties) * self.tied_scores

    @property
    def tau_a(self) -> float:
        """Kendall's τ_a: (concordant - discordant) / all pairs."""
        return (self.concordant - self.discordant) / self.total

    @property
    def tau_b(self) -> float:
        """Kendall's τ_b, corrected for ties in labels and in scores; NaN if either is constant."""
        untied = self.comparable * (self.total - self.tied_scores - self.tied_both)
        return (self.concordant - self.discordant) / math.sqrt(untied) if untied > 0 else math.nan

    @property
    def gamma(self) -> float:
        """Goodman and Kruskal's γ: tied pairs are left out; NaN if all are."""
        untied = self.concordant + self.discordant
        return (self.concordant - self.discordant) / untied if untied > 0 else math.nan

    @property
    def somers_d(self) -> float:
        """Somers' D of the scores given the labels: pairs with different labels; NaN if there are none."""
        return (self.concordant - self.discordant) / self.comparable if self.comparable > 0 else math.nan


def pair_counts(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> PairCounts:
    """Count the pairs of a list that agree, disagree and tie, after Knight (1966).

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers; larger belongs nearer to the top.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
        Whole numbers: copies of each row.

    Examples
    --------
    >>> pair_counts([1, 2, 3, 3], [1.0, 3.0, 2.0, 2.0])
    PairCounts(concordant=3.0, discordant=2.0, tied_scores=0.0, tied_labels=0.0, tied_both=1.0)
    """
    labels = read_values(y)
    values = read_scores(scores, labels.size)
    weight = read_sample_weight(sample_weight, labels.size)
    if weight is not None and bool((weight != np.floor(weight)).any()):
        raise ValueError(f"pair_counts {WHOLE_WEIGHTS}")
    return count_pairs(labels, values, weight)


def count_pairs(labels: Floats, scores: Floats, weight: Floats | None) -> PairCounts:
    """As `pair_counts` for clean input; weights are whole numbers, or None for all one."""
    if weight is None:
        return _count_rows(labels, scores)
    items = LevelledList.of(labels, scores, weight)
    ordered, tied = items.sums(items.weight, items.weight)
    comparable = comparable_mass(items.masses)
    starts = np.flatnonzero(np.append(True, items.scores[1:] != items.scores[:-1]))
    equal_scores = _pairs_within(np.add.reduceat(items.weight, starts))
    equal_labels = _pairs_within(items.masses)
    return PairCounts(
        concordant=ordered,
        discordant=comparable - ordered - tied,
        tied_scores=tied,
        tied_labels=equal_labels - (equal_scores - tied),
        tied_both=equal_scores - tied,
    )


def _count_rows(labels: Floats, scores: Floats) -> PairCounts:
    """Pairs of rows: one sort by score, then one pass that counts."""
    from toprank.statistics import _pair_kernels

    order = np.argsort(scores)
    different_labels = np.unique(labels)
    if different_labels.size <= _FEW_LEVELS:
        levels = np.searchsorted(different_labels, labels).astype(np.uint8)
        found = _pair_kernels.count_level_pairs(levels[order], scores[order], different_labels.size)
    else:
        found = _pair_kernels.count_pairs(labels[order], scores[order])
    wrong, equal_scores, equal_labels, equal_both = (int(count) for count in found)
    different = labels.size * (labels.size - 1) // 2 - equal_labels
    tied = equal_scores - equal_both
    return PairCounts(
        concordant=float(different - tied - wrong),
        discordant=float(wrong),
        tied_scores=float(tied),
        tied_labels=float(equal_labels - equal_both),
        tied_both=float(equal_both),
    )


def _pairs_within(masses: Floats) -> float:
    return float((masses * (masses - 1.0) / 2.0).sum())


def concordance_index(
    y: ArrayLike, scores: ArrayLike, *, event: ArrayLike | None = None, ties: Ties = "worst"
) -> float:
    """How often the item that should be higher scores higher, with censored times too: Harrell's C.

    A pair is comparable when it is known which time is shorter: that row's event was seen. Of two equal
    times, a censored one counts as the longer. Without `event` this is the statistic ``c_index``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Times or any numbers.
    scores : array-like of shape (n,)
        Higher for longer times; negate a risk score.
    event : array-like of bool of shape (n,), optional
        False where the time is censored: the true one is longer. All True unless given.
    ties : {"worst", "mean", "best"}
        What equal scores are worth: nothing, one half (Harrell's choice) or one.

    Examples
    --------
    >>> concordance_index([5, 3, 9, 2], [0.6, 0.4, 0.5, 0.1], event=[True, True, False, True])
    0.8333333333333334
    """
    check_ties(ties)
    times = read_values(y)
    values = read_scores(scores, times.size)
    seen = np.ones(times.size, dtype=np.bool_) if event is None else _read_event(event, times.size)
    _, numbers = np.unique(times, return_inverse=True)
    # Twice the number of the time leaves room for the censored rows just above it.
    items = LevelledList.of(2.0 * numbers + ~seen, values, seen.astype(np.float64))
    upper, lower = np.ones(times.size), items.weight
    at_or_below = np.cumsum(np.bincount(items.levels))[items.levels]
    comparable = float(lower @ (times.size - at_or_below))
    if comparable == 0:
        raise ValueError("no pair is comparable: y is constant or event marks no row but the last in time")
    return items.ordered(upper, lower, ties) / comparable


def _read_event(event: ArrayLike, n: int) -> NDArray[np.bool_]:
    array = as_vector(event, "event")
    if array.size != n:
        raise ValueError(f"event has {array.size} values but y has {n}; they must match, item by item")
    if not bool(np.isin(array, (0, 1)).all()):
        raise ValueError("event must be true (seen) or false (censored) for each row")
    return array.astype(np.bool_)
