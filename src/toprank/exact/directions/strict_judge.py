"""The replay of a search over boxes without a margin: whole numbers wherever a sign decides.

Pairs in the coordinates of the log are computed in whole numbers and rounded once. That pairs are exactly
opposed is shown by solving for their multipliers in fractions. With one or two coordinates every sector
between neighbouring lines is looked at, in whole numbers too.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.arithmetic.dependence import independent_columns, is_regular
from toprank.exact.arithmetic.rational import whole_numbers
from toprank.exact.pairs import PairArrays

__all__ = ["complaint_about", "exact_pairs", "opposed", "rounded", "sectors", "tied_within"]

Floats = NDArray[np.float64]
Whole = NDArray[Any]


def complaint_about(arrays: PairArrays, basis: Floats) -> str:
    """What keeps coordinates from reaching every order of the pairs; empty when nothing does."""
    used, live = basis.any(axis=1), basis.any(axis=0)
    possible = arrays.winnable()
    if not possible.any():
        return ""
    upper, lower = arrays.upper[possible], arrays.lower[possible]
    if not used.any() or len(independent_columns(arrays.rows, upper, lower)) != used.sum():
        return "the coordinates of the log do not see all features"
    rows = np.ascontiguousarray(arrays.rows[:, used])
    if len(independent_columns(rows, upper, lower)) != used.sum():
        return "the coordinates of the log do not see all features"
    B = np.ascontiguousarray(basis[np.ix_(used, live)])
    if B.shape[0] != B.shape[1] or not is_regular(B):
        return "the coordinates of the log do not reach all directions"
    return ""


def exact_pairs(arrays: PairArrays, basis: Floats) -> Whole:
    """Differences of the pairs in the coordinates of a basis, times a positive number, in whole numbers."""
    rows, _ = whole_numbers(arrays.rows)
    matrix, _ = whole_numbers(basis)
    items = rows.dot(matrix)
    return np.asarray(items[arrays.upper] - items[arrays.lower])


def rounded(pairs: Whole) -> Floats:
    """Each row divided by a power of two above its largest entry, rounded to floats."""
    sizes = [max(abs(v).bit_length() for v in row) for row in pairs.tolist()]
    found = [[v / (1 << size) for v in row] for row, size in zip(pairs.tolist(), sizes, strict=True)]
    return np.array(found, dtype=np.float64).reshape(pairs.shape)


def opposed(pairs: Whole, near: Floats, live: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Some of the live pairs that no direction wins together, since they add up to zero; None if none show.

    >>> rows = np.array([[1, 2], [-2, -4], [0, 1]], dtype=object)
    >>> opposed(rows, rows.astype(float), np.arange(3)).tolist()
    [0, 1]
    """
    A = np.vstack([near[live].T, np.ones(len(live))])
    answer = linprog(
        np.zeros(len(live)), A_eq=A, b_eq=np.append(np.zeros(len(A) - 1), 1.0), method="highs-ds"
    )
    if answer.x is None:
        return None
    order = np.argsort(-answer.x)
    for count in range(int((answer.x > 0).sum()), 1, -1):
        members = live[order[:count]]
        if _add_up_to_zero(pairs[members]):
            return members
    return None


def _add_up_to_zero(rows: Whole) -> bool:
    """Whether positive multipliers, unique up to their size, make the rows vanish."""
    table = [[Fraction(v) for v in column] for column in rows.T.tolist()]
    count = len(rows)
    pivots: list[int] = []
    for j in range(count):
        line = next((i for i in range(len(pivots), len(table)) if table[i][j]), None)
        if line is None:
            continue
        place = len(pivots)
        table[place], table[line] = table[line], table[place]
        table[place] = [v / table[place][j] for v in table[place]]
        for i, other in enumerate(table):
            if i != place and other[j]:
                table[i] = [a - other[j] * b for a, b in zip(other, table[place], strict=True)]
        pivots.append(j)
    free = [j for j in range(count) if j not in pivots]
    return len(free) == 1 and all(table[place][free[0]] < 0 for place in range(len(pivots)))


