"""Weak rankers for boosting: single features, or stumps that ask whether a feature is above a threshold.

A family of weak rankers answers one question for the booster: along which of you does the loss fall fastest?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import is_sparse

__all__ = ["FeatureRankers", "StumpRankers", "WeakRanker", "WeakRankers", "weak_values"]

Floats = NDArray[np.float64]
MAX_BINS = 256


@dataclass(frozen=True)
class WeakRanker:
    """One weak ranker: a feature divided by its range, or with a threshold the indicator of exceeding it.

    Parameters
    ----------
    feature : int
    unit : float
        What a weight of one means: the range of the feature, or 1 for a stump.
    threshold : float
        Infinite for a feature itself.
    """

    feature: int
    unit: float = 1.0
    threshold: float = np.inf


class WeakRankers(Protocol):
    """A family of weak rankers over fixed rows."""

    def steepest(self, gradient: Floats) -> tuple[Any, float]:
        """The weak ranker along which the loss changes fastest, and that slope."""
        ...

    def values(self, ranker: Any) -> Floats:
        """Its value in every row."""
        ...


class FeatureRankers:
    """Every feature is a weak ranker, scaled to a range of one; constant features never are.

    Parameters
    ----------
    X : array or CSR matrix

    Examples
    --------
    >>> family = FeatureRankers(np.array([[0.0, 1.0], [4.0, 1.0]]))
    >>> family.steepest(np.array([1.0, -1.0]))
    (WeakRanker(feature=0, unit=4.0, threshold=inf), -1.0)
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._columns = X.tocsc() if is_sparse(X) else X
        low, high = _column_extremes(X)
        self._range = high - low

    def steepest(self, gradient: Floats) -> tuple[WeakRanker, float]:
        slopes = np.asarray(gradient @ self._X)
        slopes = np.divide(slopes, self._range, out=np.zeros_like(slopes), where=self._range > 0)
        best = int(np.argmax(np.abs(slopes)))
        return WeakRanker(best, float(self._range[best]) or 1.0), float(slopes[best])

    def values(self, ranker: WeakRanker) -> Floats:
        return weak_values(self._columns, ranker)


class StumpRankers:
    """Every question "is this feature above that threshold?" is a weak ranker.

    Thresholds are all distinct values of a feature, or 255 evenly spaced quantiles of them if there are more.

    Parameters
    ----------
    X : array or CSR matrix

    Examples
    --------
    >>> family = StumpRankers(np.array([[0.0], [1.0], [3.0]]))
    >>> family.steepest(np.array([0.5, 0.5, -1.0]))
    (WeakRanker(feature=0, unit=1.0, threshold=2.0), -1.0)
    """

    def __init__(self, X: Any) -> None:
        self._columns = X.tocsc() if is_sparse(X) else X
        self._thresholds = [_thresholds(_column(self._columns, k)) for k in range(X.shape[1])]
        self._bins = _Bins.of(self._columns, self._thresholds)

    def steepest(self, gradient: Floats) -> tuple[WeakRanker, float]:
        sums = self._bins.sums(gradient)
        # The slope along "above threshold t" is the gradient summed over the bins above t.
        above = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1][:, 1:]
        feature, cut = np.unravel_index(int(np.argmax(np.abs(above))), above.shape)
        thresholds = self._thresholds[feature]
        if cut >= len(thresholds):
            return WeakRanker(int(feature)), 0.0
        return WeakRanker(int(feature), 1.0, float(thresholds[cut])), float(above[feature, cut])

    def values(self, ranker: WeakRanker) -> Floats:
        return weak_values(self._columns, ranker)


def weak_values(columns: Any, ranker: WeakRanker) -> Floats:
    """A weak ranker's value in every row of a dense or CSC matrix.

    >>> weak_values(np.array([[1.0], [5.0]]), WeakRanker(0, threshold=2.0))
    array([0., 1.])
    """
    column = _column(columns, ranker.feature)
    if ranker.threshold == np.inf:
        return column / ranker.unit
    return (column > ranker.threshold).astype(np.float64)


@dataclass(frozen=True)
class _Bins:
    """The bin of every entry: a dense matrix of bytes, or the stored entries of a sparse one."""

    code: NDArray[np.uint8]
    zero_code: NDArray[np.uint8]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Any, thresholds: list[Floats]) -> _Bins:
        zero = np.array([np.searchsorted(t, 0.0, side="left") for t in thresholds], dtype=np.uint8)
        if not is_sparse(columns):
            code = np.empty(columns.shape, dtype=np.uint8, order="F")
            for k, cuts in enumerate(thresholds):
                code[:, k] = np.searchsorted(cuts, columns[:, k], side="left")
            return cls(code, zero, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
        entries = np.empty(columns.nnz, dtype=np.uint8)
        for k, cuts in enumerate(thresholds):
            part = slice(columns.indptr[k], columns.indptr[k + 1])
            entries[part] = np.searchsorted(cuts, columns.data[part], side="left")
        return cls(entries, zero, columns.indices.astype(np.int32), columns.indptr.astype(np.int64))

    def sums(self, gradient: Floats) -> Floats:
        """The sum of the gradient over each bin of each feature."""
        from toprank.convex.algebra import _row_kernels as _pair_kernels

        sums = np.zeros((len(self.zero_code), MAX_BINS))
        if self.code.ndim == 2:
            _pair_kernels.dense_bin_sums(self.code, gradient, sums)
        else:
            _pair_kernels.sparse_bin_sums(
                self.code, self.indices, self.indptr, self.zero_code, gradient, sums
            )
        return sums


def _thresholds(values: Floats) -> Floats:
    """Middles between neighbouring distinct values, thinned to 255."""
    distinct = np.unique(values)
    if len(distinct) > MAX_BINS:
        distinct = np.unique(np.quantile(values, np.linspace(0, 1, MAX_BINS), method="nearest"))
    middle = distinct[:-1] + np.diff(distinct) / 2
    # Neighbouring floats have no number between them; the lower one separates them as well.
    return np.asarray(np.where(middle < distinct[1:], middle, distinct[:-1]))


def _column(columns: Any, k: int) -> Floats:
    if not is_sparse(columns):
        return np.ascontiguousarray(columns[:, k])
    values = np.zeros(columns.shape[0])
    part = slice(columns.indptr[k], columns.indptr[k + 1])
    values[columns.indices[part]] = columns.data[part]
    return values


def _column_extremes(X: Any) -> tuple[Floats, Floats]:
    if is_sparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return X.min(axis=0), X.max(axis=0)
