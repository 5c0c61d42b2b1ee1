"""Labels with more than two grades, for the rankers that can use them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from toprank import statistics
from toprank.base import BaseRanker, RankingData

__all__ = ["GradedData", "GradedRanker"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GradedData(RankingData):
    """Training data with a number for every row: the higher, the nearer to the top.

    Parameters
    ----------
    grade : array of float64
        The labels as numbers (0 and 1 where there are two); `y` says only whether a row is above the lowest.
    """

    grade: Floats = field(default_factory=lambda: np.empty(0))


class GradedRanker(BaseRanker):
    """A ranker that learns from two labels, or from graded ones when ``levels="graded"``.

    With graded labels, which must be numbers, `predict` gives grades: as many training rows get each grade as
    had it. `score` is the concordance index, which is the AUC when there are two grades.
    """

    levels: str
    cuts_: Floats

    def _graded(self) -> bool:
        if self.levels not in ("binary", "graded"):
            raise ValueError(f"levels={self.levels!r} is not one of 'binary', 'graded'.")
        return self.levels == "graded"

    def _clean(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> GradedData:
        data = super()._clean(X, y, qid, sample_weight)
        grade = _numbers(y) if self._graded() else data.y.astype(np.float64)
        return GradedData(data.X, data.y, data.qid, data.sample_weight, grade)

    def _encode_labels(self, y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int8]]:
        if not self._graded():
            return super()._encode_labels(y)
        if self._wanted_label() is not None:
            raise ValueError(
                f"pos_label={self._wanted_label()!r} has no meaning with levels='graded': the higher the"
                " label, the nearer to the top."
            )
        grades, codes = np.unique(_numbers(y), return_inverse=True)
        if len(grades) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two different grades, but y is {grades[0]} throughout."
            )
        return grades, (codes > 0).astype(np.int8)

    def _finish(self, data: RankingData) -> None:
        super()._finish(data)
        if self._graded():
            assert isinstance(data, GradedData)
            self.cuts_ = _grade_cuts(self._scores(data.X) + self.intercept_, data.grade)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label or grade of each row; as many training rows get each as had it, ties permitting."""
        if not self._graded():
            return super().predict(X)
        return self.classes_[np.searchsorted(self.cuts_, self.decision_function(X), side="left")]

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """The AUC, or with graded labels the concordance index; ties are mistakes."""
        if not self._graded():
            return super().score(X, y, sample_weight, qid)
        statistic = statistics.get("c_index")
        return float(statistic(_numbers(y), self.decision_function(X), sample_weight=sample_weight, qid=qid))


def _numbers(y: ArrayLike) -> Floats:
    """Graded labels as finite numbers."""
    y = column_or_1d(y, warn=True)
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "y must hold numbers when levels='graded': the higher, the nearer to the top."
        ) from None
    if not np.isfinite(numbers).all():
        raise ValueError("y contains NaN or infinity; graded labels must be finite numbers.")
    return numbers


def _grade_cuts(scores: Floats, grades: Floats) -> Floats:
    """One cut below each grade but the lowest, in the middle of the gap between the scores around it."""
    ordered = np.sort(scores)
    below = np.cumsum(np.unique(grades, return_counts=True)[1])[:-1]
    return np.asarray(ordered[below - 1] + (ordered[below] - ordered[below - 1]) / 2)
