"""The different cells of a column, counted in batches: what words, money and dates as text come down to."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.errors import InputError

__all__ = ["MOST_DIFFERENT", "Words"]

MOST_DIFFERENT = 200_000
"""Different cells of a column of text that are kept in memory."""
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
"""What pandas reads as truth values."""


@dataclass
class Words:
    """The different cells of a column, how often each occurs, and where first; filled from several threads.

    Parameters
    ----------
    name : str
        Of the column.
    typed : bool
        Whether it comes from files that know the types of their columns: True is a word there, not a truth.
    """

    name: str
    typed: bool = True
    missing: int = 0
    found: dict[Any, tuple[int, tuple[int, int]]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    def add(self, cells: Any, place: tuple[int, int]) -> None:
        """Count the cells of an Arrow array whose first row is at a place: number of the part, and row."""
        import pyarrow as pa

        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        codes = np.asarray(coded.indices.fill_null(-1)).astype(np.int64)
        absent = codes < 0
        different, first, counts = np.unique(codes[~absent], return_index=True, return_counts=True)
        rows = np.flatnonzero(~absent)[first] if absent.any() else first
        cells_ = coded.dictionary.to_pandas().astype(object).to_list()
        with self._lock:
            self.missing += int(absent.sum())
            for code, row, count in zip(different.tolist(), rows.tolist(), counts.tolist(), strict=True):
                self._count(cells_[code], count, (place[0], place[1] + row))
            if len(self.found) > MOST_DIFFERENT:
                raise InputError(
                    f"Column {self.name!r} holds more than {MOST_DIFFERENT:,} different texts, too many to"
                    f" learn from in passes: leave it out with `ignore={self.name}`, or store it as numbers"
                    " or dates in Parquet."
                )

    def _count(self, cell: Any, count: int, place: tuple[int, int]) -> None:
        if cell is None or cell != cell:
            self.missing += count
            return
        before = self.found.get(cell)
        self.found[cell] = (count, place) if before is None else (before[0] + count, min(before[1], place))

    def cells(self) -> list[Any]:
        """The different cells in the order in which they came; truth values written out as such."""
        ordered = sorted(self.found, key=lambda cell: self.found[cell][1])
        if (
            not self.typed
            and ordered
            and all(isinstance(cell, str) and cell.strip() in _TRUTH for cell in ordered)
        ):
            return [_TRUTH[cell.strip()] for cell in ordered]
        return ordered

    def counts(self) -> NDArray[np.int64]:
        """How often each of the `cells` occurs."""
        places = sorted(self.found.values(), key=lambda one: one[1])
        return np.array([count for count, _ in places], dtype=np.int64)

    def rows(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each of the `cells` is first, among the rows of all parts, from 1."""
        places = sorted(place for _, place in self.found.values())
        return np.array([starts[number] + row + 1 for number, row in places], dtype=np.int64)
