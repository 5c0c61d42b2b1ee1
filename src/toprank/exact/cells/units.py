"""A ranking problem as the cell search reads it: units with thresholds, and whole-number weights.

Pairs with exactly equal differences win and lose together and become one unit. Each unit's row is scaled by a
power of two to a largest entry between one and two, so that tolerances mean the same for all.

Without a margin the simplex method works with an epsilon of its own, which decides nothing: what it finds
infeasible counts only if the rows are exactly dependent. Regions too thin for it are tried again with a
smaller one. And since only directions matter, coordinates are free: where columns are nearly collinear those
are taken in which the units point in all directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.dependence import Ledger, ledger, pairs_in, plain_basis, two_difference
from toprank.exact.cells._layout import Facts, Objective
from toprank.exact.objective import Objective as ListObjective
from toprank.exact.objective import losses_by_rivals
from toprank.exact.pairs import PairArrays, lengths
from toprank.exact.rounding import UNIT, Scale, value_scale

__all__ = ["Units", "build_units", "convex_below", "falling_below", "group"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_Shared = tuple[Floats, tuple[Floats, ...], tuple[Floats, Ledger], Floats, Whole]
VALUE_BITS = 61
SLACK = 1e-3
"""The simplex method works with rows this much looser than the margin, in units of it; see `build_units`.
Not tuned."""
EPSILONS = tuple(2.0**-e for e in (24, 31, 38, 24, 38))
"""Without a margin, what the simplex method works with: on the first try of a node, on the second, ...
Rows tie within a hundred thousandth of it, which must stay above rounding. Not tuned."""
MANY_ALIKE = 0.05
"""Share of the units from which rounding is taken to have told equal ones apart. Not tuned."""
SKEWED = 30.0
"""Ratio of longest to shortest axis of the units from which other coordinates are used. Not tuned."""


@dataclass(frozen=True)
class Units:
    """What the compiled search reads and never writes.

    Parameters
    ----------
    rows : (P, r) array
        Of each unit, in the coordinates of the search.
    thresholds : tuple of arrays
        Thresholds of the units: one for each try that a node may take.
    exact : tuple
        How far each row may be off, and the features themselves: see `toprank.exact.arithmetic.dependence`.
    basis : (d, r) array
        Coefficients of the features are `basis` times the point of the search.
    unit_of : array
        Number of each pair's unit; -1 for pairs that can never be won.
    objective : Objective
        Pairs of each unit, queries, whole-number weights, order of the negatives.
    scale : Scale
        From values to whole numbers.
    total : int
        Constant of the negatives' form; of pairs, the value with all lost.
    floor, ceiling : int
        Value with every unit lost, and with every unit won.
    n_positives : int
        Number of positives of all queries; zero for preferences.
    margin : float
    """

    rows: Floats
    thresholds: tuple[Floats, ...]
    exact: tuple[Floats, Ledger]
    basis: Floats
    unit_of: Whole
    objective: Objective
    scale: Scale
    total: int
    floor: int
    ceiling: int
    n_positives: int
    margin: float

    @property
    def additive(self) -> bool:
        """Whether the value is a sum of pair weights."""
        return self.n_positives == 0

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.rows)

    @cached_property
    def blurred(self) -> bool:
        """Whether many units have the same direction, or the opposite one, but for rounding errors."""
        lead = np.take_along_axis(self.rows, np.abs(self.rows).argmax(axis=1)[:, None], axis=1)
        lines = self.rows / lead
        alike = len(np.unique(np.round(lines * 2.0**30), axis=0))
        return alike < (1 - MANY_ALIKE) * len(np.unique(lines, axis=0))

    def facts(self, tries: int = 0) -> Facts:
        """What the kernels read of the units, on a try."""
        thresholds = self.thresholds[min(tries, len(self.thresholds) - 1)]
        d = self.rows.shape[1]
        scratch = np.empty((2 * d + 6, d + 1))
        return Facts(self.rows, np.ascontiguousarray(self.rows.T), thresholds, *self.exact, scratch)

    def slack(self, tries: int = 0) -> float:
        """Smallest threshold that the simplex method sees on a try."""
        return float(self.thresholds[min(tries, len(self.thresholds) - 1)][0].min(initial=math.inf))


def build_units(arrays: PairArrays, direction: Floats | None = None) -> Units:
    """Group the pairs, choose coordinates, scale their rows, round the weights.

    With a margin the simplex method sees thresholds that are looser than it by about 1e-3, by a different
    amount for every row, so that no two rows meet in a tie; a claim must hold at the margin itself to count.
    """
    unit, first = group(arrays)
    listed = np.argsort(np.where(unit < 0, len(first), unit), kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(unit[unit >= 0], minlength=len(first)))))
    rows, errors, basis = _coordinates(arrays, first)
    factor = np.exp2(1.0 - np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1])
    scaled = rows * factor[:, None]
    book = ledger(arrays.rows, arrays.upper[first], arrays.lower[first])
    shared = (scaled, _thresholds(scaled, arrays.margin * factor), (errors * factor, book), basis, unit)
    if arrays.objective.by_pairs:
        return _preference_units(arrays, shared, listed, start)
    return _list_units(arrays, shared, listed, start, direction)


def group(arrays: PairArrays) -> tuple[Whole, Whole]:
    """Unit of each pair, -1 for pairs that can never be won, and one pair of each unit.

    >>> from toprank.exact import RankingProblem
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [2.0], [2.0]], [0, 1, 1, 0])
    >>> [found.tolist() for found in group(problem.arrays())]
    [[1, 0, 1, -1], [1, 0]]
    """
    live = np.flatnonzero(arrays.winnable())
    upper, lower = arrays.rows[arrays.upper[live]], arrays.rows[arrays.lower[live]]
    # What rounding takes from a difference is a float too: both together are the exact one.
    difference, rest = two_difference(upper, lower)
    keys = arrays.differences[live]
    if rest.any():
        keys = np.hstack((keys, np.ldexp(rest, -lengths(difference)[:, None])))
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    unit = np.full(len(arrays.differences), -1, dtype=np.int64)
    unit[live] = place.reshape(-1)
    return unit, live[first]


def _coordinates(arrays: PairArrays, first: Whole) -> tuple[Floats, Floats, Floats]:
    """Rows of the units, how far their entries may be off, and the basis they are expressed in."""
    D = arrays.differences[first]
    d = D.shape[1]
    plain = D, UNIT * np.abs(D).max(axis=1, initial=0.0), np.eye(d)
    if arrays.margin > 0 or d < 2 or not len(D):
        return plain
    spread = np.linalg.svd(D / np.linalg.norm(D, axis=1, keepdims=True), compute_uv=False)
    seen = spread[spread > 4 * d * UNIT * spread[0]]
    if seen[0] <= SKEWED * seen[-1]:
        return plain
    upper, lower = arrays.upper[first], arrays.lower[first]
    basis = plain_basis(arrays.rows, upper, lower)
    rows, errors = pairs_in(arrays.rows, upper, lower, basis)
    felt = (np.abs(rows) > errors[:, None]).any(axis=0)  # no unit feels the others
    return np.ascontiguousarray(rows[:, felt]), errors, basis[:, felt]


def _thresholds(scaled: Floats, margin: Floats) -> tuple[Floats, ...]:
    """Of each unit: lower and upper threshold, the margin, the row's size, what counts as held."""
    one, other = np.random.default_rng(0).random((2, len(scaled)))
    size = np.abs(scaled).sum(axis=1)
    if (margin > 0).any():
        low, high = margin * (1 - SLACK - SLACK / 2 * one), margin * (1 + SLACK + SLACK / 2 * other)
        return (np.array([low, high, margin, size, low - 0.1 * SLACK * margin]),)
    low, high = 1 + one, -1 - other
    return tuple(np.array([eps * low, eps * high, margin, size, 0.9 * eps * low]) for eps in EPSILONS)


