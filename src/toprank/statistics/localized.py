"""Statistics that ask for the best K items: weak and localized ranking loss, local AUC.

Here a tie at the edge of the top K can go two ways that pull against each other (who is inside, and in which
order), so the worst and the best order are found by choosing which tied items are inside.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.labels import LabelKind
from toprank.statistics.base import BipartiteStatistic, RankStatistic, register
from toprank.statistics.counts import CountTable, GradeSum
from toprank.statistics.cutoffs import Cutoff, check_cutoff, cutoff_positions
from toprank.statistics.groups import TieGroups, Ties
from toprank.statistics.inputs import WHOLE_WEIGHTS, read_values, repeated
from toprank.statistics.pairs import LevelledList, comparable_mass
from toprank.statistics.queries import QueryGroups

__all__ = ["LocalAUC", "LocalizedRankingLoss", "WeakRankingLoss"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """The top K of a scored list: the items surely inside and the tied group at its edge.

    Parameters
    ----------
    labels, scores : arrays of float64
        Items that score above the K-th.
    group : array of float64
        Labels of the items that share the K-th score.
    slots : int
        How many of the group are inside, at least one.
    size : int
        K.
    cut : float
        The K-th largest label.
    quota : int
        How many items with the label `cut` belong to the best K.
    """

    labels: Floats
    scores: Floats
    group: Floats
    slots: int
    size: int
    cut: float
    quota: int

    @classmethod
    def of(cls, labels: Floats, scores: Floats, size: int) -> Edge:
        lowest = np.partition(scores, scores.size - size)[scores.size - size]
        cut = float(np.partition(labels, labels.size - size)[labels.size - size])
        inside = scores > lowest
        slots = size - int(np.count_nonzero(inside))
        quota = size - int(np.count_nonzero(labels > cut))
        return cls(labels[inside], scores[inside], labels[scores == lowest], slots, size, cut, quota)

    @property
    def found(self) -> int:
        """Surely inside, and better than the cut."""
        return int(np.count_nonzero(self.labels > self.cut))

    @property
    def equal(self) -> int:
        """Surely inside, with exactly the label of the cut."""
        return int(np.count_nonzero(self.labels == self.cut))

    def missed(self, ties: Ties) -> float:
        """How many of the best K are outside, by the tie policy."""
        better = int(np.count_nonzero(self.group > self.cut))
        equal = int(np.count_nonzero(self.group == self.cut))
        if ties == "mean":
            share = self.slots / self.group.size
            counted = _mean_capped(self.group.size, equal, self.slots, self.equal, self.quota)
            return self.size - self.found - better * share - counted
        worse = self.group.size - better - equal
        # Items at the cut beyond the quota are neither right nor wrong: worst takes them before good ones.
        filled = _fill((worse, equal, better) if ties == "worst" else (better, equal, worse), self.slots)
        inside_better = filled[2] if ties == "worst" else filled[0]
        return self.size - self.found - inside_better - min(self.equal + filled[1], self.quota)


def _fill(counts: tuple[int, int, int], slots: int) -> tuple[int, int, int]:
    """Put items into the slots, kind after kind."""
    first = min(counts[0], slots)
    second = min(counts[1], slots - first)
    return first, second, min(counts[2], slots - first - second)


def _mean_capped(size: int, marked: int, drawn: int, offset: int, cap: int) -> float:
    """Mean of min(offset + H, cap), H the marked items among `drawn` of `size` (hypergeometric)."""
    low, high = max(0, drawn - (size - marked)), min(marked, drawn)
    if offset + high <= cap:
        return offset + drawn * marked / size
    if offset + low >= cap:
        return float(cap)
    count = np.arange(low, high + 1, dtype=np.float64)
    # Probabilities by their ratios, from the mode outwards, so that none of them overflows.
    ratio = (marked - count[:-1]) * (drawn - count[:-1]) / (count[1:] * (size - marked - drawn + count[1:]))
    mode = int(np.searchsorted(-ratio, -1.0))
    up = np.cumprod(ratio[mode:])
    down = np.cumprod(1.0 / ratio[:mode][::-1])[::-1]
    probability = np.concatenate((down, [1.0], up))
    return float(probability @ np.minimum(offset + count, cap) / probability.sum())


class TopStatistic(RankStatistic):
    """A statistic of the top K; subclasses define `_of_list`."""

    at: Cutoff

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", check_cutoff(self.at, self.name))

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Value of a list without ties: the labels in order, best first."""
        labels = read_values(y_best_first, "y_best_first")
        return self._checked_value(labels, -np.arange(labels.size, dtype=np.float64), "worst", None)

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        labels, scores = repeated(labels, scores, weight, str(self))
        size = int(cutoff_positions(self.at, labels.size, True))
        return self._of_list(labels, Edge.of(labels, scores, size), ties)

    @abstractmethod
    def _of_list(self, labels: Floats, edge: Edge, ties: Ties) -> float:
        """Value of a list, given its top K."""


