"""What lost pairs cost: the value of lists and of weighted pairs, made once by a problem.

Lists get what their positions are worth from a statistic or from plain weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from toprank.statistics import CountTable, RankStatistic, get

__all__ = [
    "Objective",
    "PositionWeights",
    "Query",
    "Tables",
    "count_tables",
    "lists_of",
    "losses_by_rivals",
    "name_of",
    "position_weights",
]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Query = tuple[Whole, Whole, CountTable]
"""Positive rows, negative rows and what lost pairs cost in one list."""
Tables = list[CountTable | None]
"""One for each query; None where a query has one class only: it cannot be ranked rightly or wrongly."""


@dataclass(frozen=True, eq=False)
class Objective:
    """The value of a list of lost counts, one for each item that can lose pairs.

    The items are the positives of all lists, list after list, or the weighted pairs themselves; a problem
    has one kind, and what belongs to the other is empty. A positive that loses c pairs, j-th of its list
    when sorted by c, is worth ``g(j, c)`` by the list's `CountTable`; a pair is worth its weight when it is
    not lost.

    Parameters
    ----------
    positive_query, negative_query : arrays of int32
        List of each positive and of each negative.
    tables : tuple of CountTable
        Of each list.
    worth : array
        What winning each pair is worth.
    offset : float
        What pairs are worth when all are lost.

    Examples
    --------
    >>> weights = CountTable.by_position(np.array([1.0, 0.5, 0.25]))
    >>> lists = Objective.of_lists([(np.array([1, 2]), np.array([0]), weights)])
    >>> lists.value([0, 0]), lists.value([0, 1]), lists.floor
    (1.5, 1.25, Fraction(3, 4))
    >>> pairs = Objective.of_pairs(np.array([3.0, 0.5]))
    >>> pairs.value([0, 1]), pairs.floor
    (3.0, Fraction(0, 1))
    """

    positive_query: NDArray[np.int32]
    negative_query: NDArray[np.int32]
    tables: tuple[CountTable, ...]
    worth: Floats
    offset: float = 0.0

    @classmethod
    def of_lists(cls, queries: Sequence[Query]) -> Self:
        """Lists, each with its table."""
        number = np.arange(len(queries), dtype=np.int32)
        return cls(
            np.repeat(number, [len(upper) for upper, _, _ in queries]),
            np.repeat(number, [len(lower) for _, lower, _ in queries]),
            tuple(table for _, _, table in queries),
            np.empty(0),
        )

    @classmethod
    def of_pairs(cls, worth: Floats, offset: float = 0.0) -> Self:
        """Pairs of which each is worth something by itself."""
        nothing = np.empty(0, dtype=np.int32)
        return cls(nothing, nothing, (), worth, offset)

    @property
    def by_pairs(self) -> bool:
        """Whether each pair counts by itself: weighted pairs, not lists."""
        return len(self.worth) > 0

    @property
    def n_items(self) -> int:
        """Number of counts that make a value."""
        return len(self.positive_query) + len(self.worth)

    @cached_property
    def shapes(self) -> tuple[Whole, Whole]:
        """Positives and negatives of each list."""
        lists = len(self.tables)
        up, low = (np.bincount(side, minlength=lists) for side in (self.positive_query, self.negative_query))
        return up.astype(np.int64), low.astype(np.int64)

    @property
    def n_pairs(self) -> int:
        """Number of pairs that matter."""
        up, low = self.shapes
        return int(up @ low) + len(self.worth)

    @cached_property
    def size(self) -> float:
        """No value is larger, nor is any sum of terms."""
        terms = [self.terms(self.nothing_lost()), self.terms(self.everything_lost())]
        bound = math.fsum(np.maximum(*map(np.abs, terms)).tolist()) if self.tables else 0.0
        linear = [np.abs(table.values) for table in self.tables if table.linear]
        lists = max(bound, math.fsum(np.concatenate([[0.0], *linear]).tolist()))
        return lists + math.fsum(self.worth) + abs(self.offset)

    # -- tables as the kernels read them ------------------------------------------------------

    @cached_property
    def _plain(self) -> tuple[CountTable, ...]:
        up, low = self.shapes
        return tuple(table.plain(int(m), int(n)) for table, m, n in zip(self.tables, up, low, strict=True))

    @cached_property
    def weights(self) -> Floats:
        """Values of all lists' tables: g(j, c) of list q is ``weights[start[q] + stride[q] * j + c]``."""
        return np.concatenate([np.empty(0), *(table.values for table in self._plain)])

    @cached_property
    def weight_start(self) -> Whole:
        """Where each list's values begin in `weights`."""
        return _ends([len(table.values) for table in self._plain])

    @cached_property
    def stride(self) -> Whole:
        """Of each list: from one place of a positive to the next in `weights`."""
        return np.array([table.stride for table in self._plain], dtype=np.int64)

    def table(self, q: int) -> Floats:
        """What positives of one list are worth: a row for each place, a column for each lost count."""
        m, n = self.shapes[0][q], self.shapes[1][q]
        return self.tables[q].at(np.arange(m)[:, None], np.arange(n + 1)[None, :])

    # -- values -------------------------------------------------------------------------------

    @cached_property
    def short_tables(self) -> tuple[Floats, Whole, Whole, Floats]:
        """All lists' tables end to end as they are: values, where each begins, strides, factors apart.

        With the factors multiplied in, those of long lists would fill memory.
        """
        factors = [
            np.ones(m) if table.factor is None else table.factor
            for table, m in zip(self.tables, self.shapes[0].tolist(), strict=True)
        ]
        return (
            np.concatenate([np.empty(0), *(table.values for table in self.tables)]),
            _ends([len(table.values) for table in self.tables]),
            np.array([table.stride for table in self.tables], dtype=np.int64),
            np.concatenate([np.empty(0), *factors]),
        )

    def terms(self, lost: NDArray[np.integer] | list[int]) -> Floats:
        """Summands of the value when each item loses so many pairs."""
        counts = np.asarray(lost)
        if self.by_pairs:
            won = self.worth[counts == 0]
            return np.append(won, self.offset) if self.offset else won
        order = np.lexsort((counts, self.positive_query))
        query = self.positive_query[order]
        place = np.arange(len(query)) - np.searchsorted(query, query)
        values, start, stride, factor = self.short_tables
        return np.asarray(factor * values[start[query] + stride[query] * place + counts[order]])

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
        rivals = self.shapes[1][self.positive_query]
        return np.concatenate((rivals, np.ones(len(self.worth), dtype=np.int64)))

    @property
    def floor(self) -> Fraction:
        """Value when every pair is lost."""
        return self.exact_value(self.everything_lost())


