"""The papers' three definitions of rank, which differ in what a tie means."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.base import LinearRankStatistic
from toprank.statistics.inputs import read_classes, read_scores

__all__ = ["clemencon_vayatis_rank", "clrs", "resolved_rank", "subrank"]

RANKS = ("resolved", "subrank", "clemencon_vayatis")


def clrs(
    y: ArrayLike, scores: ArrayLike, statistic: str | LinearRankStatistic = "dcg", *, rank: str = "resolved"
) -> float:
    """The conditional linear rank statistic Σ_i y_i a_rank(i), by the rank of one's choice.

    Without ties all three are the same. With ties the resolved rank counts each against us, and is what
    statistics mean here; the Subrank (Rudin & Wang 2018, Eq. (7)) gives tied items the lowest rank of all of
    them, so that it is never higher; the rank of Clémençon & Vayatis (Eq. (6)) the highest, so that a
    constant score looks perfect.

    Parameters
    ----------
    y : array-like
        Two labels, the larger one of the items that belong at the top.
    scores : array-like
    statistic : str or LinearRankStatistic
        Whose weights of positions are the a.
    rank : {"resolved", "subrank", "clemencon_vayatis"}

    Examples
    --------
    >>> y, tied = [1, 0, 0], [1.0, 1.0, 1.0]
    >>> [round(clrs(y, tied, "dcg", rank=name), 3) for name in ("resolved", "subrank", "clemencon_vayatis")]
    [0.5, 0.5, 1.0]
    """
    from toprank.statistics.registry import get

    if rank not in RANKS:
        raise ValueError(f"rank={rank!r} must be one of {', '.join(RANKS)}.")
    found = get(statistic)
    if not isinstance(found, LinearRankStatistic):
        raise ValueError(f"statistic={str(found)!r} has no weights of positions, only linear ones have.")
    positive = read_classes(y)
    values = read_scores(scores, positive.size)
    n, n_pos = positive.size, int(np.count_nonzero(positive))
    if rank == "resolved":
        places = resolved_rank(positive, values)
    else:
        places = subrank(values) if rank == "subrank" else clemencon_vayatis_rank(values) - 1
    # Weights stand best position first, ranks count from the bottom.
    return float(found.weights(n, n_pos)[n - 1 - places[positive]].sum())


def subrank(scores: ArrayLike) -> NDArray[np.int64]:
    """How many items score strictly below each one: 0 at the bottom; tied items share theirs.

    Subrank(f(x_i)) = Σ_k 1[f(x_k) < f(x_i)] (Rudin & Wang 2018, Section 2.6).

    Examples
    --------
    >>> subrank([6.2, 6.2, 5.8, 1.7])
    array([2, 2, 1, 0])
    """
    values = read_scores(scores)
    return np.searchsorted(np.sort(values), values, side="left").astype(np.int64)


def clemencon_vayatis_rank(scores: ArrayLike) -> NDArray[np.int64]:
    """How many items score at or below each one: n at the top; ties count as correct.

    RankCV(f(x_i)) = Σ_k 1[f(x_k) <= f(x_i)] (Rudin & Wang 2018, Section 2.6, after Clémençon & Vayatis 2008).
    A constant scorer gets the highest rank everywhere, so this is no rank to optimise.

    Examples
    --------
    >>> clemencon_vayatis_rank([6.2, 6.2, 5.8, 1.7])
    array([4, 4, 2, 1])
    """
    values = read_scores(scores)
    return np.searchsorted(np.sort(values), values, side="right").astype(np.int64)


def resolved_rank(y: ArrayLike, scores: ArrayLike) -> NDArray[np.int64]:
    """Rank of each item with every tie resolved against us: 0 to n - 1, each once.

    Among tied items the negatives get the higher ranks (Rudin & Wang 2018, Section 2.6); among tied items of
    one class, which are interchangeable, the earlier row gets the higher rank.

    Examples
    --------
    >>> resolved_rank([1, 1, 0, 1], [6.2, 6.2, 1.7, 1.7])
    array([3, 2, 1, 0])
    """
    positive = read_classes(y)
    values = read_scores(scores, positive.size)
    best_first = np.lexsort((np.arange(positive.size), positive, -values))
    ranks = np.empty(positive.size, dtype=np.int64)
    ranks[best_first] = np.arange(positive.size - 1, -1, -1)
    return ranks
