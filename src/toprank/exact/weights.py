"""What lost pairs cost in every list: from a statistic, or from plain position weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.exact.objective import Query
from toprank.statistics import CountTable, RankStatistic, get

__all__ = ["PositionWeights", "Tables", "count_tables", "lists_of", "name_of", "position_weights"]

Floats = NDArray[np.float64]
Tables = list[CountTable | None]
"""One for each query; None where a query has one class only: it cannot be ranked rightly or wrongly."""


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
