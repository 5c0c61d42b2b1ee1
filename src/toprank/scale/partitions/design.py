"""Partitioned rows as the convex solvers see a matrix: products, Gram matrices, and chosen rows.

Each product is a pass over the partitions, which hand on sums; rows are brought into memory where a solver
asks for some of them by number. Rows are taken relative to their mean, as in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.convex.algebra.design import Design
from toprank.scale.partitions.blocks import aligned_blocks, computed, delayed, reduced
from toprank.scale.partitions.logistic import check_block
from toprank.scale.partitions.reranking import Blocks

__all__ = ["PartitionedDesign", "PartitionedRows"]

Floats = NDArray[np.float64]
CHUNK = 4096


class PartitionedRows:
    """A matrix of which no more than a partition for each worker is in memory.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
        Numbers, none missing.

    Examples
    --------
    >>> import dask.array as da
    >>> rows = PartitionedRows(da.from_array(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]), chunks=(2, 2)))
    >>> rows.center, rows @ np.array([1.0, 0.0])
    (array([3., 5.]), array([-2.,  0.,  2.]))
    """

    __array_ufunc__ = None  # so that `numbers @ rows` asks us

    def __init__(self, X: Any) -> None:
        self._blocks = [block for (block,) in aligned_blocks(X)]
        seen = computed([delayed(_sums)(block) for block in self._blocks])
        sizes = [rows for rows, _ in seen]
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.shape = int(self._starts[-1]), len(seen[0][1])
        self.center: Floats = np.sum([total for _, total in seen], axis=0) / self.shape[0]
        # Far from zero the first mean is rough.
        self.center = self.center + self._sum(np.ones(self.shape[0])) / self.shape[0]
        self._fetch = Blocks(self._blocks, sizes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[np.object_]:
        """One opaque thing: sparse matrices then leave the product to us."""
        whole = np.empty((), dtype=object)
        whole[()] = self
        return whole

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> _Transposed:
        """For X.T @ X."""
        return _Transposed(self)

    def __matmul__(self, coef: Floats) -> Floats:
        center = self.center
        pieces = computed([delayed(_scores)(block, center, coef) for block in self._blocks])
        return np.concatenate(pieces)

    def __rmatmul__(self, numbers: Any) -> Floats:
        return self._sum(numbers)

    def __getitem__(self, wanted: Any) -> Floats:
        rows = np.asarray(wanted)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        if not len(rows):
            return np.zeros((0, self.shape[1]))
        return self._fetch(rows) - self.center

    def gram(self, weight: Floats) -> Floats:
        """The sum of weight_i x_i x_i^T over all rows."""
        return self._reduced(_gram, weight)

    def column_squares(self, weight: Floats) -> Floats:
        """The diagonal of `gram`."""
        return self._reduced(_squares, weight)

    def _sum(self, numbers: Any) -> Floats:
        return self._reduced(_combined, numbers if sp.issparse(numbers) else np.asarray(numbers))

    def _reduced(self, each: Callable[..., Floats], numbers: Any) -> Floats:
        """The sum over partitions of a function of their rows and of the numbers that go with them."""
        ends = zip(self._starts[:-1], self._starts[1:], strict=True)
        cut = [numbers[begin:end] if numbers.ndim == 1 else numbers[:, begin:end] for begin, end in ends]
        pieces = [
            delayed(each)(block, self.center, some) for block, some in zip(self._blocks, cut, strict=True)
        ]
        return np.asarray(reduced(pieces, lambda some: sum(some[1:], start=some[0])))


class _Transposed:
    """The other way round, for the one product that is asked of it."""

    def __init__(self, rows: PartitionedRows) -> None:
        self._rows = rows

    def __matmul__(self, other: Any) -> Floats:
        if other is not self._rows:
            return np.asarray(other @ self._rows)
        return self._rows.gram(np.ones(len(self._rows)))


class PartitionedDesign(Design):
    """`Design` with partitions behind it.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
    direct : bool
        Whether Newton systems may be factorised; pairwise losses, whose Hessian needs rows in the order of
        their scores, are solved by conjugate gradients.
    """

    in_memory = False

    def __init__(self, X: Any, *, direct: bool = True) -> None:
        self.X = PartitionedRows(X)
        self.sparse = False
        self.n_rows, self.n_features = self.X.shape
        self._direct = direct

    @property
    def direct(self) -> bool:
        """Whether d x d matrices are small enough, and can be had."""
        return self._direct and super().direct

    def gram(self, row_weight: Floats) -> Floats:
        """The sum of weight_i x_i x_i^T over all rows."""
        return self.X.gram(row_weight)

    def column_squares(self, row_weight: Floats) -> Floats:
        """The diagonal of `gram`."""
        return self.X.column_squares(row_weight)

    def combine_lists(self, by_row: Floats, start: NDArray[np.intp]) -> Floats:
        """Refused: partitioned rows are one list."""
        raise NotImplementedError("partitioned rows are one list")

    def columns(self, features: NDArray[np.int64]) -> Design:
        """Refused: features are selected in memory only."""
        raise NotImplementedError("features of partitioned rows are not selected")


# -- on each partition -----------------------------------------------------------------------------


def _sums(block: Any) -> tuple[int, Floats]:
    rows = np.asarray(block, dtype=np.float64)
    check_block(rows, np.zeros(len(rows)), None)
    return len(rows), rows.sum(axis=0)


def _scores(block: Any, center: Floats, coef: Floats) -> Floats:
    return np.asarray((np.asarray(block, dtype=np.float64) - center) @ coef)


def _combined(block: Any, center: Floats, numbers: Any) -> Floats:
    rows = np.asarray(block, dtype=np.float64) - center
    return np.asarray(numbers @ rows)


def _gram(block: Any, center: Floats, weight: Floats) -> Floats:
    total = np.zeros((len(center), len(center)))
    for begin in range(0, len(weight), CHUNK):
        some = np.flatnonzero(weight[begin : begin + CHUNK]) + begin
        rows = (np.asarray(block, dtype=np.float64)[some] - center) * np.sqrt(weight[some])[:, None]
        total += rows.T @ rows
    return total


def _squares(block: Any, center: Floats, weight: Floats) -> Floats:
    return np.asarray(weight @ (np.asarray(block, dtype=np.float64) - center) ** 2)
