"""The P-Norm Push in the log domain: exponential losses that neither overflow nor underflow.

Rudin (2009) bounds the p-norm over the negatives j of the share of positives i scored below j by

    R_p = ( mean_j ( mean_i exp(-(s_i - s_j)) )^p )^(1/p).

The sums separate, so that

    log R_p = log mean_i exp(-s_i) + 1/p log mean_j exp(p s_j),

a difference-free sum of two smooth maxima: convex, O(n), and at home with p = 64. p = 1 is RankBoost
(Freund et al. 2003; Rudin & Wang 2018, Eq. (3)); as p grows the second term becomes the highest negative
score.

Of more than two grades each cut between them makes a list of its own, the grades above it against those below
(Frank & Hall 2001; Fürnkranz et al. 2009), and log R_p is averaged over the cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["PNormPushItems", "PNormPushPoint"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Side:
    """The items of one class, sorted by query; each query's weights sum to one, in logs."""

    item: Ints
    start: Ints
    query: Ints
    log_weight: Floats

    @classmethod
    def of(cls, item: Ints, query: Ints, weight: Floats) -> _Side:
        order = np.argsort(query, kind="stable")
        item, query, weight = item[order], query[order], weight[item][order]
        start = np.flatnonzero(np.diff(query, prepend=-1))
        total = np.add.reduceat(weight, start)
        number = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(item))))
        return cls(item, start, number, np.log(weight / total[number]))

    def soft_max(self, values: Floats) -> tuple[Floats, Floats]:
        """The log of the weighted mean of exp(values) in each query, and each item's share of that mean."""
        logs = values + self.log_weight
        highest = np.maximum.reduceat(logs, self.start)
        share = np.exp(logs - highest[self.query])
        total = np.add.reduceat(share, self.start)
        share /= total[self.query]
        return highest + np.log(total), share


@dataclass(frozen=True)
class PNormPushItems:
    """The positives and negatives of every query that has both.

    Build it with `PNormPushItems.from_labels`.
    """

    n_items: int
    positives: _Side
    negatives: _Side

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> PNormPushItems:
        """Items by class and query, for each cut between labels; items without weight are left out.

        Parameters
        ----------
        y : array-like of numbers
            Two, or few: every cut between two labels costs as much as a list of two.
        qid : array-like, optional
            Query of each item, in any order; every query (and cut that divides it) counts the same.
        sample_weight : array-like, optional
        """
        grade, item, cut = _cut_by_cut(np.asarray(y))
        positive = grade[item] > cut
        weight = np.ones(len(grade)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        query = np.zeros(len(grade), dtype=np.int64)
        if qid is not None:
            query = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
        query = query[item] + (int(query.max(initial=0)) + 1) * cut
        n_queries = int(query.max(initial=0)) + 1
        used = weight[item] > 0
        both = np.ones(n_queries, dtype=bool)
        for side in (positive, ~positive):
            both &= np.bincount(query[used & side], minlength=n_queries) > 0
        used &= both[query]
        if not used.any():
            raise ValueError("There is no query with items of both classes and positive weight to order.")
        up, down = np.flatnonzero(used & positive), np.flatnonzero(used & ~positive)
        return cls(
            len(grade), _Side.of(item[up], query[up], weight), _Side.of(item[down], query[down], weight)
        )

    def added(self, positive: Floats, negative: Floats) -> Floats:
        """The sum for each item of numbers that go with the positives and negatives of all lists."""
        up = np.bincount(self.positives.item, weights=positive, minlength=self.n_items)
        return np.asarray(up + np.bincount(self.negatives.item, weights=negative, minlength=self.n_items))

    @property
    def n_queries(self) -> int:
        """Queries with items of both classes, counted once for each cut between their labels."""
        return len(self.positives.start)

    def at(self, scores: Floats, p: float) -> PNormPushPoint:
        """The mean over queries of log R_p at these scores."""
        low, positive_share = self.positives.soft_max(-scores[self.positives.item])
        high, negative_share = self.negatives.soft_max(p * scores[self.negatives.item])
        return PNormPushPoint(float(np.mean(low + high / p)), positive_share, negative_share, p, self)


@dataclass(frozen=True)
class PNormPushPoint:
    """The P-Norm Push at one vector of scores.

    Parameters
    ----------
    value : float
        Mean over queries of log R_p.
    positive_share, negative_share : arrays
        The softmax weights of the positives and negatives, in the order of `items`.
    """

    value: float
    positive_share: Floats
    negative_share: Floats
    p: float
    items: PNormPushItems

    @cached_property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return self.items.added(-self.positive_share, self.negative_share) / self.items.n_queries

    @cached_property
    def spread(self) -> Floats:
        """The Hessian is this diagonal minus one rank-one matrix for each query and class."""
        return self.items.added(self.positive_share, self.p * self.negative_share) / self.items.n_queries

    @property
    def curvature(self) -> Floats:
        """The diagonal of the Hessian with respect to the scores."""
        up, down = self.positive_share, self.negative_share
        return self.items.added(up * (1.0 - up), self.p * down * (1.0 - down)) / self.items.n_queries

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        parts = []
        for side, share, factor in self.sides():
            along = direction[side.item]
            mean = np.add.reduceat(share * along, side.start)
            parts.append(factor / self.items.n_queries * share * (along - mean[side.query]))
        return self.items.added(*parts)

    def sides(self) -> tuple[tuple[_Side, Floats, float], ...]:
        """Each class with its softmax weights and the factor of its part of the Hessian."""
        items = self.items
        return (
            (items.positives, self.positive_share, 1.0),
            (items.negatives, self.negative_share, self.p),
        )


def _cut_by_cut(y: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """The labels as grades 0, 1, ..., and every item once for each cut, the cut above that grade."""
    levels, grade = np.unique(y, return_inverse=True)
    n_cuts = max(len(levels) - 1, 1)
    item, cut = np.tile(np.arange(len(y)), n_cuts), np.repeat(np.arange(n_cuts), len(y))
    return grade.astype(np.int64), item.astype(np.int64), cut.astype(np.int64)
