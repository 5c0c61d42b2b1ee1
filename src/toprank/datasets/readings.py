"""How the cells of a column are read: as numbers, dates or words, and with which signs.

A reading is a plain value. It is decided once, for a whole column (`toprank.datasets.decide`), kept with the
model, and applied to new rows as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.cells import date_cell, date_text, fold, number_cell
from toprank.datasets.placeholders import is_placeholder
from toprank.datasets.roles import label_text
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DateReading",
    "NumberReading",
    "Reading",
    "TextReading",
    "reading_from_dict",
    "same_unit",
    "strange_row",
]

Values = NDArray[np.float64]


def same_unit(one: str, other: str) -> bool:
    """Whether two numbers can be compared: the same unit, or one of them has none."""
    return not one or not other or one.casefold() == other.casefold()


@dataclass(frozen=True, slots=True)
class NumberReading:
    """Cells are numbers.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign of cells that are text; the other one groups the digits.
    unit : str
        What stands before or after them, such as ``$`` or ``%``; cells with another unit are no numbers here.
    missing : tuple of str
        Values that stand for a missing one, as the user said.
    tolerant : bool
        Cells that are not numbers count as missing, because the training rows had such cells too.
    """

    kind: ClassVar[str] = "number"
    decimal: Literal[".", ","] = "."
    unit: str = ""
    missing: tuple[str, ...] = ()
    tolerant: bool = False

    @property
    def needs_text(self) -> bool:
        """Whether a CSV reader that knows decimal points only would get it wrong."""
        return self.decimal == ","

    def read(self, cells: pd.Series[Any]) -> Values:
        """Cells as float64, NaN where missing; refuses what is no number, unless tolerant."""
        import pandas as pd

        if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "biuf":  # quick: tables can be wide
            return _without_codes(np.array(cells.to_numpy(), dtype=np.float64), self.missing)
        if pd.api.types.is_datetime64_any_dtype(cells.dtype):
            raise InputError(f"Column {cells.name!r} holds dates where the model expects numbers.")
        if pd.api.types.is_numeric_dtype(cells.dtype):
            values = np.asarray(cells.astype("float64"), dtype=np.float64)
        else:
            values = _mapped(cells, self.value)
            self._refuse(cells, values)
        return _without_codes(values, self.missing)

    def kept(self, values: Values) -> Values:
        """Values as a column of a table that `read` reads again."""
        return values

    def value(self, cell: object) -> float | None:
        """One cell that is not missing; None when it is no number."""
        if not isinstance(cell, str):
            return _plain_number(cell)
        found = number_cell(cell)
        if found is None or not same_unit(found.unit, self.unit):
            return None
        return found.point if self.decimal == "." else found.comma

    def _refuse(self, cells: pd.Series[Any], values: Values) -> None:
        row = None if self.tolerant else strange_row(cells, values, self.missing)
        if row is not None:
            number = "1,234.5" if self.decimal == "." else "1.234,5"
            before = bool(self.unit) and self.unit in "$£¥₹"
            example = f"{self.unit}{number}" if before else f"{number} {self.unit}".strip()
            written = f" written like {example}" if self.unit or self.decimal == "," else ""
            raise InputError(
                f"Column {cells.name!r} holds {cells.iloc[row]!r} in row {row + 1}"
                f" where the model expects numbers{written}."
            )

    def show(self, value: float) -> str:
        """A number with its unit, as a person writes it."""
        text = _short(value)
        if self.decimal == ",":
            text = text.translate(str.maketrans(".,", ",."))
        if not self.unit:
            return text
        return f"{self.unit}{text}" if self.unit in "$€£¥₹" else f"{text} {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {"kind": self.kind, **asdict(self), "missing": list(self.missing)}


@dataclass(frozen=True, slots=True)
class DateReading:
    """Cells are dates, counted in days since 1970.

    Parameters
    ----------
    day_first : bool
        02/03/2024 is the second of March, not the third of February.
    missing, tolerant
        As for numbers.
    """

    kind: ClassVar[str] = "date"
    day_first: bool = True
    missing: tuple[str, ...] = ()
    tolerant: bool = False

    needs_text: ClassVar[bool] = False

    def read(self, cells: pd.Series[Any]) -> Values:
        """Days since 1970, NaN where missing; refuses what is no date, unless tolerant."""
        import pandas as pd

        if pd.api.types.is_datetime64_any_dtype(cells.dtype):
            values = _days(cells)
        else:
            values = _mapped(cells, self.value)
            row = None if self.tolerant else strange_row(cells, values, self.missing)
            if row is not None:
                order = "day" if self.day_first else "month"
                raise InputError(
                    f"Column {cells.name!r} holds {cells.iloc[row]!r} in row {row + 1} where the model"
                    f" expects a date, such as 2024-02-13 or one with the {order} first."
                )
        codes = [date_cell(code) for code in self.missing]
        days = [code.day_first if self.day_first else code.month_first for code in codes if code is not None]
        return np.where(np.isin(values, [day for day in days if day is not None]), np.nan, values)

    def kept(self, values: Values) -> NDArray[np.datetime64]:
        """Values as a column of a table that `read` reads again: a bare number would pass for a date."""
        missing = np.isnan(values)
        moments = np.where(missing, 0.0, values * 86_400e6).round().astype("datetime64[us]")
        moments[missing] = np.datetime64("NaT", "us")  # without a unit: deprecated in numpy 2.5
        return moments

    def value(self, cell: object) -> float | None:
        """One cell that is not missing; None when it is no date."""
        if hasattr(cell, "isoformat"):
            cell = cell.isoformat()
        found = date_cell(cell) if isinstance(cell, str) else None
        if found is None:
            return None
        return found.day_first if self.day_first else found.month_first

    def show(self, value: float) -> str:
        """A date as a person writes it."""
        return date_text(value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {"kind": self.kind, **asdict(self), "missing": list(self.missing)}


@dataclass(frozen=True, slots=True)
class TextReading:
    """Cells are words.

    Parameters
    ----------
    exact : bool
        Yes and YES are two words.
    missing : tuple of str
        Words that stand for a missing one, as the user said.
    """

    kind: ClassVar[str] = "text"
    exact: bool = False
    missing: tuple[str, ...] = ()

    needs_text: ClassVar[bool] = True

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """Cells as text, blanks stripped; missing and empty cells stay missing."""
        text = cells.astype(object).map(label_text, na_action="ignore")
        absent = text.isna() | (text == "") | text.isin(self.missing)
        return text.mask(absent, None)

    def key(self, text: str) -> str:
        """What two cells of the same category have in common."""
        return text if self.exact else fold(text)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {"kind": self.kind, **asdict(self), "missing": list(self.missing)}


Reading = NumberReading | DateReading | TextReading


def reading_from_dict(fields: Mapping[str, Any]) -> Reading:
    """The inverse of `to_dict`; raises TypeError, KeyError or ValueError on anything else."""
    values = dict(fields)
    kind = values.pop("kind")
    values["missing"] = tuple(map(str, values["missing"]))
    for reading in (NumberReading, DateReading, TextReading):
        if reading.kind == kind:
            made: Reading = reading(**values)
            if isinstance(made, NumberReading) and made.decimal not in (".", ","):
                raise ValueError(f"{made.decimal!r} is no decimal sign")
            return made
    raise ValueError(f"{kind!r} is no way to read a column")


# -- cells -----------------------------------------------------------------------------------------


def _mapped(cells: pd.Series[Any], value: Callable[[object], float | None]) -> Values:
    """A function of single cells on a column, called once for each different cell."""
    import pandas as pd

    codes, different = pd.factorize(cells.astype(object))
    found = np.array([np.nan if (v := value(cell)) is None else v for cell in different], dtype=np.float64)
    return np.where(codes < 0, np.nan, found[codes] if len(found) else np.nan)


def _days(cells: pd.Series[Any]) -> Values:
    """Moments as days since 1970; in numpy, because pandas' own clock ends in 2262."""
    zoned = getattr(cells.dtype, "tz", None) is not None
    moments = (cells.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else cells).to_numpy()
    days = moments.astype("datetime64[us]").astype(np.int64) / 86_400e6
    return np.where(np.isnat(moments), np.nan, days)


def strange_row(cells: pd.Series[Any], values: Values, missing: tuple[str, ...]) -> int | None:
    """The first cell that holds something but could not be read."""
    for row in np.flatnonzero(np.isnan(values) & cells.notna().to_numpy()):
        text = label_text(cells.iloc[row])
        if not is_placeholder(text) and text not in missing:
            return int(row)
    return None


def _without_codes(values: Values, missing: tuple[str, ...]) -> Values:
    """Numbers that stand for missing values as NaN."""
    if not missing:
        return values
    codes = [found.point for found in map(number_cell, missing) if found is not None]
    return np.where(np.isin(values, [code for code in codes if code is not None]), np.nan, values)


def _plain_number(cell: object) -> float | None:
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _short(value: float) -> str:
    """Four digits; large numbers in full, with commas, not as powers of ten."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
