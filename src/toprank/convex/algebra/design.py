"""The matrix X as solvers see it: products, weighted Gram matrices, subsets of rows; dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["DIRECT_LIMIT", "Design", "Origin", "centered", "dense", "is_sparse"]

Floats = NDArray[np.float64]
DIRECT_LIMIT = 768
"""Up to this many features Newton systems are factorised; above, conjugate gradients solve them."""
CHUNK = 4096
SPARSE_CHUNK = 2_000_000
FAR = 16.0
"""A sparse column that reaches so many times as far from zero as from its mean is taken relative to that."""


def is_sparse(X: Any) -> bool:
    """Whether a matrix is one of scipy's sparse ones."""
    return bool(sp.issparse(X))


def dense(X: Any) -> Floats:
    """A matrix as a plain array."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


class Design:
    """Rows of features, relative to a centre, with the products a Newton method needs.

    Every ranker of this package compares rows with each other, so that a shift of all rows (of a query, where
    rows are compared within queries only) changes nothing but the rounding: far from the origin products of
    rows swallow the digits of their differences. Dense rows are taken relative to their mean. So are the
    columns of sparse rows that are mostly filled and lie far from zero; the mean of a column that is mostly
    empty is no larger than its spread.

    Parameters
    ----------
    X : array or CSR matrix of float64
    query : array of query numbers, optional
        Takes dense rows relative to the mean of their query.

    Examples
    --------
    >>> design = Design(np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 6.0]]))
    >>> design.scores(np.array([1.0, -1.0]))
    array([ 1.,  1., -2.])
    """

    in_memory = True
    """Whether any number of rows can be had at once."""

    def __init__(self, X: Any, query: NDArray[np.int64] | None = None) -> None:
        if is_sparse(X) and X.nnz > 0.5 * X.shape[0] * X.shape[1]:
            # A full sparse matrix takes more room than a dense one.
            X = X.toarray()
        self._hold(centered(X, query))

    def _hold(self, rows: Any) -> None:
        self.X = rows
        self.sparse = is_sparse(rows)
        self.n_rows, self.n_features = rows.shape

    @classmethod
    def _of(cls, rows: Any) -> Design:
        """Rows that are centred already."""
        design = cls.__new__(cls)
        design._hold(rows)
        return design

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

    def combine_lists(self, by_row: Floats, start: NDArray[np.intp]) -> Floats:
        """For each list of consecutive rows the sum of its rows, each times its number."""
        shape = (len(start) - 1, self.n_rows)
        sums = sp.csr_array((by_row, np.arange(self.n_rows), start), shape=shape) @ self.X
        return np.asarray(sums.toarray() if self.sparse else sums)

    def take(self, rows: NDArray[np.int64]) -> Design:
        """The design of some rows."""
        return Design._of(self.X[rows])

    def columns(self, features: NDArray[np.int64]) -> Design:
        """The design of some features."""
        return Design._of(self.X[:, features])

    def gram(self, row_weight: Floats) -> Floats:
        """The sum of weight_i x_i x_i^T over all rows."""
        return self._sparse_gram(row_weight) if self.sparse else self._dense_gram(row_weight)

    def column_squares(self, row_weight: Floats) -> Floats:
        """The diagonal of `gram`."""
        if self.sparse:
            from toprank.convex.algebra import _row_kernels as _pair_kernels

            squares = np.zeros(self.n_features)
            _pair_kernels.sparse_column_squares(
                self.X.data, self.X.indices, self.X.indptr, row_weight, squares
            )
            return squares
        squares = np.zeros(self.n_features)
        for begin in range(0, self.n_rows, CHUNK):
            squares += row_weight[begin : begin + CHUNK] @ self.X[begin : begin + CHUNK] ** 2
        return squares

    def _dense_gram(self, row_weight: Floats) -> Floats:
        gram = np.zeros((self.n_features, self.n_features))
        active = np.flatnonzero(row_weight)
        for begin in range(0, len(active), CHUNK):
            rows = active[begin : begin + CHUNK]
            block = self.X[rows]
            block *= np.sqrt(row_weight[rows])[:, np.newaxis]
            gram += block.T @ block
        return gram

    def _sparse_gram(self, row_weight: Floats) -> Floats:
        from toprank.convex.algebra import _row_kernels as _pair_kernels

        gram = np.zeros((self.n_features, self.n_features))
        per_row = max(1.0, self.X.nnz / max(self.n_rows, 1)) ** 2
        step = max(1, int(100 * SPARSE_CHUNK / per_row))
        for begin in range(0, self.n_rows, step):
            end = min(begin + step, self.n_rows)
            _pair_kernels.sparse_gram(
                self.X.data, self.X.indices, self.X.indptr, row_weight, begin, end, gram
            )
        return gram + gram.T - np.diag(np.diag(gram))


def centered(X: Any, query: NDArray[np.int64] | None = None) -> Any:
    """Rows relative to where they lie, or where those of their query do; sparse rows stay sparse.

    >>> centered(np.array([[1e15], [1e15 + 2.0]])).ravel()
    array([-1.,  1.])
    """
    rows = Origin(X).shifted(X)
    if query is None or is_sparse(rows):
        return rows
    for _ in range(2):  # far from the origin the first means are rough
        rows -= _query_means(rows, query)
    return rows


class Origin:
    """Where rows lie: their mean. Of sparse rows, in those columns that have to lose their zeros only.

    Parameters
    ----------
    X : array or CSR matrix

    Examples
    --------
    >>> Origin(np.array([[1.0, 4.0], [3.0, 4.0]])).shifted(np.array([[5.0, 5.0]]))
    array([[3., 1.]])
    """

    def __init__(self, X: Any) -> None:
        if not is_sparse(X):
            self._columns: NDArray[np.intp] | None = None
            self._mean = X.mean(axis=0)
            return
        counts = np.bincount(X.indices, minlength=X.shape[1])
        filled = np.flatnonzero(2 * counts > X.shape[0])
        rows = X[:, filled].toarray()
        mean = rows.mean(axis=0)
        far = np.abs(rows).max(axis=0, initial=0.0) > FAR * np.abs(rows - mean).max(axis=0, initial=0.0)
        self._columns, self._mean = filled[far], mean[far]

    def scores(self, coef: Floats) -> Floats:
        """The score of the origin, for each column of coefficients."""
        return np.asarray(self._mean @ (coef if self._columns is None else coef[self._columns]))

    def shifted(self, X: Any) -> Any:
        """Rows relative to this origin; sparse ones in canonical form."""
        if not is_sparse(X):
            if self._columns is None:
                return np.subtract(X, self._mean, order="C")
            rows = X.copy()
            rows[:, self._columns] -= self._mean
            return rows
        if self._columns is None:
            return np.subtract(X.toarray(), self._mean)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return self._shifted_columns(X) if len(self._columns) else X

    def _shifted_columns(self, X: Any) -> Any:
        assert self._columns is not None
        rest = X.copy()
        rest.data[np.isin(X.indices, self._columns)] = 0.0
        rest.eliminate_zeros()
        moved = X[:, self._columns].toarray() - self._mean
        starts = np.arange(X.shape[0] + 1, dtype=X.indptr.dtype) * len(self._columns)
        indices = np.tile(self._columns, X.shape[0]).astype(X.indices.dtype)
        return rest + type(X)((moved.ravel(), indices, starts), shape=X.shape)


def _query_means(rows: Floats, query: NDArray[np.int64]) -> Floats:
    """The mean row of each row's query."""
    counts = np.bincount(query)
    shape = (len(counts), len(query))
    averaging = sp.csr_array((np.ones(len(query)), (query, np.arange(len(query)))), shape=shape)
    return np.asarray((averaging @ rows) / np.maximum(counts, 1)[:, np.newaxis])[query]
