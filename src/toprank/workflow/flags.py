"""Arguments in messages, as the command line writes them.

Layers below the commands know no command line: their messages name an argument as Python does, in backticks,
```read='age=number'```, and the command turns it into the option, ``--read 'age=number'``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from toprank.datasets import Note

__all__ = ["ARGUMENTS", "each_once", "in_flags", "notes_in_flags", "said_by"]

ARGUMENTS = frozenset(
    {
        "all",
        "budget",
        "cluster",
        "docs",
        "encoding",
        "ignore",
        "jobs",
        "labels",
        "missing",
        "only",
        "paper_limits",
        "positive",
        "read",
        "results",
        "split_by",
        "sql",
    }
)
"""Arguments that lower layers name; each is an option of a command."""
_NAMED = re.compile(rf"`({'|'.join(sorted(ARGUMENTS))})(?:=(.*?))?`")


def in_flags(message: str) -> str:
    """A message with the options of the command line in the place of arguments.

    >>> in_flags("if so, say `read='price=decimal comma'`, or leave `split_by` out")
    "if so, say --read 'price=decimal comma', or leave --split-by out"
    """
    return _NAMED.sub(_flag, message)


def notes_in_flags(notes: Iterable[Note]) -> list[Note]:
    """Notes about columns with the options of the command line in the place of arguments."""
    return [replace(note, text=in_flags(note.text)) for note in notes]


def _flag(found: re.Match[str]) -> str:
    flag = f"--{found[1].replace('_', '-')}"
    return flag if found[2] is None else f"{flag} {found[2]}"


def said_by(name: str, text: str) -> str:
    """A ranker's warning, with its name in front once.

    >>> said_by("RankSVM", "no end"), said_by("RankSVM", "RankSVM: no end")
    ('RankSVM: no end', 'RankSVM: no end')
    """
    return text if text.startswith(f"{name}: ") else f"{name}: {text}"


def each_once(remarks: list[str], rankers: Collection[str] = ()) -> list[str]:
    """Remarks in the words of the command line; those that differ in figures only once, as they came first.

    What several of `rankers` say, each with its name in front, is said once, by all of them.

    >>> each_once(["A took 2 s", "B took 1 s", "A took 3 s"])
    ['A took 2 s', 'B took 1 s']
    >>> each_once(["A: no end", "B: no end", "C: no end"], ["A", "B"])
    ['A, B: no end', 'C: no end']
    """
    said: dict[str, tuple[list[str], str]] = {}
    for remark in remarks:
        name, colon, text = remark.partition(": ")
        speaker, words = (name, text) if colon and name in rankers else ("", remark)
        names, _ = said.setdefault(re.sub(r"[0-9.e+-]+", "#", words), ([], words))
        if speaker and speaker not in names:
            names.append(speaker)
    return [in_flags(f"{', '.join(names)}: {words}" if names else words) for names, words in said.values()]
