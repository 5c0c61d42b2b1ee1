"""Columns of numbers in passes: moments that add up, and the median, exact after a second look.

A first pass gives count, mean, deviation and a sample of the rows. The sample says between which two values
the median surely lies, as far as a sample can; a second pass counts what is below and gathers what is between
them. Where the median turns out to lie outside, they are moved apart and the pass is made again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Between", "Moments", "bracket", "chosen_rows", "middle_of_counted", "sample_share"]

Floats = NDArray[np.float64]
SMALLEST_SAMPLE = 1 << 16
SURE = 2.5
"""Half the square root of the sample's size, times this on either side: five standard deviations."""


@dataclass(frozen=True)
class Moments:
    """Of the numbers in a column: how many, missing ones, mean, squared deviations from it, and the ends.

    `rest` is what rounding took from the mean: far from zero, differences of means need it.

    Examples
    --------
    >>> both = Moments.of(np.array([1.0, 2.0, np.nan])) + Moments.of(np.array([6.0]))
    >>> both.count, both.missing, both.mean, both.squares
    (3, 1, 3.0, 14.0)
    """

    count: int = 0
    missing: int = 0
    mean: float = 0.0
    rest: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """Of some cells, NaN where one is missing."""
        absent = int(np.isnan(values).sum())
        present = values[~np.isnan(values)] if absent else values
        if not len(present):
            return cls(missing=absent)
        return cls._about(present, None, absent)

    @classmethod
    def counted(cls, values: Floats, counts: NDArray[np.int64], missing: int) -> Moments:
        """Of different values, each so often."""
        present = ~np.isnan(values)
        values, some = values[present], counts[present]
        absent = missing + int(counts[~present].sum())
        if not len(values):
            return cls(missing=absent)
        return cls._about(values, some, absent)

    @classmethod
    def _about(cls, values: Floats, counts: NDArray[np.int64] | None, missing: int) -> Moments:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(np.average(values, weights=counts))
            away = values - mean
            rest = float(np.average(away, weights=counts))
            away -= rest
            away *= away
            squares = float(away.sum() if counts is None else away @ counts)
        count = len(values) if counts is None else int(counts.sum())
        return cls(count, missing, mean, rest, squares, float(values.min()), float(values.max()))

    def __add__(self, other: Moments) -> Moments:
        count = self.count + other.count
        if not self.count or not other.count:
            one = self if self.count else other
            return replace(one, missing=self.missing + other.missing)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (np.float64(other.mean) - self.mean) + (other.rest - self.rest)
            step = apart * (other.count / count)
            mean = self.mean + step
            rest = float(self.rest + (step - (mean - self.mean)))
            squares = float(self.squares + other.squares + apart * step * self.count)
        ends = min(self.low, other.low), max(self.high, other.high)
        return Moments(count, self.missing + other.missing, float(mean), rest, squares, *ends)

    def filled(self, fill: float) -> tuple[float, float]:
        """Mean and standard deviation when missing cells get a value."""
        whole = self + Moments(self.missing, 0, fill, 0.0, 0.0, fill, fill)
        with np.errstate(invalid="ignore"):
            return whole.mean + whole.rest, float(np.sqrt(np.float64(whole.squares) / whole.count))


# -- the median ------------------------------------------------------------------------------------


def sample_share(rows: int) -> float:
    """How many of the rows make the sample: as many numbers as the second pass then gathers."""
    return min(1.0, max(SMALLEST_SAMPLE, (SURE * rows) ** (2 / 3)) / max(rows, 1))


def chosen_rows(number: int, first: int, rows: int, share: float, salt: int = 0) -> NDArray[np.bool_]:
    """Which rows of a part are in a random share, the same ones in every pass.

    Parameters
    ----------
    number : int
        Of the part.
    first, rows : int
        The first of the rows, and how many.
    share : float
    salt : int
        Another number, another choice.

    Examples
    --------
    >>> bool(chosen_rows(0, 0, 5, 1.0).all())
    True
    >>> int(chosen_rows(3, 0, 100_000, 0.25).sum())
    24959
    """
    if share >= 1.0:
        return np.ones(rows, dtype=bool)
    seed = (number + 1) * 0x9E3779B97F4A7C15 + salt * 0xD1B54A32D192ED03
    state = np.arange(first, first + rows, dtype=np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    state += np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(31)
    return np.asarray(state < np.uint64(int(share * 2.0**64)))


def bracket(sample: Floats, width: float = 1.0) -> tuple[float, float]:
    """Two values between which the median of all surely lies, by a sorted sample; wider when it did not."""
    reach = width * SURE * math.sqrt(len(sample)) + 1.0
    low, high = math.floor(len(sample) / 2 - reach), math.ceil(len(sample) / 2 + reach)
    return (
        float(sample[low]) if low >= 0 else -math.inf,
        float(sample[high]) if high < len(sample) else math.inf,
    )


@dataclass(frozen=True)
class Between:
    """Of a column: how many numbers are below two values, and the different ones between them, counted."""

    below: int
    values: Floats
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, cells: Floats, edges: tuple[float, float]) -> Between:
        """Of some cells; missing ones are neither."""
        inside = cells[(cells >= edges[0]) & (cells <= edges[1])]
        values, counts = np.unique(inside, return_counts=True)
        return cls(int((cells < edges[0]).sum()), values, counts.astype(np.int64))

    @classmethod
    def joined(cls, some: Sequence[Between]) -> Between:
        """Of several parts together."""
        every, counts = (
            np.concatenate([getattr(one, name) for one in some]) for name in ("values", "counts")
        )
        values, place = np.unique(every, return_inverse=True)
        totals = np.zeros(len(values), dtype=np.int64)
        np.add.at(totals, place, counts)
        return cls(sum(one.below for one in some), values, totals)

    def middle(self, count: int) -> float | None:
        """The median of so many numbers; None where it is not between the two values."""
        ends = self.below + np.cumsum(self.counts)
        ranks = np.array([(count - 1) // 2, count // 2])
        if not len(ends) or ranks[0] < self.below or ranks[1] >= ends[-1]:
            return None
        with np.errstate(over="ignore"):
            return float(self.values[np.searchsorted(ends, ranks, side="right")].mean())


def middle_of_counted(values: Floats, counts: NDArray[np.int64]) -> float:
    """The median of different values, each so often.

    >>> middle_of_counted(np.array([5.0, 1.0, np.nan]), np.array([1, 2, 9]))
    1.0
    """
    present = np.flatnonzero(~np.isnan(values))
    rising = present[np.argsort(values[present], kind="stable")]
    found = Between(0, values[rising], counts[rising]).middle(int(counts[rising].sum()))
    return math.nan if found is None else found
