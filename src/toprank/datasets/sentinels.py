"""Numbers that may stand for missing values, such as -999: pointed out, never replaced unasked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.notes import Note
from toprank.datasets.readings import DateReading, NumberReading

__all__ = ["looks_like_code", "sentinel_notes"]

_NINES = re.compile(r"-?9{2,9}(\.9+)?|-9(\.9+)?")
_DATES = ("1900-01-01", "1970-01-01", "9999-12-31", "2999-12-31", "1899-12-30")


def sentinel_notes(name: str, values: NDArray[np.float64], reading: Any) -> list[Note]:
    """A question about each value that looks like a code and lies far from all the others.

    Far means: further from the nearest of the other values than these are from each other.

    >>> [note.text for note in sentinel_notes("age", np.array([30.0, 41, 25, -999]), NumberReading())]
    ["holds -999, far from its other values; if it stands for a missing one, say `missing='age=-999'`"]
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or not any(
        looks_like_code(float(edge), reading) for edge in (finite.min(), finite.max())
    ):
        return []
    different = np.unique(finite)
    notes = []
    # At either end; one further in than the end may hide behind it, as -99 does behind -999.
    for values_left in (different, different[::-1]):
        while (
            len(values_left) > 2 and _stands_apart(values_left) and looks_like_code(values_left[0], reading)
        ):
            shown = _written(float(values_left[0]), reading)
            text = (
                f"holds {shown}, far from its other values; if it stands for a missing one, say"
                f" `missing='{name}={shown}'`"
            )
            notes.append(Note(name, "asked", text, warning=True))
            values_left = values_left[1:]
    return notes


def _stands_apart(values: NDArray[np.float64]) -> bool:
    """Whether the first value is further from the second than all the others are from each other."""
    rest = values[1:] / 2  # halves, because differences of the largest numbers overflow
    # A code at the other end must not widen what the rest spans.
    spread = min(abs(rest[-1] - rest[0]), abs(rest[-2] - rest[0]) if len(rest) > 2 else np.inf)
    return bool(abs(values[0] / 2 - rest[0]) > spread)


def looks_like_code(value: float, reading: NumberReading | DateReading) -> bool:
    """Whether a value is one that people write for a missing one: nines, or a date such as 1900-01-01."""
    if isinstance(reading, DateReading):
        return reading.show(value) in _DATES
    return _NINES.fullmatch(f"{value:.10g}") is not None


def _written(value: float, reading: NumberReading | DateReading) -> str:
    return reading.show(value) if isinstance(reading, DateReading) else f"{value:.10g}"
