"""One column at a time: from a table's cells to numbers, remembering how, so new rows get the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.notes import Note
from toprank.datasets.readings import (
    DateReading,
    NumberReading,
    Reading,
    TextReading,
    reading_from_dict,
    strange_row,
)
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Column",
    "NumberColumn",
    "TextColumn",
    "column_from_dict",
    "learn_column",
    "number_column",
    "text_column",
]

MAX_CATEGORIES = 50
"""Rarer categories of a text column than the so-many most frequent are treated like the most frequent one."""
MOSTLY_DIFFERENT = 0.9
"""A text column with this share of different values names the rows rather than describing them."""


Encoded = tuple[NDArray[np.float64], list[Note]]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers or dates: missing cells get the median, then it is standardised.

    Parameters
    ----------
    name : str
    fill : float
        The median of the training rows.
    mean, scale : float
        Mean and standard deviation of the training rows after filling.
    reading : NumberReading or DateReading
        How cells become numbers; dates are counted in days since 1970.
    """

    name: str
    fill: float
    mean: float
    scale: float
    reading: NumberReading | DateReading = field(default_factory=NumberReading)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature, named like the column."""
        return (self.name,)

    def encode(self, cells: pd.Series[Any]) -> Encoded:
        """Standardised numbers, one column."""
        values = self.reading.read(cells)
        _refuse_infinite(cells, values)
        missing = np.isnan(values)
        notes = self._strange(cells, values) if self.reading.tolerant else []
        if missing.any():
            notes.append(self.imputed(int(missing.sum()), len(values)))
        filled = np.where(missing, self.fill, values)
        with np.errstate(over="ignore"):
            scaled = (filled - self.mean) / self.scale
        if not np.isfinite(scaled).all():
            row = int(np.argmax(~np.isfinite(scaled))) + 1
            raise InputError(f"Column {self.name!r}: the value in row {row} is too large to work with.")
        return scaled[:, None], notes

    def imputed(self, missing: int, rows: int) -> Note:
        """What was done to missing cells."""
        text = f"{_count(missing, rows)} missing, set to the median {self.show(self.fill)}"
        return Note(self.name, "imputed", text)

    def _strange(self, cells: pd.Series[Any], values: NDArray[np.float64]) -> list[Note]:
        """What to say about cells that hold something which cannot be read."""
        row = strange_row(cells, values, self.reading.missing)
        if row is None:
            return []
        what = "date" if isinstance(self.reading, DateReading) else "number"
        text = f"{cells.iloc[row]!r} in row {row + 1} is no {what}; such cells are taken as missing"
        return [Note(self.name, "converted", text, warning=True)]

    def show(self, value: float) -> str:
        """A value of this column (not standardised) as a person writes it: 2024-02-13, $18,015, 79.9 %."""
        return self.reading.show(value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        figures = {"fill": self.fill, "mean": self.mean, "scale": self.scale}
        return {"kind": "number", "name": self.name, **figures, "reading": self.reading.to_dict()}


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of words: one 0/1 feature for each category but the most frequent one.

    Missing cells, and words never seen in training, count as the most frequent category: all features 0.
    The redundant feature is left out because for a linear score it only adds a direction to search.

    Parameters
    ----------
    name : str
    fill : str
        The most frequent category.
    categories : tuple of str
        The others that have a feature each.
    pooled : tuple of str
        Categories too rare for a feature of their own, known but treated like `fill`.
    reading : TextReading
        Which spellings are one category.
    """

    name: str
    fill: str
    categories: tuple[str, ...]
    pooled: tuple[str, ...] = ()
    reading: TextReading = field(default_factory=TextReading)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature for each category, as ``seal=rubber``."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, cells: pd.Series[Any]) -> Encoded:
        """Zeros and ones, a column for each category."""
        text = self.reading.read(cells)
        keys = text.map(self.reading.key, na_action="ignore")
        known = {self.reading.key(word) for word in (self.fill, *self.categories, *self.pooled)}
        present = text.dropna()
        unknown = present[~keys[present.index].isin(known)]
        self._refuse_numbers(unknown, present)
        notes = []
        if len(present) < len(text):
            notes.append(self.imputed(len(text) - len(present), len(text)))
        if len(unknown):
            words = ", ".join(map(repr, unknown.unique()[:3])) + (", ..." if unknown.nunique() > 3 else "")
            count = _count(len(unknown), len(text))
            sentence = f"{count} unknown to the model ({words}), treated like {self.fill!r}"
            notes.append(Note(self.name, "unknown", sentence))
        array = np.asarray(keys, dtype=object)
        features = [array == self.reading.key(category) for category in self.categories]
        return np.column_stack(features).astype(np.float64), notes

    def imputed(self, missing: int, rows: int) -> Note:
        """What was done to missing cells."""
        return Note(self.name, "imputed", f"{_count(missing, rows)} missing, set to {self.fill!r}")

    def _refuse_numbers(self, unknown: pd.Series[Any], present: pd.Series[Any]) -> None:
        import pandas as pd

        nothing_known = len(present) > 0 and len(unknown) == len(present)
        if nothing_known and pd.to_numeric(unknown, errors="coerce").notna().all():
            raise InputError(
                f"Column {self.name!r} holds numbers ({unknown.iloc[0]}) where the model expects"
                f" words such as {self.fill!r} or {self.categories[0]!r}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {
            "kind": "text",
            "name": self.name,
            "fill": self.fill,
            "categories": list(self.categories),
            "pooled": list(self.pooled),
            "reading": self.reading.to_dict(),
        }


