"""Results on disk: one JSON line for each finished cell, there for good once it is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toprank.errors import InputError
from toprank.output import sync_folder
from toprank.reproduce.cells import Cell

__all__ = ["Results", "Store"]

Record = dict[str, Any]
BEGINNING = b'{"key":'
"""Of every line."""


class Results:
    """What is known about cells: the last line that was written about each."""

    def __init__(self, records: Mapping[str, Record] | None = None) -> None:
        self._records = dict(records or {})

    def get(self, cell: Cell) -> Record | None:
        """The record of a cell that was computed, or None."""
        record = self._records.get(cell.key)
        return record if record is not None and "error" not in record else None

    def error(self, cell: Cell) -> str:
        """Why the cell failed the last time it was tried; empty when it did not."""
        return str(self._records.get(cell.key, {}).get("error", ""))

    def add(self, record: Record) -> None:
        """Take in one more record."""
        self._records[record["key"]] = record

    def __len__(self) -> int:
        return len(self._records)


class Store:
    """The results of one paper in a folder.

    Parameters
    ----------
    folder : Path
        Made when the first result is written.
    paper : str
    """

    def __init__(self, folder: Path, paper: str) -> None:
        self.folder = folder
        self.file = folder / f"{paper}.jsonl"

    def read(self) -> Results:
        """All results; a last line that a power cut left torn does not count.

        Raises
        ------
        InputError
            When a line before the last is not what was written there.
        """
        results = Results()
        for record in self._records():
            results.add(record)
        return results

    def _records(self) -> Iterator[Record]:
        for number, line in enumerate(self._lines(), start=1):
            try:
                record = json.loads(line)
                if not isinstance(record, dict) or not isinstance(record.get("key"), str):
                    raise ValueError("no key")
            except ValueError:
                raise self._damaged(number) from None
            yield record

    def _damaged(self, number: int) -> InputError:
        return InputError(
            f"Line {number} of {str(self.file)!r} is damaged; delete that line to have its cell computed"
            " again, or name another folder with `results`."
        )

    def _lines(self) -> list[bytes]:
        """The complete lines: each ends with a line feed."""
        if not self.file.is_file():
            return []
        *lines, torn = self.file.read_bytes().split(b"\n")
        # What is left of a line of ours is dropped; what is not ours must not be written over.
        # A power cut may leave zeros instead.
        if torn.strip(b"\0") and torn[: len(BEGINNING)] != BEGINNING[: len(torn)]:
            raise self._damaged(len(lines) + 1)
        return lines

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Append results; one process at a time."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            stream = self.file.open("ab")
            sync_folder(self.folder)
        except OSError as error:
            raise InputError(
                f"`results={str(self.folder)!r}` cannot be written to: {error.strerror}."
            ) from None
        with stream:
            _lock(stream.fileno(), self.file)
            # What a power cut left of a line goes, lest the next line be glued to it.
            stream.truncate(sum(len(line) + 1 for line in self._lines()))
            yield Writer(stream)


class Writer:
    """Writes lines that survive a power cut."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, record: Record) -> None:
        """Append one record and wait until the disk has it."""
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._stream.write(text.encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _lock(descriptor: int, file: Path) -> None:
    """Keep others from writing to the file as long as it is open here, where the system can do that."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(
            f"Another toprank reproduce is writing to {str(file)!r}; wait for it, or name another folder with"
            " `results`."
        ) from None
