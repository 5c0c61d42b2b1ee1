"""What every table on the screen is made of: the console, grids, figures, remarks."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid

if TYPE_CHECKING:
    from toprank.datasets import Note

__all__ = [
    "WIDE",
    "cell",
    "console",
    "grid",
    "number",
    "remarks",
    "show_files",
    "show_notes",
    "with_deviation",
]

PLAIN_WIDTH = 110
"""Columns of text where no terminal says how wide it is."""
WIDE = 72
"""From so many columns of text on, figures and reasons stand side by side; below, apart, to be whole."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line; rich itself would exit with 1."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, as wide as the terminal."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return _Console(width=width, highlight=False, markup=False, soft_wrap=not sys.stdout.isatty())


def grid() -> Grid:
    """A table without lines."""
    return Grid(box=None, pad_edge=False, padding=(0, 1))


def remarks(to: Console, said: Iterable[str]) -> None:
    """Print what deserves a look."""
    for remark in said:
        to.print(remark, style="yellow")


def show_notes(to: Console, notes: list[Note], title: str) -> None:
    """Print what is no warning: those stand above the list."""
    notes = [note for note in notes if not note.warning]
    to.print(f"\n{title}")
    width = max((len(note.column) for note in notes), default=0)
    for note in notes:
        to.print(f"  {note.column:<{width}}  {note.action}: {note.text}")


def show_files(to: Console, files: Mapping[str, str]) -> None:
    """Print where the files are and what is in each."""
    if files:
        to.print("\nFiles")
        width = max(map(len, files))
        for path, about in files.items():
            to.print(f"  {path:<{width}}  {about}")


def cell(value: Any) -> str:
    """A cell of a user's table; nothing where it is missing."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    if value is None:
        return ""
    with suppress(TypeError, ValueError):
        if value != value:  # pandas' NA and NaT are not equal to themselves
            return ""
    return str(value)


def number(value: float, sign: str = "") -> str:
    """Four digits, trailing zeros kept so that columns line up; no powers of ten below a million."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:{sign}#.4g}"


def with_deviation(mean: float, deviation: float, *, signed: bool = False) -> str:
    """A mean with its deviation, where there is one."""
    text = number(mean, "+" if signed else "")
    return text if math.isnan(deviation) else f"{text} ± {deviation:.2g}"
