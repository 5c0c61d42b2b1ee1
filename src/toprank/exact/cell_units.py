"""A ranking problem as the cell search reads it: units with thresholds, and whole-number weights.

Pairs with equal differences win and lose together and become one unit. Each unit's row is scaled by a power
of two to a largest entry between one and two, which is exact, so that tolerances mean the same for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.frame import Scale
from toprank.exact.pairs import PairArrays

__all__ = ["Units", "build_units", "convex_below"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
UNIT = 2.0**-53
VALUE_BITS = 61
SLACK = 1e-3
"""The simplex method works with rows this much looser than the margin, in units of it; see `build_units`."""


@dataclass(frozen=True, slots=True)
class Units:
    """What the compiled search reads and never writes.

    Parameters
    ----------
    facts : tuple of arrays
        Rows of the units, the same transposed, and their thresholds.
    prize : tuple of arrays
        The objective: pairs of each unit, queries, whole-number weights, order of the negatives.
    scale : Scale
        From values to whole numbers.
    total : int
        Constant of the negatives' form.
    floor, ceiling : int
        Value with every unit lost, and with every unit won.
    n_positives : int
        Number of positives of all queries; zero for preferences.
    rows : (P, d) array
        The units' differences as they came.
    margin : float
    """

    facts: tuple[Floats, Floats, Floats]
    prize: tuple[Any, ...]
    scale: Scale
    total: int
    floor: int
    ceiling: int
    n_positives: int
    rows: Floats
    margin: float

    @property
    def additive(self) -> bool:
        """Whether the value is a sum of pair weights."""
        return self.n_positives == 0

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.rows)


def build_units(arrays: PairArrays, direction: Floats | None = None) -> Units:
    """Group the pairs, scale their rows, round the weights.

    The simplex method sees thresholds that are looser than the margin by about 1e-3 of it, by a different
    amount for every row, so that no two rows meet in a tie; a claim must hold at the margin itself to count.
    """
    D = arrays.differences
    possible = arrays.winnable()
    live, dead = np.flatnonzero(possible), np.flatnonzero(~possible)
    rows, unit = np.unique(D[live], axis=0, return_inverse=True)
    unit = unit.reshape(-1)
    listed = np.concatenate((live[np.argsort(unit, kind="stable")], dead))
    start = np.concatenate(([0], np.cumsum(np.bincount(unit, minlength=len(rows)))))
    factor = np.exp2(1.0 - np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1])
    scaled = rows * factor[:, None]
    facts = (scaled, np.ascontiguousarray(scaled.T), _thresholds(scaled, arrays.margin * factor))
    if arrays.pair_weight is not None:
        return _preference_units(arrays, facts, rows, listed, start)
    return _list_units(arrays, facts, rows, listed, start, direction)


def _thresholds(scaled: Floats, margin: Floats) -> Floats:
    """Of each unit: looser lower and upper threshold, the margin, the row's size, what counts as held."""
    rng = np.random.default_rng(0)
    low = margin * (1 - SLACK - SLACK / 2 * rng.random(len(margin)))
    high = margin * (1 + SLACK + SLACK / 2 * rng.random(len(margin)))
    return np.array([low, high, margin, np.abs(scaled).sum(axis=1), low - 0.1 * SLACK * margin])


def _preference_units(arrays: PairArrays, facts: Any, rows: Floats, listed: Whole, start: Whole) -> Units:
    assert arrays.pair_weight is not None
    scale = _scale(math.fsum(arrays.pair_weight.tolist()))
    worths = [
        scale.up(sum(map(Fraction, arrays.pair_weight[listed[a:b]].tolist()), start=Fraction(0)))
        for a, b in pairwise(start.tolist())
    ]
    nothing = np.zeros((2, 0), dtype=np.int64)
    prize = (
        start,
        nothing,
        nothing,
        np.zeros((5, 0), dtype=np.int64),
        nothing,
        np.array(worths, dtype=np.int64),
        nothing[0],
    )
    return Units(facts, prize, scale, 0, 0, sum(worths), 0, rows, arrays.margin)


