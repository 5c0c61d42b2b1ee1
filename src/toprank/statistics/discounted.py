"""Discounted cumulative gain, for two classes and for graded relevance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.labels import LabelKind
from toprank.statistics.base import Ties, register
from toprank.statistics.counts import CountTable, GradeSum
from toprank.statistics.cutoffs import Cutoff, check_cutoff, cutoff_positions
from toprank.statistics.groups import TIES, top_items
from toprank.statistics.inputs import as_vector, read_classes, read_values
from toprank.statistics.positional import PositionalStatistic, best_sum, positions
from toprank.statistics.queries import short_lists

__all__ = ["DCG", "NDCG"]

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]

# Grades 0, 1, ..., so many at most, are counted to find the best order; other relevance is sorted.
_MOST_GRADES = 63

Gain = Literal["linear", "exponential"]


@register
@dataclass(frozen=True)
class DCG(PositionalStatistic):
    """What each item is worth, discounted by the logarithm of its position: discounted cumulative gain.

    DCG = Σ over items of gain(y) / log_b(1 + position), over the first N positions for ``dcg@N``. Where y is
    0 or 1 the gain is y, hence a_l = 1/log_2(n - l + 2) (Rudin & Wang 2018, Section 2.2; Agarwal 2011, Eq.
    (6.27); Boyd et al. 2012, Appendix B for ``dcg@5%``). With ``ties="mean"`` it is scikit-learn's
    ``dcg_score``. What a label is worth never depends on which other labels there are.

    Parameters
    ----------
    at : int or str, optional
        Count the first N positions only, or a share of the list such as ``"5%"``.
    base : float
        Base of the logarithm. The tables of Rudin & Wang are on the scale of ``base=e``.
    gain : {"linear", "exponential"}
        What a label is worth. ``"linear"``: y itself; ``"exponential"``: 2^y - 1, as in LightGBM. Relevance y
        must not be negative. Classes that are no relevance (-1 and 1, False and True, two strings) count as 0
        and 1.

    Examples
    --------
    >>> DCG()([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    1.5
    >>> DCG(at=2, gain="exponential")([3, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    7.0
    """

    at: Cutoff | None = None
    base: float = 2.0
    gain: Gain = "linear"
    # A response may be below zero, and what it is worth at a place is not for its size to say.
    labels: ClassVar[frozenset[LabelKind]] = frozenset({"binary", "ordinal"})
    name: ClassVar[str] = "dcg"
    examples: ClassVar[tuple[str, ...]] = ("dcg", "dcg@3", "dcg@30%", "dcg(base=e)", "dcg(gain=exponential)")
    _normalized: ClassVar[bool] = False
    _same_everywhere: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.at is not None:
            object.__setattr__(self, "at", check_cutoff(self.at, self.name))
        if not isinstance(self.base, (int, float)) or not 1 < self.base < math.inf:
            raise ValueError(f"base of {self.name} must be a number above 1, got {self.base!r}")
        object.__setattr__(self, "base", float(self.base))
        if self.gain not in get_args(Gain):
            raise ValueError(f"gain of {self.name} must be one of {get_args(Gain)}, got {self.gain!r}")

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Sum of the gains times the discounts."""
        labels = self._read_labels(y_best_first)
        if labels.dtype == np.bool_:
            return super().of_order(labels)
        if labels.min() == labels.max():
            raise ValueError(f"y_best_first holds one value only; {self} needs at least two")
        gains = self._gains(labels)
        discounts = self._discounts(self._depth(gains.size, True))
        ideal = np.sort(gains)[::-1][: discounts.size] @ discounts if self._normalized else 1.0
        return float(gains[: discounts.size] @ discounts / ideal)

    def graded_form(self, y: Floats) -> GradeSum:
        """The gain of a grade is the sum of the steps up to it, and each step is a DCG of two classes."""
        levels, counts = np.unique(self._read_labels(y).astype(np.float64), return_counts=True)
        gains, above = self._gains(levels), y.size - np.cumsum(counts)[:-1]
        weights = np.zeros(y.size)
        discounts = self._discounts(self._depth(y.size, True))
        weights[: discounts.size] = np.minimum.accumulate(discounts)
        if self._normalized:
            best = np.repeat(gains[::-1], counts[::-1])[: discounts.size]
            weights /= float(best @ discounts)
        # What every item gains at least is the same in any order: the first list has it.
        spare = [float(gains[0] * weights.sum()) / above[0], *np.zeros(len(above) - 1)]
        tables = [
            CountTable.by_position(step * weights + more)
            for step, more in zip(np.diff(gains), spare, strict=True)
        ]
        return GradeSum(levels[1:], tuple(tables))

    def _depth(self, n: float, whole: bool) -> float:
        return cutoff_positions(self.at, n, whole)

    def _discounts(self, depth: float) -> Floats:
        """Discounts of the positions above the depth."""
        return np.asarray(math.log(self.base) / np.log(positions(depth) + 2))

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        return self._discounts(depth)

    def _undivided(self, depth: float, n: float, n_pos: float) -> Floats:
        return self._discounts(depth)

    def _read_labels(self, y: ArrayLike) -> NDArray[Any]:
        """Booleans for two classes that gain 0 and 1, else relevance as real numbers."""
        array = as_vector(y, "y")
        if array.dtype.kind not in "iuf":
            return read_classes(array)
        values = read_values(array)
        low, high = values.min(), values.max()
        positive: NDArray[np.bool_] = values == 1
        if high == 1 and low in (-1, 0) and bool((positive | (values == low)).all()):
            return positive
        if low < 0:
            raise ValueError(f"y holds a negative relevance ({low:g}); {self.name} needs zero or more")
        return values

    def _gains(self, relevance: Floats) -> Floats:
        if self.gain != "exponential":
            return relevance
        if relevance.max() > 1000:
            raise ValueError("y is too large for an exponential gain (2**y - 1 overflows); use gain='linear'")
        return np.exp2(relevance) - 1

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        if labels.dtype == np.bool_:
            return super()._value(labels, scores, ties, weight)
        gains = self._gains(labels)
        masses = np.ones(labels.size) if weight is None else weight
        whole = weight is None or bool((weight == np.floor(weight)).all())
        depth = self._depth(float(masses.sum()), whole)
        discounts = self._discounts(depth)
        ideal = discounted_sum(gains, gains, masses, discounts, depth, "mean") if self._normalized else 1.0
        keep = top_items(scores, depth) if weight is None else None
        if keep is not None:
            gains, scores, masses = gains[keep], scores[keep], masses[keep]
        return discounted_sum(gains, scores, masses, discounts, depth, ties) / ideal

    def _each_value(
        self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None, starts: Starts
    ) -> Floats:
        if labels.dtype == np.bool_ or weight is not None or not short_lists(starts):
            return super()._each_value(labels, scores, ties, weight, starts)
        from toprank.statistics import _query_kernels

        gains = self._gains(labels)
        depths = self._depths(np.diff(starts))
        shape = starts, self._discounts(float(depths.max())), depths
        sums = _query_kernels.graded_sums(gains, scores, *shape, TIES.index(ties))
        if not self._normalized:
            return np.asarray(sums)
        grades = labels.astype(np.uint8) if labels.max() <= _MOST_GRADES else None
        if grades is not None and bool((grades == labels).all()):
            table = self._gains(np.arange(float(labels.max()) + 1))
            return np.asarray(sums / _query_kernels.ideal_sums(grades, table, *shape))
        return np.asarray(sums / _query_kernels.graded_sums(gains, gains, *shape, TIES.index("best")))


@register
@dataclass(frozen=True)
class NDCG(DCG):
    """Discounted cumulative gain as a share of the best attainable: 1 for a perfect list.

    NDCG = DCG / (DCG of the same items in order of relevance), both cut off at N for ``ndcg@N``. The divisor
    of Boyd et al. (2012), Appendix B, supposes that there are N positives; it is the same where there are.

    Parameters
    ----------
    at, base, gain
        As for `DCG`. The base cancels.

    Examples
    --------
    >>> round(NDCG(at=2)([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)
    0.6131
    """

    name: ClassVar[str] = "ndcg"
    examples: ClassVar[tuple[str, ...]] = ("ndcg", "ndcg@3", "ndcg@30%", "ndcg(gain=exponential)")

    _normalized: ClassVar[bool] = True

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        discounts = self._discounts(depth)
        return np.asarray(discounts / self._divisor(discounts, depth, n, n_pos))

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        return best_sum(undivided, np.minimum(n_pos, depth))


def discounted_sum(
    gains: Floats, scores: Floats, masses: Floats, discounts: Floats, depth: float, ties: Ties
) -> float:
    """Sum of gain times discount down to the depth, items of the given masses ranked by the scores."""
    from toprank.statistics import _kernels

    order = np.argsort(-scores)
    cumulative = np.concatenate(([0.0], np.cumsum(discounts)))
    policy = TIES.index(ties)
    return float(_kernels.graded_sum(gains[order], scores[order], masses[order], cumulative, depth, policy))
