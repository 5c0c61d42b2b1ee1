"""From a table to the numbers a ranker learns from, and the same way again for new rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.datasets.columns import Column, NumberColumn, column_from_dict, learn_column
from toprank.datasets.decide import described
from toprank.datasets.declared import Declared
from toprank.datasets.notes import Note
from toprank.datasets.readings import NumberReading, Reading
from toprank.datasets.table import Table
from toprank.errors import InputError

__all__ = ["ColumnEncoder", "Encoder", "SparseEncoder", "encoder_from_dict", "learn_encoder"]


VERSION = 2
"""Of the description of columns in a model file; version 1 had no readings."""


class Encoder(Protocol):
    """How a table becomes a feature matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import Table
    >>> encoder, _ = learn_encoder(Table(pd.DataFrame({"age": [30.0, 40.0], "sex": ["f", "m"]})))
    >>> encoder.feature_names
    ('age', 'sex=m')
    """

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the feature matrix."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns a CSV reader should leave as text."""

    def encode(self, table: Table) -> tuple[Any, list[Note]]:
        """The feature matrix of a table with the same columns, and what had to be done to it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """Named columns: words one-hot, gaps filled, numbers standardised, constants left out.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"seal": ["rubber", "steel", "steel"], "age": [1.0, None, 3.0], "k": 7}))
    >>> encoder, notes = learn_encoder(table)
    >>> encoder.feature_names
    ('seal=rubber', 'age')
    >>> [(note.column, note.action) for note in notes]
    [('seal', 'one-hot'), ('age', 'imputed'), ('k', 'dropped')]
    """

    columns: tuple[Column, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the feature matrix."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns a CSV reader should leave as text."""
        return tuple(column.name for column in self.columns if column.reading.needs_text)

    def encode(self, table: Table) -> tuple[NDArray[np.float64], list[Note]]:
        """The feature matrix of a table that has at least the columns learned from."""
        present = set(table.columns)
        missing = [column.name for column in self.columns if column.name not in present]
        if missing:
            names = ", ".join(map(repr, missing[:5]))
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise InputError(f"{table.source} lacks columns the model wants: {names}{more}.")
        numbers = [
            column
            for column in self.columns
            if isinstance(column, NumberColumn) and _is_plain(column.reading)
        ]
        quick = _standardised(numbers, *_plain_numbers(table, [column.name for column in numbers]))
        blocks, notes = [], []
        for column in self.columns:
            if column.name in quick:
                blocks.append(quick[column.name][:, None])
                continue
            block, about = column.encode(table.frame[column.name])
            blocks.append(block)
            notes.extend(about)
        return np.ascontiguousarray(np.hstack(blocks)), notes

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {
            "kind": "columns",
            "version": VERSION,
            "columns": [column.to_dict() for column in self.columns],
        }


