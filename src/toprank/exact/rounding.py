"""Rounding, in one place: its unit, and values as whole numbers that add up without any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["UNIT", "Scale"]

UNIT = 2.0**-53
"""Largest relative error of one operation on floats."""


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

    def value(self, number: int) -> float:
        """The float at or just above a whole number's value."""
        exact = Fraction(number) / Fraction(2) ** self.exponent
        near = float(exact)
        return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
