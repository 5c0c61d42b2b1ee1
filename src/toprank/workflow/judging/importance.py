"""The columns of a table as a ranker sees them: coefficients, and hits that are lost without one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.datasets import Encoder
from toprank.datasets.encode import ColumnEncoder
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.workflow.judging.hits import hits_at

__all__ = ["MOST_COLUMNS", "Feature", "features_of", "importance_at", "linear_coefficients"]

Floats = NDArray[np.float64]
MOST_COLUMNS = 60
"""Of a ranker that is not linear, columns whose contributions are looked at: each takes a scoring."""
MOST_CELLS = 60_000
"""Rows times columns that are shuffled: of long and wide lists, some of the rows."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of the table and the features made of it."""

    name: str
    where: slice


def features_of(encoder: Encoder) -> list[Feature]:
    """The columns of a table as a ranker sees them, in order."""
    if not isinstance(encoder, ColumnEncoder):
        return [Feature(f"feature {name}", slice(k, k + 1)) for k, name in enumerate(encoder.feature_names)]
    found, begin = [], 0
    for column in encoder.columns:
        end = begin + len(column.feature_names)
        found.append(Feature(column.name, slice(begin, end)))
        begin = end
    return found


def linear_coefficients(ranker: Any, width: int) -> Floats | None:
    """Coefficients of a linear score of these features; None where the score is another."""
    if isinstance(ranker, RankThenRerank):
        inner = ranker.reranker_ if ranker.reranked_ else ranker.base_
        return linear_coefficients(inner, width)
    try:
        coef = np.ravel(np.asarray(ranker.coef_, dtype=np.float64))
    except (AttributeError, TypeError, ValueError):
        return None
    return coef if coef.shape == (width,) else None


def importance_at(
    budget: int,
    ranker: Any,
    X: Any,
    y: NDArray[np.int8],
    qid: NDArray[np.int64] | None,
    encoder: Encoder,
    rng: np.random.Generator,
) -> Floats:
    """How many hits among the first `budget` are lost when a column is shuffled; NaN where not looked at.

    Where rows and columns are many, of some of the rows, with their share of the budget, and scaled up.
    """
    features = features_of(encoder)
    lost = np.full(len(features), np.nan)
    if hasattr(X, "tocsr"):
        return lost
    rows = _some_rows(len(X) if qid is None else 0, len(features[:MOST_COLUMNS]), rng)
    if rows is not None:
        share = len(rows) / len(X)
        budget, X, y = max(1, round(share * budget)), X[rows], y[rows]
    before = hits_at(budget, y, ranking_scores(ranker, X, qid), qid)
    for k, one in enumerate(features[:MOST_COLUMNS]):
        shuffled = X.copy()
        shuffled[:, one.where] = X[rng.permutation(len(X))][:, one.where]
        lost[k] = before - hits_at(budget, y, ranking_scores(ranker, shuffled, qid), qid)
    return lost if rows is None else lost / share


def _some_rows(count: int, columns: int, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Rows that stand for all of so many; None where all can be looked at."""
    most = MOST_CELLS // max(columns, 1)
    return None if count <= most else np.sort(rng.permutation(count)[:most])
