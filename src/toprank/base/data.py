"""Clean training data: what a ranker's `_fit` gets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from toprank.labels import LabelKind

__all__ = ["Matrix", "RankingData", "query_codes", "strata", "take"]

TENTHS = 10
"""Parts that a response is cut into where rows are dealt evenly."""

Matrix = NDArray[np.float64] | sp.csr_matrix | sp.csr_array
"""Rows as a ranker gets them: dense, or sparse by rows."""


@dataclass(frozen=True, slots=True)
class RankingData:
    """Clean training data: what `_fit` gets and nothing else.

    Parameters
    ----------
    X : array or CSR matrix of float64, finite (but for NaN, where the ranker's tags allow it)
    y : array of int8, 1 for the items that belong at the top, 0 for the rest, where `kind` is "binary"; else
        of float64, the higher the nearer to the top
    qid : array of int64 query numbers 0..q-1, or None when all rows form one list
    sample_weight : array of float64, or None when all rows count the same
    start : array of float64, coefficients to begin from, or None
    kind : {"binary", "ordinal", "continuous"}
    watch : rows the user brought to stop by, which are looked at and not learned from, or None

    Examples
    --------
    >>> RankingData(np.zeros((2, 1)), np.array([0, 1], dtype=np.int8)).grade
    array([0., 1.])
    """

    X: Matrix
    y: NDArray[Any]
    qid: NDArray[np.int64] | None = None
    sample_weight: NDArray[np.float64] | None = None
    start: NDArray[np.float64] | None = None
    kind: LabelKind = "binary"
    watch: RankingData | None = None

    @property
    def grade(self) -> NDArray[np.float64]:
        """The labels as float64, whatever their kind: 0 and 1 where there are two."""
        return np.asarray(self.y, dtype=np.float64)


def take(data: RankingData, rows: NDArray[np.integer[Any]]) -> RankingData:
    """Some rows of the data.

    >>> data = RankingData(np.zeros((3, 1)), np.array([1, 0, 1]), sample_weight=np.array([1.0, 2.0, 3.0]))
    >>> take(data, np.array([2, 0])).sample_weight
    array([3., 1.])
    """
    qid = None if data.qid is None else data.qid[rows]
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return replace(data, X=data.X[rows], y=data.y[rows], qid=qid, sample_weight=weight)


def strata(data: RankingData) -> NDArray[np.int64]:
    """A number for each row, the same for rows of like labels: what random splits should spread evenly.

    Labels of two kinds and grades as they are; of a response its tenths, of equal size.

    >>> y = np.array([0.1, 5.0, 0.2, 4.0])
    >>> strata(RankingData(np.zeros((4, 1)), y, kind="continuous"))
    array([0, 7, 2, 5])
    """
    if data.kind != "continuous":
        return np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    place = np.empty(len(data.y), dtype=np.int64)
    place[np.argsort(data.y, kind="stable")] = np.arange(len(data.y))
    return place * TENTHS // len(data.y)


def query_codes(qid: ArrayLike) -> NDArray[np.int64]:
    """Query numbers 0..q-1 from any labels, in any order.

    >>> query_codes(["b", "a", "b"])
    array([1, 0, 1])
    """
    return np.unique(column_or_1d(qid), return_inverse=True)[1].astype(np.int64)
