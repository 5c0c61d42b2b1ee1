"""The exponential loss of all pairs of different labels, in the log domain, without listing the pairs.

log mean over pairs (i, k), y_i > y_k, of exp(-(s_i - s_k)): RankBoost with a distribution over the pairs
that grades or a response make (Freund et al. 2003). With two labels it is the P-Norm Push with p = 1. The
sums over lower labels are running sums, so that a value, its gradient and a product with its Hessian take
time proportional to the items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.losses import _grade_kernels

__all__ = ["ExponentialGrades", "ExponentialGradesPoint"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ExponentialGrades:
    """The items of every list that holds different labels, by list and rising label.

    Build it with `ExponentialGrades.from_labels`.

    Examples
    --------
    >>> items = ExponentialGrades.from_labels([2.0, 1.0, 0.0])
    >>> value, by_hand = items.at(np.array([2.0, 1.0, 0.0])).value, np.log((2 / np.e + np.e**-2) / 3)
    >>> round(float(value), 6), round(float(by_hand), 6)
    (-1.236617, -1.236617)
    """

    n_items: int
    item: Ints
    grade: Floats
    start: Ints
    log_weight: Floats
    log_pairs: Floats

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> ExponentialGrades:
        """Items by query; those without weight, and queries of one label, are left out.

        Parameters
        ----------
        y : array-like of numbers
            The higher, the nearer to the top.
        qid : array-like, optional
            Query of each item, in any order; every query counts the same.
        sample_weight : array-like, optional
            A pair weighs the product of its items' weights.
        """
        grade = np.asarray(y, dtype=np.float64)
        weight = np.ones(len(grade)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        query = np.zeros(len(grade), dtype=np.int64)
        if qid is not None:
            query = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
        used = np.flatnonzero(weight > 0)
        lowest, highest = np.full(query.max() + 1, np.inf), np.full(query.max() + 1, -np.inf)
        np.minimum.at(lowest, query[used], grade[used])
        np.maximum.at(highest, query[used], grade[used])
        used = used[(lowest < highest)[query[used]]]
        if not len(used):
            raise ValueError("There is no query with items of different labels and positive weight to order.")
        item = used[np.lexsort((grade[used], query[used]))]
        start = np.append(np.flatnonzero(np.diff(query[item], prepend=-1)), len(item))
        logs, none = np.log(weight[item]), np.zeros(len(item))
        log_pairs = _grade_kernels.pair_sums(none, logs, grade[item], start, none)[0]
        return cls(len(grade), item, grade[item], start, logs, log_pairs)

    def at(self, scores: Floats, p: float = 1.0) -> ExponentialGradesPoint:
        """The mean over queries of the loss; `p` is there for company with the push and must be 1."""
        assert p == 1.0
        along = np.zeros(len(self.item))
        own = np.ascontiguousarray(scores[self.item])
        totals, upper, lower, _, _ = _grade_kernels.pair_sums(
            own, self.log_weight, self.grade, self.start, along
        )
        return ExponentialGradesPoint(float(np.mean(totals - self.log_pairs)), own, upper, lower, self)


@dataclass(frozen=True)
class ExponentialGradesPoint:
    """The loss at one vector of scores.

    Parameters
    ----------
    value : float
    scores : array
        Of the items, in their order there.
    upper, lower : arrays
        Each item's share of the pairs in which it is the upper or the lower one.
    items : ExponentialGrades
    """

    value: float
    scores: Floats
    upper: Floats
    lower: Floats
    items: ExponentialGrades

    @cached_property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return self._by_item(self.lower - self.upper)

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        items = self.items
        along = np.ascontiguousarray(direction[items.item])
        _, upper, lower, below, above = _grade_kernels.pair_sums(
            self.scores, items.log_weight, items.grade, items.start, along
        )
        apart = np.add.reduceat((upper - lower) * along, items.start[:-1])
        mean = np.repeat(apart, np.diff(items.start))
        return self._by_item(upper * (along - below - mean) - lower * (above - along - mean))

    def _by_item(self, values: Floats) -> Floats:
        spread = np.zeros(self.items.n_items)
        spread[self.items.item] = values / len(self.items.log_pairs)
        return spread