def tied_within(pairs: Whole, low: Floats, high: Floats) -> bool:
    """Whether all of some pairs are tied at a point of a box, shown in fractions.

    >>> rows = np.array([[1, -1, 0], [2, -2, 0]], dtype=object)
    >>> tied_within(rows, np.array([1.0, 0.5, 0.0]), np.array([1.0, 1.5, 0.1]))
    True
    >>> tied_within(rows, np.array([1.0, 1.1, 0.0]), np.array([1.0, 1.5, 0.1]))
    False
    """
    bottom, top = ([Fraction(v) for v in end.tolist()] for end in (low, high))
    rows = [[Fraction(v) for v in row] + [Fraction(0)] for row in pairs.tolist()]
    for j in np.flatnonzero(low == high):  # along these axes the point is that of the box
        rows.append([Fraction(int(i == j)) for i in range(len(low))] + [-bottom[j]])
    found = _vanishing(rows, len(low) + 1)
    wide = np.append(high - low, 0.0) > 0
    if not found:
        return False
    near = np.array([[float(v / max(map(abs, x))) for v in x] for x in found])
    # As near to the middle as can be in units of the half widths, the last coordinate being 1.
    weight = np.where(wide, 2 / np.where(wide, np.append(high - low, 1.0), 1.0), 0.0)
    weight[-1] = 1e3 * max(1.0, weight.max())
    goal = weight * np.append(0.5 * (low + high), 1.0)
    part = np.linalg.lstsq((near * weight).T, goal, rcond=None)[0]
    exact = [
        sum(
            (Fraction(float(t)) * v / max(map(abs, x)) for t, (x, v) in zip(part, column, strict=True)),
            Fraction(0),
        )
        for column in zip(*([(x, v) for v in x] for x in found), strict=True)
    ]
    if exact[-1] <= 0:
        return False
    point = [v / exact[-1] for v in exact[:-1]]
    return all(a <= v <= b for a, v, b in zip(bottom, point, top, strict=True))


def _vanishing(rows: list[list[Fraction]], size: int) -> list[list[Fraction]]:
    """Independent vectors that all rows are orthogonal to."""
    found = [[Fraction(int(i == j)) for i in range(size)] for j in range(size)]
    for row in rows:
        leads = [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for x in found]
        pivot = next((i for i, lead in enumerate(leads) if lead), None)
        if pivot is not None:
            first, taken = found[pivot], leads[pivot]
            found = [
                [v - lead / taken * w for v, w in zip(x, first, strict=True)]
                for i, (x, lead) in enumerate(zip(found, leads, strict=True))
                if i != pivot
            ]
    return found


def sectors(pairs: Whole) -> list[NDArray[np.bool_]]:
    """Which of the pairs, in two coordinates, are won in each sector between neighbouring lines.

    >>> rows = np.array([[1, 0], [0, 1]], dtype=object)
    >>> sorted(tuple(won.tolist()) for won in sectors(rows))
    [(False, False), (False, True), (True, False), (True, True)]
    """
    rays = {(sign * -int(b), sign * int(a)) for a, b in pairs.tolist() for sign in (1, -1) if a or b}
    ranked = sorted(rays, key=cmp_to_key(_compare))
    found = []
    for a, b in pairwise([*ranked, *ranked[:1]]):
        cross = a[0] * b[1] - a[1] * b[0]
        if cross == 0 and a[0] * b[0] + a[1] * b[1] > 0:
            continue
        # Between neighbours that are opposite, straight ahead of the first is between.
        w = np.array([a[0] + b[0], a[1] + b[1]] if cross > 0 else [-a[1], a[0]], dtype=object)
        found.append(np.array(pairs.dot(w) > 0, dtype=bool))
    return found


def _compare(a: tuple[int, int], b: tuple[int, int]) -> int:
    """-1, 0, 1 as the angle of a, from 0 to a full turn, is below, at or above that of b."""
    first, second = (ray[1] < 0 or (ray[1] == 0 and ray[0] < 0) for ray in (a, b))
    if first != second:
        return int(first) - int(second)
    cross = a[0] * b[1] - a[1] * b[0]
    return (cross < 0) - (cross > 0)
