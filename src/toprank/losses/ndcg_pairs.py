"""Pairs that weigh what NDCG loses when they are swapped: LambdaRank's loss, for queries with grades.

    mean over queries of  sum over pairs i above j of  |change of NDCG@k when i and j trade places| log(1 + exp(-(s_i - s_j)))

The weights are those of the order the scores make and count as constants, so that the loss has a gradient
wherever no two scores are equal (Burges 2010; Wang et al. 2018, "The LambdaLoss framework"). Gains are the
grades themselves, counted from the lowest, as in the library's NDCG. It is not convex.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NDCGPairs", "NDCGPoint"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NDCGPoint:
    """The loss at one vector of scores."""

    value: float
    gradient: Floats
    curvature: Floats


@dataclass(frozen=True)
class NDCGPairs:
    """Grades by query; queries of one grade have no pairs and are left out.

    Parameters
    ----------
    gain : array
        Grades from 0.
    query : array of int
        A number for each row, those of a query alike.
    k : int
        Positions that count.

    Examples
    --------
    >>> pairs = NDCGPairs.from_labels([1.0, 0.0], None, k=1)
    >>> point = pairs.at(np.array([0.0, 0.0]))
    >>> round(point.value, 6), point.gradient
    (0.693147, array([-0.5,  0.5]))
    """

    gain: Floats
    query: Ints
    k: int
    mixed: NDArray[np.bool_]

    @classmethod
    def from_labels(cls, y: object, qid: Ints | None, *, k: int) -> NDCGPairs:
        """Grades and their queries, in any order."""
        gain = np.asarray(y, dtype=np.float64)
        gain = gain - gain.min()
        query = np.zeros(len(gain), dtype=np.int64)
        if qid is not None:
            query = np.unique(qid, return_inverse=True)[1].astype(np.int64)
        low, high = np.full(query.max() + 1, np.inf), np.full(query.max() + 1, -np.inf)
        np.minimum.at(low, query, gain)
        np.maximum.at(high, query, gain)
        if not (low < high).any():
            raise ValueError("There is no pair to order: no query holds items of two grades.")
        return cls(gain, query, int(k), (low < high)[query])

    def at(self, scores: Floats) -> NDCGPoint:
        """Value, gradient and curvature at these scores."""
        from toprank.losses import _list_kernels

        rows = np.flatnonzero(self.mixed)
        order = rows[np.lexsort((-scores[rows], self.query[rows]))]
        start = np.append(np.flatnonzero(np.diff(self.query[order], prepend=-1)), len(order))
        gradient, curvature = np.zeros(len(order)), np.zeros(len(order))
        value = _list_kernels.ndcg_pairs(
            scores[order], self.gain[order], start, self.k, gradient, curvature
        )  # fmt: skip
        spread = np.zeros((2, len(scores)))
        spread[0, order], spread[1, order] = gradient, curvature
        return NDCGPoint(float(value), spread[0], spread[1])
