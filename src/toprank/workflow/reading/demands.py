"""What a user demands of a linear ranker, in a small TOML file: signs, few features, points, must-haves."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from toprank.datasets import InputError, Table
from toprank.datasets.roles import label_text
from toprank.exact import Constraints, TopGroup

__all__ = ["Demands", "MustHave", "read_demands"]

SIGNS = {"+": 1, "-": -1}
KEYS = ("most_features", "points", "signs", "top")
TOP_KEYS = ("first", "column", "value", "at_least", "at_most")


@dataclass(frozen=True, slots=True)
class MustHave:
    """At least, or at most, so many of the first items have this value in a column."""

    first: int
    column: str
    value: str
    at_least: int | None = None
    at_most: int | None = None

    def scaled(self, share: float) -> MustHave:
        """The same of a shorter list, never more demanding: a part of the rows is learned from to judge."""
        least = None if self.at_least is None else math.floor(self.at_least * share)
        most = None if self.at_most is None else math.ceil(self.at_most * share)
        return replace(self, first=max(1, round(self.first * share)), at_least=least, at_most=most)

    def group(self, features: Table) -> TopGroup | None:
        """The demand about the rows of a table; None where no row has the value."""
        cells = features.column(self.column, argument="column")
        rows = np.flatnonzero((cells.map(label_text) == self.value).to_numpy())
        if not len(rows):
            return None
        least = None if self.at_least is None else min(self.at_least, len(rows), self.first)
        return TopGroup(tuple(rows.tolist()), self.first, least, self.at_most)


@dataclass(frozen=True, slots=True)
class Demands:
    """What the file says.

    Parameters
    ----------
    source : str
        The file, for messages.
    signs : mapping of feature to {-1, 1}
    most_features, points : int or None
        At most so many coefficients that are not zero; whole ones, from minus this to this.
    top : tuple of MustHave
    rows : int
        Of the whole list; a fit to fewer of them is asked for fewer must-haves.

    Examples
    --------
    >>> demands = Demands("rules.toml", {"age": 1}, most_features=2)
    >>> demands.constraints(["age", "dose"]).signs
    (1, 0)
    """

    source: str
    signs: Mapping[str, int]
    most_features: int | None = None
    points: int | None = None
    top: tuple[MustHave, ...] = ()
    rows: int = 0

    def checked(self, features: Table, names: Sequence[str]) -> Demands:
        """The demands on these rows; those about features and columns that are not there are refused."""
        self._check_signs(names)
        for number, one in enumerate(self.top, start=1):
            self._check_top(f"top[{number}]", one, features)
        return replace(self, rows=len(features))

    def _check_signs(self, names: Sequence[str]) -> None:
        for name in self.signs:
            if name in names:
                continue
            of_words = [one for one in names if one.startswith(f"{name}=")]
            if of_words:
                raise self._error(f"signs.{name}", f"holds words; name one of its features: {_few(of_words)}")
            raise self._error(f"signs.{name}", f"there is no such feature; there are {_few(names)}")

    def _check_top(self, where: str, one: MustHave, features: Table) -> None:
        if one.column not in features.columns:
            raise self._error(
                f"{where}.column = {one.column!r}",
                f"it is none of the columns that are learned from: {_few(features.columns)}",
            )
        values = sorted(set(features.frame[one.column].map(label_text)))
        if one.value not in values:
            what = f"no row has it in {one.column!r}, which holds {_few(values)}"
            raise self._error(f"{where}.value = {one.value!r}", what)
        if one.first >= len(features):
            what = f"give a number below {len(features)}, the length of the list"
            raise self._error(f"{where}.first = {one.first}", what)

    def constraints(self, names: Sequence[str], features: Table | None = None) -> Constraints:
        """The demands on a fit.

        Parameters
        ----------
        names : sequence of str
            Features, in the order of the coefficients.
        features : Table, optional
            The rows; needed for must-haves only.
        """
        share = 1.0 if features is None or not self.rows else len(features) / self.rows
        groups = [] if features is None else [one.scaled(share).group(features) for one in self.top]
        return Constraints(
            signs=tuple(self.signs.get(name, 0) for name in names) if self.signs else None,
            max_features=self.most_features,
            integer_range=self.points,
            top_groups=tuple(group for group in groups if group is not None),
        )

    def _error(self, key: str, what: str) -> InputError:
        return InputError(f"--constraints {self.source!r}: {key}: {what}.")


def read_demands(path: Path) -> Demands:
    """The demands in a TOML file; every error names the key and says what to do."""
    source = str(path)
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--constraints {source!r} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"--constraints {source!r} is no TOML: {error}.") from None
    reader = _Reader(source)
    reader.check_keys(said, KEYS, "")
    if not said:
        raise InputError(f"--constraints {source!r} demands nothing; write {_few(KEYS)}.")
    return Demands(
        source,
        reader.signs(said.get("signs", {})),
        reader.whole(said, "most_features", 1),
        reader.whole(said, "points", 1),
        reader.must_haves(said.get("top", [])),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes a parsed file apart, and names the key of what does not fit."""

    source: str

    def error(self, key: str, what: str) -> InputError:
        return InputError(f"--constraints {self.source!r}: {key}: {what}.")

    def check_keys(self, said: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for key in said:
            if key not in known:
                raise self.error(f"{where}{key}", f"there is no such key; there are {_few(known)}")

    def whole(self, said: Mapping[str, Any], key: str, least: int, where: str = "") -> int | None:
        value = said.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(f"{where}{key} = {value!r}", f"give a whole number from {least}")
        return value

    def signs(self, said: Any) -> dict[str, int]:
        if not isinstance(said, dict):
            raise self.error("signs", 'make it a table: [signs], and below it lines such as age = "+"')
        for name, sign in said.items():
            if not isinstance(sign, str) or sign not in SIGNS:
                raise self.error(
                    f"signs.{name} = {sign!r}",
                    'write "+" where more of it must not lower an item, "-" where it must not raise it',
                )
        return {name: SIGNS[sign] for name, sign in said.items()}

    def must_haves(self, said: Any) -> tuple[MustHave, ...]:
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise self.error("top", "make it a list of tables: [[top]], and below it first, column, value")
        return tuple(self.must_have(one, f"top[{number}].") for number, one in enumerate(said, start=1))

    def must_have(self, said: Mapping[str, Any], where: str) -> MustHave:
        self.check_keys(said, TOP_KEYS, where)
        for key in ("first", "column", "value"):
            if key not in said:
                raise self.error(f"{where}{key}", "it is missing")
        if not isinstance(said["column"], str):
            raise self.error(f"{where}column = {said['column']!r}", "give the name of a column, in quotes")
        first = self.whole(said, "first", 1, where)
        least, most = (self.whole(said, key, 0, where) for key in ("at_least", "at_most"))
        assert first is not None  # it is there
        if least is None and most is None:
            raise self.error(f"{where}at_least", "say at_least or at_most, or both")
        if least is not None and least > first:
            raise self.error(f"{where}at_least = {least}", f"it cannot be more than first = {first}")
        if least is not None and most is not None and least > most:
            raise self.error(f"{where}at_least = {least}", f"it cannot be more than at_most = {most}")
        return MustHave(first, said["column"], label_text(said["value"]), least, most)


def _few(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
