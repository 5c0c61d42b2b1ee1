"""The column by which rows are held out: it says when each was, or which belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.datasets import Declared, InputError, Table, described
from toprank.datasets.readings import DateReading, TextReading

__all__ = ["split_column"]


def split_column(table: Table, name: str) -> tuple[NDArray[np.float64] | None, str]:
    """When each row was, where a column tells, else None: its equal values are groups. With what to say."""
    cells = table.column(name, argument="--split-by")
    alone = described(Table(cells.to_frame(), source=table.source), Declared.of([name]))
    assert alone.description is not None  # described gives one
    reading = alone.description.readings[name]
    if isinstance(reading, TextReading):
        return None, f"Held out are whole groups: rows with the same {name!r} ({cells.nunique()} of them)."
    values = np.asarray(reading.read(cells), dtype=np.float64)
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values))) + 1
        raise InputError(f"--split-by {name!r}: row {row} of {table.source} has no value that can be read.")
    whole = bool((values == np.floor(values)).all())
    years = whole and values.min() >= 1900 and values.max() <= 2100
    different = len(np.unique(values))
    if isinstance(reading, DateReading) or years or different > len(values) / 2:
        if different < 2:
            raise InputError(f"--split-by {name!r}: all rows have the same value.")
        return values, f"Held out are the latest rows by {name!r}; it is not learned from."
    return None, f"Held out are whole groups: rows with the same {name!r} ({different} of them)."
