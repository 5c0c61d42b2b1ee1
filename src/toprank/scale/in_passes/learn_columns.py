"""How columns become features, learned from files in passes: the encoder that memory would give.

One pass counts: moments and a sample of columns of numbers, the different cells of all others. Medians come
from the sample where it holds all rows, and from a second pass where it does not; both are exact, means and
deviations equal those in memory to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets import Declared, Note
from toprank.datasets.columns import Column, NumberColumn, number_column, text_column
from toprank.datasets.decide import needs_a_look, read_columns
from toprank.datasets.encode import ColumnEncoder
from toprank.datasets.evidence import Evidence
from toprank.datasets.readings import DateReading, NumberReading, Reading, TextReading
from toprank.datasets.sentinels import looks_like_code, sentinel_notes
from toprank.errors import InputError
from toprank.scale.files.addresses import called
from toprank.scale.files.batches import is_text, numbers_in
from toprank.scale.files.parts import Part
from toprank.scale.in_passes.numbers import (
    Between,
    Moments,
    bracket,
    chosen_rows,
    middle_of_counted,
    sample_share,
)
from toprank.scale.in_passes.passes import Pass, Told, over_parts
from toprank.scale.in_passes.words import Words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["learn_columns"]

Floats = NDArray[np.float64]
ENDS = 8
"""Different values at either end of a column that can show which stand for missing ones."""


def learn_columns(
    parts: Sequence[Part],
    names: Sequence[str],
    declared: Declared,
    *,
    rows: int,
    n_jobs: int = -1,
    told: Told | None = None,
) -> tuple[ColumnEncoder, list[Note]]:
    """What `toprank.datasets.learn_encoder` would learn from all rows of some parts, and say about them.

    Parameters
    ----------
    parts : sequence of Part
    names : sequence of str
        The columns to learn from.
    declared : Declared
        What the user says about them.
    rows : int
        How many there are.
    n_jobs : int
        Threads; -1: one for each processor.
    told : callable, optional
        Called with the number of rows of every batch that was read.
    """
    looked = _Look(parts, declared, sample_share(rows), n_jobs, told)
    looked.at(names)
    cells = {name: looked.cells(name) for name in names}
    evidence = {
        name: looked.evidence(name, one)
        for name, one in cells.items()
        if name in looked.words and needs_a_look(one)
    }
    decided = read_columns(cells, evidence, declared)
    middles = looked.medians()
    notes: list[Note] = []
    for name, (reading, about) in decided.items():
        values = looked.ends(name, reading, cells[name])
        notes += about + ([] if values is None else sentinel_notes(name, values, reading))
    columns = []
    for name, (reading, _) in decided.items():
        column, said = looked.learned(name, reading, cells[name], middles)
        notes += said
        if column is not None:
            columns.append(column)
    if not columns:
        why = "; ".join(f"{note.column!r} {note.text}" for note in notes if note.action == "dropped")
        files = called([part.file for part in parts])
        raise InputError(f"{files}: there is no column to learn from ({why}).")
    return ColumnEncoder(tuple(columns)), notes


@dataclass
class _Look:
    """What was seen of the columns so far."""

    parts: Sequence[Part]
    declared: Declared
    share: float
    n_jobs: int
    told: Told | None
    numbers: dict[str, Moments] = field(default_factory=dict)
    dates: set[str] = field(default_factory=set)
    words: dict[str, Words] = field(default_factory=dict)
    samples: dict[str, Floats] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    outermost: dict[str, Floats] = field(default_factory=dict)

    def at(self, names: Sequence[str]) -> None:
        """One pass; columns of text files that turn out to hold more than numbers are counted in another."""
        # What the user says about the way it is written is for every cell to be read by.
        counted = [name for name in names if name in self.declared.ways]
        failed = self._pass([name for name in names if name not in counted], counted)
        if failed:
            self._pass([], failed)

    def _pass(self, hopeful: Sequence[str], counted: Sequence[str]) -> list[str]:
        kinds = {name: _kind(self.parts, name) for name in hopeful}
        typed = any(part.file.kind == "parquet" for part in self.parts)
        text = [*counted, *(name for name, kind in kinds.items() if kind == "words")]
        self.words |= {name: Words(name, typed) for name in text}
        self.dates |= {name for name, kind in kinds.items() if kind == "date"}
        quick = [name for name, kind in kinds.items() if kind != "words"]
        found = over_parts(
            self.parts,
            lambda one, part, number: self._part(one, part, number, quick, text),
            n_jobs=self.n_jobs,
            told=self.told,
        )
        self.sizes = [one.rows for one in found]
        good = [name for name in quick if all(name in one.moments for one in found)]
        for name in good:
            self.numbers[name] = sum((one.moments[name] for one in found), Moments())
            self.samples[name] = np.sort(np.concatenate([one.samples[name] for one in found]))
        return [name for name in quick if name not in good]

    def _part(self, one: Pass, part: Part, number: int, quick: Sequence[str], text: Sequence[str]) -> _Seen:
        seen = _Seen({name: Moments() for name in quick})
        for batch, place in one.batches(part, number, [*quick, *text]):
            chosen = chosen_rows(number, place.first, len(batch), self.share)
            for name in list(seen.moments):
                values = _values(batch.column(name), self.declared.missing(name), part.file.kind == "csv")
                if values is None:
                    del seen.moments[name]
                    continue
                _refuse_infinite(name, values, part, place.first)
                seen.moments[name] += Moments.of(values)
                sampled = values[chosen]
                seen.pieces.setdefault(name, []).append(sampled[~np.isnan(sampled)])
            for name in text:
                self.words[name].add(batch.column(name), (number, place.first))
            seen.rows += len(batch)
        return seen

    # -- what it comes to ---------------------------------------------------------------------------

    def cells(self, name: str) -> pd.Series[Any]:
        """Cells that stand for a column: its different ones, or for numbers and moments its ends."""
        import pandas as pd

        if name in self.words:
            kinds = {str(part.file.kind) for part in self.parts}
            cells = pd.Series(self.words[name].cells(), name=name, dtype=object)
            if kinds == {"parquet"} and all(_stored(part, name) == "category" for part in self.parts):
                return cells.astype("category")
            return cells.infer_objects() if kinds == {"parquet"} and _all_numbers(self.parts, name) else cells
        sums = self.numbers[name]
        ends = np.array([sums.low, sums.high] if sums.count else [np.nan])
        return pd.Series(DateReading().kept(ends) if name in self.dates else ends, name=name)

    def evidence(self, name: str, cells: pd.Series[Any]) -> Evidence:
        """What the different cells of a column say about how they were written."""
        starts = np.concatenate(([0], np.cumsum(self.sizes)[:-1])).astype(np.int64)
        words = self.words[name]
        return Evidence.counted(list(cells), words.counts(), words.rows(starts), self.declared.missing(name))

    def medians(self) -> dict[str, float]:
        """Of the columns of numbers; a pass gathers what lies around those that the sample leaves open."""
        found = {}
        width = {}
        for name, sums in self.numbers.items():
            sample = self.samples[name]
            if len(sample) == sums.count:
                with np.errstate(over="ignore"):
                    found[name] = float(np.median(sample)) if sums.count else np.nan
                self.outermost[name] = _ends(sample)
            else:
                width[name] = 1.0
        while width:
            edges = {name: bracket(self.samples[name], wide) for name, wide in width.items()}
            for name, between in self._between(edges).items():
                middle = between.middle(self.numbers[name].count)
                if middle is None:
                    width[name] *= 4.0
                else:
                    found[name] = middle
                    del width[name]
        return found

    def _between(self, edges: Mapping[str, tuple[float, float]]) -> dict[str, Between]:
        """What lies between two values of each column, from one pass; the ends of columns on the way."""

        def look(one: Pass, part: Part, number: int) -> tuple[dict[str, list[Between]], dict[str, Floats]]:
            around: dict[str, list[Between]] = {name: [] for name in edges}
            ends: dict[str, Floats] = {name: np.zeros(0) for name in edges}
            for batch, _ in one.batches(part, number, list(edges)):
                for name, pair in edges.items():
                    values = _values(batch.column(name), self.declared.missing(name), part.file.kind == "csv")
                    assert values is not None  # the first pass has seen that these are numbers
                    around[name].append(Between.of(values, pair))
                    if self._may_hold_codes(name):
                        ends[name] = _ends(np.concatenate((ends[name], values[~np.isnan(values)])))
            return {name: [Between.joined(some)] for name, some in around.items() if some}, ends

        found = over_parts(self.parts, look, n_jobs=self.n_jobs, told=self.told)
        for name in edges:
            self.outermost[name] = _ends(np.concatenate([ends[name] for _, ends in found]))
        return {
            name: Between.joined([one for some, _ in found for one in some.get(name, [])]) for name in edges
        }

    def _may_hold_codes(self, name: str) -> bool:
        """Whether the smallest or the largest number of a column looks like a code for a missing one."""
        reading = DateReading() if name in self.dates else NumberReading()
        sums = self.numbers[name]
        return any(looks_like_code(edge, reading) for edge in (sums.low, sums.high))

    def ends(self, name: str, reading: Reading, cells: pd.Series[Any]) -> Floats | None:
        """Values among which codes for missing ones would show; None of words."""
        if isinstance(reading, TextReading):
            return None
        if name in self.words:
            return np.asarray(reading.read(cells), dtype=np.float64)
        return self.outermost.get(name, np.zeros(0))

    def learned(
        self, name: str, reading: Reading, cells: pd.Series[Any], middles: Mapping[str, float]
    ) -> tuple[Column | None, list[Note]]:
        """The column, None where nothing can be learned from it, and what to say."""
        import pandas as pd

        if name in self.words and isinstance(reading, TextReading):
            return self._learned_words(name, reading, cells)
        if name in self.words:
            assert not isinstance(reading, TextReading)
            counts = self.words[name].counts()
            # Through the same gates as in memory: dates are kept as moments, and read again.
            values = reading.read(pd.Series(reading.kept(reading.read(cells)), name=name))
            sums = Moments.counted(values, counts, self.words[name].missing)
            middle = middle_of_counted(values, counts)
        else:
            sums, middle = self.numbers[name], middles[name]
        if not sums.count:
            return None, [Note(name, "dropped", "empty")]
        assert not isinstance(reading, TextReading)
        column, notes = number_column(name, reading, middle, (sums.low, sums.high), *sums.filled(middle))
        if isinstance(column, NumberColumn) and sums.missing:
            notes = [*notes, column.imputed(sums.missing, sums.missing + sums.count)]
        return column, notes

    def _learned_words(
        self, name: str, reading: TextReading, cells: pd.Series[Any]
    ) -> tuple[Column | None, list[Note]]:
        words, absent = self.words[name], self.words[name].missing
        counts: dict[str, int] = {}
        for text, count in zip(reading.read(cells), words.counts().tolist(), strict=True):
            if not isinstance(text, str):
                absent += count
            else:
                counts[text] = counts.get(text, 0) + count
        # The most frequent first, those as frequent in the order of the rows: as pandas counts.
        ordered = dict(sorted(counts.items(), key=lambda one: -one[1]))
        column, notes = text_column(name, ordered, reading)
        if column is not None and absent:
            notes = [*notes, column.imputed(absent, absent + sum(counts.values()))]
        return column, notes


@dataclass
class _Seen:
    """Of one part: the moments of columns that hold numbers so far, samples of them, and how many rows."""

    moments: dict[str, Moments]
    pieces: dict[str, list[Floats]] = field(default_factory=dict)
    rows: int = 0

    @property
    def samples(self) -> dict[str, Floats]:
        return {name: np.concatenate(self.pieces.get(name, [np.zeros(0)])) for name in self.moments}


def _kind(parts: Sequence[Part], name: str) -> str:
    """What a column may be, as far as the files say it: numbers, dates, or words."""
    stored = {_stored(part, name) for part in parts}
    if stored <= {"number", "text file"}:
        return "number"
    return "date" if stored == {"date"} else "words"


def _all_numbers(parts: Sequence[Part], name: str) -> bool:
    return {_stored(part, name) for part in parts} == {"number"}


def _stored(part: Part, name: str) -> str:
    import pyarrow as pa

    schema = getattr(part, "schema", None)
    if schema is None:
        return "text file"
    kind, types = schema.field(name).type, pa.types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind):
        return "number"
    if types.is_timestamp(kind):
        return "date"
    if types.is_duration(kind) or types.is_nested(kind):
        raise InputError(f"Column {name!r} is of type {kind}; leave it out with `ignore`.")
    return "category" if types.is_dictionary(kind) else "words"


def _values(cells: Any, missing: tuple[str, ...], from_text: bool) -> Floats | None:
    """Cells as numbers or days, NaN where one is missing; None where text is more than plain numbers."""
    import pyarrow as pa

    if is_text(cells):
        if _says_more(cells):
            return None
        cells = numbers_in(cells)
        if cells is None or (from_text and pa.types.is_boolean(cells.type)):
            return None
    if pa.types.is_timestamp(cells.type):
        return np.asarray(DateReading(missing=missing).read(cells.to_pandas()), dtype=np.float64)
    values = cells.to_pandas()
    if values.dtype == object:  # truth values with gaps
        values = values.astype("float64")
    return np.asarray(NumberReading(missing=missing).read(values), dtype=np.float64)


def _says_more(cells: Any) -> bool:
    """Whether whole numbers as text have leading zeros, or more digits than a number keeps."""
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(cells)
    return bool(compute.any(compute.match_substring_regex(trimmed, r"^(0\d+|\d{16,})$")).as_py())


def _refuse_infinite(name: str, values: Floats, part: Part, first: int) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row = part.before + first + int(np.argmax(infinite)) + 1
        raise InputError(f"{part.name}: column {name!r} holds an infinite value in row {row}.")


def _ends(values: Floats) -> Floats:
    """The few smallest and largest different values."""
    different = np.unique(values)
    return different if len(different) <= 2 * ENDS else np.concatenate((different[:ENDS], different[-ENDS:]))
