"""The matrix X as solvers see it: products, weighted Gram matrices, subsets of rows; dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["DIRECT_LIMIT", "Design", "dense", "is_sparse"]

Floats = NDArray[np.float64]
DIRECT_LIMIT = 768
"""Up to this many features Newton systems are factorised; above, conjugate gradients solve them."""
CHUNK = 4096
SPARSE_CHUNK = 2_000_000


def is_sparse(X: Any) -> bool:
    """Whether a matrix is one of scipy's sparse ones."""
    return bool(sp.issparse(X))


def dense(X: Any) -> Floats:
    """A matrix as a plain array."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


class Design:
    """Rows of features with the products a Newton method needs.

    Dense rows are centred inside Gram matrices, which pair differences and softmax covariances allow: it
    keeps columns with a large mean from swallowing the digits of their differences.

    Parameters
    ----------
    X : array or CSR matrix of float64

    Examples
    --------
    >>> design = Design(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> design.scores(np.array([1.0, -1.0]))
    array([-1., -1.])
    """

    def __init__(self, X: Any) -> None:
        if is_sparse(X) and X.nnz > 0.5 * X.shape[0] * X.shape[1]:
            # A full sparse matrix takes more room than a dense one, and cannot be centred.
            X = X.toarray()
        self.sparse = is_sparse(X)
        rows: Any = X if self.sparse else np.ascontiguousarray(X, dtype=np.float64)
        self.X = rows
        if self.sparse and not self.X.has_canonical_format:
            self.X = self.X.copy()
            self.X.sum_duplicates()
        self.n_rows, self.n_features = self.X.shape
        self.center = np.zeros(self.n_features) if self.sparse else self.X.mean(axis=0)

    @property
    def direct(self) -> bool:
        """Whether d x d matrices are small enough to be factorised."""
        return self.n_features <= DIRECT_LIMIT

    def scores(self, coef: Floats) -> Floats:
        """X times coefficients."""
        return np.asarray(self.X @ coef)

    def combine(self, by_row: Floats) -> Floats:
        """The sum of the rows, each times its number."""
        return np.asarray(by_row @ self.X)

    def take(self, rows: NDArray[np.int64]) -> Design:
        """The design of some rows."""
        return Design(self.X[rows])

    def gram(self, row_weight: Floats) -> Floats:
        """The sum of weight_i x_i x_i^T over all rows (dense rows centred)."""
        return self._sparse_gram(row_weight) if self.sparse else self._dense_gram(row_weight)

    def column_squares(self, row_weight: Floats) -> Floats:
        """The diagonal of `gram`."""
        if self.sparse:
            from toprank.convex import _pair_kernels

            squares = np.zeros(self.n_features)
            _pair_kernels.sparse_column_squares(
                self.X.data, self.X.indices, self.X.indptr, row_weight, squares
            )
            return squares
        squares = np.zeros(self.n_features)
        for begin in range(0, self.n_rows, CHUNK):
            rows = self.X[begin : begin + CHUNK] - self.center
            squares += row_weight[begin : begin + CHUNK] @ rows**2
        return squares

    def _dense_gram(self, row_weight: Floats) -> Floats:
        gram = np.zeros((self.n_features, self.n_features))
        active = np.flatnonzero(row_weight)
        for begin in range(0, len(active), CHUNK):
            rows = active[begin : begin + CHUNK]
            block = self.X[rows]
            block -= self.center
            block *= np.sqrt(row_weight[rows])[:, np.newaxis]
            gram += block.T @ block
        return gram

    def _sparse_gram(self, row_weight: Floats) -> Floats:
        from toprank.convex import _pair_kernels

        gram = np.zeros((self.n_features, self.n_features))
        per_row = max(1.0, self.X.nnz / max(self.n_rows, 1)) ** 2
        step = max(1, int(100 * SPARSE_CHUNK / per_row))
        for begin in range(0, self.n_rows, step):
            end = min(begin + step, self.n_rows)
            _pair_kernels.sparse_gram(
                self.X.data, self.X.indices, self.X.indptr, row_weight, begin, end, gram
            )
        return gram + gram.T - np.diag(np.diag(gram))
