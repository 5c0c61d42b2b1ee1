"""Scores of any fitted estimator, the order they make, and where the positives end."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control.threads import one_thread_for

__all__ = ["best_first", "positive_share", "prevalence_threshold", "ranking_scores"]


def best_first(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Row numbers by falling score; equal scores keep the order of the rows.

    >>> best_first(np.array([1.0, 3.0, 3.0, 2.0]))
    array([1, 2, 3, 0])
    """
    return np.argsort(-scores, kind="stable")


def ranking_scores(estimator: Any, X: Any, qid: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Scores of any fitted scikit-learn estimator: decision function, else probability, else prediction.

    Queries are for an estimator with ``by_query_`` set, whose scores depend on them.

    >>> from sklearn.linear_model import LinearRegression
    >>> ranking_scores(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), [[2.0]]).round(6)
    array([2.])
    """
    with warnings.catch_warnings():
        # Some versions of LightGBM make up names for the columns of an array, and miss them afterwards.
        warnings.filterwarnings("ignore", "X does not have valid feature names, but LGBM")
        with one_thread_for(_cells(X)):
            scores = _scores(estimator, X, qid)
    if scores.ndim != 1:
        raise ValueError(
            f"{type(estimator).__name__} gives scores of shape {scores.shape};"
            " ranking needs one score for each row."
        )
    return scores


def _scores(estimator: Any, X: Any, qid: NDArray[np.int64] | None) -> NDArray[np.float64]:
    if qid is not None and getattr(estimator, "by_query_", False):
        return np.asarray(estimator.decision_function(X, qid=qid), dtype=np.float64)
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    return np.asarray(estimator.predict(X), dtype=np.float64)


def positive_share(estimator: Any, X: Any) -> NDArray[np.float64]:
    """The probability of the second class by a fitted classifier.

    >>> from sklearn.dummy import DummyClassifier
    >>> positive_share(DummyClassifier(strategy="prior").fit([[0], [1]], [0, 1]), [[5]])
    array([0.5])
    """
    with one_thread_for(_cells(X)):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1]


def _cells(X: Any) -> int:
    """Rows times columns."""
    return math.prod(X.shape if hasattr(X, "shape") else np.shape(X))


def prevalence_threshold(
    scores: NDArray[np.float64], y: NDArray[np.int8], weight: NDArray[np.float64] | None = None
) -> float:
    """A cut with as many rows (as much weight) strictly above it as the positives have, ties permitting.

    The middle of the gap between the last row inside and the first row outside; with a tie across
    the cut the tied rows stay outside.
    """
    if weight is None:
        n_pos = int(y.sum())
        last, following = len(scores) - n_pos, max(len(scores) - n_pos - 1, 0)
        inside, outside = np.partition(scores, [following, last])[[last, following]]
    else:
        falling = np.argsort(-scores, kind="stable")
        mass, wanted = np.cumsum(weight[falling]), float(weight[y == 1].sum())
        slack = 1e-12 * wanted
        last = int(np.searchsorted(mass, wanted - slack))
        following = min(int(np.searchsorted(mass, wanted + slack)), len(scores) - 1)
        inside, outside = scores[falling[[last, following]]]
    middle = outside + (inside - outside) / 2
    return float(middle if middle < inside else outside)
