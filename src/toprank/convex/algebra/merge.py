"""Merge identical rows: one row with the sum of their weights gives the same loss for less work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import is_sparse

__all__ = ["Merged", "merge_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WORTHWHILE = 0.6
"""Rows are merged when no more than this share of them is distinct."""
SAMPLE = 8192
"""No rows are merged when so many of them show not one repetition."""


@dataclass(frozen=True)
class Merged:
    """Which rows stay, and the weight of each; None for weights that are all one."""

    rows: Ints | slice
    weight: Floats | None


def merge_rows(X: Any, stratum: Ints, weight: Floats | None = None) -> Merged:
    """The distinct rows within each stratum (label and query), with the sums of their weights.

    Nothing is merged when most rows are distinct; rows without weight are left out.

    Examples
    --------
    >>> merged = merge_rows(np.array([[1.0], [1.0], [1.0], [2.0], [1.0]]), np.array([0, 0, 0, 0, 1]))
    >>> merged.rows, merged.weight
    (array([0, 3, 4]), array([3., 1., 1.]))
    """
    if weight is not None and not (weight > 0).all():
        kept = np.flatnonzero(weight > 0)
        return Merged(kept, weight[kept])
    hashes = _hashes(X, stratum)
    everything = Merged(slice(None), weight)
    sample = hashes[:: -(-len(hashes) // SAMPLE)]
    if len(np.unique(sample)) == len(sample):
        return everything
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > WORTHWHILE * len(hashes):
        return everything
    representative = first[inverse].astype(np.int64)
    if not (_equal_rows(X, representative) and np.array_equal(stratum[representative], stratum)):
        return everything
    sums = np.bincount(inverse, weights=weight, minlength=len(first)).astype(np.float64)
    order = np.argsort(first)
    return Merged(first[order].astype(np.int64), sums[order])


def _hashes(X: Any, stratum: Ints) -> NDArray[np.uint64]:
    from toprank.convex.algebra import _row_kernels as _pair_kernels

    hashes = stratum.astype(np.uint64) + np.uint64(1)
    if is_sparse(X):
        _pair_kernels.hash_sparse_rows(X.data.view(np.uint64), X.indices, X.indptr, hashes)
    else:
        _pair_kernels.hash_dense_rows(X.view(np.uint64), hashes)
    return hashes


def _equal_rows(X: Any, representative: Ints) -> bool:
    from toprank.convex.algebra import _row_kernels as _pair_kernels

    if is_sparse(X):
        return bool(_pair_kernels.sparse_rows_equal(X.data, X.indices, X.indptr, representative))
    return bool(_pair_kernels.dense_rows_equal(X, representative))