def _list_units(
    arrays: PairArrays, facts: Any, rows: Floats, listed: Whole, start: Whole, direction: Floats | None
) -> Units:
    n_positives, n_negatives = len(arrays.positive_query), len(arrays.negative_query)
    used, first = np.unique(arrays.positive_query, return_inverse=True)
    second = np.searchsorted(used, arrays.negative_query)
    counts = np.array([np.bincount(first, minlength=len(used)), np.bincount(second, minlength=len(used))])
    largest = float(np.abs(arrays.weights).max(initial=0.0))
    scale = _scale(2 * math.fsum(np.abs(arrays.weights).tolist()) + 2 * largest * len(arrays.positive))
    weights, begins = _whole_weights(arrays, used, scale)
    query_of = np.zeros((2, max(n_positives, n_negatives)), dtype=np.int64)
    query_of[0, :n_positives], query_of[1, :n_negatives] = first, second
    bases = np.cumsum(counts[::-1] + 2, axis=1) - (counts[::-1] + 2)
    queries = np.vstack((counts, bases, begins[:-1])).astype(np.int64)
    pairs = np.array([arrays.positive[listed], arrays.negative[listed]], dtype=np.int64)
    order = _expected_order(arrays, direction)
    prize = (start, pairs, query_of, queries, weights, np.zeros(len(rows), dtype=np.int64), order)
    lost = counts[1][first]
    dead = np.bincount(pairs[0, start[-1] :], minlength=n_positives)
    return Units(
        facts,
        prize,
        scale,
        int(weights[0].sum()),
        _value(weights[0], first, begins, lost),
        _value(weights[0], first, begins, dead),
        n_positives,
        rows,
        arrays.margin,
    )


def _whole_weights(arrays: PairArrays, used: NDArray[Any], scale: Scale) -> tuple[Whole, Whole]:
    """Weights rounded up, below them convex ones, and where each query's begin."""
    parts = [arrays.weights[arrays.weight_start[q] : arrays.weight_start[q + 1]] for q in used]
    above = [[scale.up(w) for w in part.tolist()] for part in parts]
    below = [convex_below([scale.up(w) - 1 for w in part.tolist()]) for part in parts]
    weights = np.array([list(chain(*above)), list(chain(*below))], dtype=np.int64)
    return weights, np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)


def _expected_order(arrays: PairArrays, direction: Floats | None) -> Whole:
    """Negatives, those first that the given answer ranks highest: ties in the bound are broken so."""
    n = len(arrays.negative_query)
    if direction is None:
        return np.arange(n)
    won = arrays.differences @ direction >= arrays.margin
    return np.argsort(np.bincount(arrays.negative[won], minlength=n), kind="stable").astype(np.int64)


def _value(weights: Whole, query: NDArray[Any], begins: Whole, lost: NDArray[Any]) -> int:
    """Sum over positives of the weight at place plus lost pairs."""
    order = np.lexsort((lost, query))
    place = np.arange(len(query)) - np.searchsorted(query[order], query[order])
    return int(weights[begins[query[order]] + place + lost[order]].sum())


def _scale(largest: float) -> Scale:
    """A power of two by which sums up to `largest` in size still fit."""
    return Scale(VALUE_BITS - math.frexp(largest)[1] if largest > 0 else 0)


def convex_below(values: list[int]) -> list[int]:
    """Whole numbers below the given never increasing ones, convex, and as large as that allows.

    The lower convex hull, its slopes rounded towards zero and summed up from the end.

    >>> convex_below([10, 10, 4, 3, 0, 0])
    [10, 7, 4, 2, 0, 0]
    """
    hull: list[int] = []
    for i, value in enumerate(values):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (values[a] - values[b]) * (i - a) > (values[a] - value) * (b - a):
                break
            hull.pop()
        hull.append(i)
    convex = [values[-1]]
    for a, b in reversed(list(pairwise(hull))):
        slope = (values[a] - values[b]) // (b - a)
        convex += [convex[-1] + slope * step for step in range(1, b - a + 1)]
    return convex[::-1]
