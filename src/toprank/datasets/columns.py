"""One column at a time: from a table's cells to numbers, remembering how, so new rows get the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.errors import InputError
from toprank.datasets.roles import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Note", "NumberColumn", "TextColumn", "column_from_dict", "learn_column"]

MAX_CATEGORIES = 50
"""Rarer categories of a text column than the so-many most frequent are treated like the most frequent one."""
MOSTLY_NUMBERS = 0.9
"""A text column of which so much reads as numbers is taken as numbers, and the rest as missing."""
MOSTLY_DIFFERENT = 0.9
"""A text column with this share of different values names the rows rather than describing them."""
ISO_DATE = r"\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?\s*"


@dataclass(frozen=True, slots=True)
class Note:
    """What was done to a column, for the report.

    Parameters
    ----------
    column : str
    action : str
        One of dropped, imputed, one-hot, unknown, converted, warning.
    text : str
        The sentence a user reads after the name of the column.
    """

    column: str
    action: Literal["dropped", "imputed", "one-hot", "unknown", "converted", "warning"]
    text: str


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
    tolerant : bool
        Cells that are not numbers count as missing, because the training rows had such cells too.
    date : bool
        Cells are dates, counted in days since 1970.
    """

    name: str
    fill: float
    mean: float
    scale: float
    tolerant: bool = False
    date: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature, named like the column."""
        return (self.name,)

    def encode(self, cells: pd.Series[Any]) -> Encoded:
        """Standardised numbers, one column."""
        values = _numbers(cells, tolerant=self.tolerant, date=self.date)
        missing = np.isnan(values)
        notes = []
        if missing.any():
            text = f"{_count(missing.sum(), len(values))} missing, set to the median {_short(self.fill)}"
            notes.append(Note(self.name, "imputed", text))
        filled = np.where(missing, self.fill, values)
        with np.errstate(over="ignore"):
            scaled = (filled - self.mean) / self.scale
        if not np.isfinite(scaled).all():
            row = int(np.argmax(~np.isfinite(scaled))) + 1
            raise InputError(f"Column {self.name!r}: the value in row {row} is too large to work with.")
        return scaled[:, None], notes

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {"kind": "number", **asdict(self)}


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
    """

    name: str
    fill: str
    categories: tuple[str, ...]
    pooled: tuple[str, ...] = ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature for each category, as ``seal=rubber``."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, cells: pd.Series[Any]) -> Encoded:
        """Zeros and ones, a column for each category."""
        text = _texts(cells)
        known = {self.fill, *self.categories, *self.pooled}
        present = text.dropna()
        unknown = present[~present.isin(known)]
        self._refuse_numbers(unknown, present)
        notes = []
        if len(present) < len(text):
            missing = _count(len(text) - len(present), len(text))
            notes.append(Note(self.name, "imputed", f"{missing} missing, set to {self.fill!r}"))
        if len(unknown):
            words = ", ".join(map(repr, unknown.unique()[:3])) + (", ..." if unknown.nunique() > 3 else "")
            count = _count(len(unknown), len(text))
            sentence = f"{count} unknown to the model ({words}), treated like {self.fill!r}"
            notes.append(Note(self.name, "unknown", sentence))
        array = np.asarray(text, dtype=object)
        return np.column_stack([array == category for category in self.categories]).astype(np.float64), notes

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
        }


Column = NumberColumn | TextColumn


def column_from_dict(fields: Mapping[str, Any]) -> Column:
    """The inverse of `to_dict`; raises TypeError, KeyError or ValueError on anything else."""
    values = dict(fields)
    kind = values.pop("kind")
    if kind == "number":
        number = NumberColumn(**values)
        checked = [number.fill, number.mean, number.scale]
        if not all(isinstance(value, (int, float)) and np.isfinite(value) for value in checked):
            raise ValueError(f"the column {number.name!r} has a figure that is not a finite number")
        return number
    if kind == "text":
        categories, pooled = (tuple(map(str, values.pop(key))) for key in ("categories", "pooled"))
        return TextColumn(**values, categories=categories, pooled=pooled)
    raise ValueError(f"{kind!r} is no kind of column")


def learn_column(cells: pd.Series[Any], *, categorical: bool = False) -> tuple[Column | None, list[Note]]:
    """Decide what a column is and how to encode it; None when nothing can be learned from it.

    Parameters
    ----------
    cells : pandas.Series
        The training rows.
    categorical : bool
        Treat numbers as names of categories.
    """
    name = str(cells.name)
    if cells.isna().all():
        return None, [Note(name, "dropped", "empty")]
    kind = "text" if categorical else _kind(cells)
    if kind == "text":
        return _learn_text(name, cells)
    return _learn_numbers(name, cells, tolerant=kind == "mostly numbers", date=kind == "date")


