"""What a user is told about the columns: warnings first, notes second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Note", "listed", "warning_sentences"]

Action = Literal["dropped", "imputed", "one-hot", "unknown", "converted", "read", "assumed", "asked"]
MOST_WARNINGS = 12
"""More than this many at the top would hide the list itself."""


@dataclass(frozen=True, slots=True)
class Note:
    """What was done to a column, for the report.

    Parameters
    ----------
    column : str
    action : str
        One of dropped, imputed, one-hot, unknown, converted, read, assumed (it could be read in another way),
        asked (only the user can tell).
    text : str
        The sentence a user reads after the name of the column.
    warning : bool
        It may change the ranking and deserves a look: shown above the list, not below it.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import described
    >>> from toprank.datasets.table import Table
    >>> price = described(Table(pd.DataFrame({"price": ["$1,200", "$9.50"]})))
    >>> for note in price.description.notes:
    ...     print(f"{note.action}: {note.column} {note.text}")
    read: price text read as numbers: '$1,200' is 1200
    """

    column: str
    action: Action
    text: str
    warning: bool = False


def warning_sentences(notes: Iterable[Note]) -> list[str]:
    """The warnings among some notes as sentences, columns with the same one together.

    >>> asked = [Note(name, "asked", "holds -999", warning=True) for name in ("age", "fare")]
    >>> warning_sentences([*asked, Note("k", "dropped", "empty")])
    ["Columns 'age', 'fare': holds -999."]
    """
    together: dict[str, list[Note]] = {}
    for note in notes:
        if note.warning:
            together.setdefault(note.text.replace(f"'{note.column}=", "'COLUMN="), []).append(note)
    sentences = [
        f"Column {same[0].column!r}: {same[0].text}."
        if len(same) == 1
        else f"Columns {listed(note.column for note in same)}: {text}."
        for text, same in together.items()
    ]
    if len(sentences) > MOST_WARNINGS:
        left = len(sentences) - MOST_WARNINGS
        sentences[MOST_WARNINGS:] = [f"{left} more warnings about columns are among the notes below."]
    return sentences


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in quotes, the first few of them."""
    names = list(names)
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