def _preference_units(arrays: PairArrays, shared: _Shared, listed: Whole, start: Whole) -> Units:
    worth = arrays.objective.worth
    scale = value_scale(arrays.objective.size, VALUE_BITS)
    worths = [
        scale.up(sum(map(Fraction, worth[listed[a:b]].tolist()), start=Fraction(0)))
        for a, b in pairwise(start.tolist())
    ]
    nothing = np.zeros((2, 0), dtype=np.int64)
    objective = Objective(
        start,
        nothing,
        nothing,
        np.zeros((8, 0), dtype=np.int64),
        nothing[0],
        nothing[0],
        np.array(worths, dtype=np.int64),
        nothing[0],
    )
    offset = scale.up(arrays.objective.offset)
    return Units(*shared, objective, scale, offset, offset, offset + sum(worths), 0, arrays.margin)


def _list_units(
    arrays: PairArrays, shared: _Shared, listed: Whole, start: Whole, direction: Floats | None
) -> Units:
    source = arrays.objective
    n_positives, n_negatives = len(arrays.positive_query), len(arrays.negative_query)
    counts = np.array(source.shapes)
    largest = float(np.abs(source.weights).max(initial=0.0))
    scale = value_scale(2 * source.size + 2 * largest * len(arrays.positive), VALUE_BITS)
    weights = scale.ups(source.weights)
    losses, loss_start, loss_stride, total = _all_losses(source, weights)
    query_of = np.zeros((2, max(n_positives, n_negatives)), dtype=np.int64)
    query_of[0, :n_positives], query_of[1, :n_negatives] = arrays.positive_query, arrays.negative_query
    bases = np.cumsum(counts[::-1] + 2, axis=1) - (counts[::-1] + 2)
    strides = source.weight_start[:-1], source.stride, loss_start, loss_stride
    queries = np.vstack((counts, bases, *strides)).astype(np.int64)
    pairs = np.array([arrays.positive[listed], arrays.negative[listed]], dtype=np.int64)
    worth = np.zeros(len(start) - 1, dtype=np.int64)
    order = _expected_order(arrays, direction)
    objective = Objective(start, pairs, query_of, queries, weights, losses, worth, order)
    dead = np.bincount(pairs[0, start[-1] :], minlength=n_positives)
    floor, ceiling = (_value(weights, source, lost) for lost in (source.everything_lost(), dead))
    return Units(*shared, objective, scale, total, floor, ceiling, n_positives, arrays.margin)


