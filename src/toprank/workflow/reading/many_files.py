"""Labelled items in several files: read as one table where they fit, known as too large where not."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toprank.datasets import InputError, Table, read_table
from toprank.datasets.content import STANDARD_INPUT
from toprank.datasets.table import table_format
from toprank.output import write_whole
from toprank.scale.files.addresses import STREAMED, File, called, is_many, list_files
from toprank.scale.files.parts import Part, open_parts
from toprank.workflow.reading.source import Columns, is_name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FITS", "read_many", "too_large"]

FITS = 1 << 30
"""Bytes of a table that is read as a whole: 8 for a cell of a Parquet file, those of the file for text."""
PACKED = 4
"""How much longer packed text is when it is unpacked."""


def too_large(data: Sequence[str], columns: Columns) -> bool:
    """Whether these files are learned from in passes because they are too large to be read as a whole.

    Parameters
    ----------
    data : sequence of str
        What the user named; nothing stands for the embedded example.
    columns : Columns
    """
    if columns.sql is not None:
        return False  # files beside a query are refused where it is read
    if not is_many(data):
        alone = data[0] if data else STANDARD_INPUT
        if alone == STANDARD_INPUT or is_name(alone) or not Path(alone).is_file():
            return False
        if table_format(alone) not in STREAMED or Path(alone).stat().st_size * PACKED <= FITS // 16:
            return False  # no need to look inside
    parts = open_parts(list_files(data), encoding=columns.encoding, separator=columns.separator)
    return sum(map(_bytes, parts)) > FITS


def _bytes(part: Part) -> int:
    if part.rows is not None:
        return 8 * part.rows * len(part.columns)
    size = int(part.file.system.get_file_info(part.file.path).size or 0)
    return size * (PACKED if part.file.path.endswith(".gz") else 1)


def read_many(data: Sequence[str], columns: Columns, *, text_columns: Sequence[str]) -> tuple[Table, str]:
    """All rows of several files as one table, in the order of the files, and the SHA-256 of the files.

    Parameters
    ----------
    data : sequence of str
        Files, folders, patterns, addresses (`toprank.scale.files.addresses.list_files`).
    columns : Columns
    text_columns : sequence of str
        Columns of CSV files to keep as text.
    """
    import pandas as pd

    files = list_files(data)
    tables = [_read(file, columns, text_columns) for file in files]
    mixed = _written_in_two_ways(files, tables)
    if mixed:
        again = [*text_columns, *mixed]
        tables = [
            _read(file, columns, again) if file.kind == "csv" else table
            for file, table in zip(files, tables, strict=True)
        ]
    names, remarks = _common(tables)
    frame = pd.concat([table.frame[names] for table in tables], ignore_index=True)
    said = (*dict.fromkeys(remark for table in tables for remark in table.remarks), *remarks)
    return Table(frame, source=called(files), remarks=said), _fingerprint(files)


def _read(file: File, columns: Columns, text_columns: Sequence[str]) -> Table:
    if file.kind == "parquet":
        return Table(_parquet(open_parts([file])), source=file.name)
    how = {"text_columns": text_columns, "encoding": columns.encoding, "separator": columns.separator}
    if Path(file.path).is_file():
        return read_table(file.path, **how)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        write_whole({copy: _content(file)})
        return read_table(copy, **how)  # type: ignore[arg-type]


def _parquet(parts: Sequence[Part]) -> pd.DataFrame:
    import pyarrow as pa

    if not parts:
        raise InputError("A Parquet file without rows cannot be learned from.")
    batches = [batch for part in parts for batch in part.batches(part.columns)]
    return pa.Table.from_batches(batches).to_pandas(ignore_metadata=True)


def _written_in_two_ways(files: Sequence[File], tables: Sequence[Table]) -> list[str]:
    """Columns that hold text in one CSV file and numbers in another."""
    import pandas as pd

    kinds: dict[str, set[bool]] = {}
    for file, table in zip(files, tables, strict=True):
        if file.kind == "csv":
            for name, kind in zip(table.columns, table.frame.dtypes, strict=True):
                kinds.setdefault(name, set()).add(pd.api.types.is_numeric_dtype(kind))
    return [name for name, some in kinds.items() if len(some) > 1]


def _common(tables: Sequence[Table]) -> tuple[list[str], list[str]]:
    """The columns of the first table, which all must have, and what to say about others."""
    names, remarks = tables[0].columns, []
    for table in tables[1:]:
        missing = [name for name in names if name not in table.columns]
        if missing:
            shown = ", ".join(map(repr, missing[:5]))
            raise InputError(f"{table.source} lacks columns that {tables[0].source} has: {shown}.")
        further = [name for name in table.columns if name not in names]
        if further:
            shown = ", ".join(map(repr, further[:5]))
            remarks.append(f"{table.source} has columns that {tables[0].source} lacks, left out: {shown}.")
    return names, remarks


def _content(file: File) -> bytes:
    # As it is on disk: a stream opened by name would unpack it.
    with file.system.open_input_file(file.path) as stream:
        return bytes(stream.read())


def _fingerprint(files: Sequence[File]) -> str:
    """Of the contents of the files, one after the other."""
    digest = hashlib.sha256()
    for file in files:
        with file.system.open_input_file(file.path) as stream:
            while chunk := stream.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()