Column = NumberColumn | TextColumn


def column_from_dict(fields: Mapping[str, Any]) -> Column:
    """The inverse of `to_dict`; raises TypeError, KeyError or ValueError on anything else."""
    values = dict(fields)
    kind = values.pop("kind")
    reading = (
        reading_from_dict(values.pop("reading")) if "reading" in values else _early_reading(kind, values)
    )
    if kind == "number" and not isinstance(reading, TextReading):
        number = NumberColumn(**values, reading=reading)
        checked = [number.fill, number.mean, number.scale]
        if not all(isinstance(value, (int, float)) and np.isfinite(value) for value in checked):
            raise ValueError(f"the column {number.name!r} has a figure that is not a finite number")
        return number
    if kind == "text" and isinstance(reading, TextReading):
        categories, pooled = (tuple(map(str, values.pop(key))) for key in ("categories", "pooled"))
        return TextColumn(**values, categories=categories, pooled=pooled, reading=reading)
    raise ValueError(f"{kind!r} is no kind of column")


def _early_reading(kind: str, values: dict[str, Any]) -> Reading:
    """How the first version of the file read its columns: plain numbers, dates, words letter by letter."""
    tolerant, date = bool(values.pop("tolerant", False)), bool(values.pop("date", False))
    if kind == "text":
        return TextReading(exact=True)
    return DateReading(tolerant=tolerant) if date else NumberReading(tolerant=tolerant)


def learn_column(cells: pd.Series[Any], reading: Reading) -> tuple[Column | None, list[Note]]:
    """Learn how to encode a column; None when nothing can be learned from it.

    Parameters
    ----------
    cells : pandas.Series
        The training rows.
    reading : Reading
        What the column is.
    """
    name = str(cells.name)
    if cells.isna().all():
        return None, [Note(name, "dropped", "empty")]
    if isinstance(reading, TextReading):
        return _learn_text(name, cells, reading)
    return _learn_numbers(name, cells, reading)


def _learn_numbers(
    name: str, cells: pd.Series[Any], reading: NumberReading | DateReading
) -> tuple[Column | None, list[Note]]:
    values = reading.read(cells)
    _refuse_infinite(cells, values)
    if np.isnan(values).all():
        return None, [Note(name, "dropped", "empty")]
    with np.errstate(over="ignore"):
        fill = float(np.nanmedian(values))
    filled = np.where(np.isnan(values), fill, values)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = float(filled.mean()), float(filled.std())
    return number_column(name, reading, fill, (float(filled.min()), float(filled.max())), *moments)


