"""Comparisons in a file: which item was preferred to which, by identifier, with a weight if wanted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.cells import fold
from toprank.datasets.roles import label_text
from toprank.datasets.table import Table, read_table
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_pair_file"]

Floats = NDArray[np.float64]
UPPER = ("better", "preferred", "winner", "upper", "above")
LOWER = ("worse", "other", "loser", "lower", "below")
WEIGHT = ("weight", "weights", "count", "times")


def read_pair_file(
    path: str | os.PathLike[str],
    ids: pd.Series[Any],
    *,
    encoding: str | None = None,
    separator: str | None = None,
) -> tuple[NDArray[np.int64], Floats]:
    """Pairs of row numbers (preferred, other) and their weights.

    The columns are found by name (better and worse, winner and loser, ...), else the first is the preferred
    item and the second the other. A column called weight or count says how much each line counts.

    Parameters
    ----------
    path : path-like
        CSV, Excel or Parquet.
    ids : pandas.Series
        Identifiers of the items, in the order of their rows.
    encoding, separator : str, optional
        Of a CSV file, where they should not be found out.
    """
    options: dict[str, Any] = {"encoding": encoding, "separator": separator}
    names = read_table(path, **options).columns
    if len(names) < 2:
        raise InputError(f"{os.fspath(path)} needs two columns, the preferred item and the other one.")
    upper, lower = _column(names, UPPER) or names[0], _column(names, LOWER) or names[1]
    if upper == lower:
        raise InputError(f"{os.fspath(path)}: call its columns better and worse; {upper!r} cannot be both.")
    table = read_table(path, text_columns=[upper, lower], **options)  # 007 is not 7
    row_of = {label_text(value): row for row, value in enumerate(ids)}
    pairs = np.column_stack([_rows(table, name, row_of) for name in (upper, lower)])
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        value = label_text(table.frame[upper].iloc[same[0]])
        raise InputError(f"{table.source}: row {same[0] + 1} compares {value!r} with itself; leave it out.")
    weight = _column(names, WEIGHT)
    return pairs, np.ones(len(pairs)) if weight is None else _weights(table, weight)


def _column(names: list[str], known: tuple[str, ...]) -> str | None:
    return next((name for name in names if fold(name) in known), None)


def _rows(table: Table, name: str, row_of: dict[str, int]) -> NDArray[np.int64]:
    cells = table.frame[name]
    if not len(cells):
        raise InputError(f"{table.source} has no rows: it needs one for each comparison.")
    rows = [-1 if cell != cell else row_of.get(label_text(cell), -1) for cell in cells]
    if -1 in rows:
        first = rows.index(-1)
        said = cells.iloc[first]
        what = "has none" if said != said else f"{label_text(said)!r} is no identifier of the items"
        raise InputError(f"{table.source}, column {name!r}: row {first + 1}: {what}.")
    return np.array(rows, dtype=np.int64)


def _weights(table: Table, name: str) -> Floats:
    import pandas as pd

    values = pd.to_numeric(table.frame[name], errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        said = label_text(table.frame[name].iloc[wrong[0]])
        raise InputError(
            f"{table.source}, column {name!r}: row {wrong[0] + 1} has {said};"
            " weights are positive numbers. Leave out comparisons that do not count."
        )
    return values
