"""The heads of ranked lists: which rows a score puts first, and what their positions are worth."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.exact.objective import PositionWeights, position_weights
from toprank.statistics import LinearRankStatistic

__all__ = ["Heads", "check_top", "heads_of", "linear_statistic", "spread_of", "squeezed", "wide_enough"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Heads:
    """The rows from the top of each list down to a score of its own.

    Parameters
    ----------
    lists : array of int64 of shape (n,)
        The list of each row, numbers from 0; not every number need occur.
    scores : array of shape (n,)
    cuts : array
        By list number: rows at or above this score are in the head.

    Attributes
    ----------
    cuts : array
        Of each list that has rows.
    row_cuts : array of shape (n,)
        The cut of each row's list.
    inside : array of bool of shape (n,)
        Whether each row is in the head of its list.
    """

    def __init__(self, lists: Ints, scores: Floats, cuts: Floats) -> None:
        self.lists = lists
        self.cuts = cuts[np.unique(lists)]
        self.row_cuts = cuts[lists]
        self.inside = np.asarray(scores >= self.row_cuts)

    def mixed(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Rows of the heads that hold different labels: those whose order matters."""
        rows, n = np.flatnonzero(self.inside), int(self.lists.max()) + 1
        lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(lowest, self.lists[rows], y[rows])
        np.maximum.at(highest, self.lists[rows], y[rows])
        return np.asarray(self.inside & (lowest < highest)[self.lists])

    def weights(self, statistic: LinearRankStatistic, y: NDArray[np.int8]) -> dict[int, Floats]:
        """What the positions of each head add to the statistic of the whole lists, by list number.

        The weights of a list depend on its length and on its positives, so they are those of the whole list,
        cut to the length of the head. With several lists the statistic is their mean; a list with one class
        only has no place in it.
        """
        size, n_pos = np.bincount(self.lists), np.bincount(self.lists, y == 1).astype(np.int64)
        head = np.bincount(self.lists, self.inside).astype(np.int64)
        counted = np.flatnonzero((n_pos > 0) & (n_pos < size))
        return {
            int(q): statistic.weights(int(size[q]), int(n_pos[q]))[: head[q]] / len(counted) for q in counted
        }

    def value(self, weights: dict[int, Floats], y: NDArray[np.int8], scores: Floats) -> float:
        """What the heads add to the statistic in the order of these scores, ties the worst way.

        Parameters
        ----------
        weights : dict
            As `weights` gives them.
        y, scores : arrays of shape (n,)
            Only rows in a head are looked at.
        """
        rows = np.flatnonzero(self.inside)
        rows = rows[np.lexsort((y[rows], -scores[rows], self.lists[rows]))]
        ends = np.searchsorted(self.lists[rows], np.arange(int(self.lists.max()) + 2))
        return math.fsum(
            weight
            for q, worth in weights.items()
            for weight in worth[y[rows[ends[q] : ends[q + 1]]] == 1].tolist()
        )

    def objective(
        self, statistic: LinearRankStatistic, y: NDArray[np.int8]
    ) -> LinearRankStatistic | PositionWeights:
        """What to maximise on the rows of `mixed` heads: the statistic itself where that means the same."""
        rows = self.mixed(y)
        weights, numbers = self.weights(statistic, y), np.unique(self.lists[rows])
        own, _, _ = position_weights(statistic, y[rows], _renumbered(self.lists[rows]), "mean")
        handed = [weights[int(q)] for q in numbers]
        if np.array_equal(np.concatenate(handed), own):
            return statistic
        head, whole = np.count_nonzero(rows), np.count_nonzero(np.isin(self.lists, numbers))
        of = f"{head} of {whole} rows" if len(self.cuts) == 1 else f"rows of {len(numbers)} queries"
        return PositionWeights(tuple(handed), f"{statistic} (part of the first {of})")


