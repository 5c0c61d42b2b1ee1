"""The catalog of statistics of two classes; `toprank.statistics.get` makes them from text.

Positions count from 1 at the top in the formulas; ranks l count from 1 at the bottom, as in the papers, so
that the item at position i has rank l = n - i + 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from toprank.statistics.base import register
from toprank.statistics.cutoffs import Cutoff
from toprank.statistics.discounted import DCG, NDCG
from toprank.statistics.groups import TieGroups
from toprank.statistics.nonlinear import (
    AveragePrecision,
    InfinitePushLoss,
    PairwiseMisrankingError,
    PartialAUCFPR,
    PNormPushLoss,
    PositivesAtTop,
    ReciprocalRank,
    ordered_pairs,
    ordered_pairs_each,
    positive_number,
)
from toprank.statistics.positional import CutOffStatistic, PositionalStatistic, best_sum, positions
from toprank.statistics.queries import QueryGroups

__all__ = [
    "AUC",
    "DCG",
    "NDCG",
    "AveragePrecision",
    "InfinitePushLoss",
    "Lift",
    "PNorm",
    "PNormPushLoss",
    "PairwiseMisrankingError",
    "PartialAUC",
    "PartialAUCFPR",
    "PositivesAtTop",
    "Precision",
    "Recall",
    "ReciprocalRank",
    "ReciprocalRankSum",
    "WilcoxonRankSum",
    "WinnerTakesAll",
]

Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class AUC(PositionalStatistic):
    """How often a positive is ranked above a negative: the area under the ROC curve.

    AUC = 1/(n+ n-) Σ over positives i, negatives k of 1[f(x_k) < f(x_i)] (Rudin & Wang 2018, Section 2.2).
    With ``ties="mean"`` a tie counts one half, as in scikit-learn's ``roc_auc_score``.

    Examples
    --------
    >>> AUC()([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.75
    """

    name: ClassVar[str] = "auc"
    aliases: ClassVar[tuple[str, ...]] = ("roc_auc",)

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        # The rank sum less its lowest value, spread over the positives, per pair.
        return np.asarray((n - 1 - positions(depth) - (n_pos - 1) / 2) / (n_pos * (n - n_pos)))

    def _expected(self, groups: TieGroups) -> float:
        return ordered_pairs(groups) / (groups.n_pos * groups.n_neg)

    def _expected_each(self, groups: QueryGroups) -> Floats:
        return np.asarray(ordered_pairs_each(groups) / (groups.n_pos * groups.n_neg))


@register
@dataclass(frozen=True)
class WilcoxonRankSum(PositionalStatistic):
    """The sum of the positives' ranks, n for the top item: AUC in other units.

    a_l = l, so that WRS = n+ n- AUC + n+ (n+ + 1)/2 (Rudin & Wang 2018, Section 2.2).

    Examples
    --------
    >>> WilcoxonRankSum()([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    6.0
    """

    name: ClassVar[str] = "wilcoxon_rank_sum"
    aliases: ClassVar[tuple[str, ...]] = ("wrs",)

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        return n - positions(depth)

    def _expected(self, groups: TieGroups) -> float:
        return ordered_pairs(groups) + groups.n_pos * (groups.n_pos + 1) / 2

    def _expected_each(self, groups: QueryGroups) -> Floats:
        return np.asarray(ordered_pairs_each(groups) + groups.n_pos * (groups.n_pos + 1) / 2)


@register
@dataclass(frozen=True)
class PartialAUC(CutOffStatistic):
    """The sum of the positives' ranks, counted in the top of the list only.

    a_l = l 1[l >= θ] with θ = n - N + 1, that is the top N positions (Rudin & Wang 2018, Section 2.2);
    ``partial_auc@100`` is their partial AUC@100. For the area under the left part of the ROC curve see
    `PartialAUCFPR`.

    Parameters
    ----------
    at : int or str
        N, or a share of the list such as ``"5%"``.
    normalize : bool
        Divide by the highest value attainable, so that a perfect list has 1.

    Examples
    --------
    >>> PartialAUC(at=2)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    4.0
    """

    at: Cutoff
    normalize: bool = False
    name: ClassVar[str] = "partial_auc"
    examples: ClassVar[tuple[str, ...]] = (
        "partial_auc@3",
        "partial_auc@40%",
        "partial_auc@3(normalize=true)",
    )

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        ranks = self._undivided(depth, n, n_pos)
        return np.asarray(ranks / self._divisor(ranks, depth, n, n_pos))

    def _undivided(self, depth: float, n: float, n_pos: float) -> Floats:
        return n - positions(depth)

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        return best_sum(undivided, np.minimum(n_pos, depth)) if self.normalize else 1.0


@register
@dataclass(frozen=True)
class ReciprocalRankSum(PositionalStatistic):
    """The reciprocal positions of all positives, summed.

    a_l = 1/(n - l + 1): what Rudin & Wang (2018, Section 2.2) call MRR. What everyone else calls so, the mean
    over queries of the first positive's reciprocal position, is `ReciprocalRank`, by name ``mrr``.

    Examples
    --------
    >>> ReciprocalRankSum()([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    0.75
    """

    name: ClassVar[str] = "reciprocal_rank_sum"
    _same_everywhere: ClassVar[bool] = True

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        return 1.0 / (positions(depth) + 1)


@register
@dataclass(frozen=True)
class WinnerTakesAll(PositionalStatistic):
    """Is the item on top a positive? One if so, else zero.

    a_l = 1[l = n] (Rudin & Wang 2018, Section 2.2).

    Examples
    --------
    >>> WinnerTakesAll()([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.1])
    1.0
    """

    name: ClassVar[str] = "winner_takes_all"
    aliases: ClassVar[tuple[str, ...]] = ("wta",)
    _same_everywhere: ClassVar[bool] = True

    def _depth(self, n: float, whole: bool) -> float:
        return min(1.0, n)

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        return np.ones(math.ceil(depth))


@register
@dataclass(frozen=True)
class PNorm(PositionalStatistic):
    """The positives' ranks to the power p, summed: the larger p, the more the top of the list counts.

    a_l = l^p (Rudin & Wang 2018, Section 2.2).

    Parameters
    ----------
    p : float
        Positive.
    scaled : bool
        Use (l/n)^p instead. The order of preference is the same, and it cannot overflow; without it a power
        beyond the range of floating point is a ValueError.

    Examples
    --------
    >>> PNorm(p=2)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    20.0
    """

    p: float = 2.0
    scaled: bool = False
    name: ClassVar[str] = "p_norm"
    examples: ClassVar[tuple[str, ...]] = ("p_norm", "p_norm(p=0.5)", "p_norm(p=64,scaled=true)")

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", positive_number(self.p, "p of p_norm"))

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        ranks = n - positions(depth)
        if self.scaled:
            return np.asarray((ranks / n) ** self.p)
        if self.p * math.log(n) + math.log(n) > 709.0:
            raise ValueError(f"{self} overflows for {n:g} items; use {PNorm(self.p, scaled=True)}")
        return np.asarray(ranks**self.p, dtype=np.float64)


class _Hits(CutOffStatistic):
    """Positives above the cut-off, divided by something: the whole hits are counted before dividing."""

    _same_everywhere: ClassVar[bool] = True

    @abstractmethod
    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        """What the number of hits is divided by."""

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        hits = self._undivided(depth, n, n_pos)
        return np.asarray(hits / self._divisor(hits, depth, n, n_pos))

    def _undivided(self, depth: float, n: float, n_pos: float) -> Floats:
        return np.ones(math.ceil(depth))


@register
@dataclass(frozen=True)
class Precision(_Hits):
    """The share of positives among the first k items.

    ``precision@10``, or ``precision@5%`` for the top quantile: P@τ of Boyd et al. (2012), Appendix B, where k
    is the share of the list rounded up. Where the list is shorter than k, k is its length.

    Examples
    --------
    >>> Precision(at=2)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """

    at: Cutoff
    name: ClassVar[str] = "precision"
    examples: ClassVar[tuple[str, ...]] = ("precision@1", "precision@3", "precision@50%")

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        return depth


@register
@dataclass(frozen=True)
class Recall(_Hits):
    """The share of all positives that are among the first k items.

    Examples
    --------
    >>> Recall(at=1)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """

    at: Cutoff
    name: ClassVar[str] = "recall"
    examples: ClassVar[tuple[str, ...]] = ("recall@2", "recall@30%")

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        return n_pos


@register
@dataclass(frozen=True)
class Lift(_Hits):
    """How many times denser the positives are among the first k items than in the whole list.

    Precision at k over n+/n; one for a random list.

    Examples
    --------
    >>> Lift(at=1)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    2.0
    """

    at: Cutoff
    name: ClassVar[str] = "lift"
    examples: ClassVar[tuple[str, ...]] = ("lift@2", "lift@30%")

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        return n_pos * depth / n
