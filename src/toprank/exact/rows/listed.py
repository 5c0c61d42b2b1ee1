"""What a search over the rows of one long list reads: the different rows, and what the places are worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.by_rows import ByRows, restricted_rows
from toprank.exact.problem import RankingProblem
from toprank.exact.rounding import Scale
from toprank.statistics import CountTable

__all__ = ["Gains", "ListRows", "list_rows", "places_that_count", "why_not"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_ENTRIES = 4_000_000
"""Of a table of what positives are worth by place and by lost pairs, where it must be written out."""


@dataclass(frozen=True, eq=False)
class Gains:
    """What positives are worth above the floor, in whole numbers.

    The j-th best positive with c negatives at or above it is worth ``table[stride * j + c]`` more than when
    it loses to all, and nothing more where j is not below `places`, c not below `counts`, or j + c not below
    `depth`.

    Parameters
    ----------
    table : array of int64
    stride, places, counts, depth : int
    floor : int
        Value when every pair is lost.
    """

    table: Whole
    stride: int
    places: int
    counts: int
    depth: int
    floor: int

    @property
    def most(self) -> int:
        """What a perfect list is worth more than the floor."""
        return int(self.table[self.stride * np.arange(self.places)].sum()) if self.counts else 0


def places_that_count(table: CountTable, n_pos: int, n_neg: int) -> int:
    """From which place on nothing changes any more: j + c of a positive that is worth no more than the floor.

    >>> places_that_count(CountTable.by_position(np.array([1.0, 0.5, 0.0, 0.0])), 2, 2)
    2
    """
    if table.linear:
        weights = table.values[: n_pos + n_neg]
        return int(np.flatnonzero(weights != weights[-1])[-1]) + 1 if (weights != weights[-1]).any() else 0
    return n_pos + _counts_that_matter(table, n_neg) - 1


def _counts_that_matter(table: CountTable, n_neg: int) -> int:
    """Lost pairs from which on a positive is worth no more than the floor, as far as that is told easily."""
    if table.stride != 0:
        return n_neg
    values = table.values[: n_neg + 1]
    return int(np.flatnonzero(values != values[-1])[-1]) + 1 if (values != values[-1]).any() else 0


def _gains(table: CountTable, n_pos: int, n_neg: int, scale: Scale) -> Gains:
    depth = places_that_count(table, n_pos, n_neg)
    if table.linear and depth <= n_neg:
        whole = scale.ups(table.values[: n_pos + n_neg])
        last = int(whole[-1])
        worth = np.zeros(2 * depth + 1, dtype=np.int64)
        worth[:depth] = whole[:depth] - last
        return Gains(worth, 1, min(n_pos, depth), depth, depth, last * n_pos)
    counts = _counts_that_matter(table, n_neg)
    j = np.arange(n_pos)
    last_of = scale.ups(table.at(j, np.full(n_pos, n_neg)))
    grid = scale.ups(table.at(j[:, None], np.arange(counts)[None, :])) - last_of[:, None]
    places, lost = np.nonzero(grid)
    return Gains(
        grid.reshape(-1),
        counts,
        int(places.max(initial=-1)) + 1,
        int(lost.max(initial=-1)) + 1,
        int((places + lost).max(initial=-1)) + 1,
        int(last_of.sum()),
    )


def why_not(problem: RankingProblem) -> str | None:
    """Why a problem cannot be searched by rows, or None."""
    if problem.pairs is not None:
        return "it is for lists, and this problem has weighted pairs"
    if len(problem.queries) != 1:
        return f"it is for one list, and this problem has {len(problem.queries)}"
    if problem.margin > 0:
        return "it knows no margin"
    upper, lower, table = problem.queries[0]
    m, n = len(upper), len(lower)
    written_out = not (table.linear and places_that_count(table, m, n) <= n)
    if written_out and m * _counts_that_matter(table, n) > MOST_ENTRIES:
        return f"more than the first places of {m + n} count"
    return None


@dataclass(frozen=True, eq=False)
class ListRows(ByRows):
    """One list by its rows: equal ones are one row that stands for several items.

    Parameters
    ----------
    problem : RankingProblem
        On the columns searched, without a price on coefficients.
    rows : (n, d) array
        The different rows, scaled features.
    ups, lows : arrays of int64
        Positives and negatives that each of them stands for.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [1.0], [2.0]], [0, 1, 0, 1], "precision@2")
    >>> listed = list_rows(problem)
    >>> listed.rows.ravel().tolist(), listed.ups.tolist(), listed.lows.tolist()
    ([0.0, 1.0, 2.0], [0, 1, 1], [1, 1, 0])
    """

    rows: Floats
    ups: Whole
    lows: Whole

    @cached_property
    def gains(self) -> Gains:
        """What positives are worth."""
        upper, lower, table = self.problem.queries[0]
        return _gains(table, len(upper), len(lower), self.scale)


def list_rows(problem: RankingProblem, columns: ArrayLike | None = None) -> ListRows:
    """The list of a problem by its rows, restricted to some columns when asked."""
    problem, scaled = restricted_rows(problem, columns)
    upper, lower, _ = problem.queries[0]
    used = np.concatenate((upper, lower))
    rows, place = np.unique(scaled[used], axis=0, return_inverse=True)
    place = place.reshape(-1)
    ups, lows = (
        np.bincount(side, minlength=len(rows)).astype(np.int64)
        for side in (place[: len(upper)], place[len(upper) :])
    )
    return ListRows(problem, np.ascontiguousarray(rows), ups, lows)