class _TopLoss(TopStatistic):
    """A loss of the top K."""

    greater_is_better: ClassVar[bool] = False


@register
@dataclass(frozen=True)
class WeakRankingLoss(_TopLoss):
    """How many of the K best items the top K of the list misses, twice over the length of the list: a loss.

    L = 2/n Σ over i in Best_K of 1[i is not in the top K of the list] (Werner 2020, Section 2.3.2, Remark
    2.1); with ``standardize`` 1/K instead of 2/n, Eq. (2.5). Of items with equal labels at the K-th place,
    whichever the list puts inside are taken to be the right ones, so that Best_K always has K members.

    Parameters
    ----------
    at : int or str
        K, or a share of the list such as ``"5%"``; at most the length of the list.
    standardize : bool

    Examples
    --------
    >>> WeakRankingLoss(at=2)([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    0.5
    """

    at: Cutoff
    standardize: bool = False
    # Who the best K are is a question of two classes, which grades have more than.
    labels: ClassVar[frozenset[LabelKind]] = frozenset({"binary", "continuous"})
    name: ClassVar[str] = "weak_ranking_loss"
    examples: ClassVar[tuple[str, ...]] = ("weak_ranking_loss@2", "weak_ranking_loss@40%(standardize=true)")

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """A positive inside spares one miss; of two classes, as many are missed as fit and are outside."""
        n = n_pos + n_neg
        size = int(cutoff_positions(self.at, n, True))
        each = 1.0 / size if self.standardize else 2.0 / n
        weights = np.full(n, -each * min(size, n_pos) / n_pos)
        weights[:size] += each
        return CountTable.by_position(weights)

    def graded_form(self, y: Floats) -> GradeSum:
        """The best K against the rest, where the labels tell which those are."""
        size = int(cutoff_positions(self.at, y.size, True))
        ranked = np.sort(y)[::-1]
        if size == y.size or ranked[size - 1] == ranked[size]:
            raise ValueError(
                f"{self} asks for the best {size} of {y.size} items, and the labels do not tell which:"
                " others have the same label. Use another K, or 'ndcg' or 'c_index', which need no such line."
            )
        return GradeSum(ranked[size - 1 : size], (self.count_table(size, y.size - size),))

    def _of_list(self, labels: Floats, edge: Edge, ties: Ties) -> float:
        return edge.missed(ties) / edge.size if self.standardize else 2.0 * edge.missed(ties) / labels.size


