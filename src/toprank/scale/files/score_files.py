"""Every score of a stream, in a folder of Parquet files: all of them, or those of whole parts, or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from toprank.errors import InputError
from toprank.output import sync_folder
from toprank.scale.extras import needed
from toprank.scale.files.parts import Part

__all__ = ["ScoreFiles", "check_folder"]


def check_folder(folder: Path) -> None:
    """Refuse a place no folder can be made at, before work is done for it."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"`all` {str(folder)!r} is not empty; name a new folder.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`all` {str(folder)!r} is a file; name a new folder.")
    if not folder.parent.is_dir():
        raise InputError(f"`all` {str(folder)!r}: there is no folder {str(folder.parent)!r}.")


class ScoreFiles:
    """A folder of scores, one file for each part; it appears under its name when all is well.

    Parameters
    ----------
    folder : Path
    id : str or None
        The column that names the rows, beside their scores.
    """

    def __init__(self, folder: Path, id: str | None) -> None:
        check_folder(folder)
        self._folder = folder
        self._id = id
        self._hidden = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))

    @contextmanager
    def part(self, number: int, part: Part) -> Iterator[PartScores]:
        """Where the scores of a part go; its file stays only if all of them came."""
        scores = PartScores(self._hidden / f"part-{number:05d}.parquet", part, self._id)
        try:
            yield scores
        except BaseException:
            scores.close()
            scores.path.unlink(missing_ok=True)
            raise
        scores.close()
        if not scores.whole:
            scores.path.unlink(missing_ok=True)

    def deliver(self) -> None:
        """Give the folder its name."""
        if self._folder.exists():
            self._folder.rmdir()  # empty, as it was in the beginning, or this fails
        self._hidden.chmod(0o755)
        self._hidden.replace(self._folder)
        sync_folder(self._folder.parent)

    def discard(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._hidden, ignore_errors=True)


class PartScores:
    """The file with the scores of one part."""

    def __init__(self, path: Path, part: Part, id: str | None) -> None:
        self._writer: Any = None
        self._part = part
        self._id = id if id in part.columns else None
        self.path = path
        self.rows = 0
        self.whole = False

    def add(self, batch: Any, scores: Any) -> None:
        """The scores of the next rows."""
        pa = needed("pyarrow", extra="parquet", purpose="Parquet files")
        parquet = needed("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        first = self._part.before + self.rows + 1
        columns = {
            "file": pa.array([self._part.file.name] * len(batch)).dictionary_encode(),
            "row": pa.array(np.arange(first, first + len(batch))),
        }
        if self._id is not None:
            columns[self._id] = batch.column(self._id)
        columns["score"] = pa.array(scores)
        table = pa.table(columns)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self.path, table.schema)
        self._writer.write_table(table)
        self.rows += len(batch)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
