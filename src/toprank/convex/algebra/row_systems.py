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
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from toprank.convex.algebra.design import is_sparse

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
REFINEMENTS = 1
CONJUGATE_STEPS = 500
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


class DenseMetric:
    """A matrix that is factorised once."""

    def __init__(self, matrix: Floats) -> None:
        self._matrix = matrix
        self._factor = cho_factor(matrix, lower=True, check_finite=False)

    def solve(self, vector: Floats) -> Floats:
        return np.asarray(cho_solve(self._factor, vector, check_finite=False))

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
        return scale * Identity().gram(rows) - loadings @ loadings.T

    def loadings(self, rows: Any) -> tuple[float, Floats]:
        scaled = self._directions * np.sqrt(self._shrink / self._base)
        return 1.0 / self._base, np.asarray(rows @ scaled)

    def matrix(self) -> Floats:
        extra = self._base * self._shrink / (1.0 - self._shrink)
        return self._base * np.eye(len(self._directions)) + (self._directions * extra) @ self._directions.T


class RowSystem(Protocol):
    """Solves (D^-1 + K) y = b, K = R H^-1 R^T."""

    def times(self, y: Floats) -> Floats:
        """K y."""
        ...

    def factor(self, weights: Floats) -> None:
        """Prepare for the diagonal D = weights."""
        ...

    def solve(self, right: Floats) -> Floats:
        """The solution for each column of `right`."""
        ...


class GramSystem:
    """For few rows: factorises I + D^1/2 K D^1/2."""

    def __init__(self, gram: Floats) -> None:
        self._gram = gram

    def times(self, y: Floats) -> Floats:
        return self._gram @ y

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)[:, np.newaxis]
        scaled = self._gram * self._root
        scaled *= self._root.T
        scaled.flat[:: len(scaled) + 1] += 1.0
        self._factor = _cholesky(scaled)

    def solve(self, right: Floats) -> Floats:
        return self._root * np.asarray(cho_solve(self._factor, self._root * right, check_finite=False))


class FeatureSystem:
    """For few features: factorises H + R^T D R and refines, since heavy rows cost it digits."""

    def __init__(self, rows: UndecidedRows, metric: Metric) -> None:
        self._rows, self._metric = rows, metric
        matrix = metric.matrix()
        self._matrix = np.eye(rows.shape[1]) if matrix is None else matrix

    def times(self, y: Floats) -> Floats:
        return self._rows.times(self._metric.solve(self._rows.transposed(y)))

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)[:, np.newaxis]
        self._factor = _cholesky(self._matrix + self._rows.gram(weights))

    def solve(self, right: Floats) -> Floats:
        right = self._root * right
        solution = self._woodbury(right)
        for _ in range(REFINEMENTS):
            product = solution + self._root * self.times(self._root * solution)
            solution += self._woodbury(right - product)
        return self._root * solution

    def _woodbury(self, right: Floats) -> Floats:
        inner = cho_solve(self._factor, self._rows.transposed(self._root * right), check_finite=False)
        return np.asarray(right - self._root * self._rows.times(inner))


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

    def factor(self, weights: Floats) -> None:
        self._root = np.sqrt(weights)[:, np.newaxis]
        self._inverse = 1.0 / (1.0 + weights * self._diagonal)[:, np.newaxis]

    def solve(self, right: Floats) -> Floats:
        used = right.any(axis=0)
        solution = np.zeros_like(right)
        solution[:, used] = self._root * self._conjugate_gradients(self._root * right[:, used])
        return solution

    def _conjugate_gradients(self, residual: Floats) -> Floats:
        """All columns side by side, each until its residual is small enough."""
        solution = np.zeros_like(residual)
        tiny = np.finfo(float).tiny
        scaled = self._inverse * residual
        direction = scaled.copy()
        power = np.einsum("ij,ij->j", residual, scaled)
        goal = CONJUGATE_ACCURACY**2 * power
        for _ in range(CONJUGATE_STEPS):
            if (power <= goal).all():
                break
            product = direction + self._root * self.times(self._root * direction)
            curvature = np.einsum("ij,ij->j", direction, product)
            length = np.where(power > goal, power / np.maximum(curvature, tiny), 0.0)
            solution += length * direction
            residual -= length * product
            scaled = self._inverse * residual
            old, power = power, np.einsum("ij,ij->j", residual, scaled)
            direction = scaled + power / np.maximum(old, tiny) * direction
        return solution


def row_system(rows: UndecidedRows, metric: Metric) -> RowSystem:
    """The cheapest of the systems for these rows."""
    if rows.many:
        return FeatureSystem(rows, metric)
    matrix = rows.matrix
    entries = matrix.nnz if is_sparse(matrix) else matrix.size
    # A factorisation against some four hundred products with the rows.
    if rows.shape[0] ** 3 <= 5e4 * entries:
        return GramSystem(metric.gram(matrix))
    return IterativeSystem(matrix, metric)


def _cholesky(matrix: Floats) -> Any:
    """Factorise; a matrix that rounding made indefinite is lifted by as much as rounding can take."""
    lift = 1e-15 * np.trace(matrix)
    for _ in range(6):
        try:
            return cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            matrix.flat[:: len(matrix) + 1] += lift
            lift *= 30.0
    return cho_factor(matrix, lower=True, check_finite=False)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())
