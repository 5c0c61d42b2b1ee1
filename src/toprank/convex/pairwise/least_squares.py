"""Pairwise regularised least squares: closed form and exact leave-pair-out predictions.

RankRLS (Pahikkala et al. 2009) is least squares with a free intercept for each query and a penalty 1/2
|w|^2. Its fitted values are H y for a matrix H, and leaving rows S out changes their residuals from r_S to
(I - H_SS)^-1 r_S: with two rows a 2 x 2 system for each pair, no refitting (Pahikkala et al. 2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh

from toprank.convex.algebra.design import Design, centered, dense
from toprank.losses.pairwise_squares import PairwiseSquares, SquaresPoint

__all__ = ["LeavePairOut", "RankLeastSquares", "centered_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 2048


@dataclass(frozen=True)
class RankLeastSquares:
    """The squared pairwise errors as a function of X w, and their weight C: one Newton step solves it."""

    design: Design
    squares: PairwiseSquares
    C: float

    def at(self, scores: Floats) -> SquaresPoint:
        """The loss at given scores."""
        return self.squares.at(scores)

    def hessian(self, point: SquaresPoint) -> Floats:
        """The covariance of the rows within their queries."""
        weight = point.curvature
        matrix = self.design.gram(weight)
        sums = query_sums(self.design.X, self.squares.query, weight)
        share = np.bincount(self.squares.query, weights=weight)
        root = np.sqrt(share)[:, np.newaxis]
        means = np.divide(sums, root, out=np.zeros_like(sums), where=root > 0)
        matrix -= means.T @ means
        return matrix


def query_sums(X: Any, query: Ints, weight: Floats) -> Floats:
    """The weighted sum of the rows of each query."""
    shape = (int(query.max()) + 1, len(query))
    sums = sp.csr_array((weight, (query, np.arange(len(query)))), shape=shape) @ X
    return dense(sums)


def centered_rows(X: Any, query: Ints) -> Floats:
    """Dense rows minus the mean row of their query."""
    return centered(dense(X), query)


class LeavePairOut:
    """Exact leave-pair-out predictions of RankRLS for as many C as wanted, after one decomposition.

    For every pair of rows of a query with different labels: the difference of their scores under the ranker
    that was trained without both.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Features, or a kernel's features.
    y : array of shape (n,)
    qid : array of shape (n,) or None

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> LeavePairOut(X, np.array([0.0, 1.0, 2.0, 3.0])).concordance(C=10.0)
    1.0
    """

    def __init__(self, X: Any, y: Floats, qid: Ints | None = None) -> None:
        self._y = np.asarray(y, dtype=np.float64)
        self._query = np.zeros(len(self._y), dtype=np.int64)
        if qid is not None:
            self._query = np.unique(qid, return_inverse=True)[1].astype(np.int64)
        self._sizes = np.bincount(self._query)
        rows = centered_rows(X, self._query)
        if rows.shape[1] > rows.shape[0]:
            values, vectors = eigh(rows @ rows.T)
            self._values = np.maximum(values, 0.0)
            self._basis = vectors * np.sqrt(self._values)
        else:
            values, vectors = eigh(rows.T @ rows)
            self._values, self._basis = np.maximum(values, 0.0), rows @ vectors
        squares = PairwiseSquares.from_labels(self._y, qid=self._query)
        self._target = squares.centered(self._y)

    def concordance(self, C: float, *, by_query: bool = False) -> float:
        """Share of pairs in the right order when both rows are left out; ties count a half.

        With `by_query` the mean over queries of that share.
        """
        won, pairs = np.zeros(len(self._sizes)), np.zeros(len(self._sizes))
        for query, _, _, difference in self.differences(C):
            won[query] += np.count_nonzero(difference > 0) + 0.5 * np.count_nonzero(difference == 0)
            pairs[query] += len(difference)
        if by_query:
            return float(np.mean(won[pairs > 0] / pairs[pairs > 0]))
        return float(won.sum() / pairs.sum())

    def differences(self, C: float) -> Iterator[tuple[int, Ints, Ints, Floats]]:
        """Query, upper rows, lower rows and their held-out score differences, in blocks."""
        # Two rows fewer to train on: C over their number.
        strength = C / (len(self._y) - 2)
        scale = 1.0 / (self._values + 1.0 / strength)
        left, right = self._basis, self._basis * scale
        smooth = np.einsum("ij,ij->i", left, right)
        residual = self._target - right @ (left.T @ self._target)
        order = np.argsort(self._query, kind="stable")
        for query, rows in enumerate(np.split(order, np.cumsum(self._sizes)[:-1])):
            for begin in range(0, len(rows), BLOCK):
                block = rows[begin : begin + BLOCK]
                above = self._y[block][:, np.newaxis] > self._y[rows]
                if above.any():
                    mixed = left[block] @ right[rows].T + 1.0 / len(rows)
                    alone = smooth + 1.0 / len(rows)
                    found = self._held_out(block, rows, alone, mixed, residual, len(rows) == 2)
                    i, j = np.nonzero(above)
                    yield query, block[i], rows[j], found[i, j]

    def _held_out(
        self, i: Ints, j: Ints, alone: Floats, mixed: Floats, residual: Floats, whole_query: bool
    ) -> Floats:
        """Score differences of all pairs (i, j), each from its 2 x 2 system."""
        free_i, free_j = 1.0 - alone[i][:, np.newaxis], 1.0 - alone[j]
        r_i, r_j = residual[i][:, np.newaxis], residual[j]
        if whole_query:
            # Nothing of the query is left, so only the difference of the two residuals is determined.
            error = 2.0 * (r_i - r_j) / (free_i + free_j + 2.0 * mixed)
        else:
            determinant = free_i * free_j - mixed**2
            np.divide(1.0, determinant, out=determinant, where=determinant != 0)
            error = determinant * ((free_j - mixed) * r_i - (free_i - mixed) * r_j)
        return np.asarray(self._y[i][:, np.newaxis] - self._y[j] - error)