def number_column(
    name: str,
    reading: NumberReading | DateReading,
    fill: float,
    span: tuple[float, float],
    mean: float,
    scale: float,
) -> tuple[Column | None, list[Note]]:
    """A column of numbers from its median, its smallest and largest value, mean and standard deviation."""
    if span[0] == span[1]:
        return None, [Note(name, "dropped", "constant")]
    # Differences below the smallest normal number have a standard deviation of zero.
    scale = scale if scale > 0 else span[1] - span[0]
    if not (np.isfinite(mean) and np.isfinite(scale)):
        raise InputError(f"Column {name!r} holds values too large to work with.")
    return NumberColumn(name, fill, mean, scale, reading), []


def _learn_text(name: str, cells: pd.Series[Any], reading: TextReading) -> tuple[Column | None, list[Note]]:
    words = reading.read(cells).dropna().value_counts()
    return text_column(name, {str(word): int(count) for word, count in words.items()}, reading)


def text_column(
    name: str, words: Mapping[str, int], reading: TextReading
) -> tuple[Column | None, list[Note]]:
    """A column of words from how often each occurs, the most frequent first."""
    counts, folded = _categories(words, reading)
    notes = [_folded_note(name, folded)] if folded else []
    if not counts:
        return None, [Note(name, "dropped", "empty")]
    # Ties in frequency go by the alphabet, so that the same rows in any order give the same features.
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    rows = sum(counts.values())
    if len(ordered) == 1:
        return None, [*notes, Note(name, "dropped", "constant")]
    if len(ordered) > MAX_CATEGORIES and len(ordered) >= MOSTLY_DIFFERENT * rows:
        sentence = f"left out, {len(ordered)} different texts in {rows} rows: it names rows, not kinds"
        return None, [*notes, Note(name, "dropped", sentence, warning=True)]
    fill, kept = ordered[0], sorted(ordered[1:MAX_CATEGORIES])
    pooled = sorted(ordered[MAX_CATEGORIES:])
    sentence = f"{len(ordered)} categories, {fill!r} as the reference"
    if pooled:
        sentence += f"; the {len(pooled)} rarest are treated like it"
    notes.append(Note(name, "one-hot", sentence, warning=bool(pooled)))
    return TextColumn(name, fill, tuple(kept), tuple(pooled), reading), notes


def _categories(words: Mapping[str, int], reading: TextReading) -> tuple[dict[str, int], list[list[str]]]:
    """Categories, each under its most frequent spelling, with their counts; and the spellings of each."""
    spellings: dict[str, dict[str, int]] = {}
    for word, count in words.items():
        spellings.setdefault(reading.key(word), {})[word] = count
    ordered = [sorted(some, key=lambda word: (-some[word], word)) for some in spellings.values()]
    counts = {words[0]: sum(some.values()) for words, some in zip(ordered, spellings.values(), strict=True)}
    return counts, [words for words in ordered if len(words) > 1]


def _folded_note(name: str, folded: list[list[str]]) -> Note:
    """Which spellings count as one word."""
    examples = "; ".join(", ".join(map(repr, words[:4])) for words in folded[:3])
    more = f"; and {len(folded) - 3} more" if len(folded) > 3 else ""
    text = f"spellings taken as one word: {examples}{more} (`read='{name}=exact text'` keeps them apart)"
    return Note(name, "read", text)


def _refuse_infinite(cells: pd.Series[Any], values: NDArray[np.float64]) -> None:
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values))) + 1
        raise InputError(f"Column {cells.name!r} holds an infinite value in row {row}.")


def _count(some: int, of: int) -> str:
    return f"{int(some)} of {of}"
