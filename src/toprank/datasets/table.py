"""Tables in: CSV, Parquet and svmlight files become one thing with named columns."""

from __future__ import annotations

import csv
import gzip
import io
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.datasets.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "SVMLIGHT_QUERY", "SVMLIGHT_TARGET", "Table", "read_table", "table_format"]

FORMATS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
}
"""File endings by format; text formats may also end in .gz."""

SVMLIGHT_TARGET = "y"
"""What the label of an svmlight line is called here; the format itself has no names."""
SVMLIGHT_QUERY = "qid"


@dataclass(frozen=True)
class Table:
    """Rows with named columns, and next to them the sparse features of an svmlight file.

    Parameters
    ----------
    frame : pandas.DataFrame
        The named columns.
    sparse : CSR matrix or None
        Features without names, one row for each row of the frame.
    source : str
        The name messages use: the file.
    """

    frame: pd.DataFrame
    sparse: Any = None
    source: str = "the table"

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The given rows, in the given order."""
        sparse = None if self.sparse is None else self.sparse[rows]
        return Table(self.frame.iloc[rows].reset_index(drop=True), sparse, self.source)

    def column(self, name: str, *, argument: str) -> pd.Series[Any]:
        """One column; `argument` is what the message blames when there is none of that name."""
        if name not in self.frame.columns:
            raise InputError(
                f"{argument} {name!r}: {self.source} has no such column; it has {_listed(self.columns)}."
            )
        return self.frame[name]


def table_format(path: str | os.PathLike[str]) -> str:
    """Which of the `FORMATS` a file name stands for.

    >>> table_format("a9a.svm.gz"), table_format("pumps.CSV")
    ('svmlight', 'csv')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    for name, endings in FORMATS.items():
        if suffixes and suffixes[-1] in endings:
            return name
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise InputError(f"Cannot tell the format of {str(path)!r} by its ending; known are {known} (and .gz).")


def read_table(path: str | os.PathLike[str], *, text_columns: Iterable[str] = ()) -> Table:
    """Read a CSV, Parquet or svmlight file, whichever its ending says.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.txt`` (comma, semicolon or tab, UTF-8), ``.parquet``, ``.pq``, ``.svm``,
        ``.svmlight`` or ``.libsvm``; text may be packed as ``.gz``.
    text_columns : iterable of str
        Columns of a CSV file to keep as text even where they look like numbers.

    Raises
    ------
    InputError
        With one line, whatever is wrong with the file.
    """
    file = Path(path)
    kind = table_format(file)
    if not file.exists():
        raise InputError(f"There is no file {str(path)!r}.")
    if not file.is_file():
        raise InputError(f"{str(path)!r} is not a file.")
    readers = {"csv": _read_csv, "parquet": _read_parquet, "svmlight": _read_svmlight}
    try:
        table = readers[kind](file, frozenset(text_columns))
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise InputError(f"Cannot read {str(path)!r}: {error}.") from None
    if not len(table):
        raise InputError(f"{str(path)!r} is empty: it has no rows.")
    return table


# -- the three readers ---------------------------------------------------------------------------


def _read_csv(file: Path, text_columns: frozenset[str]) -> Table:
    import pandas as pd

    header, delimiter = _csv_header(file)
    _refuse_repeated(header, file)
    try:
        with warnings.catch_warnings():
            # Without this, rows longer than the header lose their last cells.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            frame = pd.read_csv(
                file,
                sep=delimiter,
                encoding="utf-8-sig",
                index_col=False,
                dtype={name: str for name in text_columns if name in header},
            )
    except pd.errors.EmptyDataError:
        raise InputError(f"{str(file)!r} is empty.") from None
    except pd.errors.ParserWarning:
        raise InputError(
            f"{str(file)!r} has rows with more cells than the {len(header)} of its header."
        ) from None
    except pd.errors.ParserError as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ")
        raise InputError(f"{str(file)!r} is not a proper table: {detail.strip()}.") from None
    frame.columns = pd.Index([str(name) for name in frame.columns])
    return Table(frame, source=file.name)


def _csv_header(file: Path) -> tuple[list[str], str]:
    """Column names and delimiter, from the first line that is not blank."""
    with _open_text(file) as lines:
        for line in lines:
            if line.strip():
                break
        else:
            raise InputError(f"{str(file)!r} is empty.")
    if "\0" in line:
        raise InputError(f"{str(file)!r} is not text: it holds zero bytes.")
    delimiter = max((",", ";", "\t"), key=line.count)
    names = next(csv.reader(io.StringIO(line), delimiter=delimiter))
    return [name.strip() for name in names], delimiter


def _open_text(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _refuse_repeated(header: Sequence[str], file: Path) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        what = "an empty name" if repeated[0] == "" else f"the name {repeated[0]!r}"
        raise InputError(f"{str(file)!r} has several columns with {what}; column names must differ.")


def _read_parquet(file: Path, text_columns: frozenset[str]) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(file)
    except ImportError:
        raise InputError(
            f"Reading {str(file)!r} needs pyarrow: install it with `pip install toprank[parquet]`."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"{str(file)!r} is not a Parquet file that can be read: {error}.") from None
    _refuse_repeated([str(name) for name in frame.columns], file)
    frame.columns = pd.Index([str(name) for name in frame.columns])
    return Table(frame.reset_index(drop=True), source=file.name)


def _read_svmlight(file: Path, text_columns: frozenset[str]) -> Table:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        # One-based, as the format has it: guessing would shift a file that happens to use feature 0.
        matrix, target, query = load_svmlight_file(str(file), query_id=True, zero_based=False)
    except (ValueError, IndexError) as error:
        raise InputError(f"{str(file)!r} is not an svmlight file with features from 1: {error}.") from None
    whole = bool(np.all(target == np.floor(target)))
    columns: dict[str, Any] = {SVMLIGHT_TARGET: target.astype(np.int64) if whole else target}
    if len(query) == len(target) and len(query):
        columns[SVMLIGHT_QUERY] = query
    elif len(query):
        raise InputError(f"{str(file)!r} has a qid on some lines and none on others.")
    if len(target) and not np.isfinite(matrix.data).all():
        raise InputError(f"{str(file)!r} holds features that are infinite or not numbers.")
    return Table(pd.DataFrame(columns), sp.csr_matrix(matrix, dtype=np.float64), source=file.name)


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
