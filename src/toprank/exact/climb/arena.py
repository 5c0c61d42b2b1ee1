"""A ranking problem prepared for local search: its value, and arenas the compiled climb runs in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.rational import is_sparse
from toprank.exact.objective import Query
from toprank.exact.problem import RankingProblem
from toprank.statistics import CountTable

__all__ = [
    "Arena",
    "ListView",
    "PairView",
    "Picked",
    "View",
    "best_on_line",
    "dense",
    "view_of",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_PAIRS = 250_000
"""Up to so many pairs every line search looks at all of them."""
FOCUS_PAIRS = 20_000
"""Beyond, at so many: those near the top of the lists, or a sample."""
FOCUS_LENGTH = 256
"""Of a long list among many queries, no more than so many items from the top."""

HEAD_LENGTH = 4
"""Where the first places of one list count, so many times as many rows are looked at."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A part of a problem small enough to cross all its pairs.

    Parameters
    ----------
    rows : array of row numbers
    up, low : arrays
        Each pair's upper and lower row, as places in `rows`.
    tables : tuple of arrays
        (worth, item, query, count_start, weights, weight_start, stride) as the kernels read them.
    sizes : array of two
        Numbers of positives and of count cells.
    offset : float
        The value of weighted pairs when all are lost.
    """

    rows: Rows
    up: NDArray[np.int32]
    low: NDArray[np.int32]
    tables: tuple[Any, ...]
    sizes: NDArray[np.int64]
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Arena:
    """Picked pairs in the coordinates of a search space.

    Parameters
    ----------
    picked : Picked
    Y : (rows, r) array
        Rows in coordinates in which all directions matter alike.
    basis : (d, r) array
        From those coordinates back to coefficients.
    axes : array of shape (., r)
        Directions of single features.
    """

    picked: Picked
    Y: Floats
    basis: Floats
    axes: Floats

    def climb(
        self,
        v: Floats,
        margin: float,
        span: float,
        rng: np.random.Generator,
        lines: int,
        stalled: int,
        patience: int,
    ) -> tuple[Floats, float, int, int]:
        """Search along so many lines from `v`: answer, value, lines used, lines in vain."""
        from toprank.exact.climb import _kernels

        r = self.Y.shape[1]
        normals = rng.standard_normal((lines, max(1, r - 1), r))
        kinds, draws = rng.random(lines), rng.random(lines)
        part = self.picked
        found = _kernels.climb(
            self.Y,
            self.basis,
            self.axes,
            part.up,
            part.low,
            part.tables,
            part.sizes,
            v,
            margin,
            span,
            normals,
            kinds,
            draws,
            stalled,
            patience,
        )
        return found[0], float(found[1]) + part.offset, int(found[2]), int(found[3])


def best_on_line(
    picked: Picked, rows: Any, origin: Floats, direction: Floats, eps: float, span: float
) -> float:
    """The t within `span` of 0 at which ``origin + t * direction`` is best for the picked pairs."""
    from toprank.exact.climb import _sweep_kernels

    part = rows[picked.rows]
    scores, rates = np.asarray(part @ origin), np.asarray(part @ direction)
    lost, count = np.empty(picked.sizes[0], dtype=np.int64), np.empty(picked.sizes[1], dtype=np.int64)
    times, pairs = np.empty(len(picked.up)), np.empty(len(picked.up), dtype=np.int64)
    lead, slope = scores[picked.up] - scores[picked.low], rates[picked.up] - rates[picked.low]
    return float(_sweep_kernels.sweep(lead, slope, eps, span, picked.tables, lost, count, times, pairs)[1])


def view_of(problem: RankingProblem) -> View:
    """Lists or weighted pairs, whichever the problem is about."""
    if problem.pairs is not None:
        return PairView(problem.pairs, problem.objective.worth, problem.objective.offset)
    return ListView(problem.queries)


class ListView:
    """Sum over queries of what the positives are worth."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self._queries = queries
        self._upper = np.concatenate([upper for upper, _, _ in queries])
        self._lower = np.concatenate([lower for _, lower, _ in queries])
        n_pos = np.array([len(upper) for upper, _, _ in queries])
        n_neg = np.array([len(lower) for _, lower, _ in queries])
        self._query_of_upper = np.repeat(np.arange(len(queries)), n_pos)
        self._query_of_lower = np.repeat(np.arange(len(queries)), n_neg)
        self._starts = _ends(n_pos), _ends(n_neg)
        self._pairs = n_pos * n_neg
        tables = [table for _, _, table in queries]
        self._tables = (*_joined(tables), _factors(tables, n_pos.tolist()))
        changes = np.flatnonzero(np.diff(self._tables[0]))
        self._depth = int(changes[-1]) + 1 if len(changes) else 0
        n = int(n_pos[0] + n_neg[0])
        self.shallow = len(queries) == 1 and tables[0].linear and self._depth <= n // 4
        self.whole = int(self._pairs.sum()) <= MOST_PAIRS

    def value(self, scores: Floats, eps: float) -> float:
        """Value of the scores of all rows; a lead of less than `eps` is lost."""
        from toprank.exact.climb import _kernels

        upper, lower = scores[self._upper], scores[self._lower]
        if self.shallow:
            return self._value_of_head(upper, lower, eps)
        if len(self._queries) == 1:
            upper, lower = np.sort(upper), np.sort(lower)
        else:
            upper = upper[np.lexsort((upper, self._query_of_upper))]
            lower = lower[np.lexsort((lower, self._query_of_lower))]
        return float(_kernels.list_value(upper, lower, *self._starts, *self._tables, eps))

    def _value_of_head(self, upper: Floats, lower: Floats, eps: float) -> float:
        """The value when only the first few position weights differ: the rest need not be sorted."""
        from toprank.exact.climb import _kernels

        weights, n = self._tables[0], len(upper) + len(lower)
        place = n - 1 - self._depth
        cut = np.partition(np.concatenate((upper, lower)), place)[place]
        # A positive counts with every negative it may not beat, two margins below the cut included.
        top_upper, top_lower = np.sort(upper[upper >= cut - eps]), np.sort(lower[lower >= cut - 3 * eps])
        ends = np.array([0, len(top_upper)]), np.array([0, len(top_lower)])
        head = _kernels.list_value(top_upper, top_lower, *ends, *self._tables, eps)
        return float(head) + (len(upper) - len(top_upper)) * float(weights[n - 1])

    def head(self, scores: Floats) -> tuple[Rows, ListView]:
        """Of one list, the rows now near its top, several times as many as places count; a view of them."""
        upper, lower, table = self._queries[0]
        rows, length = np.concatenate((upper, lower)), HEAD_LENGTH * self._depth
        kept = (
            np.sort(np.argpartition(-scores[rows], length - 1)[:length])
            if length < len(rows)
            else np.arange(len(rows))
        )
        number, places = int(np.searchsorted(kept, len(upper))), np.arange(len(kept))
        parts = places[:number], places[number:]
        return rows[kept], ListView([(*parts, table.head(number, len(kept) - number))])

    def pick(self, scores: Floats | None, rng: np.random.Generator) -> Picked:
        """All pairs when there are few enough, else those of items near the top, of some queries."""
        if self.whole or scores is None:
            return _picked_lists(self._queries)
        order = rng.permutation(len(self._queries))
        room = np.cumsum(np.minimum(self._pairs[order], FOCUS_LENGTH**2 // 4))
        chosen = order[: max(1, int(np.searchsorted(room, FOCUS_PAIRS)))]
        length = None if len(self._queries) == 1 else FOCUS_LENGTH
        return _picked_lists([_head(self._queries[q], scores, length) for q in chosen])


class PairView:
    """Sum of the weights of the pairs won."""

    def __init__(self, pairs: Rows, worth: Floats, offset: float) -> None:
        self._pairs = pairs
        self._worth = worth
        self._offset = offset
        self.whole = len(pairs) <= MOST_PAIRS

    def value(self, scores: Floats, eps: float) -> float:
        """Value of the scores of all rows; a lead of less than `eps` is lost."""
        won = scores[self._pairs[:, 0]] - scores[self._pairs[:, 1]] >= eps
        return float(self._worth[won].sum()) + self._offset

    def pick(self, scores: Floats | None, rng: np.random.Generator) -> Picked:
        """All pairs when there are few enough, else a sample of them."""
        chosen = np.arange(len(self._pairs))
        if not self.whole and scores is not None:
            chosen = rng.choice(len(self._pairs), FOCUS_PAIRS, replace=False)
        rows, places = np.unique(self._pairs[chosen], return_inverse=True)
        up, low = places.reshape(-1, 2).astype(np.int32).T
        none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
        tables = (self._worth[chosen], *none, *_joined([]))
        up, low = np.ascontiguousarray(up), np.ascontiguousarray(low)
        return Picked(rows, up, low, tables, np.zeros(2, np.int64), self._offset)


View = ListView | PairView


def _head(query: Query, scores: Floats, length: int | None) -> Query:
    """The part of a query now near its top; it keeps what its first positives are worth."""
    upper, lower, table = query
    rows = np.concatenate((upper, lower))
    order = np.argsort(-scores[rows])
    if length is None:
        positives = np.cumsum(order < len(upper))
        pairs = positives * (np.arange(1, len(order) + 1) - positives)
        length = int(np.searchsorted(pairs, FOCUS_PAIRS))
    kept = order[:length]
    up, low = upper[kept[kept < len(upper)]], lower[kept[kept >= len(upper)] - len(upper)]
    return up, low, table.head(len(up), len(low))


def _picked_lists(queries: Sequence[Query]) -> Picked:
    rows, up, low, item, query, cells = [], [], [], [], [], []
    n_rows = n_items = 0
    for q, (upper, lower, _) in enumerate(queries):
        rows += [upper, lower]
        up.append(np.repeat(np.arange(len(upper)), len(lower)) + n_rows)
        low.append(np.tile(np.arange(len(lower)), len(upper)) + n_rows + len(upper))
        item.append(np.repeat(np.arange(len(upper)), len(lower)) + n_items)
        query.append(np.full(len(upper), q))
        cells.append(len(lower) + 1)
        n_rows += len(upper) + len(lower)
        n_items += len(upper)
    tables = (
        np.empty(0),
        np.concatenate(item).astype(np.int32),
        np.concatenate(query).astype(np.int32),
        _ends(np.array(cells)),
        *_joined([table.plain(len(upper), len(lower)) for upper, lower, table in queries]),
    )
    pairs = np.concatenate(up).astype(np.int32), np.concatenate(low).astype(np.int32)
    return Picked(np.concatenate(rows), *pairs, tables, np.array([n_items, sum(cells)]))


def _joined(tables: Sequence[CountTable]) -> tuple[Floats, Rows, Rows]:
    """Values of all tables end to end, where each one's begin, and the strides."""
    return (
        np.concatenate([np.empty(0), *(table.values for table in tables)]),
        _ends(np.array([len(table.values) for table in tables], dtype=np.int64)),
        np.array([table.stride for table in tables], dtype=np.int64),
    )


def _factors(tables: Sequence[CountTable], sizes: Sequence[int]) -> Floats:
    """The tables' factors end to end, one for each positive."""
    pairs = zip(tables, sizes, strict=True)
    return np.concatenate([np.ones(m) if table.factor is None else table.factor for table, m in pairs])


def _ends(sizes: Rows) -> Rows:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def dense(rows: Any) -> Floats:
    """Rows as a plain array."""
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
