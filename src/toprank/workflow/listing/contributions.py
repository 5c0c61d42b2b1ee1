"""Why an item is where it is: what each column adds to its score.

A column's contribution is what the score loses when the cell is set to what is usual in that column: the
median of numbers and dates, the most frequent of words. For a linear score that is its coefficient times the
distance from the usual value; for any other ranker it is found by scoring the item again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.datasets import Encoder, Table
from toprank.datasets.columns import NumberColumn
from toprank.datasets.encode import ColumnEncoder
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.workflow.judging.importance import MOST_COLUMNS, features_of, linear_coefficients

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cells_in_words", "contributions", "usual_features", "words_for"]

Floats = NDArray[np.float64]
NEGLIGIBLE = 0.05
"""Contributions below this share of an item's largest are left unsaid."""


def usual_features(encoder: Encoder) -> Floats:
    """Features of an item that is usual in every column."""
    if not isinstance(encoder, ColumnEncoder):
        return np.zeros(len(encoder.feature_names))
    parts = [
        [(column.fill - column.mean) / column.scale]
        if isinstance(column, NumberColumn)
        else [0.0] * len(column.categories)
        for column in encoder.columns
    ]
    return np.array([value for part in parts for value in part])


def contributions(ranker: Any, X: Any, encoder: Encoder, columns: Sequence[int] | None = None) -> Floats:
    """What each column adds to the score of each row, one row an item, one column a column of the table.

    Parameters
    ----------
    ranker : estimator
    X : array or sparse matrix
        Features of the items.
    encoder : Encoder
    columns : sequence of int, optional
        For a ranker that is not linear: which columns to look at, the others count as nothing.
    """
    features, usual = features_of(encoder), usual_features(encoder)
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    linear = _linear_by_row(ranker, X, dense.shape[1])
    if linear is not None:
        share = linear * (dense - usual)
        return np.column_stack([share[:, one.where].sum(axis=1) for one in features])
    whole = ranking_scores(ranker, dense)
    found = np.zeros((len(dense), len(features)))
    for k in range(min(len(features), MOST_COLUMNS)) if columns is None else columns:
        without = dense.copy()
        without[:, features[k].where] = usual[features[k].where]
        changed = np.flatnonzero((without != dense).any(axis=1))
        if len(changed):
            found[changed, k] = whole[changed] - ranking_scores(ranker, without[changed])
    return found


def _linear_by_row(ranker: Any, X: Any, width: int) -> Floats | None:
    """The coefficients that order each row: above its threshold a reranker's, below it the base's."""
    if not isinstance(ranker, RankThenRerank) or not ranker.reranked_:
        coef = linear_coefficients(ranker, width)
        return None if coef is None else coef[None, :]
    top, rest = linear_coefficients(ranker.reranker_, width), linear_coefficients(ranker.base_, width)
    if top is None or rest is None:
        return None
    inside = ranking_scores(ranker.base_, X) >= ranker.threshold_
    return np.where(inside[:, None], top, rest)


def words_for(table: Table, encoder: Encoder, parts: Floats, *, most: int = 3) -> list[str]:
    """For each row of a table its main contributions, as "vibration 7.3 mm/s: +1.2, age 31: +0.6".

    Parameters
    ----------
    table : Table
        The items, as many as `parts` has rows.
    encoder : Encoder
    parts : array
        From `contributions`.
    most : int
        How many to name.
    """
    names = [feature.name for feature in features_of(encoder)]
    chosen = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :most]
    sayings = []
    shown: dict[int, list[str]] = {}
    for row, columns in enumerate(chosen):
        largest = np.abs(parts[row, columns[0]]) if len(columns) else 0.0
        said = []
        for k in columns.tolist():
            if largest == 0.0 or abs(parts[row, k]) < NEGLIGIBLE * largest:
                continue
            if k not in shown:
                shown[k] = cells_in_words(table, encoder, k)
            said.append(f"{names[k]} {shown[k][row]}: {_signed(parts[row, k])}")
        sayings.append(", ".join(said))
    return sayings


def cells_in_words(table: Table, encoder: Encoder, k: int) -> list[str]:
    """The cells of the k-th column as a person writes them."""
    if not isinstance(encoder, ColumnEncoder):
        column = table.sparse[:, [int(encoder.feature_names[k]) - 1]].toarray().ravel()
        return [f"{value:.4g}" for value in column]
    column = encoder.columns[k]
    cells: pd.Series[Any] = table.frame[column.name]
    if isinstance(column, NumberColumn):
        values = column.reading.read(cells)
        return ["missing" if np.isnan(value) else column.show(float(value)) for value in values]
    return ["missing" if missing else str(cell) for cell, missing in zip(cells, cells.isna(), strict=True)]


def _signed(value: float) -> str:
    return f"{value:+.2g}" if abs(value) < 10 else f"{value:+.0f}"
