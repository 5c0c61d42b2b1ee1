"""The gradient of average precision by loss-augmented inference (Song, Schwing, Zemel and Urtasun 2016).

With F(order) = 1/(n+ n-) sum over positives i and negatives j of +(s_i - s_j) where i is above j and of
-(s_i - s_j) where it is below, the order of the scores is the one with the largest F, and

    gradient of E[1 - AP]  =  lim  1/eps ( gradient of F(direct) - gradient of F(own order) ),
    direct = the order with the largest  F + eps (1 - AP),

or with both signs turned (Werner 2020, Section 3.4, prints 1/(n - n+) for 1/(n+ n-)). Positives keep their
order among themselves, and so do negatives, hence the best order is a path through a table over (positives
placed, negatives placed).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["DirectLoss", "DirectPoint", "direct_order"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
UPDATES = {"positive": (1.0,), "negative": (-1.0,), "both": (1.0, -1.0)}


def direct_order(positive: Floats, negative: Floats, pull: float) -> Ints:
    """Negatives above each positive in the order with the largest F + pull (1 - AP); both arrays fall.

    >>> above, below = np.array([2.0]), np.array([1.0])
    >>> direct_order(above, below, 0.0), direct_order(above, below, 9.0)
    (array([0]), array([1]))
    """
    from toprank.losses import _list_kernels

    found: Ints = _list_kernels.best_interleaving(positive, negative, float(pull))
    return found


@dataclass(frozen=True)
class DirectPoint:
    """1 - AP at one vector of scores, ties counted as mistakes, and the direct estimate of its gradient."""

    value: float
    gradient: Floats


@dataclass(frozen=True)
class DirectLoss:
    """The positives and negatives of every query that has both.

    Parameters
    ----------
    lists : list of pairs of arrays
        Row numbers of positives and negatives.
    epsilon : float
        How far the order is pulled away: the larger, the smoother and the less exact the gradient.
    update : {"positive", "negative", "both"}
        Whether the order is pulled towards worse lists, better ones, or the mean of the two is taken.

    Examples
    --------
    >>> loss = DirectLoss.from_labels([1, 0], epsilon=8.0)
    >>> loss.at(np.array([1.0, 0.0]))
    DirectPoint(value=0.0, gradient=array([-0.125,  0.125]))
    """

    lists: list[tuple[Ints, Ints]]
    epsilon: float = 1.0
    update: str = "both"

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, qid: ArrayLike | None = None, epsilon: float = 1.0, update: str = "both"
    ) -> DirectLoss:
        """Rows by class and query; queries without positives or without negatives are left out."""
        upper = np.asarray(y) > 0
        query = np.zeros(len(upper), dtype=np.int64)
        if qid is not None:
            query = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
        order = np.argsort(query, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(query[order])) + 1)
        lists = [(rows[upper[rows]], rows[~upper[rows]]) for rows in parts]
        lists = [(up, down) for up, down in lists if len(up) and len(down)]
        if not lists:
            raise ValueError("There is no query with items of both classes to order.")
        return cls(lists, epsilon, update)

    def at(self, scores: Floats) -> DirectPoint:
        """The mean over queries of 1 - AP, and the estimate of its gradient."""
        value, gradient = 0.0, np.zeros(len(scores))
        for up, down in self.lists:
            up, down = up[np.argsort(-scores[up])], down[np.argsort(-scores[down])]
            positive, negative = scores[up], scores[down]
            own = np.searchsorted(-negative, -positive, side="right")
            place = np.arange(1, len(up) + 1)
            value += 1.0 - float(np.mean(place / (place + own)))
            for sign in UPDATES[self.update]:
                pulled = direct_order(positive, negative, sign * self.epsilon)
                # Of F both have n- on each positive and n+ on each negative: only the difference is left.
                step = sign / (self.epsilon * len(UPDATES[self.update]) * len(up) * len(down))
                gradient[up] += step * 2.0 * (own - pulled)
                gradient[down] += step * 2.0 * (_beaten(pulled, len(down)) - _beaten(own, len(down)))
        return DirectPoint(value / len(self.lists), gradient / len(self.lists))


def _beaten(above: Ints, n_neg: int) -> Ints:
    """For each negative, falling, how many positives it is above."""
    ended = np.bincount(above, minlength=n_neg + 1)
    return np.asarray(len(above) - np.cumsum(ended)[:n_neg], dtype=np.int64)
