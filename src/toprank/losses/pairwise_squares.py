"""Squared errors of pairwise differences, for any real labels.

The mean over rows of a row's squared deviation from its query's mean residual is, up to the query's size,
the mean over pairs of ((y_i - y_j) - (s_i - s_j))^2 (Pahikkala et al. 2009): all pairs, at the price of one
mean per query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["PairwiseSquares", "SquaresPoint"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairwiseSquares:
    """1/(2 W) sum over rows of weight * (residual - its query's mean residual)^2, W the total weight.

    Equal to 1/(2 W) sum over queries q of 1/W_q times the sum over pairs in q of
    ``weight_i weight_j ((y_i - y_j) - (s_i - s_j))^2``.

    Build it with `PairwiseSquares.from_labels`.

    Examples
    --------
    >>> squares = PairwiseSquares.from_labels([2.0, 0.0])
    >>> point = squares.at(np.array([1.0, 0.0]))
    >>> point.value, point.gradient
    (0.125, array([-0.25,  0.25]))
    """

    target: Floats
    query: Ints
    weight: Floats
    query_weight: Floats

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> PairwiseSquares:
        """Real labels, the higher the nearer to the top; queries in any order."""
        target = np.asarray(y, dtype=np.float64)
        query = np.zeros(len(target), dtype=np.int64)
        if qid is not None:
            query = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
        weight = (
            np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        )
        return cls(target, query, weight, np.bincount(query, weights=weight).astype(np.float64))

    def centered(self, by_row: Floats) -> Floats:
        """Each number minus its query's weighted mean."""
        sums = np.bincount(self.query, weights=self.weight * by_row, minlength=len(self.query_weight))
        means = np.divide(sums, self.query_weight, out=np.zeros_like(sums), where=self.query_weight > 0)
        return np.asarray(by_row - means[self.query])

    def at(self, scores: Floats) -> SquaresPoint:
        """The loss at given scores."""
        residual = self.centered(self.target - scores)
        total = float(self.weight.sum())
        value = 0.5 * float(self.weight @ residual**2) / total
        return SquaresPoint(value, -self.weight * residual / total, self)


@dataclass(frozen=True)
class SquaresPoint:
    """The squared pairwise errors at one vector of scores."""

    value: float
    gradient: Floats
    squares: PairwiseSquares

    @property
    def curvature(self) -> Floats:
        """An upper bound on the diagonal of the Hessian with respect to the scores."""
        return self.squares.weight / float(self.squares.weight.sum())

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        return self.curvature * self.squares.centered(direction)
