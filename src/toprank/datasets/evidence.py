"""What the cells of one column say about how they were written, before anything is decided."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.cells import MONEY, date_cell, number_cell
from toprank.datasets.placeholders import is_placeholder
from toprank.datasets.roles import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evidence", "Verdict"]

MOSTLY = 0.9
"""A column of which so much reads as numbers (or dates) is taken as such, and the rest as missing."""
MANY_CELLS = 50
LOOKED_AT_FIRST = 200
"""Different cells after which a column of prose is known for one."""

Pairs = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which of two ways to write a column the cells speak for.

    Parameters
    ----------
    way : int or None
        0 or 1: the first (decimal point, day first) or the second (decimal comma, month first). None when
        the cells do not say.
    ambiguous : bool
        Some cells can be read in both ways, with different values.
    first, second : int or None
        Places, among the different cells, of one that reads in the first way only, and in the second only.
    share : float
        Share of the cells that can be read the way chosen (the better one where none is).
    """

    way: int | None
    ambiguous: bool
    first: int | None
    second: int | None
    share: float

    @property
    def torn(self) -> bool:
        """Some cells speak for one way and some for the other."""
        return self.first is not None and self.second is not None


@dataclass(frozen=True)
class Evidence:
    """The different cells of a column and what each could mean.

    Parameters
    ----------
    cells : list
        Different cells, missing ones and placeholders left out, in the order of the rows.
    counts, rows : ndarray of int
        How often each occurs, and where first (from 1).
    numbers, dates : ndarray of float, two columns
        Value with a decimal point and with a decimal comma; days with the day and with the month first. NaN
        where that is impossible.
    units : list of str
    codes, digits : ndarray of bool
        Cells that look like names made of digits; cells that are digits and nothing else.
    placeholders : dict of str to int
        Words for no value, such as ``n.d.``, and how often they occur.
    """

    cells: list[Any]
    counts: NDArray[np.intp]
    rows: NDArray[np.intp]
    numbers: Pairs
    dates: Pairs
    units: list[str]
    codes: NDArray[np.bool_]
    digits: NDArray[np.bool_]
    placeholders: dict[str, int]

    @classmethod
    def of(
        cls,
        column: pd.Series[Any],
        missing: Collection[str] = (),
        numbers: NDArray[np.int64] | None = None,
    ) -> Evidence:
        """Look at every different cell of a column; `numbers` is what its rows are called, else from 1."""
        import pandas as pd

        codes, different = pd.factorize(column.astype(object))
        counts = np.bincount(codes[codes >= 0], minlength=len(different))
        rows = np.full(len(different), len(codes), dtype=np.intp)
        np.minimum.at(rows, codes[codes >= 0], np.flatnonzero(codes >= 0))
        called = rows + 1 if numbers is None else numbers[rows]
        return cls.counted(list(different), counts, called, missing)

    @classmethod
    def counted(
        cls,
        different: Sequence[Any],
        counts: NDArray[np.intp],
        rows: NDArray[np.intp],
        missing: Collection[str] = (),
    ) -> Evidence:
        """Of cells that were counted already: each different one, how often, and where first (from 1)."""
        texts = [label_text(cell) for cell in different]
        absent = np.array([is_placeholder(text) for text in texts], dtype=bool)
        placeholders = {texts[place]: int(counts[place]) for place in np.flatnonzero(absent)}
        kept = np.flatnonzero(~absent & np.array([text not in missing for text in texts], dtype=bool))
        cells = [different[int(place)] for place in kept]
        return cls(cells, counts[kept], rows[kept], *_all_meanings(cells), placeholders)

    def verdict(self, pairs: Pairs) -> Verdict:
        """What the cells say about the way they are written: `numbers` or `dates`."""
        readable = np.isfinite(pairs)
        only = [readable[:, one] & ~readable[:, 1 - one] for one in (0, 1)]
        votes = [int(self.counts[cells].sum()) for cells in only]
        both = readable.all(axis=1)
        ambiguous = bool((pairs[both, 0] != pairs[both, 1]).any())
        way = None if votes[0] == votes[1] else int(votes[1] > votes[0])
        shares = [self.share(readable[:, one]) for one in (0, 1)]
        first, second = (int(np.argmax(cells)) if cells.any() else None for cells in only)
        return Verdict(way, ambiguous, first, second, max(shares) if way is None else shares[way])

    def share(self, some: NDArray[np.bool_]) -> float:
        """The share of the rows that hold one of some of the cells."""
        return float(self.counts[some].sum() / self.counts.sum()) if len(self.cells) else 0.0

    def grouping(self) -> int | None:
        """The way to read numbers that many cells settle together, though each could be read in both.

        Decimals of a fixed length would be there in every cell, and others would not have three digits fifty
        times over: with some cells below 1000 that have no sign at all, the sign groups thousands.
        """
        both = np.isfinite(self.numbers).all(axis=1)
        differ = both & (self.numbers[:, 0] != self.numbers[:, 1])
        plain = self.numbers[both & ~differ, 0]
        if differ.sum() < MANY_CELLS or not len(plain) or np.abs(plain).max() >= 1000:
            return None
        ways = np.unique(np.abs(self.numbers[differ]).argmax(axis=1))
        return int(ways[0]) if len(ways) == 1 else None

    def readable(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Which cells can be read in one way at least."""
        return np.asarray(np.isfinite(pairs).any(axis=1), dtype=bool)

    def one_unit(self) -> tuple[str, Pairs, bool]:
        """The unit of the column, the numbers that have it, and whether some numbers lack it."""
        readable = self.readable(self.numbers)
        totals: dict[str, int] = {}
        for unit, count, number in zip(self.units, self.counts, readable, strict=True):
            if number:
                totals[unit.casefold()] = totals.get(unit.casefold(), 0) + int(count)
        soft = {unit: total for unit, total in totals.items() if unit and _may_be_left_out(unit)}
        # A sign for money or a percent sign is often left out; grams beside bare numbers may be anything.
        best = max(soft or totals, key=lambda unit: totals[unit], default="")
        allowed = {best, ""} if best in soft else {best}
        fits = np.array([unit.casefold() in allowed for unit in self.units], dtype=bool)
        written = next((unit for unit in self.units if unit.casefold() == best), "")
        lacking = bool(best) and any(
            not unit and fit for unit, fit in zip(self.units, fits & readable, strict=True)
        )
        return written, np.where(fits[:, None], self.numbers, np.nan), lacking

    def all_units(self) -> list[str]:
        """The units of the numbers, without a unit first."""
        readable = self.readable(self.numbers)
        return sorted({unit for unit, number in zip(self.units, readable, strict=True) if number})

    def is_code(self) -> bool:
        """Names made of digits: nothing but digits, and some with a leading zero or too long for a number."""
        readable = self.readable(self.numbers)
        return bool(self.codes.any() and self.digits[readable].all())


def _may_be_left_out(unit: str) -> bool:
    return unit in ("%", "‰") or MONEY.fullmatch(unit.upper()) is not None


def _all_meanings(
    cells: list[Any],
) -> tuple[Pairs, Pairs, list[str], NDArray[np.bool_], NDArray[np.bool_]]:
    numbers, dates = np.full((len(cells), 2), np.nan), np.full((len(cells), 2), np.nan)
    units = [""] * len(cells)
    codes, digits = np.zeros(len(cells), dtype=bool), np.zeros(len(cells), dtype=bool)
    hopeful = 0
    for place, cell in enumerate(cells):
        if place == LOOKED_AT_FIRST and not hopeful:
            break  # prose: neither numbers nor dates will make up nine tenths of it
        if not isinstance(cell, str):
            hopeful += _other_meaning(cell, numbers[place], dates[place])
            codes[place] = digits[place] = isinstance(cell, int) and abs(cell) >= 2**53
            continue
        number = number_cell(cell)
        if number is not None:  # no date reads as a number too
            hopeful += 1
            numbers[place] = _pair(number.point, number.comma)
            units[place], codes[place], digits[place] = number.unit, number.code, cell.strip().isdigit()
            continue
        date = date_cell(cell)
        if date is not None:
            hopeful += 1
            dates[place] = _pair(date.day_first, date.month_first)
    return numbers, dates, units, codes, digits


def _other_meaning(cell: object, number: Pairs, date: Pairs) -> bool:
    """Meaning of a cell that is no text: a number, or a date of a spreadsheet."""
    if hasattr(cell, "isoformat"):
        found = date_cell(cell.isoformat())
        if found is not None:
            date[:] = _pair(found.day_first, found.month_first)
        return found is not None
    if not np.isscalar(cell):
        return False
    try:
        number[:] = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _pair(first: float | None, second: float | None) -> tuple[float, float]:
    return np.nan if first is None else first, np.nan if second is None else second
