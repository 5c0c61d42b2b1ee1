"""Rounding, in one place: its unit, which pairs it leaves no doubt about, and values without any.

Values are whole numbers in the searches: they add up exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNIT", "Scale", "largest_leads", "surely_won", "value_scale", "winnable"]

Floats = NDArray[np.float64]
UNIT = 2.0**-53
"""Largest relative error of one operation on floats."""
ROWS_AT_A_TIME = 1 << 16
"""Pairs looked at together: a second array as large as all differences may be too much."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values as whole numbers: a value v is ``v * 2**exponent``, rounded up.

    >>> scale = Scale(3)
    >>> scale.up(0.3), scale.value(3)
    (3, 0.375)
    """

    exponent: int

    def up(self, value: float | Fraction) -> int:
        """Smallest whole number that is not below the value."""
        return math.ceil(Fraction(value) * Fraction(2) ** self.exponent)

    def ups(self, values: Floats) -> NDArray[np.int64]:
        """The same of many floats; both steps are exact."""
        return np.ceil(np.ldexp(values, self.exponent)).astype(np.int64)

    def value(self, number: int) -> float:
        """The float at or just above a whole number's value."""
        exact = Fraction(number) / Fraction(2) ** self.exponent
        near = float(exact)
        return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def value_scale(largest: float, bits: int) -> Scale:
    """A power of two so large that whole-number values up to `largest` just fit into so many bits.

    >>> value_scale(5.0, 60).exponent, value_scale(0.0, 60).exponent
    (57, 0)
    """
    return Scale(bits - math.frexp(largest)[1] if largest > 0 else 0)


# -- pairs --------------------------------------------------------------------------------------------


def largest_leads(differences: Floats, sizes: Floats) -> Floats:
    """``sum_j sizes_j |D_j|`` of each pair: the most it leads by where no coefficient is above its size.

    >>> largest_leads(np.array([[1.0, -2.0]]), np.array([1.0, 0.5]))
    array([2.])
    """
    leads = np.empty(len(differences))
    for begin in range(0, len(leads), ROWS_AT_A_TIME):
        rows = slice(begin, begin + ROWS_AT_A_TIME)
        leads[rows] = np.abs(differences[rows]) @ sizes
    return leads


def winnable(differences: Floats, margin: float) -> NDArray[np.bool_]:
    """Which pairs can be won at all: not those of equal rows, nor shorter ones than the margin.

    >>> winnable(np.array([[0.5, -0.5], [0.0, 0.0]]), 0.0).tolist()
    [True, False]
    """
    d = differences.shape[1]
    most = largest_leads(differences, np.ones(d)) * (1 + 4 * (d + 2) * UNIT)
    return (most > 0) & (most >= margin)


def surely_won(differences: Floats, coef: Floats, margin: float) -> NDArray[np.bool_]:
    """Which pairs coefficients win, those left out that rounding makes doubtful.

    >>> surely_won(np.array([[0.5, -0.5], [0.5, -0.5 + 2.0**-54]]), np.array([1.0, 1.0]), 0.0).tolist()
    [False, False]
    """
    largest = float(np.abs(coef).max(initial=0.0))
    units, least = 2 * len(coef) + 8, margin * largest
    won = np.zeros(len(differences), dtype=bool)
    for begin in range(0, len(won) if largest > 0 else 0, ROWS_AT_A_TIME):
        D = differences[begin : begin + ROWS_AT_A_TIME]
        doubt = units * UNIT * (np.abs(D) @ np.abs(coef) + least) + 1e-300 * largest
        won[begin : begin + ROWS_AT_A_TIME] = D @ coef - doubt >= least
    return won
