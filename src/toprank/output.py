"""Files written whole or not at all, and archives of arrays that are read back with care.

Everything the library leaves on a disk goes through `write_whole`; only the log of `toprank reproduce`, which
grows line by line, is appended to.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "archive_bytes",
    "check_table_ending",
    "check_writable",
    "read_archive",
    "sync_folder",
    "table_bytes",
    "write_whole",
]

TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


def check_writable(path: Path, *, argument: str) -> None:
    """Refuse a place nothing can be written to, before hours of work are done for it.

    >>> check_writable(Path("no/such/folder/ranked.csv"), argument="out")
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: out 'no/such/folder/ranked.csv': there is no folder 'no/such/folder'.
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

    >>> check_table_ending(Path("ranked.CSV.gz"), argument="out")
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
    fails (a full disk), none is moved. Contents and names are on the disk when this returns, as far as the
    system can say so. Whatever happens, no temporary file stays behind.
    """
    waiting: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            waiting[path] = _write_beside(path, content)
        for path, temporary in waiting.items():
            temporary.replace(path)
        for folder in {path.parent for path in contents}:
            sync_folder(folder)
    except OSError as error:
        raise InputError(f"Cannot write {', '.join(map(str, contents))}: {error.strerror}.") from error
    finally:
        for temporary in waiting.values():
            with suppress(FileNotFoundError):
                temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk too, where the system knows how (Windows does not)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # some network file systems refuse it; the files themselves are safe
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def archive_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Named arrays as a compressed NumPy archive.

    >>> import numpy as np
    >>> archive_bytes({"a": np.arange(3)})[:2]
    b'PK'
    """
    import numpy as np

    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def read_archive(path: Path) -> dict[str, Any]:
    """The arrays of an archive; nothing in it is ever executed.

    Raises
    ------
    ValueError
        With a few words when the file cannot be read, is empty, cut short, damaged or something else.
    """
    import numpy as np

    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    if not content:
        raise ValueError("it is empty")
    if not content.startswith(b"PK"):
        raise ValueError("it is no archive of arrays")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zip, zlib and NumPy raise a dozen different things for damaged bytes
        raise ValueError(f"it was cut short or damaged: {' '.join(str(error).split())}") from None


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
