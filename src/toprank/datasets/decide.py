"""Which way each column of a table is read: decided from all its cells, and said where it is assumed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from toprank.datasets.declared import Declared
from toprank.datasets.evidence import MOSTLY, Evidence, Pairs, Verdict
from toprank.datasets.notes import Note
from toprank.datasets.readings import DateReading, NumberReading, Reading, TextReading
from toprank.datasets.sentinels import sentinel_notes
from toprank.datasets.table import Table
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Description", "described", "needs_a_look", "read_columns"]

_DECIMALS: tuple[Literal[".", ","], ...] = (".", ",")
LOOKS_LIKE = 0.5
"""A column of words of which so much begins like a number deserves a warning."""
_DATED = re.compile(r"\s*(\d{1,4}([-/.])\d{1,2}\2\d{1,4}\b|\d{1,2}\.?\s+[^\W\d]{3,})")
"""How cells begin that were meant as dates."""


@dataclass(frozen=True)
class Description:
    """How the columns of a table are read.

    Parameters
    ----------
    readings : mapping of str to Reading
    notes : tuple of Note
        What the user should know about it.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import Table
    >>> described(Table(pd.DataFrame({"price": ["$1,200", "$90"]}))).description.readings["price"].kind
    'number'
    """

    readings: Mapping[str, Reading]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Habits:
    """What the columns that leave no doubt say about the file: None where they say nothing, or disagree.

    Parameters
    ----------
    decimal : {0, 1, None}
        Decimal point, decimal comma.
    order : {0, 1, None}
        Day first, month first.
    """

    decimal: int | None = None
    order: int | None = None


def described(table: Table, declared: Declared | None = None) -> Table:
    """The table with its columns converted to numbers and dates, and the description of how.

    Columns that leave a doubt are read like those of the same table that leave none.

    >>> import pandas as pd
    >>> table = described(Table(pd.DataFrame({"price": ["$1,200", "$950"], "seal": ["Rubber", "steel"]})))
    >>> table.frame["price"].tolist(), table.description.readings["price"].unit
    ([1200.0, 950.0], '$')
    """
    import pandas as pd

    declared = declared or Declared()
    # Once each: with thousands of columns, taking them out of the frame is most of the work.
    columns = {name: table.frame[name] for name in table.columns}
    evidence = {
        name: Evidence.of(cells, declared.missing(name), table.numbers)
        for name, cells in columns.items()
        if needs_a_look(cells)
    }
    readings: dict[str, Reading] = {}
    notes: list[Note] = []
    frame = table.frame.copy(deep=False)
    for name, (reading, about) in read_columns(columns, evidence, declared).items():
        cells = columns[name]
        if not isinstance(reading, TextReading):
            values = reading.read(cells)
            about += sentinel_notes(name, values, reading)
            if name in evidence or reading.missing:
                frame[name] = pd.Series(reading.kept(values), index=cells.index)
        readings[name] = reading
        notes += about
    return replace(table, frame=frame, description=Description(readings, tuple(notes)))


def read_columns(
    columns: Mapping[str, pd.Series[Any]], evidence: Mapping[str, Evidence], declared: Declared
) -> dict[str, tuple[Reading, list[Note]]]:
    """How each column is read, and what to say about it; those in doubt like those that leave none.

    Parameters
    ----------
    columns : mapping of str to pandas.Series
        Cells of each column; where there is evidence, what it is of does not matter any more.
    evidence : mapping of str to Evidence
        Of the columns that need a look.
    declared : Declared
    """
    habits = _habits(evidence.values())
    return {name: _decided(cells, evidence.get(name), habits, declared) for name, cells in columns.items()}


def needs_a_look(cells: pd.Series[Any]) -> bool:
    """Whether the type of a column leaves open what its cells are."""
    import pandas as pd

    types = pd.api.types
    if types.is_complex_dtype(cells.dtype) or types.is_timedelta64_dtype(cells.dtype):
        raise InputError(f"Column {cells.name!r} is of type {cells.dtype}; leave it out with `ignore`.")
    return not (
        types.is_numeric_dtype(cells.dtype)
        or types.is_datetime64_any_dtype(cells.dtype)
        or isinstance(cells.dtype, pd.CategoricalDtype)
    )


def _habits(columns: Any) -> Habits:
    """What the columns beyond doubt have in common."""
    said: tuple[set[int], set[int]] = (set(), set())
    for evidence in columns:
        for pairs, ways in zip((evidence.numbers, evidence.dates), said, strict=True):
            verdict = evidence.verdict(pairs)
            if verdict.way is not None and verdict.share >= MOSTLY:
                ways.add(verdict.way)
    return Habits(*(ways.pop() if len(ways) == 1 else None for ways in said))


def _decided(
    cells: pd.Series[Any], evidence: Evidence | None, habits: Habits, declared: Declared
) -> tuple[Reading, list[Note]]:
    import pandas as pd

    name = str(cells.name)
    missing, way = declared.missing(name), declared.ways.get(name)
    if way in ("text", "exact text"):
        return TextReading(way == "exact text", missing), []
    if evidence is None:
        if isinstance(cells.dtype, pd.CategoricalDtype):
            return TextReading(missing=missing), []
        if pd.api.types.is_datetime64_any_dtype(cells.dtype):
            return DateReading(missing=missing), _date_note(name, DateReading(missing=missing).read(cells))
        return NumberReading(missing=missing), []
    unit, numbers, lacking = evidence.one_unit()
    if _wants(way, "number", "decimal comma", "decimal point"):
        verdict = evidence.verdict(numbers)
        if way is not None or (
            verdict.share >= MOSTLY and not _undecided(verdict) and not evidence.is_code()
        ):
            return _as_numbers(name, evidence, numbers, unit, lacking, habits, way, missing)
    if _wants(way, "date", "day first", "month first"):
        verdict = evidence.verdict(evidence.dates)
        if way is not None or (verdict.share >= MOSTLY and not _undecided(verdict)):
            return _as_dates(name, evidence, habits, way, missing)
    return TextReading(missing=missing), _why_text(name, evidence, numbers)


def _wants(way: str | None, *ways: str) -> bool:
    return way is None or way in ways


def _undecided(verdict: Verdict) -> bool:
    """As many cells for one way as for the other."""
    return verdict.way is None and verdict.torn


# -- numbers ---------------------------------------------------------------------------------------


def _as_numbers(
    name: str,
    evidence: Evidence,
    numbers: Pairs,
    unit: str,
    lacking: bool,
    habits: Habits,
    way: str | None,
    missing: tuple[str, ...],
) -> tuple[Reading, list[Note]]:
    verdict = evidence.verdict(numbers)
    told = {"decimal point": 0, "decimal comma": 1}.get(way or "", verdict.way)
    told = evidence.grouping() if told is None else told
    chosen = told if told is not None else habits.decimal or 0
    strange = np.isnan(numbers[:, chosen])
    reading = NumberReading(_DECIMALS[chosen], unit, missing, bool(strange.any()))
    notes = _strange_note(name, evidence, strange, "numbers", reading.show(1234.5))
    if verdict.ambiguous and told is None:
        notes.append(_assumed_decimal(name, evidence, numbers, chosen, habits))
    if lacking:
        text = f"some cells have {unit} and some have not; all are read in {unit}"
        notes.append(Note(name, "assumed", text, warning=True))
    example = next((cell for cell, bad in zip(evidence.cells, strange, strict=True) if not bad), None)
    if isinstance(example, str) and not example.strip().isdigit():
        value = numbers[evidence.cells.index(example), chosen]
        notes.append(Note(name, "read", f"text read as numbers: {example.strip()!r} is {value:.15g}"))
    return reading, notes


def _assumed_decimal(name: str, evidence: Evidence, numbers: Pairs, chosen: int, habits: Habits) -> Note:
    place = int(np.argmax(np.isfinite(numbers).all(axis=1) & (numbers[:, 0] != numbers[:, 1])))
    other = ("decimal comma", "decimal point")[chosen]
    why = " like the other columns" if habits.decimal is not None else ""
    text = (
        f"{evidence.cells[place].strip()!r} was read as {numbers[place, chosen]:.15g}{why}; no cell tells"
        f" whether it means {numbers[place, 1 - chosen]:.15g}: if so, say `read='{name}={other}'`"
    )
    # Columns beyond doubt in the same file settle it well enough for a note.
    return Note(name, "assumed", text, warning=habits.decimal is None)


def _strange_note(name: str, evidence: Evidence, strange: Any, what: str, like: str) -> list[Note]:
    """What is said about cells that are taken as missing."""
    notes = []
    if evidence.placeholders:
        words = ", ".join(map(repr, list(evidence.placeholders)[:3]))
        text = f"{sum(evidence.placeholders.values())} cells ({words}) taken as missing"
        notes.append(Note(name, "converted", text))
    if not strange.any():
        return notes
    places = np.flatnonzero(strange)[:3]
    examples = ", ".join(f"{evidence.cells[place]!r} in row {evidence.rows[place]}" for place in places)
    count = int(evidence.counts[strange].sum())
    text = (
        f"{count} of {int(evidence.counts.sum())} cells are no {what} like {like} ({examples}) and taken as"
        " missing"
    )
    return [*notes, Note(name, "converted", text, warning=True)]


# -- dates -----------------------------------------------------------------------------------------


def _as_dates(
    name: str, evidence: Evidence, habits: Habits, way: str | None, missing: tuple[str, ...]
) -> tuple[Reading, list[Note]]:
    verdict = evidence.verdict(evidence.dates)
    told = {"day first": 0, "month first": 1}.get(way or "", verdict.way)
    chosen = told if told is not None else _likely_order(evidence, habits)
    strange = np.isnan(evidence.dates[:, chosen])
    reading = DateReading(chosen == 0, missing, bool(strange.any()))
    order = ("day", "month")[chosen]
    notes = _strange_note(name, evidence, strange, "dates", f"2024-02-13, or with the {order} first")
    if verdict.ambiguous and told is None:
        place = int(np.argmax(evidence.dates[:, 0] != evidence.dates[:, 1]))
        meant, else_ = (reading.show(evidence.dates[place, one]) for one in (chosen, 1 - chosen))
        other = ("month", "day")[chosen]
        text = (
            f"{evidence.cells[place].strip()!r} was read as {meant}, {order} first; no cell tells whether it"
            f" means {else_}: if so, say `read='{name}={other} first'`"
        )
        notes.append(Note(name, "assumed", text, warning=habits.order is None))
    elif told is not None and told != verdict.way:
        notes.append(Note(name, "read", f"dates with the {order} first, as asked for"))
    elif verdict.way is not None:
        proof = (verdict.first if verdict.way == 0 else verdict.second) or 0
        cell, row = evidence.cells[proof], evidence.rows[proof]
        notes.append(
            Note(name, "read", f"dates with the {order} first, as {cell.strip()!r} in row {row} says")
        )
    return reading, notes + _date_note(name, evidence.dates[:, chosen])


def _likely_order(evidence: Evidence, habits: Habits) -> int:
    """An order for dates that can be read both ways: like the other columns, else what is written so most.

    Days that are all the first are months listed one by one; points and hyphens go with the day first, and so
    does a decimal comma.
    """
    if habits.order is not None:
        return habits.order
    days = [evidence.dates[:, one] for one in (0, 1)]
    first_of_month = [_all_first_of_month(some) for some in days]
    if first_of_month[0] != first_of_month[1]:
        return int(first_of_month[1])
    slashes = any("/" in cell for cell in evidence.cells if isinstance(cell, str))
    return int(slashes and habits.decimal != 1)


def _all_first_of_month(days: Any) -> bool:
    finite = days[np.isfinite(days)].astype("datetime64[D]")
    return bool((finite == finite.astype("datetime64[M]")).all())


def _date_note(name: str, days: Any) -> list[Note]:
    if not np.isfinite(days).any():
        return []
    first, last = (DateReading().show(float(edge)) for edge in (np.nanmin(days), np.nanmax(days)))
    return [Note(name, "converted", f"dates from {first} to {last}, turned into days since 1970")]


# -- words -----------------------------------------------------------------------------------------


def _why_text(name: str, evidence: Evidence, numbers: Pairs) -> list[Note]:
    """Why a column that looks like numbers or dates is kept as words."""
    if evidence.is_code():
        cell = str(evidence.cells[int(np.argmax(evidence.codes))]).strip()
        why = "leading zeros" if cell.startswith("0") else "more digits than a number keeps"
        text = f"kept as text for its {why} ({cell!r}); if it is a quantity, say `read='{name}=number'`"
        return [Note(name, "read", text)]
    for pairs, ways, sign in (
        (numbers, ("decimal point", "decimal comma"), "numbers"),
        (evidence.dates, ("day first", "month first"), "dates"),
    ):
        verdict = evidence.verdict(pairs)
        if verdict.torn and evidence.share(evidence.readable(pairs)) >= MOSTLY:
            one, two = (
                f"{evidence.cells[k or 0]!r} (row {evidence.rows[k or 0]})"
                for k in (verdict.first, verdict.second)
            )
            text = (
                f"kept as text, because it mixes two ways to write {sign}, {one} and {two}: write it in one"
                f" way, or say `read='{name}={ways[0]}'` or '{name}={ways[1]}'"
            )
            return [Note(name, "assumed", text, warning=True)]
    units = evidence.all_units()
    readable = evidence.readable(evidence.numbers)
    if len(units) > 1 and evidence.share(readable) >= MOSTLY:
        shown = ", ".join(unit or "none" for unit in units[:4])
        text = f"kept as text, because its numbers have different units ({shown}): write it in one"
        return [Note(name, "assumed", text, warning=True)]
    return _looks_like_numbers(name, evidence)


def _looks_like_numbers(name: str, evidence: Evidence) -> list[Note]:
    begins = np.array(
        [str(cell).lstrip(" (<>~≥≤+-$€£").strip()[:1].isdigit() for cell in evidence.cells], dtype=bool
    )
    if len(evidence.cells) <= 2 or evidence.share(begins) < LOOKS_LIKE:
        return []
    readable = evidence.readable(evidence.numbers) | evidence.readable(evidence.dates)
    bad = np.flatnonzero(~readable)
    place = int(bad[0]) if len(bad) else 0
    dated = _DATED.match(str(evidence.cells[place])) is not None
    like, way = ("dates like 2024-02-13 12:00", "date") if dated else ("numbers", "number")
    text = (
        f"looks like numbers or dates but is kept as text, because of cells such as {evidence.cells[place]!r}"
        f" (row {evidence.rows[place]}); write it as {like}, or say `read='{name}={way}'` to take such"
        " cells as missing"
    )
    return [Note(name, "assumed", text, warning=True)]