@register
@dataclass(frozen=True)
class LocalizedRankingLoss(_TopLoss):
    """What the top K misses, plus the pairs inside it that are in the wrong order: a loss.

    L = n-/n × weak loss + 2/(n (n - 1)) Σ over i < j in the top K of 1[(s_i - s_j)(Y_i - Y_j) < 0] (Werner
    2020, Eq. (2.6)). With ``standardize`` divided by m_K = n-/n × 2K/n + K(K - 1)/(n (n - 1)), the most it
    can be when K <= n/2 and n- = n - K.

    Parameters
    ----------
    at : int or str
        K, or a share of the list such as ``"5%"``; at most the length of the list.
    standardize : bool
    negatives : {"rest", "labels"}
        What n- is: the items that do not belong to the best K, n - K, which the review proposes for a
        response; or the items with the lower of two labels, as it is printed for these.

    Examples
    --------
    >>> LocalizedRankingLoss(at=2)([4, 3, 2, 1], [0.9, 0.7, 0.8, 0.1])
    0.25
    >>> LocalizedRankingLoss(at=1, negatives="labels")([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4])
    0.25
    """

    at: Cutoff
    standardize: bool = False
    negatives: str = "rest"
    name: ClassVar[str] = "localized_ranking_loss"
    examples: ClassVar[tuple[str, ...]] = (
        "localized_ranking_loss@2",
        "localized_ranking_loss@3(standardize=true)",
        "localized_ranking_loss@70%",
    )

    def count_table(self, n_pos: int, n_neg: int) -> CountTable | None:
        """A positive inside pays for the negatives above it, one outside for the miss.

        As long as that is more, up to about K = n/2: beyond, being outside can be the better.
        """
        n = n_pos + n_neg
        size = int(cutoff_positions(self.at, n, True))
        below = n - size if self.negatives == "rest" else n_neg
        miss, swap = below / n * 2.0 / n, 2.0 / (n * (n - 1.0))
        if swap * min(n_neg, size - 1) > miss:
            return None
        spared = miss * (n_pos - min(size, n_pos)) / n_pos
        whole = miss * size + swap * size * (size - 1) / 2.0 if self.standardize else 1.0
        return CountTable.of(
            n_pos, n_neg, lambda j, c: (spared - np.where(j + c < size, swap * c, miss)) / whole
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.negatives not in ("rest", "labels"):
            raise ValueError(f"negatives={self.negatives!r} must be 'rest' or 'labels'")

    def _n_negatives(self, labels: Floats, size: int) -> int:
        if self.negatives == "rest":
            return labels.size - size
        low, high = labels.min(), labels.max()
        if bool(((labels != low) & (labels != high)).any()):
            raise ValueError(f"{self} counts the lower of two labels, and y has more; use negatives=rest")
        return int(np.count_nonzero(labels == low))

    def _of_list(self, labels: Floats, edge: Edge, ties: Ties) -> float:
        size, n = edge.size, labels.size
        miss = self._n_negatives(labels, size) / n * 2.0 / n
        swap = 2.0 / (n * (n - 1.0))
        if ties == "mean":
            value = miss * edge.missed("mean") + swap * _mean_swaps(edge)
        else:
            value = _extreme(edge, miss, swap, ties)
        return value / (miss * size + swap * size * (size - 1) / 2.0) if self.standardize else value


def _sure_swaps(edge: Edge, ties: Ties) -> float:
    """Wrong pairs among the items surely inside."""
    if edge.labels.size == 0:
        return 0.0
    items = LevelledList.of(edge.labels, edge.scores)
    return comparable_mass(items.masses) - items.ordered(items.weight, items.weight, ties)


def _mean_swaps(edge: Edge) -> float:
    """Wrong pairs inside the top K, expected over the orders of tied items."""
    group, slots = edge.group, edge.slots
    lower_above = np.searchsorted(np.sort(edge.labels), group, side="left")
    swaps = _sure_swaps(edge, "mean") + slots / group.size * float(lower_above.sum())
    if slots > 1:
        both_inside = slots * (slots - 1) / (group.size * (group.size - 1))
        counts = np.unique(group, return_counts=True)[1].astype(np.float64)
        swaps += both_inside * comparable_mass(counts) / 2.0
    return swaps


def _extreme(edge: Edge, miss: float, swap: float, ties: Ties) -> float:
    """Loss under the worst or the best choice and order of the group's items.

    An item of the group adds `swap` for every lower label surely inside and saves `miss` if it is one of
    the best K. In the worst order all pairs of different labels chosen are wrong, r(r - 1)/2 less those
    with equal labels: the j-th item of a label adds `swap` (j - 1) less. These marginal values fall with j,
    so the labels off the cut are chosen greedily; the label at the cut, whose saving ends at the quota, is
    tried with every count.
    """
    worst = ties == "worst"
    labels, counts = np.unique(edge.group, return_counts=True)
    above = np.searchsorted(np.sort(edge.labels), labels, side="left")
    added = swap * above - miss * (labels > edge.cut)
    at_cut = labels == edge.cut
    n_cut = int(counts[at_cut].sum())
    others = _prefix_sums(added[~at_cut], counts[~at_cut], swap if worst else 0.0, worst)
    most, least = min(n_cut, edge.slots), max(0, edge.slots - (others.size - 1))
    k = np.arange(least, most + 1)
    cut = float(swap * above[at_cut].sum()) * k - miss * np.minimum(edge.equal + k, edge.quota)
    if worst:
        cut -= swap * k * (k - 1) / 2.0
    totals = others[edge.slots - k] + cut
    sure = miss * (edge.size - edge.found) + swap * _sure_swaps(edge, ties)
    if worst:
        return sure + swap * edge.slots * (edge.slots - 1) / 2.0 + float(totals.max())
    return sure + float(totals.min())


def _prefix_sums(added: Floats, counts: NDArray[np.intp], step: float, largest: bool) -> Floats:
    """Sums of the 0, 1, 2, ... largest (or smallest) values, the j-th of a label worth (j - 1) step less."""
    first = np.repeat(np.cumsum(counts) - counts, counts)
    values = np.repeat(added, counts) - step * (np.arange(first.size) - first)
    values.sort()
    return np.concatenate(([0.0], np.cumsum(values[::-1] if largest else values)))


@register
@dataclass(frozen=True)
class LocalAUC(BipartiteStatistic):
    """How often a positive is in the top of the list and above a random negative: the localized AUC.

    LocAUC(s, α) = P(s(X) > s(X') and s(X) >= Q(s, 1 - α) | Y = 1, Y' = -1) (Werner 2020, Definition 2.4,
    after Clémençon & Vayatis 2007), where s(X) >= Q(s, 1 - α) means the top K = α n items. At ``"100%"`` it
    is the AUC.

    Parameters
    ----------
    at : int or str
        K, or α as a share of the list such as ``"5%"``.

    Examples
    --------
    >>> LocalAUC(at="50%")([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """

    at: Cutoff
    name: ClassVar[str] = "local_auc"
    aliases: ClassVar[tuple[str, ...]] = ("loc_auc",)
    examples: ClassVar[tuple[str, ...]] = ("local_auc@3", "local_auc@40%", "local_auc@100%")

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", check_cutoff(self.at, self.name))

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Share of the pairs whose positive is inside and above the negative."""
        positive = self._read_order(y_best_first)
        inside = positive[: int(cutoff_positions(self.at, positive.size, True))]
        n_neg = np.count_nonzero(~positive)
        below = n_neg - np.cumsum(~inside)[inside]
        return float(below.sum() / ((positive.size - n_neg) * n_neg))

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """Negatives below a positive, as long as it is inside."""
        depth = int(cutoff_positions(self.at, n_pos + n_neg, True))
        pairs = float(n_pos * n_neg)
        return CountTable.of(n_pos, n_neg, lambda j, c: np.where(j + c < depth, n_neg - c, 0) / pairs)

    def _depth(self, n: float, whole: bool) -> float:
        return cutoff_positions(self.at, n, whole)

    def _expected(self, groups: TieGroups) -> float:
        from toprank.statistics import _pair_kernels

        if not groups.whole:
            raise ValueError(f"{self} {WHOLE_WEIGHTS}")
        depth = cutoff_positions(self.at, groups.n, True)
        pairs = _pair_kernels.local_pairs(groups.positives, groups.negatives, groups.n_neg, depth)
        return float(pairs / (groups.n_pos * groups.n_neg))

    def _expected_each(self, groups: QueryGroups) -> Floats:
        from toprank.statistics import _query_kernels

        arrays = groups.positives, groups.negatives, groups.starts
        pairs = _query_kernels.local_pairs(*arrays, groups.n_neg, self._depths(groups.n))
        return np.asarray(pairs / (groups.n_pos * groups.n_neg))
