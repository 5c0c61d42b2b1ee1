"""Ready-made sets of pairs: which row belongs above which."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["kendall_pairs", "multipartite_pairs"]


def multipartite_pairs(
    y: ArrayLike, *, qid: ArrayLike | None = None, by_difference: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every pair of rows with different labels, higher label first, and what it is worth.

    Parameters
    ----------
    y : array-like of numbers
    qid : array-like, optional
        Pairs are made within a query only.
    by_difference : bool
        Whether a pair is worth the difference of its labels rather than 1.

    Examples
    --------
    >>> pairs, weights = multipartite_pairs([0, 2, 1], by_difference=True)
    >>> pairs.tolist(), weights.tolist()
    ([[1, 0], [1, 2], [2, 0]], [2.0, 1.0, 1.0])
    """
    pairs = kendall_pairs(y, qid=qid)
    if not by_difference:
        return pairs, np.ones(len(pairs))
    values = np.asarray(y, dtype=np.float64)
    return pairs, values[pairs[:, 0]] - values[pairs[:, 1]]


def kendall_pairs(y: ArrayLike, *, qid: ArrayLike | None = None) -> NDArray[np.int64]:
    """Every pair of rows (i, k) of one query with ``y[i] > y[k]``.

    >>> kendall_pairs([0.5, 0.5, 0.1]).tolist()
    [[0, 2], [1, 2]]
    """
    values = np.asarray(y, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("y must be one finite number for each row.")
    codes = np.zeros(len(values), dtype=np.int64)
    if qid is not None:
        if len(np.asarray(qid)) != len(values):
            raise ValueError(f"qid must hold one query for each of the {len(values)} rows.")
        codes = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
    found = [_pairs_within(np.flatnonzero(codes == q), values) for q in range(int(codes.max(initial=-1)) + 1)]
    pairs = np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)
    if not len(pairs):
        raise ValueError("y has one value only (in every query): no pair can be ranked.")
    return pairs


def _pairs_within(rows: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    upper, lower = np.nonzero(values[rows][:, None] > values[rows][None, :])
    return np.column_stack((rows[upper], rows[lower])).astype(np.int64)