def _all_losses(objective: ListObjective, weights: Whole) -> tuple[Whole, Whole, Whole, int]:
    """Losses by negatives of all lists, where each one's begin, their strides, what they are taken off."""
    parts, strides, total = [], [], 0
    for q, (m, n) in enumerate(zip(*(side.tolist() for side in objective.shapes), strict=True)):
        start, stride = int(objective.weight_start[q]), int(objective.stride[q])
        table = weights[start + stride * np.arange(m)[:, None] + np.arange(n + 1)[None, :]]
        if objective.tables[q].linear:
            # A negative takes the weight of its own position: all weights are what is taken off from.
            own = weights[start : start + m + n]
            parts.append(convex_below((own - 1).tolist()))
            strides.append(1)
            total += int(own.sum())
        else:
            parts.append(falling_below(table))
            strides.append(m + 1)
            total += int(table[:, 0].sum())
    begins = np.cumsum([0, *map(len, parts)])[:-1]
    return np.array(list(chain(*parts)), dtype=np.int64), begins, np.array(strides), total


def falling_below(table: Whole) -> list[int]:
    """Losses by negatives, row after row, below those of a table of whole numbers that were rounded up.

    With a margin the pairs won need not make an order. The bound then holds if what is taken off by one
    more positive that is not above (a step of a row) never grows, neither along a row nor from one row to the
    next: of all won pairs with the same counts of the negatives, those that make an order are worth most. So
    rows are made convex, and steps no larger than those of the row before.

    >>> falling_below(np.array([[9, 5, 0], [9, 6, 0]]))
    [5, 2, 0, 5, 2, 0]
    """
    falls = np.maximum(table[:, :-1] - table[:, 1:] - 1, 0)
    exact = losses_by_rivals(np.hstack((falls[:, ::-1].cumsum(axis=1)[:, ::-1], np.zeros_like(falls[:, :1]))))
    steps = -np.diff([convex_below(row.tolist()) for row in exact], axis=1)
    below = np.zeros_like(exact)
    below[:, :-1] = np.minimum.accumulate(steps, axis=0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return list(below.reshape(-1).tolist())


def _expected_order(arrays: PairArrays, direction: Floats | None) -> Whole:
    """Negatives, those first that the given answer ranks highest: ties in the bound are broken so."""
    n = len(arrays.negative_query)
    if direction is None:
        return np.arange(n)
    leads = arrays.differences @ direction
    won = (leads > 0) & (leads >= arrays.margin)
    return np.argsort(np.bincount(arrays.negative[won], minlength=n), kind="stable").astype(np.int64)


def _value(weights: Whole, objective: ListObjective, lost: NDArray[Any]) -> int:
    """Sum over positives of what they are worth, in whole numbers."""
    query = objective.positive_query
    order = np.lexsort((lost, query))
    place = np.arange(len(query)) - np.searchsorted(query[order], query[order])
    at = objective.weight_start[query[order]] + objective.stride[query[order]] * place + lost[order]
    return int(weights[at].sum())


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
