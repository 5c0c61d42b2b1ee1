"""The papers' three definitions of rank, which differ in what a tie means."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.inputs import read_classes, read_scores

__all__ = ["clemencon_vayatis_rank", "resolved_rank", "subrank"]


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
