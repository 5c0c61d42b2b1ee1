"""Orders of rows just before and just after a direction, without a doubt about any two of them.

Directions are those of four faces: a quarter turn of (1, t), t from -1 to 1 and a little beyond. A row turned
back is (p, q), and its score p + t q. Scores in floats tell most rows apart; those that rounding leaves
in doubt are compared in whole numbers, and where their scores are the same, by q: the row with the larger one
is above just after the direction, and below just before it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.rational import simplest_between, whole_numbers
from toprank.exact.rounding import UNIT

__all__ = ["CLOSE", "FACES", "Face", "Order", "direction", "direction_between"]

Floats = NDArray[np.float64]
Order = NDArray[np.int32]
FACES = 4
ROUNDINGS = 8
"""Of a score, in units of what is added up: entries less those of the middle row and the product once each,
the sum, and the ends of its range twice; what is added up is known to as much itself. Five are enough."""
CLOSE = 2.0**-49
"""Crossings closer than this are compared in whole numbers: both are rounded three times, and not beyond
1.02, which makes less than seven units of 2**-53."""


class Face:
    """The rows as one face of directions sees them.

    Parameters
    ----------
    rows : (n, 2) array
        Different rows.
    turns : int
        By how many quarter turns the face's directions are turned.

    Examples
    --------
    >>> face = Face(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]]), 0)
    >>> [order.tolist() for order in face.orders(0.5)]
    [[2, 1, 0], [2, 1, 0]]
    >>> [order.tolist() for order in face.orders(0.0)]  # before and after: two rows tie
    [[1, 2, 0], [2, 1, 0]]
    """

    def __init__(self, rows: Floats, turns: int) -> None:
        x, y = np.ascontiguousarray(rows.T)
        self.turns = turns
        self.p, self.q = ((x, y), (y, -x), (-x, -y), (-y, x))[turns]
        # What is common to all changes no order, and the smaller the entries the less they are rounded.
        self._near = self.p - np.median(self.p), self.q - np.median(self.q)
        self._sizes = np.abs(self._near[0]), np.abs(self._near[1])

    @cached_property
    def whole(self) -> tuple[NDArray[Any], int, NDArray[Any], int]:
        """Both coordinates as whole numbers, each with the exponent of its unit."""
        return (*whole_numbers(self.p), *whole_numbers(self.q))

    def orders(self, t: float) -> tuple[Order, Order]:
        """Rows from the top down just before t and just after it; the same array where none tie at t."""
        scores = self._near[0] + t * self._near[1]
        error = ROUNDINGS * UNIT * (self._sizes[0] + abs(t) * self._sizes[1]) + 1e-300
        order = np.argsort(-scores).astype(np.int32)
        scores, error = scores[order], error[order]
        least = np.minimum.accumulate(scores - error)[:-1]
        most = np.maximum.accumulate((scores + error)[::-1])[::-1][1:]
        doubtful = np.flatnonzero(np.diff(np.concatenate(([False], least <= most, [False])).astype(np.int8)))
        if not len(doubtful):
            return order, order
        before, after = order.copy(), order.copy()
        for first, last in zip(doubtful[::2].tolist(), (doubtful[1::2] + 1).tolist(), strict=True):
            group = order[first:last].tolist()
            score, slope = self._exactly(t, group)
            before[first:last] = sorted(group, key=lambda row, s=score, q=slope: (-s[row], q[row]))  # type: ignore[misc]
            after[first:last] = sorted(group, key=lambda row, s=score, q=slope: (-s[row], -q[row]))  # type: ignore[misc]
        return before, (before if np.array_equal(before, after) else after)

    def _exactly(self, t: float, group: list[int]) -> tuple[dict[int, int], dict[int, int]]:
        """Scores of some rows, and how these change with t, each in a unit of its own."""
        p, p_unit, q, q_unit = self.whole
        (times,), t_unit = whole_numbers(np.array([t]))
        unit = min(p_unit, t_unit + q_unit)
        times = int(times) << (t_unit + q_unit - unit)
        slope = {row: int(q[row]) for row in group}
        return {row: (int(p[row]) << (p_unit - unit)) + times * slope[row] for row in group}, slope

    # -- where pairs change sides ---------------------------------------------------------------

    def crossings(self, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> Floats:
        """The t at which the scores of two rows are the same, of pairs that have one on the face."""
        return np.asarray((self.p[lower] - self.p[upper]) / (self.q[upper] - self.q[lower]))

    @cached_property
    def _digits(self) -> int:
        """Binary digits that tell any two crossings apart.

        Different fractions with denominators below 2**b are at least 2**(-2 b) apart.
        """
        q = self.whole[2]
        return 2 * (int(max(q)) - int(min(q))).bit_length() + 1

    def exact_crossings(self, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> list[int]:
        """Whole numbers that compare as these places do, exactly."""
        p, _, q, _ = self.whole
        # Python rounds a quotient down whatever the sign of the two.
        found: list[int] = (((p[lower] - p[upper]) << self._digits) // (q[upper] - q[lower])).tolist()
        return found

    def crossing(self, upper: int, lower: int) -> Fraction:
        """The place at which the scores of two rows are the same, exactly."""
        p, p_unit, q, q_unit = self.whole
        unit = Fraction(2) ** (p_unit - q_unit)
        return unit * Fraction(int(p[lower]) - int(p[upper]), int(q[upper]) - int(q[lower]))


def direction(turns: int, x: float, y: float) -> Floats:
    """The vector (x, y) after some quarter turns.

    >>> direction(1, 1.0, 0.5)
    array([-0.5,  1. ])
    """
    return np.array(((x, y), (-y, x), (-x, -y), (y, -x))[turns])


def direction_between(turns: int, low: Fraction, high: Fraction) -> Floats:
    """A direction of a face with t strictly between two numbers, of few digits, in floats.

    >>> direction_between(0, Fraction(1, 10), Fraction(1, 5))
    array([0.75 , 0.125])
    """
    t = simplest_between(low, high)
    size = Fraction(2) ** max(t.denominator, abs(t.numerator)).bit_length()
    return direction(turns, float(t.denominator / size), float(t.numerator / size))
