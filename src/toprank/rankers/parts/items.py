"""From labelled rows or preference pairs to the items of Accuracy at the Top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.convex.accuracy_at_top.pins import Items
from toprank.rankers.parts.queries import divided_queries

__all__ = [
    "WEIGHTINGS",
    "Prices",
    "dense_rows",
    "gather",
    "items_of_gram",
    "items_of_points",
    "items_of_root",
    "mean_prices",
    "prices_by_query",
    "prices_of_labels",
    "prices_of_pairs",
]

Floats = NDArray[np.float64]
LARGEST_DENSE = 5e8
WEIGHTINGS = ("pairs", "balanced", "rows")


@dataclass(frozen=True)
class Prices:
    """What each row costs above and below the quantile, how much it counts in it, and the mass above.

    With several lists each has its own quantile: `query` is the list of each row, `tops` the mass above in
    each.
    """

    up: Floats
    down: Floats
    mass: Floats
    top: float
    query: NDArray[np.int64] | None = None
    tops: Floats | None = None


def prices_of_labels(
    y: NDArray[np.int8], sample_weight: Floats | None, *, top_share: float, C: float, weighting: str
) -> Prices:
    """Labels: each positive stands for as many pairs as there are negatives, and the other way round.

    >>> y = np.array([1, 0, 0], dtype=np.int8)
    >>> prices = prices_of_labels(y, None, top_share=0.4, C=1.0, weighting="pairs")
    >>> prices.up, prices.down, prices.top
    (array([2., 0., 0.]), array([0., 1., 1.]), 1.0)
    """
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    positive, negative = np.where(y == 1, weight, 0.0), np.where(y == 0, weight, 0.0)
    n_pos, n_neg = float(positive.sum()), float(negative.sum())
    if not (n_pos > 0 and n_neg > 0):
        raise ValueError(
            "sample_weight leaves one class only; both classes need rows with a positive weight."
        )
    if weighting == "pairs":
        up, down = C * n_neg, C * n_pos
    elif weighting == "balanced":
        up, down = C * (n_pos + n_neg) / (2 * n_pos), C * (n_pos + n_neg) / (2 * n_neg)
    else:
        up = down = C
    return Prices(up * positive, down * negative, weight, _top_mass(weight, top_share))


def prices_by_query(
    y: NDArray[np.int8],
    query: NDArray[np.int64],
    sample_weight: Floats | None,
    *,
    top_share: float,
    C: float,
    weighting: str,
) -> Prices:
    """The prices of each list by itself; lists of one class only are left out.

    >>> y, query = np.array([1, 0, 0, 1, 0, 0], dtype=np.int8), np.array([0, 0, 0, 1, 1, 2])
    >>> prices = prices_by_query(y, query, None, top_share=0.4, C=1.0, weighting="pairs")
    >>> prices.up, prices.tops
    (array([2., 0., 0., 1., 0., 0.]), array([1., 1., 0.]))
    """
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    up, down, mass = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    both = divided_queries(y, query, weight)
    tops = np.zeros(len(both))
    order = np.argsort(query, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        number = query[rows[0]]
        if both[number]:
            one = prices_of_labels(y[rows], weight[rows], top_share=top_share, C=C, weighting=weighting)
            up[rows], down[rows], mass[rows], tops[number] = one.up, one.down, one.mass, one.top
    return Prices(up, down, mass, float(tops.sum()), query, tops)


def mean_prices(
    y: NDArray[np.int8], query: NDArray[np.int64], weight: Floats, *, top_share: float, C: float
) -> Prices:
    """Prices that add up to C for each class, spread evenly over the queries and in each over its rows."""
    prices = prices_by_query(y, query, weight, top_share=top_share, C=1.0, weighting="rows")
    each = C / int(np.count_nonzero(divided_queries(y, query, weight)))
    up, down = (_shared(one, query, each) for one in (prices.up, prices.down))
    return replace(prices, up=up, down=down)


def _shared(prices: Floats, query: NDArray[np.int64], total: float) -> Floats:
    """The same prices, adding up to `total` in each query that has any."""
    sums = np.bincount(query, weights=prices)
    return np.asarray(total * prices / np.where(sums > 0.0, sums, 1.0)[query])


def prices_of_pairs(
    n_rows: int, pairs: NDArray[np.int64], weight: Floats, *, top_share: float, C: float
) -> Prices:
    """Preference pairs (upper, lower): each row counts as often as it occurs, on either side.

    >>> prices = prices_of_pairs(3, np.array([(0, 1), (0, 2)]), np.ones(2), top_share=0.25, C=1.0)
    >>> prices.up, prices.down, prices.mass, prices.top
    (array([2., 0., 0.]), array([0., 1., 1.]), array([2., 1., 1.]), 1.0)
    """
    upper: Floats = np.bincount(pairs[:, 0], weights=weight, minlength=n_rows).astype(np.float64)
    lower: Floats = np.bincount(pairs[:, 1], weights=weight, minlength=n_rows).astype(np.float64)
    mass: Floats = upper + lower
    return Prices(C * upper, C * lower, mass, _top_mass(mass, top_share))


def _top_mass(mass: Floats, top_share: float) -> float:
    """Tau of the whole mass, rounded to whole items where all masses are whole; never nothing, never all."""
    total = float(mass.sum())
    if not (mass == np.round(mass)).all():
        return top_share * total
    return float(np.clip(np.floor(top_share * total + 0.5), 1.0, max(total - 1.0, 1.0)))


def gather(
    rows: Floats, prices: Prices, *, merge: bool = True, by_row: bool = True
) -> tuple[NDArray[np.intp], Prices]:
    """The rows that stand for the items, and the prices of the items; rows without mass are left out.

    Parameters
    ----------
    rows : array of shape (n, d)
    prices : Prices
    merge : bool
        Whether identical rows are one item.
    by_row : bool
        Whether merged items are in the order of their first rows; otherwise they are sorted by their
        features, which makes the items the same for any order of the rows.
    """
    kept = np.flatnonzero(prices.mass > 0)
    if not merge:
        return kept, _sums(prices, kept, np.arange(len(kept)))
    distinct = rows[kept]
    if prices.query is not None:
        distinct = np.column_stack([distinct, prices.query[kept]])
    _, first, inverse = np.unique(distinct, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first) if by_row else np.arange(len(first))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return kept[first[order]], _sums(prices, kept, position[inverse.ravel()])


def _sums(prices: Prices, kept: NDArray[np.intp], item: NDArray[np.intp]) -> Prices:
    up, down, mass = (
        np.bincount(item, weights=column[kept]).astype(np.float64)
        for column in (prices.up, prices.down, prices.mass)
    )
    if prices.query is None:
        return Prices(up, down, mass, prices.top)
    query = np.zeros(len(mass), dtype=np.int64)
    query[item] = prices.query[kept]
    return Prices(up, down, mass, prices.top, query, prices.tops)


def dense_rows(X: Any) -> Floats:
    """The rows as a dense array; too large a sparse matrix is refused."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X)
    if float(X.shape[0]) * X.shape[1] > LARGEST_DENSE:
        raise ValueError(
            f"X is sparse with {X.shape[0]} x {X.shape[1]} entries, too many to make dense:"
            " reduce the features first, for example with TruncatedSVD."
        )
    return np.asarray(X.toarray())


def items_of_points(points: Floats, prices: Prices) -> Items:
    """Items with features; their inner products serve where there are fewer items than features."""
    gram = points @ points.T if points.shape[1] > len(points) else None
    return Items(points, gram, **_given(prices))


def items_of_gram(gram: Floats, prices: Prices) -> Items:
    """Items known by their kernel."""
    return Items(None, 0.5 * (gram + gram.T), **_given(prices))


def items_of_root(points: Floats, prices: Prices) -> Items:
    """Items of a kernel's space, rotated into features that have its inner products."""
    return Items(points, None, **_given(prices))


def _given(prices: Prices) -> dict[str, Any]:
    return {name: getattr(prices, name) for name in ("up", "down", "mass", "top", "query", "tops")}