def losses_by_rivals(table: NDArray[Any]) -> NDArray[Any]:
    """The same losses, summed by negatives: row v, column b is what the v-th best one takes off.

    The j-th best positive loses ``table[j, v] - table[j, v + 1]`` to the v-th best negative if that stands
    above it, which it does for j >= b, b the number of positives above the negative. So the value of an order
    is ``table[:, 0].sum()`` less, for every v, the entry at the b of the v-th best negative.

    >>> losses_by_rivals(np.array([[5, 3, 0], [4, 4, 1]]))
    array([[2, 0, 0],
           [6, 3, 0]])
    """
    falls = table[:, :-1] - table[:, 1:]
    losses = np.zeros((falls.shape[1], falls.shape[0] + 1), dtype=table.dtype)
    losses[:, :-1] = falls[::-1].cumsum(axis=0)[::-1].T
    return losses


def _ends(sizes: Sequence[int]) -> Whole:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


# -- what positions are worth -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PositionWeights:
    """The weights of each query's positions, and what to call the sum they make.

    Parameters
    ----------
    lists : tuple of arrays
        One for each query, in the order of the queries' labels; best position first, never increasing. They
        are used as they are and summed over queries.
    name : str
    """

    lists: tuple[Floats, ...]
    name: str

    def __str__(self) -> str:
        return self.name


