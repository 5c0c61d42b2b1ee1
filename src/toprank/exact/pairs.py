"""A ranking problem as plain arrays over its pairs: the hand-over to the compiled methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairArrays", "Query", "class_arrays", "preference_arrays"]

Floats = NDArray[np.float64]
Query = tuple[NDArray[np.int64], NDArray[np.int64], Floats]
"""Positive rows, negative rows and position weights of one query; no weights when it has one class only."""


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
    upper_rows = np.concatenate([np.repeat(upper, len(lower)) for _, upper, lower in counted])
    lower_rows = np.concatenate([np.tile(lower, len(upper)) for _, upper, lower in counted])
    return PairArrays(
        _differences(rows, upper_rows, lower_rows),
        number[upper_rows],
        number[lower_rows],
        np.concatenate([np.full(len(upper), q, dtype=np.int32) for q, upper, _ in counted]),
        np.concatenate([np.full(len(lower), q, dtype=np.int32) for q, _, lower in counted]),
        weights,
        weight_start,
        None,
        margin,
    )


def _differences(rows: Floats, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> Floats:
    """Upper minus lower row of each pair, without a third array of that size."""
    differences = rows[upper]
    differences -= rows[lower]
    return np.ascontiguousarray(differences)