def _kind(cells: pd.Series[Any]) -> Literal["number", "date", "text", "mostly numbers"]:
    import pandas as pd

    types = pd.api.types
    if types.is_complex_dtype(cells.dtype) or types.is_timedelta64_dtype(cells.dtype):
        raise InputError(f"Column {cells.name!r} is of type {cells.dtype}; leave it out with --ignore.")
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return "text"
    if types.is_numeric_dtype(cells.dtype):
        return "number"
    if types.is_datetime64_any_dtype(cells.dtype):
        return "date"
    present = cells.dropna()
    strings = present.map(lambda cell: isinstance(cell, str))
    if strings.all() and present.str.fullmatch(ISO_DATE).all():
        return "date"
    read = pd.to_numeric(present.where(strings | present.map(np.isscalar)), errors="coerce").notna().mean()
    if not strings.any() and read == 1.0:
        return "number"
    # All cells reading as numbers means the file's own type says text (Parquet), or the user does.
    return "mostly numbers" if MOSTLY_NUMBERS <= read < 1.0 else "text"


def _learn_numbers(
    name: str, cells: pd.Series[Any], *, tolerant: bool, date: bool
) -> tuple[Column | None, list[Note]]:
    values = _numbers(cells, tolerant=tolerant, date=date)
    notes = []
    if tolerant:
        strange = cells[np.isnan(values) & cells.notna().to_numpy()]
        examples = ", ".join(map(repr, strange.unique()[:3]))
        text = f"{_count(len(strange), len(cells))} not numbers ({examples}), taken as missing"
        notes.append(Note(name, "converted", text))
    if date:
        notes.append(Note(name, "converted", "dates, turned into days since 1970"))
    fill = float(np.nanmedian(values))
    filled = np.where(np.isnan(values), fill, values)
    if filled.min() == filled.max():
        return None, [*notes, Note(name, "dropped", "constant")]
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scale = float(filled.mean()), float(filled.std())
        # Differences below the smallest normal number have a standard deviation of zero.
        scale = scale if scale > 0 else float(filled.max() - filled.min())
    if not (np.isfinite(mean) and np.isfinite(scale)):
        raise InputError(f"Column {name!r} holds values too large to work with.")
    return NumberColumn(name, fill, mean, scale, tolerant, date), notes


def _learn_text(name: str, cells: pd.Series[Any]) -> tuple[Column | None, list[Note]]:
    text = _texts(cells).dropna()
    counts = text.value_counts()
    if not len(counts):
        return None, [Note(name, "dropped", "empty")]
    # Ties in frequency go by the alphabet, so that the same rows in any order give the same features.
    ordered = sorted(counts.index, key=lambda category: (-counts[category], category))
    if len(ordered) == 1:
        return None, [Note(name, "dropped", "constant")]
    if len(ordered) > MAX_CATEGORIES and len(ordered) >= MOSTLY_DIFFERENT * len(text):
        sentence = f"{len(ordered)} different values in {len(text)} rows: it names rows, not kinds"
        return None, [Note(name, "dropped", sentence)]
    fill, kept = ordered[0], sorted(ordered[1:MAX_CATEGORIES])
    pooled = sorted(ordered[MAX_CATEGORIES:])
    sentence = f"{len(ordered)} categories, {fill!r} as the reference"
    if pooled:
        sentence += f"; the {len(pooled)} rarest are treated like it"
    return TextColumn(name, fill, tuple(kept), tuple(pooled)), [Note(name, "one-hot", sentence)]


# -- cells -----------------------------------------------------------------------------------------


def _numbers(cells: pd.Series[Any], *, tolerant: bool, date: bool) -> NDArray[np.float64]:
    """Cells as float64, NaN where missing; refuses words (unless tolerant) and infinities."""
    import pandas as pd

    if date:
        return _days(cells)
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        raise InputError(f"Column {cells.name!r} holds dates where the model expects numbers.")
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(object)
    numbers = pd.to_numeric(cells, errors="coerce")
    values = np.asarray(numbers.astype("float64"), dtype=np.float64)
    strange = np.isnan(values) & cells.notna().to_numpy()
    if strange.any() and not tolerant:
        row = int(np.argmax(strange))
        raise InputError(
            f"Column {cells.name!r} holds {cells.iloc[row]!r} in row {row + 1}"
            " where the model expects numbers."
        )
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values))) + 1
        raise InputError(f"Column {cells.name!r} holds an infinite value in row {row}.")
    return values


def _days(cells: pd.Series[Any]) -> NDArray[np.float64]:
    import pandas as pd

    dates = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
    strange = dates.isna() & cells.notna()
    if strange.any():
        row = int(np.argmax(strange.to_numpy()))
        raise InputError(f"Column {cells.name!r} holds {cells.iloc[row]!r} where the model expects a date.")
    return np.asarray((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1), dtype=np.float64)


def _texts(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as text, blanks stripped; missing and empty cells as None."""
    text = cells.astype(object).map(lambda cell: label_text(cell), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def _count(some: int, of: int) -> str:
    return f"{int(some)} of {of}"


def _short(value: float) -> str:
    return f"{value:.4g}"
