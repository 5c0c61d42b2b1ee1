"""Files written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toprank.datasets.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_table_ending", "check_writable", "table_bytes", "write_whole"]

TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


def check_writable(path: Path, *, argument: str) -> None:
    """Refuse a place nothing can be written to, before hours of work are done for it.

    >>> check_writable(Path("no/such/folder/ranked.csv"), argument="out")
    Traceback (most recent call last):
    ...
    toprank.datasets.errors.InputError: out 'no/such/folder/ranked.csv': there is no folder 'no/such/folder'.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{argument} {str(path)!r} is a folder; name a file.")
    if not folder.is_dir():
        raise InputError(f"{argument} {str(path)!r}: there is no folder {str(folder)!r}.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"{argument} {str(path)!r} cannot be written to.")


def check_table_ending(path: Path, *, argument: str) -> str:
    """The ending of a file a table can be written to.

    >>> check_table_ending(Path("ranked.CSV.gz"), argument="--out")
    '.csv.gz'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])
    if ending not in TABLE_ENDINGS:
        raise InputError(f"{argument} {str(path)!r} must end in one of {', '.join(TABLE_ENDINGS)}.")
    return ending


def table_bytes(frame: pd.DataFrame, path: Path, *, argument: str) -> bytes:
    """A table as the ending of the path wants it."""
    ending = check_table_ending(path, argument=argument)
    if ending == ".parquet":
        stream = io.BytesIO()
        try:
            frame.to_parquet(stream, index=False)
        except ImportError:
            raise InputError(
                f"{argument} {str(path)!r} needs pyarrow: install it with `pip install toprank[parquet]`."
            ) from None
        return stream.getvalue()
    text = frame.to_csv(index=False, sep="\t" if ending.startswith(".tsv") else ",").encode()
    # A fixed time stamp: the same table gives the same file.
    return gzip.compress(text, mtime=0) if ending.endswith(".gz") else text


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write several files so that a reader sees each complete, or as it was before.

    All go to temporary files in their folders first and are only then moved into place; when writing one
    fails (a full disk), none is moved.
    """
    waiting: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            waiting[path] = _write_beside(path, content)
        for path, temporary in waiting.items():
            temporary.replace(path)
    except OSError as error:
        raise InputError(f"Cannot write {', '.join(map(str, contents))}: {error.strerror}.") from error
    finally:
        for temporary in waiting.values():
            with suppress(FileNotFoundError):
                temporary.unlink()


def _write_beside(path: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; a new file should look as if it had been opened for writing.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    return temporary