@dataclass(frozen=True, slots=True)
class SparseEncoder:
    """Features of an svmlight file: scaled to unit deviation, not shifted, so zeros stay zeros.

    Parameters
    ----------
    n_features : int
        The highest feature number of the training file.
    kept : tuple of int
        One-based numbers of the features that vary.
    scale : tuple of float
        Their standard deviations.

    Examples
    --------
    >>> SparseEncoder(3, kept=(1, 3), scale=(1.0, 2.0)).feature_names
    ('1', '3')
    """

    n_features: int
    kept: tuple[int, ...]
    scale: tuple[float, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Feature numbers, as in the file."""
        return tuple(map(str, self.kept))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """None: svmlight has no words."""
        return ()

    def encode(self, table: Table) -> tuple[sp.csr_matrix, list[Note]]:
        """The scaled CSR matrix; a file with fewer features has zeros there, one with more is refused."""
        if table.sparse is None:
            raise InputError(
                f"{table.source}: the model was learned from an svmlight file and needs another."
            )
        matrix = sp.csr_matrix(table.sparse)
        if matrix.shape[1] > self.n_features:
            raise InputError(
                f"{table.source} has a feature {matrix.shape[1]}; the model knows features 1 to"
                f" {self.n_features}."
            )
        matrix = sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), (len(table), self.n_features))
        chosen = matrix[:, np.array(self.kept, dtype=np.intp) - 1]
        return sp.csr_matrix(chosen @ sp.diags(1.0 / np.array(self.scale))), []

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return {
            "kind": "svmlight",
            "n_features": self.n_features,
            "kept": list(self.kept),
            "scale": list(self.scale),
        }


def learn_encoder(table: Table, *, categorical: Collection[str] = ()) -> tuple[Encoder, list[Note]]:
    """Learn how to encode a table of features, and say what will be done to its columns.

    Parameters
    ----------
    table : Table
        The training rows, features only. How its columns are read is found out here unless `described` has
        done so before, for more rows than these.
    categorical : collection of str
        Columns whose numbers are names of categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import Table
    >>> encoder, notes = learn_encoder(Table(pd.DataFrame({"age": [30.0, None, 50.0]})))
    >>> [note.action for note in notes]
    ['imputed']
    """
    if table.sparse is not None:
        return _learn_sparse(table)
    for name in categorical:
        table.column(name, argument="categorical")
    if table.description is None:
        table = described(table, Declared.of(table.columns, categorical=categorical))
    assert table.description is not None  # described gives one
    readings = table.description.readings
    columns, notes = [], list(table.description.notes)
    plain = _learn_plain(
        *_plain_numbers(table, [name for name in table.columns if _is_plain(readings[name])]), readings
    )
    for name in table.columns:
        if name in plain:
            columns.append(plain[name])
            continue
        column, about = learn_column(table.frame[name], readings[name])
        notes.extend(about)
        if column is not None:
            columns.append(column)
            notes.extend(note for note in column.encode(table.frame[name])[1] if note.action == "imputed")
    if not columns:
        why = "; ".join(f"{note.column!r} {note.text}" for note in notes if note.action == "dropped")
        raise InputError(f"{table.source}: there is no column to learn from ({why}).")
    return ColumnEncoder(tuple(columns)), notes


# -- thousands of columns at once: those that are whole and hold nothing but numbers ---------------


def _plain_numbers(table: Table, names: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Those of the columns that hold finite numbers only, and their values, one row for each column."""
    kinds = dict(zip(table.frame.columns, table.frame.dtypes, strict=True))
    numeric = [name for name in names if isinstance(kinds[name], np.dtype) and kinds[name].kind in "biuf"]
    values = np.ascontiguousarray(table.frame[numeric].to_numpy(dtype=np.float64).T)
    whole = np.isfinite(values).all(axis=1)
    return [name for name, good in zip(numeric, whole, strict=True) if good], values[whole]


def _is_plain(reading: Reading) -> bool:
    """Whether cells that are numbers already stay as they are."""
    return isinstance(reading, NumberReading) and not reading.missing


def _learn_plain(
    names: Sequence[str], values: NDArray[np.float64], readings: Mapping[str, Any]
) -> dict[str, Column]:
    """What `learn_column` would make of them, except of those that it would drop or refuse."""
    if not len(names):
        return {}
    with np.errstate(over="ignore", invalid="ignore"):
        middle, mean, scale = np.median(values, axis=1), values.mean(axis=1), values.std(axis=1)
    good = (values.min(axis=1) < values.max(axis=1)) & (scale > 0) & np.isfinite(mean) & np.isfinite(scale)
    return {
        names[k]: NumberColumn(
            names[k], float(middle[k]), float(mean[k]), float(scale[k]), readings[names[k]]
        )
        for k in np.flatnonzero(good).tolist()
    }


def _standardised(
    columns: Sequence[NumberColumn], names: Sequence[str], values: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Cells of these columns as their `encode` would give them, except where it would complain."""
    known = {column.name: column for column in columns}
    mean, scale = (np.array([getattr(known[name], part) for name in names]) for part in ("mean", "scale"))
    with np.errstate(over="ignore"):
        scaled = (values - mean.reshape(-1, 1)) / scale.reshape(-1, 1)
    whole = np.isfinite(scaled).all(axis=1)
    return {name: row for name, row, good in zip(names, scaled, whole, strict=True) if good}


def _learn_sparse(table: Table) -> tuple[Encoder, list[Note]]:
    matrix = sp.csc_matrix(table.sparse)
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    lowest, highest = (
        np.asarray(side.todense()).ravel() for side in (matrix.min(axis=0), matrix.max(axis=0))
    )
    varies = lowest < highest
    if not varies.any():
        raise InputError(f"All features of {table.source} are constant: nothing to learn from.")
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    # Rounding can hide a tiny deviation on a large mean; the range never is zero here.
    scale = np.where(deviation > 0, deviation, highest - lowest)[varies]
    if not np.isfinite(scale).all():
        raise InputError(f"{table.source}: there are values too large to work with.")
    kept = tuple(int(number) for number in np.flatnonzero(varies) + 1)
    notes = []
    if len(kept) < matrix.shape[1]:
        count = matrix.shape[1] - len(kept)
        notes.append(Note(f"{count} features", "dropped", "constant"))
    return SparseEncoder(matrix.shape[1], kept, tuple(map(float, scale))), notes


def encoder_from_dict(fields: Mapping[str, Any]) -> Encoder:
    """Read an encoder that `to_dict` wrote; TypeError, KeyError or ValueError on anything else.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import Table
    >>> encoder, _ = learn_encoder(Table(pd.DataFrame({"age": [30.0, 40.0]})))
    >>> encoder_from_dict(encoder.to_dict()).feature_names
    ('age',)
    """
    kind = fields["kind"]
    if kind == "columns":
        if fields.get("version", 1) not in (1, VERSION):
            raise ValueError(f"its columns are described in version {fields['version']}, a later one")
        return ColumnEncoder(tuple(column_from_dict(column) for column in fields["columns"]))
    if kind == "svmlight":
        kept = tuple(int(number) for number in fields["kept"])
        scale = tuple(float(value) for value in fields["scale"])
        if len(kept) != len(scale) or not all(value > 0 for value in scale):
            raise ValueError("the scales do not fit the features")
        return SparseEncoder(int(fields["n_features"]), kept, scale)
    raise ValueError(f"{kind!r} is no kind of encoder")
