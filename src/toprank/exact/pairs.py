"""A ranking problem as plain arrays over its pairs: the hand-over to the compiled methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toprank.exact.rounding import UNIT

__all__ = ["PairArrays", "Query", "class_arrays", "largest_leads", "lengths", "preference_arrays"]

Floats = NDArray[np.float64]
Query = tuple[NDArray[np.int64], NDArray[np.int64], Floats]
"""Positive rows, negative rows and position weights of one query; no weights when it has one class only."""

ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class PairArrays:
    """A ranking problem as plain arrays over its pairs: what the compiled methods read.

    Pair p is won at `w` when ``differences[p] @ w > 0``. With a margin it must be at least
    ``margin * max |w_j|``, and `w` is taken from the box ``|w_j| <= 1``.

    Parameters
    ----------
    differences : (P, d) array
        Row of the upper item minus row of the lower one, scaled features, divided by a power of two so that
        the largest entry is between 1/2 and 1; each entry is within one unit of rounding (relative 2**-53)
        of the exact one. All zero for equal rows.
    rows : (n, d) array
        The scaled features themselves: differences of these in exact arithmetic decide.
    upper, lower : (P,) arrays of int32
        Row of `rows` of each pair's upper and lower item.
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
        Smallest score difference that wins a pair, relative to the pair's own length; zero: any.
    """

    differences: Floats
    rows: Floats
    upper: NDArray[np.int32]
    lower: NDArray[np.int32]
    positive: NDArray[np.int32]
    negative: NDArray[np.int32]
    positive_query: NDArray[np.int32]
    negative_query: NDArray[np.int32]
    weights: Floats
    weight_start: NDArray[np.int64]
    pair_weight: Floats | None
    margin: float

    def winnable(self) -> NDArray[np.bool_]:
        """Which pairs can be won at all: not those of equal rows, nor shorter ones than the margin."""
        d = self.differences.shape[1]
        most = largest_leads(self.differences, np.ones(d)) * (1 + 4 * (d + 2) * UNIT)
        return (most > 0) & (most >= self.margin)

    def surely_won(self, coef: Floats) -> NDArray[np.bool_]:
        """Which pairs coefficients win, those left out that rounding makes doubtful."""
        largest = float(np.abs(coef).max(initial=0.0))
        units, least = 2 * len(coef) + 8, self.margin * largest
        won = np.zeros(len(self.differences), dtype=bool)
        for begin in range(0, len(won) if largest > 0 else 0, ROWS_AT_A_TIME):
            D = self.differences[begin : begin + ROWS_AT_A_TIME]
            doubt = units * UNIT * (np.abs(D) @ np.abs(coef) + least) + 1e-300 * largest
            won[begin : begin + ROWS_AT_A_TIME] = D @ coef - doubt >= least
        return won

    def chosen(self, kept: NDArray[np.bool_]) -> PairArrays:
        """Some of the pairs, as preferences worth one each."""
        nobody = np.empty(0, dtype=np.int32)
        return replace(
            self,
            differences=self.differences[kept],
            upper=self.upper[kept],
            lower=self.lower[kept],
            positive=self.positive[kept],
            negative=self.negative[kept],
            positive_query=nobody,
            negative_query=nobody,
            weights=np.empty(0),
            weight_start=np.zeros(1, dtype=np.int64),
            pair_weight=np.ones(int(kept.sum())),
        )


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
        _normalised(_differences(rows, upper, lower)),
        rows,
        upper.astype(np.int32),
        lower.astype(np.int32),
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
        _normalised(_class_differences(rows, counted)),
        rows,
        np.concatenate([np.repeat(upper, len(lower)) for _, upper, lower in counted]).astype(np.int32),
        np.concatenate([np.tile(lower, len(upper)) for _, upper, lower in counted]).astype(np.int32),
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


def lengths(differences: Floats) -> NDArray[np.int64]:
    """Of each row, the exponent of the smallest power of two above its largest entry; 0 for zeros.

    >>> lengths(np.array([[3.0, -5.0], [0.25, 0.0], [0.0, 0.0]]))
    array([ 3, -1,  0])
    """
    return np.frexp(np.abs(differences).max(axis=1, initial=0.0))[1].astype(np.int64)


def _normalised(differences: Floats) -> Floats:
    """Rows divided, in place, by the powers of two that are their lengths."""
    for begin in range(0, len(differences), ROWS_AT_A_TIME):
        part = differences[begin : begin + ROWS_AT_A_TIME]
        np.ldexp(part, -lengths(part)[:, None], out=part)
    return differences
