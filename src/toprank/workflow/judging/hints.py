"""Columns that look too good, or like row numbers: said aloud before anybody believes the figures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from toprank.datasets import Encoder
from toprank.workflow.learning.fitting import Items

__all__ = ["column_hints", "repeated_rows", "width_hint"]

SUSPICIOUS_AUC = 0.995
COLUMNS_AT_A_TIME = 256
WHO = frozenset(
    {"account", "client", "customer", "household", "id", "member", "patient", "person", "subject", "user"}
)
"""Words in the names of columns that say whose row it is."""
MOST_ROWS = 4000
"""Looked at when hunting for columns that give the label away; more would not show more."""


def column_hints(items: Items, encoder: Encoder, X: Any) -> list[str]:
    """Remarks about columns that name rows or give the label away."""
    return [*_row_numbers(items), *_repeated(items), *_giveaways(items, encoder, X)]


def width_hint(features: int, rows: int, reranked: bool) -> list[str]:
    """A warning where there are more features than rows to learn their weights from."""
    if features < rows:
        return []
    which = f"{rows} reranked items" if reranked else f"{rows} items"
    return [
        f"{features} features for {which}: with so many, any order can be had by chance; believe the held-out"
        " figures only, or leave columns out with --ignore."
    ]


def repeated_rows(items: Items) -> int:
    """Rows that repeat an earlier one, label included: copies in both parts of a split flatter it."""
    import pandas as pd

    if items.features.sparse is not None:
        return 0
    frame = items.features.frame
    labels = pd.Series(items.y, index=frame.index, name="\0label")
    # Beside the frame, not in it: a wide one would warn that it grows column by column.
    return int(pd.concat([frame, labels], axis=1).duplicated().sum())


def _row_numbers(items: Items) -> list[str]:
    """Whole-number columns that differ in every row and are called something with id."""
    import pandas as pd

    found = []
    for name, cells in items.features.frame.items():
        if (
            pd.api.types.is_integer_dtype(cells.dtype)
            and "id" in _words(name)
            and cells.is_unique
            and len(cells) > 2
        ):
            found.append(
                f"Column {name!r} is different in every row and looks like an identifier;"
                f" if it is one, say --id {name} or --ignore {name}."
            )
    return found


def _repeated(items: Items) -> list[str]:
    """Columns called something with id, or like people and places, whose values come back."""
    import pandas as pd

    if items.groups is not None or items.times is not None:
        return []
    found = []
    for name, cells in items.features.frame.items():
        if WHO.isdisjoint(_words(name)):
            continue
        different, rows = cells.nunique(), len(cells)
        whole = pd.api.types.is_integer_dtype(cells.dtype) or not pd.api.types.is_numeric_dtype(cells.dtype)
        if whole and rows / 20 <= different < rows:
            found.append(
                f"Column {name!r} looks like an identifier and repeats ({different} different of {rows}):"
                f" say --split-by {name}, so that its rows are held out together and it is not learned from."
            )
    return found


def _words(name: object) -> list[str]:
    """The words that a column's name is made of.

    >>> _words("PatientID"), _words("sub-id"), _words("customer no")
    (['patient', 'id'], ['sub', 'id'], ['customer', 'no'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", str(name))]


def _giveaways(items: Items, encoder: Encoder, X: Any) -> list[str]:
    # Of numbers the half above the median: a column that tells even that so well copies them, or nearly.
    rows = _sample(items.strata)
    y = items.strata[rows]
    if len(np.unique(y)) < 2 or min(y.sum(), len(y) - y.sum()) < 5:
        return []
    return [
        f"Column {name!r} alone tells the classes apart (AUC {value:.3f}): does it give the label away? If"
        " so, leave it out with --ignore."
        for name, value in zip(encoder.feature_names, _aucs(y, X[rows]), strict=True)
        if value >= SUSPICIOUS_AUC
    ]


def _aucs(y: NDArray[np.int8], X: Any) -> NDArray[np.float64]:
    """AUC of each column by itself or turned round, whichever is larger, ties counted half."""
    # Sparse columns are only cheap to take from a matrix stored by columns.
    part = X.tocsc() if hasattr(X, "tocsc") else X
    positive = y == 1
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    sums = []
    for begin in range(0, part.shape[1], COLUMNS_AT_A_TIME):
        some = part[:, begin : begin + COLUMNS_AT_A_TIME]
        ranks = rankdata(some.toarray() if hasattr(some, "toarray") else some, axis=0)
        sums.append(ranks[positive].sum(axis=0))
    values = (np.concatenate(sums) - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)
    return np.maximum(values, 1.0 - values)


def _sample(y: NDArray[np.int8]) -> NDArray[np.intp]:
    """Some rows of each class, always the same ones."""
    rng = np.random.default_rng(0)
    classes = (np.flatnonzero(y == label) for label in (0, 1))
    return np.concatenate([rng.permutation(rows)[: MOST_ROWS // 2] for rows in classes])
