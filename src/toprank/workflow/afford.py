"""Which members of an ensemble the time allows: what cannot be stopped once begun should not be begun."""

from __future__ import annotations

from toprank.ensemble.members import default_members
from toprank.workflow.fitting import Items

__all__ = ["affordable_members", "width_of"]

SMALL = 30_000
"""Tables with at most so many cells are quick for every member."""
ORDER = ("logistic", "lightgbm", "boosting", "forest", "direct", "catboost")
"""Who is taken first: what is gained for the time."""
DENSE_ONLY = frozenset({"boosting"})
COSTS = {
    "lightgbm": (0.2, 6e-4, 4e-6),
    "boosting": (0.5, 4e-3, 6e-6),
    "forest": (0.6, 0.0, 1e-5),
    "catboost": (1.2, 8e-2, 8e-6),
    "direct": (5.0, 0.0, 0.0),
}
"""Seconds of a fit: as such, for each column, for each cell. Twice what one core takes for 150 x 3000 cells.

Plain arithmetic, not a measurement on the spot, so that the same table has the same members everywhere.
"""


def affordable_members(items: Items, seconds: float | None, fits: float) -> tuple[str, ...] | None:
    """Names of the members that can be fitted so many times to these rows; None for all of them.

    Logistic regression is always among them.
    """
    rows, width = len(items.y), width_of(items)
    sparse = items.features.sparse is not None
    names = {name for name, _ in default_members("dcg")}
    known = [name for name in ORDER if name in names and not (sparse and name in DENSE_ONLY)]
    if seconds is None or rows * width <= SMALL:
        return tuple(known) if sparse else None
    kept, spent = known[:1], 0.0
    for name in known[1:]:
        once, column, cell = COSTS[name]
        cost = fits * (once + column * width + cell * rows * width)
        if spent + cost <= seconds:
            kept.append(name)
            spent += cost
    return tuple(kept) if len(kept) < len(names) else None


def width_of(items: Items) -> int:
    """Columns of the table, before words become features."""
    table = items.features
    return len(table.columns) if table.sparse is None else int(table.sparse.shape[1])
