"""Labels with more than two grades, for the rankers that can use them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from toprank import statistics
from toprank.base import BaseRanker, RankingData
from toprank.rankers.parts.parameters import check_choice

__all__ = ["GradedData", "GradedRanker"]

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""Scores that differ by less, relative to the largest, are as good as equal."""


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
        return self.levels == "graded"

    def _clean(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> GradedData:
        check_choice("levels", getattr(self, "levels", "binary"), ["binary", "graded"])
        data = super()._clean(X, y, qid, sample_weight)
        grade = _numbers(y) if self._graded() else data.y.astype(np.float64)
        return GradedData(data.X, data.y, data.qid, data.sample_weight, grade=grade)

    def _check_weights(self, y: NDArray[np.int8], weight: Floats) -> None:
        if not self._graded():
            super()._check_weights(y, weight)

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
                # scikit-learn's own checks look for "one class".
                f"{type(self).__name__} needs two different grades, but y has one class only: it is"
                f" {grades[0]} throughout."
            )
        return grades, (codes > 0).astype(np.int8)

    def _finish(self, data: RankingData) -> None:
        super()._finish(data)
        if self._graded():
            assert isinstance(data, GradedData)
            scores = self._scores(data.X) + self.intercept_
            self.cuts_ = _grade_cuts(scores, data.grade, data.sample_weight)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label or grade of each row; as many training rows get each as had it, ties permitting."""
        if not self._graded():
            return super().predict(X)
        scores = self.decision_function(X)
        return self.classes_[np.searchsorted(self.cuts_, scores, side="left")]

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """The AUC, or with graded labels the concordance index; ties are mistakes."""
        if not self._graded():
            return super().score(X, y, sample_weight, qid)
        statistic = statistics.get("c_index")
        return float(statistic(_numbers(y), self.decision_function(X), sample_weight=sample_weight, qid=qid))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._graded():
            # Grades are numbers with an order: no classes to scikit-learn, nor, with scores of their own, a
            # regression.
            tags.estimator_type, tags.classifier_tags = None, None
            tags.ranker_tags.labels = "graded"
        return tags


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


def _grade_cuts(scores: Floats, grades: Floats, weight: Floats | None = None) -> Floats:
    """One cut below each grade but the lowest, in the middle of the gap between the scores around it.

    As many rows, or as much weight, lie below a cut as the lower grades have.

    >>> _grade_cuts(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 2.0]))
    array([1.5, 2.5])
    """
    weight = np.ones(len(scores)) if weight is None else weight
    rising = np.argsort(scores, kind="stable")
    ordered, mass = scores[rising], np.cumsum(weight[rising])
    below = np.cumsum(np.bincount(np.unique(grades, return_inverse=True)[1], weights=weight))[:-1]
    slack = 1e-12 * mass[-1]
    last = np.minimum(np.searchsorted(mass, below - slack), len(scores) - 1)
    # Rows that tie across a cut stay below it, well below, for `predict` may round them differently.
    higher = ordered[last] + ROUNDING * float(np.abs(ordered).max())
    distinct = np.searchsorted(ordered, higher, side="right")
    following = np.maximum(np.searchsorted(mass, below + slack), distinct)
    above = np.append(ordered, ordered[-1] + 1.0)[np.minimum(following, len(scores))]
    return np.asarray(ordered[last] + (above - ordered[last]) / 2)
