"""Which members of an ensemble the time allows: what cannot be stopped once begun should not be begun."""

from __future__ import annotations

from toprank.ensemble.members import default_members
from toprank.lineup import Contender
from toprank.workflow.learning.fitting import Items

__all__ = ["affordable_contenders", "affordable_members", "is_quick", "seconds_of", "width_of"]

SMALL, NARROW = 30_000, 50
"""Tables with at most so many cells and columns are quick for every member."""
ORDER = ("logistic", "lightgbm", "catboost", "forest", "nets", "boosting", "direct")
"""Who is taken first: what is gained for the time. By itself CatBoost finds most."""
DENSE_ONLY = frozenset({"boosting", "nets"})
BUNDLING = frozenset({"lightgbm", "catboost"})
"""Members for whom a column of a few values is little work."""
COSTS = {
    "lightgbm": (0.05, 0.0, 1e-4, 1.6e-6),
    "boosting": (0.08, 0.0, 1.1e-3, 1e-6),
    "forest": (0.12, 5e-5, 1e-4, 0.0),
    "catboost": (0.05, 0.0, 1.1e-2, 2.3e-6),
    "nets": (0.05, 1.8e-4, 0.0, 1.1e-6),
    "direct": (0.1, 0.0, 5e-4, 2.5e-6),
}
"""Seconds of one fit on one core: as such, for each row, for each column, for each cell.

Made to fit tables of 384 x 8, 2458 x 20, 5591 x 6, 2300 x 57, 6000 x 121 and 150 x 1000 cells on an AMD EPYC,
the last six within a factor of two, `direct` of three; CatBoost's are half of that, for the half of the steps
that such tables get. Plain arithmetic, not a measurement on the spot, so that the same table has the same
members everywhere.
"""
MARGIN = 1.3
"""Other machines are slower, and other tables harder."""
FEW_VALUES, SHARE_OF_FEW = 16, 0.1
"""Columns with at most so many values count so much of a column, for members that bundle them."""
LOOKED_AT = 1000
"""Rows that tell how many values a column has."""

UNSTOPPABLE_SHARE = 4.0
"""A fit that cannot be stopped may take so many times an equal share of the time: most need far less."""
COST_LIKE = {
    "random forest": "forest",
    "gradient boosting": "boosting",
    "LightGBM": "lightgbm",
    "LightGBM lambdarank": "lightgbm",
    "XGBoost": "lightgbm",
    "XGBoost lambdarank": "lightgbm",
}
"""Rankers that cannot be stopped, and the member of an ensemble they cost about as much as."""


def affordable_members(items: Items, seconds: float | None, fits: float) -> tuple[str, ...] | None:
    """Names of the members that can be fitted so many times to these rows; None for all of them.

    Logistic regression is always among them.
    """
    rows, width = len(items.y), width_of(items)
    sparse = items.features.sparse is not None
    names = {name for name, _ in default_members("dcg")}
    known = [name for name in ORDER if name in names and not (sparse and name in DENSE_ONLY)]
    if seconds is None or is_quick(items):
        return tuple(known) if sparse else None
    bundled = _bundled_width(items)
    kept, spent = known[:1], 0.0
    for name in known[1:]:
        cost = fits * seconds_of(name, rows, bundled if name in BUNDLING else width)
        if spent + cost <= seconds:
            kept.append(name)
            spent += cost
    return tuple(kept) if len(kept) < len(names) else None


def is_quick(items: Items) -> bool:
    """Whether the table is so small that no member takes long."""
    width = width_of(items)
    return len(items.y) * width <= SMALL and width <= NARROW


def affordable_contenders(
    contenders: list[Contender], items: Items, rows: int, time_limit: float | None, splits: int
) -> tuple[list[Contender], list[str]]:
    """Those whose fits end in time, as far as can be told, and what to say about the others.

    Other packages' rankers cannot be stopped: what cannot end in time should not be begun.
    """
    if time_limit is None:
        return contenders, []
    each = UNSTOPPABLE_SHARE * time_limit / (splits * len(contenders))
    able, remarks = [], []
    for one in contenders:
        seconds = seconds_of(COST_LIKE[one.name], rows, width_of(items)) if one.name in COST_LIKE else 0.0
        if seconds <= each:
            able.append(one)
        else:
            remarks.append(
                f"{one.name} was left out: its {splits} fits would take about"
                f" {splits * seconds:.0f} s; --time-limit sets more seconds."
            )
    return able, remarks


def seconds_of(name: str, rows: int, width: float) -> float:
    """What one fit of a member takes, on the safe side.

    >>> round(seconds_of("lightgbm", 1000, 20), 2)
    0.11
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