def count_tables(
    statistic: Any, labels: NDArray[np.int8], qid: NDArray[np.int64], queries: Literal["sum", "mean"]
) -> tuple[Tables, str]:
    """The table of each query, to be summed, and what the sum is called.

    A loss is maximised with its sign changed, and its name says so.
    """
    if queries not in ("sum", "mean"):
        raise ValueError(f'queries must be "sum" or "mean", got {queries!r}.')
    sizes = np.bincount(qid)
    n_pos = np.bincount(qid, weights=labels).astype(np.int64)
    shapes = [(int(m), int(n - m)) for m, n in zip(n_pos, sizes, strict=True)]
    make, name = _source(statistic, sizes)
    counted = sum(m > 0 and n > 0 for m, n in shapes)
    parts = 1 if queries == "sum" or isinstance(statistic, PositionWeights) else counted
    tables: Tables = []
    for q, (m, n) in enumerate(shapes):
        table = make(q, m, n) if m > 0 and n > 0 else None
        complaint = None if table is None else table.complaint(m, n)
        if complaint is not None:
            raise ValueError(f"statistic: {complaint}.")
        tables.append(None if table is None else table.divided(parts))
    return tables, name


def position_weights(
    statistic: Any, labels: NDArray[np.int8], qid: NDArray[np.int64], queries: Literal["sum", "mean"]
) -> tuple[Floats, NDArray[np.int64], str]:
    """Weights of all queries end to end, where each begins, and the statistic's name; linear ones only."""
    tables, name = count_tables(statistic, labels, qid, queries)
    if not all(table is None or table.linear for table in tables):
        raise ValueError(f"statistic {name!r} is not a linear rank statistic (a sum of position weights).")
    sizes = np.bincount(qid)
    parts = [np.empty(0) if t is None else t.values[:n] for t, n in zip(tables, sizes, strict=True)]
    start = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)
    return np.concatenate(parts), start, name


Source = Callable[[int, int, int], CountTable]
"""From the number of a query, its positives and its negatives to its table."""


def _source(statistic: Any, sizes: NDArray[np.int64]) -> tuple[Source, str]:
    """Where tables come from, and one name for one statistic: "DCG" and "dcg" are the same claim."""
    if isinstance(statistic, PositionWeights):
        return _given_lists(statistic, sizes), statistic.name
    if isinstance(statistic, np.ndarray | list | tuple):
        return _given_weights(statistic, int(sizes.max())), "position weights"
    found: RankStatistic = get(statistic)
    return _by_statistic(found), name_of(found)


def name_of(statistic: RankStatistic) -> str:
    """What is maximised: of a loss the value with its sign changed."""
    return str(statistic) if statistic.greater_is_better else f"-{statistic}"


def _given_lists(given: PositionWeights, sizes: NDArray[np.int64]) -> Source:
    if len(given.lists) != len(sizes):
        raise ValueError(
            f"statistic: weights for {len(sizes)} queries are needed, got {len(given.lists)} lists."
        )
    return lambda q, m, n: CountTable.by_position(given.lists[q][: m + n])


def _given_weights(statistic: Any, longest: int) -> Source:
    weights = np.asarray(statistic, dtype=np.float64)
    if weights.ndim != 1 or len(weights) < longest:
        raise ValueError(
            f"statistic: {longest} position weights are needed, got an array of shape {weights.shape}."
        )
    return lambda q, m, n: CountTable.by_position(weights[: m + n])


def _by_statistic(statistic: RankStatistic) -> Source:
    def make(q: int, m: int, n: int) -> CountTable:
        table = statistic.count_table(m, n)
        if table is None:
            raise ValueError(
                f"statistic {str(statistic)!r} cannot be maximised directly on {m} positives and {n}"
                " negatives: it is no sum over the positives of what their place and the negatives above"
                ' them make them worth; "dcg", "auc", "average_precision", "ndcg@10" and "precision@10" are.'
            )
        return table

    return make


def lists_of(labels: NDArray[np.int8], qid: NDArray[np.int64], tables: Tables) -> tuple[Query, ...]:
    """The lists of two classes, one for each query that has a table."""
    order = np.argsort(qid, kind="stable")
    ends = np.searchsorted(qid[order], np.arange(len(tables) + 1))
    lists = []
    for table, first, last in zip(tables, ends[:-1], ends[1:], strict=True):
        rows = order[first:last]
        if table is not None:
            lists.append((rows[labels[rows] == 1], rows[labels[rows] == 0], table))
    return tuple(lists)
