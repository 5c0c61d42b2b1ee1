"""What the user says about columns: how to read them, and which values stand for missing ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from toprank.datasets.notes import listed
from toprank.errors import InputError

__all__ = ["WAYS", "Declared"]

WAYS = ("number", "decimal comma", "decimal point", "date", "day first", "month first", "text", "exact text")
"""What ``read="COLUMN=WAY"`` can say."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What you say about columns; everything else is found out from their cells.

    Parameters
    ----------
    ways : dict of str to str
        Column: one of `WAYS`.
    codes : dict of str to tuple of str
        Column: values that stand for a missing one.
    everywhere : tuple of str
        Values that stand for a missing one in every column.

    Examples
    --------
    >>> said = Declared.of(["age", "zip"], missing=["age=-999"], read=["zip=text"])
    >>> said.missing("age"), said.ways
    (('-999',), {'zip': 'text'})
    """

    ways: dict[str, str] = field(default_factory=dict)
    codes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Collection[str],
        *,
        categorical: Collection[str] = (),
        missing: Sequence[str] = (),
        read: Sequence[str] = (),
    ) -> Declared:
        """Take apart what was given as ``COLUMN=VALUE``.

        >>> Declared.of(["age", "when"], missing=["age=-999", "?"], read=["when=day-first"])
        Declared(ways={'when': 'day first'}, codes={'age': ('-999',)}, everywhere=('?',))
        """
        ways = dict.fromkeys(categorical, "text")
        for said in read:
            name, way = _taken_apart(said, columns, "read")
            way = " ".join(way.replace("-", " ").split()).lower()
            if way not in WAYS:
                raise InputError(
                    f"read {said!r}: {way!r} is no way to read a column; these are {listed(WAYS)}."
                )
            if ways.get(name, way) != way:
                raise InputError(f"Column {name!r} is to be read both as {ways[name]} and as {way}.")
            ways[name] = way
        codes: dict[str, tuple[str, ...]] = {}
        everywhere: list[str] = []
        for said in missing:
            if "=" not in said:
                everywhere.append(said.strip())
                continue
            name, value = _taken_apart(said, columns, "missing")
            codes[name] = (*codes.get(name, ()), value)
        return cls(ways, codes, tuple(everywhere))

    def missing(self, column: str) -> tuple[str, ...]:
        """Values that stand for a missing one in this column."""
        return (*self.codes.get(column, ()), *self.everywhere)


def _taken_apart(said: str, columns: Collection[str], argument: str) -> tuple[str, str]:
    """Column and value; a column's name may itself hold an equals sign."""
    places = [place for place, sign in enumerate(said) if sign == "="]
    for place in reversed(places):
        if said[:place] in columns:
            return said[:place], said[place + 1 :].strip()
    if not places:
        raise InputError(f"{argument} {said!r}: write COLUMN=WAY, such as when='day first'.")
    raise InputError(
        f"{argument} {said!r}: there is no column {said[: places[0]]!r} to learn from; there are"
        f" {listed(columns, 12)}."
    )
