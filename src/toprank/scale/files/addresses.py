"""What a user names, as a list of files: files, folders, patterns, and addresses such as s3://bucket/items."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toprank.datasets.content import no_such_file
from toprank.datasets.table import FORMATS, table_format
from toprank.errors import InputError
from toprank.scale.extras import needed

__all__ = ["STREAMED", "File", "called", "is_many", "list_files"]

STREAMED = ("parquet", "csv")
"""Formats that can be read piece by piece."""
_ENDINGS = tuple(
    f"{ending}{packed}" for kind in STREAMED for ending in FORMATS[kind] for packed in ("", ".gz")
)


@dataclass(frozen=True)
class File:
    """One file of a stream.

    Parameters
    ----------
    path : str
        As its file system knows it.
    kind : {"parquet", "csv"}
    system : pyarrow.fs.FileSystem
    """

    path: str
    kind: str
    system: Any

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path.rpartition("/")[2]


def is_many(data: Sequence[str]) -> bool:
    """Whether these names stand for more than one plain file: several, a pattern, a folder, an address.

    >>> is_many(["items.csv"]), is_many(["items/*.parquet"]), is_many(["s3://shop/items"])
    (False, True, True)
    """
    return len(data) > 1 or any(_is_address(one) or _is_pattern(one) or Path(one).is_dir() for one in data)


def list_files(data: Sequence[str]) -> list[File]:
    """The files behind some names, each once; those of a folder or a pattern in the order of their names.

    Parameters
    ----------
    data : sequence of str
        Files, folders (their Parquet and CSV files, at any depth), patterns with ``*``, and addresses such as
        ``s3://bucket/items/*.parquet`` where fsspec is installed.
    """
    found: dict[str, File] = {}
    for one in data:
        system, paths = _remote(one) if _is_address(one) else _local(one)
        for path in paths:
            kind = table_format(path)
            if kind not in STREAMED:
                raise InputError(f"{path!r} cannot be read piece by piece; Parquet and CSV files can.")
            found.setdefault(path, File(path, kind, system))
    return list(found.values())


def called(files: Sequence[File]) -> str:
    """What messages call some files: one by its name, several by their number.

    >>> one, other = (File(path, "csv", None) for path in ("items/a.csv", "items/b.csv"))
    >>> called([one, one]), called([one, other])
    ('a.csv', '2 files')
    """
    different = {file.path for file in files}
    return files[0].name if len(different) == 1 else f"{len(different)} files"


def _is_address(name: str) -> bool:
    return "://" in name


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[") and not Path(name).exists()


def _local(name: str) -> tuple[Any, list[str]]:
    system = needed("pyarrow.fs", extra="parquet", purpose="Streams of files").LocalFileSystem()
    path = Path(name)
    if path.is_dir():
        return system, _in_folder(name, sorted(str(one) for one in path.rglob("*") if one.is_file()))
    if _is_pattern(name):
        found = glob.glob(name, recursive=True)  # noqa: PTH207  # Path.glob takes no absolute patterns
        matching = sorted(one for one in found if Path(one).is_file())
        if not matching:
            raise InputError(f"No file matches {name!r}.")
        return system, matching
    if not path.exists():
        raise no_such_file(name)
    return system, [name]


def _remote(address: str) -> tuple[Any, list[str]]:
    """Files behind an address, by fsspec and what it needs for this kind of address (s3fs, gcsfs, ...)."""
    files = needed("pyarrow.fs", extra="parquet", purpose="Streams of files")
    core = needed("fsspec.core", extra="cluster", purpose="Addresses such as s3://bucket/items")
    try:
        system, path = core.url_to_fs(address)
        if _is_pattern(path):
            paths = sorted(system.glob(path))
        else:
            paths = _in_folder(address, sorted(system.find(path))) if system.isdir(path) else [path]
        if not paths or not system.exists(paths[0]):
            raise InputError(f"There is no file at {address!r}.")
    except (ImportError, ValueError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"Cannot open {address!r}: {error}.") from None
    return files.PyFileSystem(files.FSSpecHandler(system)), paths


def _in_folder(name: str, paths: Sequence[str]) -> list[str]:
    """The tables among the files of a folder; hidden ones, and marks such as _SUCCESS, are none."""
    tables = [
        path
        for path in paths
        if path.lower().endswith(_ENDINGS) and not path.rpartition("/")[2].startswith((".", "_"))
    ]
    if not tables:
        raise InputError(f"The folder {name!r} holds no Parquet or CSV file.")
    return tables
