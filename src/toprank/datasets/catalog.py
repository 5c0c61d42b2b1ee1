"""What is known about each data set: where it comes from, what may be done with it, what to watch for.

The declarations are in `catalog.toml`; `toprank.datasets.load` reads the data itself.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from toprank.errors import InputError

__all__ = ["Entry", "OpenML", "catalog", "entry", "names"]


@dataclass(frozen=True, slots=True)
class OpenML:
    """Where OpenML has the same rows, and which of its labels belongs at the top."""

    data_id: int
    positive: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the catalog knows about one data set.

    Parameters
    ----------
    name, file, sha256 : str
        What to call it, the file in the folder TOPRANK_DATA, the checksum of that file.
    rows, features : int
        Size as in the file, identifiers counted as features.
    positives : int or None
        Rows that belong at the top; None where labels are graded.
    about, origin, licence, citation : str
    identifiers : tuple of str
        Columns that only name a row or a subject; dropped unless asked for.
    leaks : tuple of str
        Columns that give the label away; dropped unless asked for.
    nominal : tuple of str
        Columns whose numbers are only codes; one-hot encode them for a linear model.
    group : str
        The identifier whose rows belong together and should be split together, if there is one.
    rows_per_group : int
        Set where every so many consecutive rows belong together.
    caution : str
        What to know before believing a figure.
    openml : OpenML or None
        Where to find it when the file is not at hand.

    Examples
    --------
    >>> from toprank.datasets import entry
    >>> entry("pima").rows, entry("pima").positives
    (768, 268)
    """

    name: str
    file: str
    sha256: str
    rows: int
    features: int
    about: str
    origin: str
    licence: str
    citation: str
    positives: int | None = None
    identifiers: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    group: str = ""
    rows_per_group: int = 0
    caution: str = ""
    openml: OpenML | None = None

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that `load` leaves out by default."""
        return self.identifiers + self.leaks


@cache
def catalog() -> dict[str, Entry]:
    """Every data set by name.

    >>> catalog()["pima"].rows
    768
    """
    text = files("toprank.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: _from_table(name, fields) for name, fields in tomllib.loads(text).items()}


def names() -> tuple[str, ...]:
    """The names `load` knows.

    >>> names()[:4]
    ('pima', 'haberman', 'ionosphere', 'spambase')
    """
    return tuple(catalog())


def entry(name: str) -> Entry:
    """What is known about one data set.

    >>> entry("abalone19").positives
    32
    >>> entry("abalone")
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: No data set is called 'abalone'; did you mean 'abalone19'?
    """
    known = catalog()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
    raise InputError(f"No data set is called {name!r}; {hint}")


def _from_table(name: str, fields: dict[str, Any]) -> Entry:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    if "openml" in values:
        values["openml"] = OpenML(**values["openml"])
    return Entry(name=name, **values)
