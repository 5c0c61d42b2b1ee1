"""The scikit-learn contract of every ranker, written once.

A ranker implements `_fit` (learn from clean data, inside a `Run`) and `_scores` (clean rows to
scores); validation, labels, thresholds, ranking, scoring, time limits, Ctrl-C and warnings live here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from toprank import statistics
from toprank.control import Outcome, Progress, Run, check_time_limit, warn_if_cut_short
from toprank.labels import told_label, told_labels, top_label

__all__ = [
    "BaseRanker",
    "LinearRanker",
    "Matrix",
    "RankingData",
    "best_first",
    "clone_for_codes",
    "query_codes",
    "ranking_scores",
]

Matrix = NDArray[np.float64] | sp.csr_matrix | sp.csr_array


@dataclass(frozen=True, slots=True)
class RankingData:
    """Clean training data: what `_fit` gets and nothing else.

    Parameters
    ----------
    X : array or CSR matrix of float64, finite
    y : array of int8, 1 for the items that belong at the top, 0 for the rest
    qid : array of int64 query numbers 0..q-1, or None when all rows form one list
    sample_weight : array of float64, or None when all rows count the same
    """

    X: Matrix
    y: NDArray[np.int8]
    qid: NDArray[np.int64] | None = None
    sample_weight: NDArray[np.float64] | None = None


class BaseRanker(ClassifierMixin, BaseEstimator):
    """A scikit-learn estimator whose scores put the best items first.

    Subclasses implement `_fit(data, run)`, which sets the learned attributes and returns an
    `Outcome`, and `_scores(X)`. Parameters every iterative ranker shares, where it has them:
    ``tol, time_limit, max_iter, random_state, callback, verbose``.

    The label `pos_label` marks the items that belong at the top. Without it, the larger of two numbers does,
    or the plain one of two words (yes of yes and no, true, positive, ...); of two other words the last in
    sorted order, with an `UnclearLabelsWarning`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one belongs at the top. So `decision_function` is above zero where `predict`
        says ``classes_[1]``, as scikit-learn has it. Where `pos_label` is the first in sorted order, though,
        `classes_` is not sorted: a scorer without `pos_label` ("roc_auc") counts the other label, and what
        numbers the labels itself (stacking, calibration) wants ``y == pos_label`` instead.
    intercept_ : float
        Shifts the scores so that as many training rows score above zero as there are positives.
    outcome_ : Outcome
        Value, bound, gap, status and seconds of the fit.
    """

    classes_: NDArray[Any]
    n_features_in_: int
    intercept_: float
    outcome_: Outcome

    # -- what a ranker implements -------------------------------------------------------------

    @abstractmethod
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        """Learn from clean data, set the learned attributes, say how it went."""

    @abstractmethod
    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        """Scores of clean rows before the intercept is added."""

    # -- fitting ------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Learn to rank.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two different labels; `pos_label`, else the larger, marks the items that belong at the top.
        qid : array-like of shape (n_samples,), optional
            Query or group of each row, in any order; rows are only compared within their group.

        Returns
        -------
        self
        """
        return self._fit_clean(X, y, qid=qid)

    def _fit_clean(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Validate once, make the run, call `_fit`, set the threshold, warn if cut short."""
        check_time_limit(getattr(self, "time_limit", None))
        data = self._clean(X, y, qid, sample_weight)
        self._prepare(data)
        with self._make_run() as run:
            self.outcome_ = self._fit(data, run)
            # Inside: when Ctrl-C goes on at the end of the run, the ranker is ready for use.
            self._finish(data)
        self._warn_if_cut_short()
        return self

    def _finish(self, data: RankingData) -> None:
        """Set what `predict` needs beside the scores."""
        self.intercept_ = -_prevalence_threshold(self._scores(data.X), data.y, data.sample_weight)

    def _prepare(self, data: RankingData) -> None:
        """Do what must not count against the time limit; compiling kernels for the first time, say."""

    def _warn_if_cut_short(self) -> None:
        warn_if_cut_short(self.outcome_, type(self).__name__, self._reached())

    def _reached(self) -> tuple[float, float] | None:
        """The relative gap the fit ended with and the one it was asked for; None where there is no such."""
        tol = getattr(self, "tol", None)
        return None if tol is None or np.isnan(self.outcome_.bound) else (self.outcome_.gap, float(tol))

    def _clean(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> RankingData:
        rows, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=False)
        self.classes_, labels = self._encode_labels(y)
        weight = (
            None
            if sample_weight is None
            else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        )
        codes = None
        if qid is not None:
            check_consistent_length(rows, qid)
            codes = query_codes(qid)
        return RankingData(rows, labels, codes, weight)

    def _encode_labels(self, y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int8]]:
        y = column_or_1d(y, warn=True)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        classes, labels = np.unique(y, return_inverse=True)
        if kind != "binary":
            # scikit-learn's own checks look for the first sentence.
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
                f" y has {len(classes)} different values: mark the items that belong at the top with one of"
                " two labels."
            )
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes to rank, but y has one class only ({classes[0]!r})."
            )
        top = top_label(classes.tolist(), self._wanted_label())
        return classes[[1 - top, top]], (labels == top).astype(np.int8)

    def _wanted_label(self) -> Any:
        """The label the user wants at the top, told to this ranker or to one inside it; None if to none."""
        own = getattr(self, "pos_label", None)
        if own is not None:
            return own
        return told_label(self)

    def _make_run(self) -> Run:
        return Run(
            time_limit=getattr(self, "time_limit", None),
            callback=self._reporter(),
            rng=getattr(self, "random_state", None),
        )

    def _reporter(self) -> Callable[[Progress], Any] | None:
        """The user's callback, or one that prints when `verbose` is set."""
        callback: Callable[[Progress], Any] | None = getattr(self, "callback", None)
        if callback is None and getattr(self, "verbose", False):
            return _print_progress
        return callback

    # -- scoring and ranking ------------------------------------------------------------------

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores: the higher, the nearer to the top; above zero where `predict` says positive."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._scores(rows) + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of each row: the second class where the score is above zero.

        The threshold calls as many training rows positive as there were positives.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def rank(self, X: ArrayLike) -> NDArray[np.intp]:
        """Row numbers, best first; equal scores keep the order of the rows."""
        return best_first(self.decision_function(X))

    def first(self, X: ArrayLike, k: int) -> NDArray[np.intp]:
        """The row numbers of the `k` best rows, best first."""
        ranked = self.rank(X)
        if not 0 <= k <= len(ranked):
            raise ValueError(f"k={k} is not between 0 and the number of rows, {len(ranked)}.")
        return ranked[:k]

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """The statistic this ranker optimises (`statistic`, else AUC) on `X`; ties are mistakes."""
        statistic = statistics.get(getattr(self, "statistic", "auc"))
        positive = np.asarray(y) == self.classes_[1]
        value = statistic(positive, self._scores_to_judge(X, qid), sample_weight=sample_weight, qid=qid)
        return float(value if statistic.greater_is_better else -value)

    def _scores_to_judge(self, X: ArrayLike, qid: ArrayLike | None) -> NDArray[np.float64]:
        """Scores of rows whose queries are known; most rankers score them as any other rows."""
        return self.decision_function(X)

    # -- scikit-learn tags --------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


class LinearRanker(BaseRanker):
    """A ranker whose score is ``X @ coef_ + intercept_``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature.
    """

    coef_: NDArray[np.float64]

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return np.asarray(X @ self.coef_, dtype=np.float64)


def best_first(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Row numbers by falling score; equal scores keep the order of the rows.

    >>> best_first(np.array([1.0, 3.0, 3.0, 2.0]))
    array([1, 2, 3, 0])
    """
    return np.argsort(-scores, kind="stable")


def clone_for_codes(estimator: Any) -> Any:
    """A clone to be fitted on 1 for the top and 0 for the rest, whatever labels it was told of.

    >>> from toprank.rankers.rank_svm import RankSVM
    >>> clone_for_codes(RankSVM(pos_label="fraud"))
    RankSVM()
    """
    copy = clone(estimator)
    told = told_labels(copy)
    return copy.set_params(**dict.fromkeys(told)) if told else copy


def ranking_scores(estimator: Any, X: Any, qid: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Scores of any fitted scikit-learn estimator: decision function, else probability, else prediction.

    Queries are for an estimator with ``by_query_`` set, whose scores depend on them.

    >>> from sklearn.linear_model import LinearRegression
    >>> ranking_scores(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), [[2.0]]).round(6)
    array([2.])
    """
    if qid is not None and getattr(estimator, "by_query_", False):
        scores = np.asarray(estimator.decision_function(X, qid=qid), dtype=np.float64)
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    elif hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        scores = scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    else:
        scores = np.asarray(estimator.predict(X), dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(
            f"{type(estimator).__name__} gives scores of shape {scores.shape};"
            " ranking needs one score for each row."
        )
    return scores


def query_codes(qid: ArrayLike) -> NDArray[np.int64]:
    """Query numbers 0..q-1 from any labels, in any order.

    >>> query_codes(["b", "a", "b"])
    array([1, 0, 1])
    """
    return np.unique(column_or_1d(qid), return_inverse=True)[1].astype(np.int64)


def _prevalence_threshold(
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


def _print_progress(progress: Progress) -> None:
    bound = "" if np.isnan(progress.bound) else f"  bound {progress.bound:.6g}  gap {progress.gap:.2%}"
    print(f"{progress.seconds:8.1f} s  {progress.phase or 'value'} {progress.value:.6g}{bound}", flush=True)
