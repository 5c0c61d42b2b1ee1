"""Columns that look too good, or like row numbers: said aloud before anybody believes the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets import Encoder
from toprank.statistics import get
from toprank.workflow.fitting import Items

__all__ = ["column_hints"]

SUSPICIOUS_AUC = 0.995
MOST_ROWS = 4000
"""Looked at when hunting for columns that give the label away; more would not show more."""


def column_hints(items: Items, encoder: Encoder, X: Any) -> list[str]:
    """Remarks about columns that name rows or give the label away."""
    return [*_row_numbers(items), *_giveaways(items, encoder, X)]


def _row_numbers(items: Items) -> list[str]:
    """Whole-number columns that differ in every row and are called something with id."""
    import pandas as pd

    found = []
    for name, cells in items.features.frame.items():
        words = str(name).lower().replace("-", "_").split("_")
        if (
            pd.api.types.is_integer_dtype(cells.dtype)
            and "id" in words
            and cells.is_unique
            and len(cells) > 2
        ):
            found.append(
                f"Column {name!r} is different in every row and looks like an identifier;"
                f" if it is one, say --id {name} or --ignore {name}."
            )
    return found


def _giveaways(items: Items, encoder: Encoder, X: Any) -> list[str]:
    rows = _sample(items.y)
    y, auc = items.y[rows], get("auc")
    if len(np.unique(y)) < 2 or min(y.sum(), len(y) - y.sum()) < 5:
        return []
    # Sparse columns are only cheap to take from a matrix stored by columns.
    part = X[rows].tocsc() if hasattr(X, "tocsc") else X[rows]
    found = []
    for number, name in enumerate(encoder.feature_names):
        column = part[:, [number]]
        column = np.asarray(column.todense() if hasattr(column, "todense") else column).ravel()
        value = max(float(auc(y, column, ties="mean")), float(auc(y, -column, ties="mean")))
        if value >= SUSPICIOUS_AUC:
            found.append(
                f"Column {name!r} alone tells the classes apart (AUC {value:.3f}): does it give the label"
                " away? If so, leave it out with --ignore."
            )
    return found


def _sample(y: NDArray[np.int8]) -> NDArray[np.intp]:
    """Some rows of each class, always the same ones."""
    rng = np.random.default_rng(0)
    classes = (np.flatnonzero(y == label) for label in (0, 1))
    return np.concatenate([rng.permutation(rows)[: MOST_ROWS // 2] for rows in classes])
