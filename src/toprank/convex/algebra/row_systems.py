"""The linear systems of an interior-point step, in the space of the rows that are still undecided.

Rows R and a metric H (positive definite, d x d) give the matrix K = R H^-1 R^T, which is the Gram matrix when
H is the identity. A step solves (D^-1 + K) y = b for a positive diagonal D. With few rows K itself is
factorised; with few features the d x d matrix H + R^T D R is; with many of both, conjugate gradients need
only products.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import is_sparse
from toprank.convex.algebra.linear_systems import Factor, conjugate_gradients, refined

__all__ = [
    "DenseMetric",
    "FeatureSystem",
    "GramSystem",
    "Identity",
    "LowRankMetric",
    "Metric",
    "RowSystem",
    "UndecidedRows",
    "row_system",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
REFINEMENTS = ((1e12, 6), (1e8, 3), (1e4, 1))
"""From such traces of R^T D R on a solution is refined so often: it lacks as many digits as the trace has."""
CONJUGATE_ACCURACY = 1e-7
SPARSE_ENOUGH = 0.2
"""With a smaller share of entries, sums over sparse rows are faster than dense ones."""


class UndecidedRows:
    """The undecided rows R; the first `count` of them relative to `shift`, which sparse rows keep apart.

    Attributes
    ----------
    matrix : array or sparse matrix
        The rows; shifted unless they are sparse and many.
    many : bool
        Whether there are so many more rows than features that d x d matrices are the smaller ones.

    >>> rows = UndecidedRows(np.array([[1.0, 2.0], [3.0, 4.0]]), shift=np.array([1.0, 1.0]), count=1)
    >>> rows.times(np.array([1.0, 1.0])), rows.transposed(np.array([1.0, 1.0]))
    (array([1., 7.]), array([3., 5.]))
    """

    def __init__(self, matrix: Any, *, shift: Floats | None = None, count: int = 0) -> None:
        self.shape = matrix.shape
        sparse = is_sparse(matrix) and matrix.nnz < SPARSE_ENOUGH * matrix.shape[0] * matrix.shape[1]
        # Sums over sparse rows are so cheap that d x d matrices pay sooner.
        self.many = bool(matrix.shape[0] > (1.4 if sparse else 2.0) * matrix.shape[1])
        self._shift = np.zeros(matrix.shape[1]) if shift is None else shift
        self._count = 0 if shift is None else count
        if (self._count or self.many) and not (sparse and self.many):
            matrix = _dense(matrix)
        if self._count and not is_sparse(matrix):
            matrix = matrix.copy()
            matrix[:count] -= self._shift
            self._count = 0
        self.matrix = matrix
        self._columns = matrix.T.tocsr() if is_sparse(matrix) else matrix.T

    def times(self, vectors: Floats) -> Floats:
        """R times a vector, or each column of a matrix."""
        product = np.asarray(self.matrix @ vectors)
        if self._count:
            product[: self._count] -= self._shift @ vectors
        return product

    def transposed(self, vectors: Floats) -> Floats:
        """R^T times a vector, or each column of a matrix."""
        product = np.asarray(self._columns @ vectors)
        if self._count:
            product -= np.multiply.outer(self._shift, vectors[: self._count].sum(axis=0))
        return product

    def gram(self, weights: Floats) -> Floats:
        """R^T diag(weights) R."""
        if not is_sparse(self.matrix):
            scaled = self.matrix * np.sqrt(weights)[:, np.newaxis]
            return np.asarray(scaled.T @ scaled)
        from toprank.convex.algebra import _row_kernels as _pair_kernels

        matrix = self.matrix
        gram = np.zeros((self.shape[1], self.shape[1]))
        _pair_kernels.sparse_gram(matrix.data, matrix.indices, matrix.indptr, weights, 0, self.shape[0], gram)
        gram += gram.T
        gram.flat[:: len(gram) + 1] *= 0.5
        if self._count:
            shifted = np.where(np.arange(len(weights)) < self._count, weights, 0.0)
            cross = np.outer(self._shift, self._columns @ shifted)
            gram += shifted.sum() * np.outer(self._shift, self._shift) - cross - cross.T
        return gram


class Metric(Protocol):
    """A positive definite d x d matrix that can be solved with."""

    def solve(self, vector: Floats) -> Floats:
        """The inverse times a vector."""
        ...

    def gram(self, rows: Any) -> Floats:
        """K = R H^-1 R^T for the rows R."""
        ...

    def loadings(self, rows: Any) -> tuple[float, Floats]:
        """A number c and a thin matrix V with K = c R R^T - V V^T."""
        ...

    def matrix(self) -> Floats | None:
        """The matrix itself; None for the identity."""
        ...


class Identity:
    """The metric of the plain penalty 1/2 |w|^2."""

    def solve(self, vector: Floats) -> Floats:
        return vector

    def gram(self, rows: Any) -> Floats:
        product = rows @ rows.T
        return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())

    def loadings(self, rows: Any) -> tuple[float, Floats]:
        return 1.0, np.zeros((rows.shape[0], 0))

    def matrix(self) -> None:
        return None


IDENTITY = Identity()


class DenseMetric:
    """A matrix that is factorised once."""

    def __init__(self, matrix: Floats) -> None:
        self._matrix = matrix
        self._factor = Factor(matrix.copy())

    def solve(self, vector: Floats) -> Floats:
        return self._factor.solve(vector)

    def gram(self, rows: Any) -> Floats:
        dense = _dense(rows)
        return dense @ self.solve(dense.T)

    def loadings(self, rows: Any) -> tuple[float, Floats]:
        # H >= I, so I - H^-1 has a square root.
        values, vectors = np.linalg.eigh(self._matrix)
        return 1.0, np.asarray(rows @ (vectors * np.sqrt(np.maximum(1.0 - 1.0 / values, 0.0))))

    def matrix(self) -> Floats:
        return self._matrix


class LowRankMetric:
    """base * I + U diag(extra) U^T, U orthonormal: a large metric known by its main directions."""

    def __init__(self, base: float, directions: Floats, extra: Floats) -> None:
        self._base, self._directions = base, directions
        self._shrink = extra / (base + extra)

    def solve(self, vector: Floats) -> Floats:
        shrunk = (self._directions * self._shrink) @ (self._directions.T @ vector)
        return np.asarray((vector - shrunk) / self._base)

    def gram(self, rows: Any) -> Floats:
        scale, loadings = self.loadings(rows)
        return scale * IDENTITY.gram(rows) - loadings @ loadings.T

    def loadings(self, rows: Any) -> tuple[float, Floats]:
        scaled = self._directions * np.sqrt(self._shrink / self._base)
        return 1.0 / self._base, np.asarray(rows @ scaled)

    def matrix(self) -> Floats:
        extra = self._base * self._shrink / (1.0 - self._shrink)
        return self._base * np.eye(len(self._directions)) + (self._directions * extra) @ self._directions.T


class RowSystem(Protocol):
    """Solves (D^-1 + K) y = b, K = R H^-1 R^T."""

    @property
    def rank(self) -> int:
        """No more than so many rows are linearly independent."""
        ...

    def times(self, y: Floats) -> Floats:
        """K y."""
        ...

    def gram(self, some: Rows) -> Floats:
        """The part of K that belongs to some rows."""
        ...

    def factor(self, weights: Floats) -> None:
        """Prepare for the diagonal D = weights."""
        ...

    def solve(self, right: Floats) -> Floats:
        """The solution for a vector, or each column of a matrix."""
        ...


class GramSystem:
    """For few rows, or rows known by K alone: factorises I + D^1/2 K D^1/2.

    >>> GramSystem(np.array([[1.0, 2.0], [2.0, 4.0]])).times(np.array([1.0, 0.5]))
    array([2., 4.])
    """

    def __init__(self, gram: Floats) -> None:
        self._gram = gram

    @property
    def rank(self) -> int:
        return len(self._gram)

    def times(self, y: Floats) -> Floats:
        return self._gram @ y

    def gram(self, some: Rows) -> Floats:
        return self._gram[np.ix_(some, some)]

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)
        scaled = self._gram * self._root
        scaled *= self._root[:, np.newaxis]
        scaled.flat[:: len(scaled) + 1] += 1.0
        self._factor = Factor(scaled)

    def solve(self, right: Floats) -> Floats:
        root = _along(self._root, right)
        return root * self._factor.solve(root * right)


class FeatureSystem:
    """For few features: factorises H + R^T D R and refines, since heavy rows cost it digits.

    Parameters
    ----------
    rows : array or UndecidedRows
    metric : Metric

    Examples
    --------
    >>> FeatureSystem(np.array([[1.0], [2.0]])).times(np.array([1.0, 0.5]))
    array([2., 4.])
    """

    def __init__(self, rows: Floats | UndecidedRows, metric: Metric = IDENTITY) -> None:
        self._rows = rows if isinstance(rows, UndecidedRows) else UndecidedRows(rows)
        self._metric = metric
        matrix = metric.matrix()
        self._matrix = np.eye(self._rows.shape[1]) if matrix is None else matrix

    @property
    def rank(self) -> int:
        return int(min(self._rows.shape))

    def times(self, y: Floats) -> Floats:
        return self._rows.times(self._metric.solve(self._rows.transposed(y)))

    def gram(self, some: Rows) -> Floats:
        return self._metric.gram(self._rows.matrix[some])

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)
        matrix = self._rows.gram(weights)
        trace = float(np.trace(matrix))
        self._refinements = next((times for least, times in REFINEMENTS if trace > least), 0)
        matrix += self._matrix
        self._factor = Factor(matrix)

    def solve(self, right: Floats) -> Floats:
        root = _along(self._root, right)

        def woodbury(right: Floats) -> Floats:
            inner = self._factor.solve(self._rows.transposed(root * right))
            return np.asarray(right - root * self._rows.times(inner))

        def product(y: Floats) -> Floats:
            return np.asarray(y + root * self.times(root * y))

        return root * refined(woodbury, product, root * right, self._refinements)


class IterativeSystem:
    """For many rows of many features: conjugate gradients on I + D^1/2 K D^1/2, scaled by its diagonal."""

    def __init__(self, rows: Any, metric: Metric) -> None:
        self._rows, self._columns = rows, rows.T.tocsr() if hasattr(rows, "tocsr") else rows.T
        self._scale, self._loadings = metric.loadings(rows)
        squares = rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows
        own = self._scale * np.asarray(squares.sum(axis=1)).ravel()
        self._diagonal = own - (self._loadings**2).sum(axis=1)

    def times(self, y: Floats) -> Floats:
        product = self._scale * np.asarray(self._rows @ (self._columns @ y))
        return product - self._loadings @ (self._loadings.T @ y)

    @property
    def rank(self) -> int:
        return int(min(self._rows.shape))

    def gram(self, some: Rows) -> Floats:
        loadings = self._loadings[some]
        return self._scale * IDENTITY.gram(self._rows[some]) - loadings @ loadings.T

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)
        self._scaled_diagonal = 1.0 + weights * self._diagonal

    def solve(self, right: Floats) -> Floats:
        columns = right[:, np.newaxis] if right.ndim == 1 else right
        root, diagonal = self._root[:, np.newaxis], self._scaled_diagonal[:, np.newaxis]
        solution = np.zeros_like(columns)
        used = columns.any(axis=0)
        solution[:, used] = root * conjugate_gradients(
            lambda y: y + root * self.times(root * y), root * columns[:, used], diagonal, CONJUGATE_ACCURACY
        )
        return solution[:, 0] if right.ndim == 1 else solution


def row_system(rows: UndecidedRows, metric: Metric = IDENTITY) -> RowSystem:
    """The cheapest of the systems for these rows."""
    if rows.many:
        return FeatureSystem(rows, metric)
    matrix = rows.matrix
    entries = matrix.nnz if is_sparse(matrix) else matrix.size
    # A factorisation against some four hundred products with the rows.
    if rows.shape[0] ** 3 <= 5e4 * entries:
        return GramSystem(metric.gram(matrix))
    return IterativeSystem(matrix, metric)


def _along(by_row: Floats, right: Floats) -> Floats:
    """A number for each row, shaped to multiply a vector or the columns of a matrix."""
    return by_row if right.ndim == 1 else by_row[:, np.newaxis]


def _dense(rows: Any) -> Floats:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())
