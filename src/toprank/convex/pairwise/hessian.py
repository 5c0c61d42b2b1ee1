"""The Hessian of a pairwise loss with respect to linear coefficients, without listing the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import CHUNK, SPARSE_CHUNK, Design
from toprank.losses.pairwise import PairPoint

if TYPE_CHECKING:
    from toprank.convex.algebra._row_kernels import Walk

__all__ = ["pair_hessian"]

Floats = NDArray[np.float64]


def pair_hessian(design: Design, point: PairPoint) -> Floats:
    """Slope * sum over pairs in the zone of weight * (x_i - x_j)(x_i - x_j)^T.

    Squares need each row's weight in the zone only; the mixed terms x_i x_j^T are sums over windows of rows
    that slide along the sorted scores.
    """
    matrix = design.gram(point.curvature)
    mixed = _mixed_terms(design, point)
    mixed *= point.slope
    matrix -= mixed
    matrix -= mixed.T
    return matrix


def _mixed_terms(design: Design, point: PairPoint) -> Floats:
    walk = _shorter_side(point)
    return _sparse_mixed(design, walk) if design.sparse else _dense_mixed(design, walk)


def _shorter_side(point: PairPoint) -> Walk:
    """The windows, walking along the side with fewer entries."""
    from toprank.convex.algebra import _row_kernels

    lists, pairs = point.lists, point.pairs
    first, last = point.first, point.last
    if len(lists.upper) <= len(lists.lower):
        return _row_kernels.Walk(
            pairs.weight, lists.upper, lists.upper_start, lists.lower, lists.lower_start,
            pairs.block_weight, first, last,
        )  # fmt: skip
    other_first = np.empty(len(lists.lower), dtype=np.int32)
    other_last = np.empty_like(other_first)
    _row_kernels.inverse_windows(first, last, lists.upper_start, lists.lower_start, other_first, other_last)
    return _row_kernels.Walk(
        pairs.weight, lists.lower, lists.lower_start, lists.upper, lists.upper_start,
        pairs.block_weight, other_first, other_last,
    )  # fmt: skip


def _dense_mixed(design: Design, walk: Walk) -> Floats:
    from toprank.convex.algebra import _row_kernels

    X = design.X
    kernel: Any = _row_kernels.window_sums
    mixed = np.zeros((design.n_features, design.n_features))
    state, running = _row_kernels.empty_state(), np.zeros(design.n_features)
    rows, sums = np.empty(CHUNK, dtype=np.int64), np.empty((CHUNK, design.n_features))
    filled = CHUNK
    while filled == CHUNK:
        filled = kernel(X, walk, state, running, rows, sums)
        mixed += X[rows[:filled]].T @ sums[:filled]
    return mixed


def _sparse_mixed(design: Design, walk: Walk) -> Floats:
    from toprank.convex.algebra import _row_kernels

    X = design.X
    kernel: Any = _row_kernels.sparse_window_cross
    mixed = np.zeros((design.n_features, design.n_features))
    state, running = _row_kernels.empty_state(), np.zeros(design.n_features)
    done = False
    while not done:
        done = kernel(X.data, X.indices, X.indptr, walk, state, running, 50 * SPARSE_CHUNK, mixed)
    return mixed
