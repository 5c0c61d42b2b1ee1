"""Tables in: CSV, Excel, Parquet and svmlight files become one thing with named columns."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import os
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.datasets.cells import number_cell
from toprank.datasets.content import (
    STANDARD_INPUT,
    TextContent,
    has_leading_zeros,
    no_such_file,
    raw_bytes,
    text_content,
)
from toprank.datasets.improper import rows_too_long, what_is_wrong
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from toprank.datasets.decide import Description

__all__ = ["FORMATS", "SVMLIGHT_QUERY", "SVMLIGHT_TARGET", "Table", "read_table", "table_format"]

FORMATS = {
    "csv": (".csv", ".tsv", ".txt"),
    "excel": (".xlsx", ".xlsm"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
}
"""File endings by format; text formats may also end in .gz."""
_BEGINNINGS = {b"PAR1": "parquet", b"PK\x03\x04": "excel"}
"""First bytes by format, for what comes without a name; anything else is text with separators."""

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
    description : Description or None
        How the columns are read, once that is decided (`toprank.datasets.decide`).
    remarks : tuple of str
        What was assumed about the file, in plain sentences.
    fingerprint : str
        SHA-256 of what came from standard input, which cannot be read again; else empty.
    numbers : ndarray of int or None
        Which rows of the source these are, counted from 1; None for all of them.

    Examples
    --------
    >>> import pandas as pd
    >>> len(Table(pd.DataFrame({"age": [30, 40]})))
    2
    """

    frame: pd.DataFrame
    sparse: Any = None
    source: str = "the table"
    description: Description | None = None
    remarks: tuple[str, ...] = ()
    fingerprint: str = ""
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """What a person calls each row: its number in the source."""
        return np.arange(1, len(self) + 1) if self.numbers is None else self.numbers

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The given rows, in the given order."""
        sparse = None if self.sparse is None else self.sparse[rows]
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return replace(self, frame=frame, sparse=sparse, numbers=self.row_numbers[rows])

    def column(self, name: str, *, argument: str) -> pd.Series[Any]:
        """One column; `argument` is what the message blames when there is none of that name."""
        if name not in self.frame.columns:
            raise InputError(
                f"{argument} {name!r}: no such column in {self.source}; {_meant(name, self.columns)}."
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
    if suffixes and suffixes[-1] in (".skops", ".safetensors", ".json"):
        raise InputError(f"{str(path)!r} is a model by its ending, not a table; a model comes before items.")
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise InputError(f"Cannot tell the format of {str(path)!r} by its ending; known are {known} (and .gz).")


def read_table(
    path: str | os.PathLike[str],
    *,
    text_columns: Iterable[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
) -> Table:
    """Read a CSV, Excel, Parquet or svmlight file, whichever its ending says.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.txt`` (comma, semicolon, tab or pipe), ``.xlsx`` (the first sheet),
        ``.parquet``, ``.pq``, ``.svm``, ``.svmlight`` or ``.libsvm``; text may be packed as ``.gz``. ``-``
        reads standard input.
    text_columns : iterable of str
        Columns of a CSV file to keep as text even where they look like numbers.
    encoding, separator : str, optional
        Of a CSV file, where they should not be found out.

    Raises
    ------
    InputError
        With one line, whatever is wrong with the file.

    Examples
    --------
    >>> read_table("items.csv").columns  # doctest: +SKIP
    ['age', 'ill']
    """
    try:
        if os.fspath(path) == STANDARD_INPUT:
            name, data = "standard input", raw_bytes(path)
            kind = _BEGINNINGS.get(data[:4], "csv")
        else:
            name, kind = Path(path).name, _checked_format(path)
            data = raw_bytes(path)
        if kind == "csv":
            table = _read_csv(data, name, frozenset(text_columns), encoding, separator)
        else:
            table = {"excel": _read_excel, "parquet": _read_parquet, "svmlight": _read_svmlight}[kind](
                data, name
            )
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise InputError(f"Cannot read {str(path)!r}: {error}.") from None
    if not len(table):
        raise InputError(f"{name!r} is empty: it has no rows.")
    if os.fspath(path) == STANDARD_INPUT:
        return replace(table, fingerprint=hashlib.sha256(data).hexdigest())
    return table


def _checked_format(path: str | os.PathLike[str]) -> str:
    kind = table_format(path)
    if not Path(path).exists():
        raise no_such_file(path)
    if not Path(path).is_file():
        raise InputError(f"{str(path)!r} is not a file.")
    return kind


# -- the readers ---------------------------------------------------------------------------------


def _read_csv(
    data: bytes, name: str, text_columns: frozenset[str], encoding: str | None, separator: str | None
) -> Table:
    content = text_content(data, name, encoding=encoding, separator=separator)
    _refuse_repeated(content.header, name)
    frame = _parsed(content, name, text_columns)
    # Types are found by pandas, ten times as fast as reading text first; the few columns whose text says more
    # than their numbers are read again.
    doubtful = [column for column in _doubtful(frame, content) if column not in text_columns]
    if doubtful:
        again = _parsed(content, name, frozenset(doubtful), only=doubtful)
        for column in doubtful:
            if _says_more(again[column], frame[column]):
                frame[column] = again[column]
    return _without_empty_rows(Table(frame, source=name, remarks=content.remarks))


def _without_empty_rows(table: Table) -> Table:
    """The rows that hold something: the bare separators that spreadsheets leave below a table are none."""
    empty = table.frame.isna().all(axis=1).to_numpy()
    if len(table.columns) < 2 or not empty.any() or empty.all():
        return table
    full, count = table.take(np.flatnonzero(~empty)), int(empty.sum())
    first = int(np.argmax(empty)) + 1
    several = f"{count} rows, the first row {first}, are empty and were left out"
    said = f"row {first} is empty and was left out" if count == 1 else several
    return replace(full, remarks=(*table.remarks, f"{table.source}: {said}."))


def _parsed(
    content: TextContent, name: str, text_columns: frozenset[str], only: Sequence[str] | None = None
) -> pd.DataFrame:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # Without this, rows longer than the header lose their last cells.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            return pd.read_csv(
                io.BytesIO(content.data),
                sep=content.separator,
                skiprows=content.skipped,
                skipinitialspace=True,
                index_col=False,
                names=content.header,
                header=0,
                usecols=None if only is None else list(only),
                dtype={column: str for column in text_columns if column in content.header},
                float_precision=_precision(pd.__version__),
            )
    except pd.errors.EmptyDataError:
        raise InputError(f"{name!r} is empty.") from None
    except pd.errors.ParserWarning:
        raise InputError(f"{name!r} {rows_too_long(content)}.") from None
    except pd.errors.ParserError as error:
        raise InputError(f"{name!r} is not a proper table: {what_is_wrong(str(error), content)}.") from None


def _precision(version: str) -> Literal["round_trip"] | None:
    """How pandas is told to read every number as it was written: the usual way since 3.1, not before."""
    return None if tuple(map(int, version.split(".")[:2])) >= (3, 1) else "round_trip"


def _doubtful(frame: pd.DataFrame, content: TextContent) -> list[str]:
    """Columns of numbers that may have lost something: leading zeros, digits, or the point of thousands."""
    zeros = has_leading_zeros(content.data, content.separator)
    comma = content.separator != "," and _uses_decimal_comma(frame)
    found = []
    for column in content.header:
        cells = frame[column]
        if cells.dtype == object and any(isinstance(cell, int) and abs(cell) >= 2**53 for cell in cells):
            found.append(column)  # beyond 64 bits pandas keeps whole numbers one by one
        if not _is_number(cells) or cells.dtype == bool:
            continue
        values = np.asarray(cells, dtype=np.float64)
        values = values[np.isfinite(values)]
        whole = bool((values == np.floor(values)).all())
        too_long = len(values) > 0 and float(np.abs(values).max()) >= 2.0**53
        if (whole and (zeros or too_long)) or (comma and not whole):
            found.append(column)
    return found


def _uses_decimal_comma(frame: pd.DataFrame) -> bool:
    """Whether some column of text holds numbers such as 3,5."""
    for column in frame.columns:
        if not _is_number(frame[column]):
            different = frame[column].dropna().astype(str).head(1000).unique()
            cells = [number_cell(cell) for cell in different]
            if any(cell is not None and cell.point is None for cell in cells):
                return True
    return False


def _says_more(text: pd.Series[Any], numbers: pd.Series[Any]) -> bool:
    """Whether the text of a column of numbers holds something its numbers do not."""
    written = text.dropna().str.strip()
    if written.str.fullmatch(r"[+-]?\d+").all():
        return bool(written.str.fullmatch(r"0\d+|\d{16,}").any())
    # One to three digits, a point, three digits: thousands, in a file with decimal commas.
    return bool(written.str.fullmatch(r"-?([1-9]\d{0,2}\.\d{3}|\d{1,3})").all())


def _is_number(cells: pd.Series[Any]) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(cells.dtype)


def _refuse_repeated(header: Sequence[str], name: str) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        what = "an empty name" if repeated[0] == "" else f"the name {repeated[0]!r}"
        raise InputError(f"{name!r} has several columns with {what}; column names must differ.")


def _read_excel(data: bytes, name: str) -> Table:
    import pandas as pd

    try:
        sheets = pd.ExcelFile(io.BytesIO(data), engine="openpyxl")
    except ImportError:
        raise InputError(
            f"Reading {name!r} needs openpyxl: install it with `pip install toprank[excel]`, or save the"
            " sheet as .csv."
        ) from None
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{name!r} is not an Excel file that can be read: {error}.") from None
    with sheets:
        frame = pd.read_excel(sheets, sheet_name=0, dtype=object)
        others = len(sheets.sheet_names) - 1
    header = [str(column).strip() for column in frame.columns]
    _refuse_repeated(header, name)
    frame.columns = pd.Index(header)
    remarks = (
        (f"{name} has {others + 1} sheets; the first, {str(sheets.sheet_names[0])!r}, was read.",)
        if others
        else ()
    )
    return Table(frame.dropna(how="all").reset_index(drop=True).infer_objects(), source=name, remarks=remarks)


def _read_parquet(data: bytes, name: str) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(data))
    except ImportError:
        raise InputError(
            f"Reading {name!r} needs pyarrow: install it with `pip install toprank[parquet]`."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"{name!r} is not a Parquet file that can be read: {error}.") from None
    _refuse_repeated([str(column) for column in frame.columns], name)
    frame.columns = pd.Index([str(column) for column in frame.columns])
    return Table(frame.reset_index(drop=True), source=name)


def _read_svmlight(data: bytes, name: str) -> Table:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        # One-based, as the format has it: guessing would shift a file that happens to use feature 0.
        matrix, target, query = load_svmlight_file(io.BytesIO(data), query_id=True, zero_based=False)
    except (ValueError, IndexError) as error:
        raise InputError(f"{name!r} is not an svmlight file with features from 1: {error}.") from None
    whole = bool(np.all(target == np.floor(target)))
    columns: dict[str, Any] = {SVMLIGHT_TARGET: target.astype(np.int64) if whole else target}
    if len(query) == len(target) and len(query):
        columns[SVMLIGHT_QUERY] = query
    elif len(query):
        raise InputError(f"{name!r} has a qid on some lines and none on others.")
    if len(target) and not np.isfinite(matrix.data).all():
        raise InputError(f"{name!r} holds features that are infinite or not numbers.")
    return Table(pd.DataFrame(columns), sp.csr_matrix(matrix, dtype=np.float64), source=name)


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _meant(name: str, columns: Sequence[str]) -> str:
    """What to say to somebody who named a column that is not there."""
    spelled = {one.casefold(): one for one in columns}
    near = difflib.get_close_matches(name.casefold(), spelled, n=1)
    hint = f"did you mean {spelled[near[0]]!r}? " if near else ""
    headless = all(number_cell(one) is not None for one in columns)
    more = "; the first line has to be the names of the columns" if headless else ""
    return f"{hint}there are {_listed(columns)}{more}"
