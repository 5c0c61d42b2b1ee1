"""The bytes of a file or of standard input, unpacked; of text, also the encoding and the separator."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toprank.errors import InputError

__all__ = [
    "SEPARATORS",
    "STANDARD_INPUT",
    "TextContent",
    "has_leading_zeros",
    "no_such_file",
    "raw_bytes",
    "text_content",
]

STANDARD_INPUT = "-"
"""The file name that stands for standard input."""
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_LINES_LOOKED_AT = 50
_BYTES_LOOKED_AT = 4096
_NEVER_TYPED = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a"})
"""Control characters; what lays text out, and what old systems put at its end, may stand in it."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (rb'(\[\s*)?\{\s*"|\[\s*\[', "holds JSON, not a table: save it as CSV, a line for each item"),
    (rb"<(!doctype|html|table|\?xml)\b", "holds a web page or XML, not a table: save it as CSV"),
    (rb"%PDF-", "is a PDF document, not a table: save what it shows as CSV"),
    (rb"PK\x03\x04", "is packed as Excel files are, not text: if it is a workbook, call it .xlsx"),
    (rb"\xd0\xcf\x11\xe0", "is a workbook of an old Excel, not text: save it as .xlsx or CSV"),
)
"""How things begin that are no table, and what to say about them."""


def raw_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, or of standard input for ``-``; unpacked where gzip packed them."""
    if os.fspath(path) == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("'-' reads the items from standard input, but nothing is piped into it.")
        content = sys.stdin.buffer.read()
        packed = content[:2] == b"\x1f\x8b"
    else:
        content = Path(path).read_bytes()
        packed = Path(path).suffix.lower() == ".gz"
    return gzip.decompress(content) if packed else content


def no_such_file(path: str | os.PathLike[str], what: str = "file") -> InputError:
    """That a file is not there, and which one is that is called nearly so."""
    place = Path(path)
    beside = [one.name for one in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, beside, n=1, cutoff=0.75)
    hint = f"; did you mean {str(place.with_name(near[0]))!r}?" if near else "."
    return InputError(f"There is no {what} {str(path)!r}{hint}")


@dataclass(frozen=True)
class TextContent:
    """Text with the way it is laid out.

    Parameters
    ----------
    data : bytes
        UTF-8, without a mark at the beginning.
    separator : str
    skipped : int
        Lines before the header; empty ones directly above it may come on top.
    header : list of str
    remarks : tuple of str
        What was assumed.
    encoding : str
        What it was encoded in before.
    """

    data: bytes
    separator: str
    skipped: int
    header: list[str]
    remarks: tuple[str, ...]
    encoding: str = "utf-8"


def text_content(
    data: bytes, name: str, *, encoding: str | None = None, separator: str | None = None
) -> TextContent:
    """Find out encoding, separator and header of some text, as far as they are not given."""
    _refuse_foreign(data, name)
    found, remarks = (encoding, ()) if encoding else _encoding(data, name)
    text = _utf8(data, found, name)
    lines = [line for line in _first_lines(text) if line.strip()]
    if not lines:
        raise InputError(f"{name!r} is empty.")
    if "\0" in lines[0]:
        raise InputError(f"{name!r} is not text: it holds zero bytes.")
    looked_at = text[:_BYTES_LOOKED_AT]
    if len(looked_at.translate(None, _NEVER_TYPED)) < 0.99 * len(looked_at):
        raise InputError(
            f"{name!r} is not text: its bytes are those of a picture, a program or a packed file."
        )
    skipped = 0
    # Excel's own way to say which separator a file uses.
    if lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5 and len(lines) > 1:
        separator, skipped = separator or lines[0].strip()[4], _first_lines(text).index(lines[0]) + 1
        lines = lines[1:]
    if separator is None:
        separator = _separator(lines)
    elif separator not in SEPARATORS and len(separator) != 1:
        raise InputError(
            f"separator {separator!r}: give a single character, such as {', '.join(map(repr, SEPARATORS))}."
        )
    names = next(csv.reader(io.StringIO(lines[0]), delimiter=separator, skipinitialspace=True))
    header = [one.strip() for one in names]
    return TextContent(text, separator, skipped, header, remarks, found or "utf-8")


def _refuse_foreign(data: bytes, name: str) -> None:
    """Say it where something else was saved under the name of a table."""
    start = data[:4096].removeprefix(codecs.BOM_UTF8).lstrip()
    for pattern, what in _FOREIGN:
        if re.match(pattern, start, re.IGNORECASE):
            raise InputError(f"{name!r} {what}.")


def _encoding(data: bytes, name: str) -> tuple[str | None, tuple[str, ...]]:
    """None for plain UTF-8, else what the first bytes say, else Windows-1252, which is latin-1 and more."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, ()
    start = data[:4096]
    if len(start) > 1 and start.count(0) > len(start) // 4:
        # Without a mark, text in UTF-16 shows in that every other byte is zero.
        encoding = "utf-16-be" if start[::2].count(0) > start[1::2].count(0) else "utf-16-le"
        return encoding, (
            f"{name} has no mark of its encoding and was read as {encoding}; `encoding` sets another.",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        encoding = "cp1252" if _decodes(data, "cp1252") else "latin-1"
        row = data.count(b"\n", 0, error.start) + 1
        called = "Windows-1252 (latin-1 and more)" if encoding == "cp1252" else encoding
        word = data[max(error.start - 12, 0) : error.end + 12].decode(encoding).split("\n")
        shown = max(word, key=len).strip(' ",;|\t\r')
        return encoding, (
            f"{name} is not UTF-8 (line {row}, {shown!r}) and was read as {called}; `encoding` sets another.",
        )
    return None, ()


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _utf8(data: bytes, encoding: str | None, name: str) -> bytes:
    if encoding is None:
        return data
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        raise InputError(
            f"encoding {encoding!r} is not known; common ones are utf-8, latin-1, cp1252, utf-16."
        ) from None
    except UnicodeError as error:
        where = f" (byte {error.start + 1})" if isinstance(error, UnicodeDecodeError) else ""
        raise InputError(
            f"{name!r} is not {encoding} text{where}; leave `encoding` out to have it found."
        ) from None


def _first_lines(text: bytes) -> list[str]:
    """Some lines from the beginning; the last may be cut short and is left out if there are more."""
    start = text[: 1 << 16].decode("utf-8", errors="ignore")
    lines = start.splitlines()
    return (
        lines[:_LINES_LOOKED_AT] if len(text) <= 1 << 16 or len(lines) < 2 else lines[:-1][:_LINES_LOOKED_AT]
    )


def _separator(lines: Sequence[str]) -> str:
    """The separator that splits the lines most evenly into more than one cell; a comma where none does."""

    def evenness(separator: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]
        wide = widths[0]
        return (sum(width == wide for width in widths) / len(widths), wide) if wide > 1 else (0.0, 0)

    try:
        return max(SEPARATORS, key=evenness)
    except csv.Error:
        return ","


def has_leading_zeros(text: bytes, separator: str) -> bool:
    """Whether some cell begins with a zero and another digit, as postcodes do: a quick look at all bytes."""
    codes = np.frombuffer(text, dtype=np.uint8)
    zeros = np.flatnonzero(codes[1:-1] == ord("0")) + 1
    starts = np.isin(codes[zeros - 1], np.frombuffer(f'{separator}"\n\r '.encode(), dtype=np.uint8))
    after = codes[zeros[starts] + 1]
    return bool(((after >= ord("0")) & (after <= ord("9"))).any())
