"""What lost pairs cost: the value of lists and of weighted pairs, made once by a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Objective", "Query"]

Floats = NDArray[np.float64]
Query = tuple[NDArray[np.int64], NDArray[np.int64], Floats]
"""Positive rows, negative rows and position weights of one query; no weights when it has one class only."""


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The value of a list of lost counts, one for each item that can lose pairs.

    The items are the positives of all lists, query after query, or the weighted pairs themselves; a problem
    has one kind, and what belongs to the other is empty. A positive that loses c pairs, j-th of its list
    when sorted by c, is worth ``weights[weight_start[q] + j + c]``; a pair is worth its weight when it is
    not lost.

    Parameters
    ----------
    positive_query, negative_query : arrays of int32
        Query of each positive and of each negative.
    weights, weight_start : arrays
        Position weights of query q: ``weights[weight_start[q]:weight_start[q + 1]]``.
    worth : array
        What winning each pair is worth.

    Examples
    --------
    >>> lists = Objective.of_lists([(np.array([1, 2]), np.array([0]), np.array([1.0, 0.5, 0.25]))])
    >>> lists.value([0, 0]), lists.value([0, 1]), lists.floor
    (1.5, 1.25, Fraction(3, 4))
    >>> pairs = Objective.of_pairs(np.array([3.0, 0.5]))
    >>> pairs.value([0, 1]), pairs.floor
    (3.0, Fraction(0, 1))
    """

    positive_query: NDArray[np.int32]
    negative_query: NDArray[np.int32]
    weights: Floats
    weight_start: NDArray[np.int64]
    worth: Floats

    @classmethod
    def of_lists(cls, queries: list[Query]) -> Self:
        """Lists with position weights; those without weights do not count."""
        counted = [(q, upper, lower) for q, (upper, lower, weights) in enumerate(queries) if len(weights)]
        sizes = [len(weights) for _, _, weights in queries]
        return cls(
            np.repeat([q for q, _, _ in counted], [len(upper) for _, upper, _ in counted]).astype(np.int32),
            np.repeat([q for q, _, _ in counted], [len(lower) for _, _, lower in counted]).astype(np.int32),
            np.concatenate([weights for _, _, weights in queries]),
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            np.empty(0),
        )

    @classmethod
    def of_pairs(cls, worth: Floats) -> Self:
        """Pairs of which each is worth something by itself."""
        nothing = np.empty(0, dtype=np.int32)
        return cls(nothing, nothing, np.empty(0), np.zeros(1, dtype=np.int64), worth)

    @property
    def by_pairs(self) -> bool:
        """Whether each pair counts by itself: weighted pairs, not lists."""
        return len(self.worth) > 0

    @property
    def n_items(self) -> int:
        """Number of counts that make a value."""
        return len(self.positive_query) + len(self.worth)

    @property
    def n_pairs(self) -> int:
        """Number of pairs that matter."""
        queries = len(self.weight_start)
        up, low = (
            np.bincount(side, minlength=queries) for side in (self.positive_query, self.negative_query)
        )
        return int(up @ low) + len(self.worth)

    @property
    def size(self) -> float:
        """Sum of all weights' sizes: no value is larger."""
        return math.fsum(np.abs(self.weights)) + math.fsum(self.worth)

    # -- values -------------------------------------------------------------------------------

    def terms(self, lost: NDArray[np.integer] | list[int]) -> Floats:
        """Summands of the value when each item loses so many pairs."""
        counts = np.asarray(lost)
        if self.by_pairs:
            return self.worth[counts == 0]
        order = np.lexsort((counts, self.positive_query))
        query = self.positive_query[order]
        place = np.arange(len(query)) - np.searchsorted(query, query)
        return np.asarray(self.weights[self.weight_start[query] + place + counts[order]])

    def value(self, lost: NDArray[np.integer] | list[int]) -> float:
        """The value, rounded once."""
        return math.fsum(self.terms(lost).tolist())

    def exact_value(self, lost: NDArray[np.integer] | list[int]) -> Fraction:
        """The value without rounding."""
        return sum(map(Fraction, self.terms(lost).tolist()), start=Fraction(0))

    def nothing_lost(self) -> NDArray[np.int64]:
        """Counts of a list in perfect order."""
        return np.zeros(self.n_items, dtype=np.int64)

    def everything_lost(self) -> NDArray[np.int64]:
        """Counts when every pair is lost."""
        rivals = np.bincount(self.negative_query, minlength=len(self.weight_start))
        return np.concatenate((rivals[self.positive_query], np.ones(len(self.worth), dtype=np.int64)))

    @property
    def floor(self) -> Fraction:
        """Value when every pair is lost."""
        return self.exact_value(self.everything_lost())
