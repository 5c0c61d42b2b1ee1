"""Which row belongs above which, as pairs of row numbers: reading, ready-made sets, folds.

Nothing asks that pairs agree: they may run in circles, and the same two rows may stand in both orders.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["kendall_pairs", "multipartite_pairs", "pair_folds", "read_pairs", "share_in_order"]

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]


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


def read_pairs(
    pairs: ArrayLike, weights: ArrayLike | None, n: int, *, name: str = "weights"
) -> tuple[Pairs, Floats]:
    """Check pairs of row numbers and their weights, and return both as arrays.

    Pairs are (upper, lower), of `n` rows; weights are above zero, one each where there are none, and are
    called `name` where they are wrong.

    Examples
    --------
    >>> rows, worth = read_pairs([(2, 0), (1, 0)], None, 3)  # rows 2 and 1 belong above row 0
    >>> rows.tolist(), worth.tolist()
    ([[2, 0], [1, 0]], [1.0, 1.0])
    >>> read_pairs([(2, 0), (3, 0)], None, 3)
    Traceback (most recent call last):
    ValueError: pairs must hold row numbers from 0 to 2.
    """
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise ValueError(f"pairs must have shape (P, 2) with at least one pair; it has {rows.shape}.")
    if rows.dtype.kind not in "iu":
        raise ValueError("pairs must hold whole row numbers (upper, lower).")
    rows = rows.astype(np.int64)
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"pairs must hold row numbers from 0 to {n - 1}.")
    if (rows[:, 0] == rows[:, 1]).any():
        raise ValueError("pairs contains a row that should be above itself.")
    worth = np.ones(len(rows)) if weights is None else np.array(weights, dtype=np.float64)
    if worth.shape != (len(rows),):
        raise ValueError(f"{name} must hold one number for each of the {len(rows)} pairs.")
    if not (np.isfinite(worth).all() and (worth > 0).all()):
        raise ValueError(f"{name} of pairs must be positive and finite; leave out pairs that do not count.")
    return rows, worth


def share_in_order(scores: ArrayLike, pairs: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The share of the pairs, by weight, whose first row scores higher than the second; ties are mistakes.

    >>> share_in_order([3.0, 1.0, 1.0], [(0, 1), (1, 2)])
    0.5
    """
    values = np.asarray(scores, dtype=np.float64)
    rows, worth = read_pairs(pairs, weights, len(values))
    return float(worth[values[rows[:, 0]] > values[rows[:, 1]]].sum() / worth.sum())


def pair_folds(
    pairs: ArrayLike, n_splits: int = 5, *, by: str = "pairs", random_state: int | None = None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Numbers of the pairs to learn from and of those to judge by, fold after fold.

    Parameters
    ----------
    pairs : array-like of int, shape (P, 2)
    n_splits : int
    by : {"pairs", "items"}
        What is unseen: a comparison of items that were compared with others, so that an answer in both orders
        is kept together; or the items themselves, so that a fold judges by pairs of items it did not learn
        from, and pairs between the two sides are left out.
    random_state : int or None

    Examples
    --------
    >>> [held.tolist() for _, held in pair_folds([(0, 1), (1, 0), (2, 3)], 2, random_state=0)]
    [[0, 1], [2]]
    """
    rows = np.asarray(pairs)
    rows, _ = read_pairs(rows, None, int(rows.max(initial=0)) + 1)
    if by not in ("pairs", "items"):
        raise ValueError(f"by={by!r} must be 'pairs' or 'items'.")
    rng = np.random.default_rng(random_state)
    if by == "items":
        items = np.unique(rows)
        fold_of_item = np.full(int(items.max()) + 1, -1)
        fold_of_item[items] = _fold_numbers(len(items), n_splits, rng, "items in the pairs")
        sides = fold_of_item[rows]
        for fold in range(n_splits):
            held, learn = (sides == fold).all(axis=1), (sides != fold).all(axis=1)
            if held.any() and learn.any():
                yield np.flatnonzero(learn), np.flatnonzero(held)
        return
    unordered, place = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True)
    fold_of_pair = _fold_numbers(len(unordered), n_splits, rng, "different pairs")[place.ravel()]
    for fold in range(n_splits):
        yield np.flatnonzero(fold_of_pair != fold), np.flatnonzero(fold_of_pair == fold)


def _fold_numbers(count: int, n_splits: int, rng: np.random.Generator, what: str) -> NDArray[np.int64]:
    if not 2 <= n_splits <= count:
        raise ValueError(f"n_splits={n_splits} must be between 2 and the number of {what}, {count}.")
    return np.asarray(rng.permutation(np.arange(count) % n_splits))
