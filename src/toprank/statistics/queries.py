"""Many lists at once: the rows of each query next to each other, and their groups of equal score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.groups import TIES, TieGroups, Ties
from toprank.statistics.inputs import as_vector

__all__ = ["Queries", "QueryGroups", "query_groups", "short_lists"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Starts = NDArray[np.int64]

# Lists longer than this on average are worth numpy's faster sorting, one call for each.
_SHORT = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Which rows belong together, queries in ascending order of their names.

    Parameters
    ----------
    order : array of intp or None
        Rows, query by query; None where they lie so already.
    starts : array of int64
        Where each query begins in that order, and the end of the last.
    """

    order: NDArray[np.intp] | None
    starts: Starts

    @classmethod
    def of(cls, qid: ArrayLike, n: int) -> Queries:
        """Read the query of each of n rows; rows of a query need not be next to each other.

        Examples
        --------
        >>> queries = Queries.of(["b", "a", "b"], 3)
        >>> queries.order, queries.starts
        (array([1, 0, 2]), array([0, 1, 3]))
        """
        array = as_vector(qid, "qid")
        if array.size != n:
            raise ValueError(f"qid has {array.size} values but y has {n}; they must match, item by item")
        if array.dtype.kind == "f" and np.isnan(array.min()):
            raise ValueError("qid contains NaN; every item needs a query")
        try:
            changes = array[1:] != array[:-1]
            ascending = bool((array[1:] >= array[:-1]).all())
            order = None if ascending else np.argsort(array, kind="stable")
        except TypeError:
            raise ValueError("qid mixes values that cannot be compared; use values of one type") from None
        if order is not None:
            named = array[order]
            changes = named[1:] != named[:-1]
        starts = np.concatenate(([0], np.flatnonzero(changes) + 1, [n]))
        return cls(order, starts.astype(np.int64))

    def __len__(self) -> int:
        """Return the number of queries."""
        return int(self.starts.size - 1)

    @property
    def sizes(self) -> Starts:
        """Number of rows of each."""
        return np.diff(self.starts)

    def arranged(self, values: Array) -> Array:
        """Values of the rows, query by query."""
        return values if self.order is None else values[self.order]

    def keep(self, rows: NDArray[np.intp]) -> Queries:
        """Return the same queries on some of the rows, given by ascending numbers."""
        names = np.empty(int(self.starts[-1]), dtype=np.int64)
        codes = np.repeat(np.arange(len(self)), self.sizes)
        names[slice(None) if self.order is None else self.order] = codes
        return Queries.of(names[rows], rows.size)

    def with_different(self, labels: Array) -> NDArray[np.bool_]:
        """Say of each query whether its labels, given query by query, differ."""
        if labels.dtype == np.bool_:
            positives = np.add.reduceat(labels, self.starts[:-1], dtype=np.int64)
            return np.asarray((positives > 0) & (positives < self.sizes))
        first = self.starts[:-1]
        return np.asarray(np.minimum.reduceat(labels, first) != np.maximum.reduceat(labels, first))

    def select(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Starts]:
        """Rows, query by query, of some of the queries, and where each of those begins among them."""
        sizes = self.sizes
        starts = np.concatenate(([0], np.cumsum(sizes[chosen])))
        return np.repeat(chosen, sizes), starts.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class QueryGroups:
    """As `TieGroups` for many lists of whole items; those of query q are starts[q] to starts[q + 1].

    Parameters
    ----------
    positives, negatives : arrays of float64
    starts : array of int64
    n_pos, n_neg : arrays of float64
        Totals of each query.
    """

    positives: Floats
    negatives: Floats
    starts: Starts
    n_pos: Floats
    n_neg: Floats

    @property
    def n(self) -> Floats:
        """Length of each list."""
        return np.asarray(self.n_pos + self.n_neg)

    def weighted_sums(self, weights: Floats, first: Starts, depths: Floats) -> Floats:
        """Sum of position weights at each query's positives; its weights begin at `first`, one a position."""
        from toprank.statistics import _query_kernels

        arrays = self.positives, self.negatives, self.starts
        return np.asarray(_query_kernels.linear_sums(*arrays, weights, first, depths))

    def __iter__(self) -> Iterator[TieGroups]:
        """Yield the groups of each query."""
        for q in range(self.starts.size - 1):
            own = slice(self.starts[q], self.starts[q + 1])
            totals = float(self.n_pos[q]), float(self.n_neg[q])
            yield TieGroups(self.positives[own], self.negatives[own], *totals, True)


def short_lists(starts: Starts) -> bool:
    """Whether the lists are so short that a compiled loop over all of them at once pays."""
    return bool(starts[-1] <= _SHORT * (starts.size - 1))


def query_groups(
    positive: NDArray[np.bool_], scores: Floats, starts: Starts, *, ties: Ties, depths: Floats
) -> QueryGroups:
    """Groups of equal score of every query, best first, ties resolved as asked.

    Parameters
    ----------
    positive : array of bool
    scores : array of float64
    starts : array of int64
        Where each query begins, and the end of the last.
    ties : {"worst", "mean", "best"}
    depths : array of float64
        Positions from the top that matter in each query.
    """
    from toprank.statistics import _query_kernels

    n_pos = np.add.reduceat(positive, starts[:-1], dtype=np.int64).astype(np.float64)
    policy = TIES.index(ties)
    positives, negatives, groups = _query_kernels.query_groups(positive, scores, starts, depths, policy)
    return QueryGroups(positives, negatives, groups, n_pos, np.diff(starts) - n_pos)
