"""Files in parts that are read in batches of rows: row groups of Parquet files, CSV files whole."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from toprank.datasets.content import TextContent, text_content
from toprank.errors import InputError
from toprank.scale.extras import needed
from toprank.scale.files.addresses import File

__all__ = ["BATCH_ROWS", "Part", "open_parts"]

BATCH_ROWS = 1 << 17
"""Rows read at a time: a column of them stays in the cache of a processor; half as many are slower."""
_BLOCK_BYTES = 1 << 22
_LOOKED_AT = 1 << 16
_EMPTY = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""Cells of a CSV file that are empty to pandas, and so to `toprank.datasets.read_table`."""


_INDEX = re.compile(r"__index_level_\d+__")
"""Row numbers that pandas wrote into a Parquet file, which are no column."""


class Part(Protocol):
    """Rows that are read together."""

    @property
    def file(self) -> File:
        """Where they are."""

    @property
    def name(self) -> str:
        """File and row group, for messages."""

    @property
    def before(self) -> int:
        """Rows of the file before this part."""

    @property
    def rows(self) -> int | None:
        """How many there are, where the file says so."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """The rows as Arrow record batches of some columns."""


@dataclass(frozen=True)
class RowGroup:
    """One row group of a Parquet file."""

    file: File
    name: str
    before: int
    rows: int
    number: int
    fragment: Any
    schema: Any

    @property
    def columns(self) -> list[str]:
        """Names of the columns; folders named ``key=value`` make some too."""
        return [name for name in self.schema.names if not _INDEX.fullmatch(name)]

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """The rows as Arrow record batches of some columns."""
        with _named(self.name):
            if self._is_mapped(columns):
                yield from self._mapped(columns)
                return
            # One thread each: whole parts are read side by side.
            yield from self.fragment.to_batches(
                schema=self.schema,
                columns=list(columns),
                batch_size=BATCH_ROWS,
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=False,
            )

    def _is_mapped(self, columns: Sequence[str]) -> bool:
        """Whether the file lies on a disk here and holds these columns itself, none being a folder's name."""
        import pyarrow.fs as fs

        here = isinstance(self.file.system, fs.LocalFileSystem)
        return here and set(columns) <= set(self.fragment.physical_schema.names)

    def _mapped(self, columns: Sequence[str]) -> Iterator[Any]:
        """Pages are decoded where they lie: half the time and a third of the memory of reading them first."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = pa.schema([self.schema.field(name) for name in columns])
        with pq.ParquetFile(self.file.path, memory_map=True) as file:
            for batch in file.iter_batches(
                BATCH_ROWS, row_groups=[self.number], columns=list(columns), use_threads=False
            ):
                yield batch.select(list(columns)).cast(wanted)


@dataclass(frozen=True)
class TextFile:
    """A CSV file; every cell stays the text it is, what it means is for the model's own columns to say."""

    file: File
    layout: TextContent
    rows: int | None = field(default=None, init=False)
    before: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """The file."""
        return self.file.name

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.layout.header

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """The rows as Arrow record batches of some columns, all of them text."""
        import pyarrow as pa
        from pyarrow import csv

        header = self.layout.header
        with _named(self.name):
            stream = self.file.system.open_input_stream(self.file.path)  # unpacks .gz by its name
            reader = csv.open_csv(
                stream,
                read_options=csv.ReadOptions(
                    block_size=_BLOCK_BYTES,
                    skip_rows=_header_line(self.layout) + 1,
                    column_names=header,
                    encoding=self.layout.encoding.removesuffix("-sig"),
                ),
                parse_options=csv.ParseOptions(delimiter=self.layout.separator, newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.string() for name in header},
                    include_columns=list(columns),
                    null_values=list(_EMPTY),
                    strings_can_be_null=True,
                ),
            )
            for batch in reader:
                for begin in range(0, len(batch), BATCH_ROWS):
                    yield batch.slice(begin, BATCH_ROWS)


def open_parts(
    files: Sequence[File], *, encoding: str | None = None, separator: str | None = None
) -> list[Part]:
    """The parts of some files, in order; only what stands at the beginning or the end of each is read.

    Parameters
    ----------
    files : sequence of File
    encoding, separator : str, optional
        Of CSV files, where they should not be found out.
    """
    parts: list[Part] = []
    for file in files:
        if file.kind == "parquet":
            parts.extend(_row_groups(file))
        else:
            parts.append(_text_file(file, encoding, separator))
    return parts


def _row_groups(file: File) -> Iterator[RowGroup]:
    dataset = needed("pyarrow.dataset", extra="parquet", purpose="Parquet files")
    with _named(file.name):
        # Each file keeps its own types: a column of another type in one of them is for the model to judge.
        one = dataset.dataset([file.path], format="parquet", filesystem=file.system, partitioning="hive")
        whole = next(iter(one.get_fragments()))
        groups = whole.split_by_row_group()
        before = 0
        for number, fragment in enumerate(groups):
            rows = fragment.row_groups[0].num_rows
            name = f"{file.name}, row group {number}" if len(groups) > 1 else f"{file.name}, row group 0"
            yield RowGroup(file, name, before, rows, number, fragment, one.schema)
            before += rows


def _text_file(file: File, encoding: str | None, separator: str | None) -> TextFile:
    needed("pyarrow.csv", extra="parquet", purpose="Streams of files")
    with _named(file.name), file.system.open_input_stream(file.path) as stream:
        beginning = stream.read(_LOOKED_AT)
    # What was cut in the middle of a character or a line says nothing about the file.
    whole = beginning
    if len(beginning) == _LOOKED_AT and b"\n" in beginning and b"\0" not in beginning[:64]:
        whole = beginning[: beginning.rfind(b"\n") + 1]
    return TextFile(file, text_content(whole, file.name, encoding=encoding, separator=separator))


def _header_line(layout: TextContent) -> int:
    """Lines before the header, empty ones too."""
    lines = layout.data.splitlines()
    return next(number for number, line in enumerate(lines) if number >= layout.skipped and line.strip())


@contextmanager
def _named(name: str) -> Iterator[None]:
    """What Arrow or the disk complains about as one line that names file and row group."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, EOFError, gzip.BadGzipFile, ValueError, KeyError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{name}: cannot be read: {said}.") from None
