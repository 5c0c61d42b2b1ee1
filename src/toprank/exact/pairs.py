"""A ranking problem as plain arrays over its pairs: the hand-over to the compiled methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairArrays", "Query", "class_arrays", "largest_leads", "preference_arrays"]

Floats = NDArray[np.float64]
Query = tuple[NDArray[np.int64], NDArray[np.int64], Floats]
"""Positive rows, negative rows and position weights of one query; no weights when it has one class only."""

ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class PairArrays:
    """A ranking problem as plain arrays over its pairs: what the compiled methods read.

    Pair p is won at `w`, ``|w_j| <= 1``, when ``differences[p] @ w >= margin``; otherwise it is lost.

    Parameters
    ----------
    differences : (P, d) array
        Row of the upper item minus row of the lower one, scaled features; each entry is within one unit
        of rounding (relative 2**-53) of the exact difference.
    positive, negative : (P,) arrays of int32
        Numbers of the two items among the positives and among the negatives of all queries; for
        preferences the row numbers of the upper and the lower item.
    positive_query, negative_query : arrays of int32
        Query of each positive and of each negative; empty for preferences.
    weights, weight_start : arrays
        Position weights of query q: ``weights[weight_start[q]:weight_start[q + 1]]``; empty for preferences.
    pair_weight : (P,) array or None
        For preferences, what winning each pair is worth.
    margin : float
        Smallest score difference that wins a pair.
    """

    differences: Floats
    positive: NDArray[np.int32]
    negative: NDArray[np.int32]
    positive_query: NDArray[np.int32]
    negative_query: NDArray[np.int32]
    weights: Floats
    weight_start: NDArray[np.int64]
    pair_weight: Floats | None
    margin: float

    def winnable(self) -> NDArray[np.bool_]:
        """Which pairs can be won at all: within the box no lead exceeds ``sum_j |D_j|``."""
        d = self.differences.shape[1]
        return largest_leads(self.differences, np.ones(d)) * (1 + 4 * (d + 2) * 2.0**-53) >= self.margin

    def surely_won(self, coef: Floats) -> NDArray[np.bool_]:
        """Which pairs coefficients win, those left out that rounding makes doubtful."""
        largest = float(np.abs(coef).max(initial=0.0))
        units, least = 2 * len(coef) + 8, self.margin * largest
        won = np.zeros(len(self.differences), dtype=bool)
        for begin in range(0, len(won) if largest > 0 else 0, ROWS_AT_A_TIME):
            D = self.differences[begin : begin + ROWS_AT_A_TIME]
            doubt = units * 2.0**-53 * (np.abs(D) @ np.abs(coef) + least)
            won[begin : begin + ROWS_AT_A_TIME] = D @ coef - doubt >= least
        return won


def largest_leads(differences: Floats, sizes: Floats) -> Floats:
    """``sum_j sizes_j |D_j|`` of each pair, some at a time: a second array of that size may be too much.

    >>> largest_leads(np.array([[1.0, -2.0]]), np.array([1.0, 0.5]))
    array([2.])
    """
    leads = np.empty(len(differences))
    for begin in range(0, len(leads), ROWS_AT_A_TIME):
        rows = slice(begin, begin + ROWS_AT_A_TIME)
        leads[rows] = np.abs(differences[rows]) @ sizes
    return leads


def preference_arrays(
    rows: Floats, pairs: NDArray[np.int64], pair_weight: Floats, margin: float
) -> PairArrays:
    """Arrays of a weighted set of pairs."""
    upper, lower = pairs.T
    nobody = np.empty(0, dtype=np.int32)
    return PairArrays(
        _differences(rows, upper, lower),
        upper.astype(np.int32),
        lower.astype(np.int32),
        nobody,
        nobody,
        np.empty(0),
        np.zeros(1, dtype=np.int64),
        pair_weight,
        margin,
    )


def class_arrays(
    rows: Floats, queries: Sequence[Query], weights: Floats, weight_start: NDArray[np.int64], margin: float
) -> PairArrays:
    """Arrays of all positive-negative pairs of the queries that count.

    Positives and negatives are numbered query after query, those of queries without weights left out.
    """
    counted = [(q, upper, lower) for q, (upper, lower, w) in enumerate(queries) if len(w)]
    positives = np.concatenate([upper for _, upper, _ in counted])
    negatives = np.concatenate([lower for _, _, lower in counted])
    number = np.empty(len(rows), dtype=np.int32)
    number[positives] = np.arange(len(positives), dtype=np.int32)
    number[negatives] = np.arange(len(negatives), dtype=np.int32)
    return PairArrays(
        _class_differences(rows, counted),
        np.concatenate([np.repeat(number[upper], len(lower)) for _, upper, lower in counted]),
        np.concatenate([np.tile(number[lower], len(upper)) for _, upper, lower in counted]),
        np.concatenate([np.full(len(upper), q, dtype=np.int32) for q, upper, _ in counted]),
        np.concatenate([np.full(len(lower), q, dtype=np.int32) for q, _, lower in counted]),
        weights,
        weight_start,
        None,
        margin,
    )


def _class_differences(
    rows: Floats, counted: Sequence[tuple[int, NDArray[np.int64], NDArray[np.int64]]]
) -> Floats:
    """Each positive's row minus that of each negative of its query, written in place: these are large."""
    d = rows.shape[1]
    differences = np.empty((sum(len(upper) * len(lower) for _, upper, lower in counted), d))
    begin = 0
    for _, upper, lower in counted:
        end = begin + len(upper) * len(lower)
        block = differences[begin:end].reshape(len(upper), len(lower), d)
        np.subtract(rows[upper][:, None, :], rows[lower][None, :, :], out=block)
        begin = end
    return differences


def _differences(rows: Floats, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> Floats:
    """Upper minus lower row of each pair, without a third array of that size."""
    differences = rows[upper]
    differences -= rows[lower]
    return np.ascontiguousarray(differences)