def heads_of(scores: Floats, qid: Ints | None, *, top: int | float, threshold: float | None = None) -> Heads:
    """The `top` best rows of each list, ties with the last included; or those from a score on.

    Parameters
    ----------
    scores : array of shape (n,)
    qid : array of int64 of shape (n,) or None
        Query numbers; without them all rows form one list.
    top : int or float
        How many rows, or which share of each list when below 1.
    threshold : float, optional
        Instead of `top`, the same score for every list.

    Examples
    --------
    >>> heads_of(np.array([3.0, 1.0, 2.0, 5.0]), np.array([0, 0, 0, 1]), top=2).inside
    array([ True, False,  True,  True])
    """
    lists = np.zeros(len(scores), dtype=np.int64) if qid is None else qid
    size = np.bincount(lists)
    if threshold is not None:
        return Heads(lists, scores, np.full(len(size), float(threshold)))
    check_top(top)
    counts = np.minimum(size, int(top)) if top >= 1 else np.maximum(1, np.ceil(top * size)).astype(np.int64)
    order = np.lexsort((-scores, lists))
    begins = np.cumsum(size) - size
    cuts = np.full(len(size), np.inf)
    there = size > 0
    cuts[there] = scores[order[(begins + counts - 1)[there]]]
    return Heads(lists, scores, cuts)


def wide_enough(
    scores: Floats, y: NDArray[Any], qid: Ints | None, top: int | float, fewest: int
) -> int | float:
    """The given top, doubled until it holds so many items of either class that can be compared.

    Of more than two labels, so many beside those of the commonest one. Or all there are, where these are
    fewer.

    >>> wide_enough(np.arange(8.0), np.array([0, 1, 0, 1, 0, 1, 1, 1], dtype=np.int8), None, 2, fewest=1)
    4
    """
    longest = len(scores) if qid is None else int(np.bincount(qid).max())
    wanted = min(fewest, _rarer(scores, y, qid, longest))
    while (top < 1 or top < longest) and _rarer(scores, y, qid, top) < wanted:
        top = 2 * top
        # A share that reaches the whole list is a number of rows.
        top = longest if top >= longest or (isinstance(top, float) and top >= 1) else top
    return top


def _rarer(scores: Floats, y: NDArray[Any], qid: Ints | None, top: int | float) -> int:
    """How many of the rarer labels the tops hold, those of one label left aside."""
    labels = y[heads_of(scores, qid, top=top).mixed(y)]
    return len(labels) - int(np.unique(labels, return_counts=True)[1].max(initial=0))


def check_top(top: Any) -> None:
    """Refuse what is neither a number of rows nor a share of them."""
    count = isinstance(top, Integral) and int(top) >= 1
    if not count and not (isinstance(top, Real) and 0 < float(top) < 1):
        raise ValueError(f"top={top!r} must be a whole number of rows or a share between 0 and 1.")


def linear_statistic(statistic: Any) -> LinearRankStatistic | None:
    """The statistic as a value where it is a sum of position weights, else None.

    >>> str(linear_statistic("DCG")), linear_statistic("average_precision")
    ('dcg', None)
    """
    found = statistics.get(statistic) if isinstance(statistic, str) else statistic
    return found if isinstance(found, LinearRankStatistic) else None


def _renumbered(lists: Ints) -> Ints:
    return np.unique(lists, return_inverse=True)[1].astype(np.int64)


def squeezed(unit: Floats) -> Floats:
    """A strictly increasing map onto the positive numbers, precise at both ends: 1 + u or 1/(1 - u)."""
    return np.where(unit >= 0, 1.0 + np.maximum(unit, 0.0), 1.0 / (1.0 + np.maximum(-unit, 0.0)))


def spread_of(scores: Floats, reference: float) -> float:
    """A positive unit in which differences of these scores, and the reference, are neither huge nor tiny."""
    spread = float(np.std(scores))
    size = max(abs(reference), float(np.abs(scores).max(initial=0.0)))
    return spread if spread > 1e-12 * size else (size or 1.0)
