"""Which members of an ensemble the time allows: what cannot be stopped once begun should not be begun."""

from __future__ import annotations

from toprank.ensemble.members import default_members
from toprank.workflow.fitting import Items

__all__ = ["affordable_members", "seconds_of", "width_of"]

SMALL, NARROW = 30_000, 50
"""Tables with at most so many cells and columns are quick for every member."""
ORDER = ("logistic", "lightgbm", "boosting", "forest", "direct", "catboost")
"""Who is taken first: what is gained for the time."""
DENSE_ONLY = frozenset({"boosting"})
BUNDLING = frozenset({"lightgbm", "catboost"})
"""Members for whom a column of a few values is little work."""
COSTS = {
    "lightgbm": (0.05, 0.0, 1e-4, 3e-6),
    "boosting": (0.15, 0.0, 1.5e-3, 2e-6),
    "forest": (0.25, 1e-4, 1.5e-4, 0.0),
    "catboost": (0.2, 0.0, 5.5e-2, 1.1e-5),
    "direct": (0.3, 0.0, 5e-4, 2.5e-6),
}
"""Seconds of one fit on one core: as such, for each row, for each column, for each cell.

Made to fit tables of 384 x 8, 2458 x 20, 5591 x 6, 2300 x 57, 6000 x 121 and 150 x 1000 cells, the last six
within a factor of three. Plain arithmetic, not a measurement on the spot, so that the same table has the
same members everywhere.
"""
MARGIN = 1.5
"""Other machines are slower, and other tables harder."""
FEW_VALUES, SHARE_OF_FEW = 16, 0.1
"""Columns with at most so many values count so much of a column, for members that bundle them."""
LOOKED_AT = 1000
"""Rows that tell how many values a column has."""


def affordable_members(items: Items, seconds: float | None, fits: float) -> tuple[str, ...] | None:
    """Names of the members that can be fitted so many times to these rows; None for all of them.

    Logistic regression is always among them.
    """
    rows, width = len(items.y), width_of(items)
    sparse = items.features.sparse is not None
    names = {name for name, _ in default_members("dcg")}
    known = [name for name in ORDER if name in names and not (sparse and name in DENSE_ONLY)]
    if seconds is None or (rows * width <= SMALL and width <= NARROW):
        return tuple(known) if sparse else None
    bundled = _bundled_width(items)
    kept, spent = known[:1], 0.0
    for name in known[1:]:
        cost = fits * seconds_of(name, rows, bundled if name in BUNDLING else width)
        if spent + cost <= seconds:
            kept.append(name)
            spent += cost
    return tuple(kept) if len(kept) < len(names) else None


def seconds_of(name: str, rows: int, width: float) -> float:
    """What one fit of a member takes, on the safe side.

    >>> round(seconds_of("lightgbm", 1000, 20), 2)
    0.17
    """
    once, row, column, cell = COSTS[name]
    return MARGIN * (once + row * rows + column * width + cell * rows * width)


def _bundled_width(items: Items) -> float:
    """Columns, those of a few values counted as little as they cost."""
    table = items.features
    if table.sparse is not None:
        stored = table.sparse.nnz / max(1, table.sparse.shape[0])
        return float(stored + SHARE_OF_FEW * (table.sparse.shape[1] - stored))
    # Rows are in no particular order, or in that of the labels: some of all parts.
    some = table.frame.iloc[:: max(1, len(table) // LOOKED_AT)]
    few = sum(some[name].nunique() <= FEW_VALUES for name in table.columns)
    return width_of(items) - (1.0 - SHARE_OF_FEW) * few


def width_of(items: Items) -> int:
    """Columns of the table, before words become features."""
    table = items.features
    return len(table.columns) if table.sparse is None else int(table.sparse.shape[1])
