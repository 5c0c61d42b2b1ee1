"""`BaseRanker`: validation, labels, thresholds, ranking, scoring, time limits, Ctrl-C and warnings.

A ranker implements `_fit` (learn from clean data, inside a `Run`) and `_scores` (clean rows to scores), and
says in its tags what it can do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from toprank import statistics
from toprank.base.data import Matrix, RankingData, query_codes
from toprank.base.scores import best_first, prevalence_threshold
from toprank.base.tags import RankerTags, abilities, last_step, with_ranker_tags
from toprank.control import Outcome, Progress, Run, check_time_limit, warn_if_cut_short
from toprank.labels import told_label, top_label

__all__ = ["BaseRanker", "LinearRanker"]


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

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Learn to rank.

        What a ranker cannot use is a ValueError that names it; its tags
        (``sklearn.utils.get_tags(ranker).ranker_tags``) say what it can.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the square matrix of kernel values.
        y : array-like of shape (n_samples,)
            Two different labels; `pos_label`, else the larger, marks the items that belong at the top. With
            ``levels="graded"`` any numbers, the higher the nearer to the top.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        qid : array-like of shape (n_samples,), optional
            Query or group of each row, in any order; rows are only compared within their group.

        Returns
        -------
        self
        """
        check_time_limit(getattr(self, "time_limit", None))
        data = self._clean(X, y, qid, sample_weight)
        self._prepare(data)
        with self._make_run() as run:
            self._fit_in(data, run)
        self._warn_if_cut_short()
        self._warn_of_answer()
        return self

    def fit_within(
        self,
        X: ArrayLike,
        y: ArrayLike,
        run: Run,
        *,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        start: ArrayLike | None = None,
    ) -> Self:
        """Learn to rank as a part of something larger: under its clock, with its stop button.

        The time left to `run` counts, or the ranker's own limit where that is less; so do its random numbers
        and its callback where the ranker has none of its own. Being cut short is no warning here: whoever
        made the run looks at `outcome_` and says so.

        Parameters
        ----------
        X, y, sample_weight, qid
            As in `fit`.
        run : Run
            Of the whole.
        start : array-like of shape (n_features,), optional
            Coefficients to begin from; a hint, which a ranker that begins nowhere in particular passes over.

        Returns
        -------
        self
        """
        limit = getattr(self, "time_limit", None)
        check_time_limit(limit)
        data = self._clean(X, y, qid, sample_weight)
        if start is not None:
            data = replace(data, start=np.asarray(start, dtype=np.float64).ravel())
        with run.uncounted():
            self._prepare(data)
        seed = getattr(self, "random_state", None)
        with run.part(time_limit=limit, callback=self._reporter(), rng=seed) as part:
            self._fit_in(data, part)
        self._warn_of_answer()
        return self

    def _fit_in(self, data: RankingData, run: Run) -> None:
        self.outcome_ = self._fit(data, run)
        # Inside the run: when Ctrl-C goes on at its end, the ranker is ready for use.
        self._finish(data)

    def _finish(self, data: RankingData) -> None:
        """Set what `predict` needs beside the scores."""
        self.intercept_ = -prevalence_threshold(self._scores(data.X), data.y, data.sample_weight)

    def _prepare(self, data: RankingData) -> None:
        """Do what must not count against the time limit; compiling kernels for the first time, say."""

    def _warn_if_cut_short(self) -> None:
        warn_if_cut_short(self.outcome_, type(self).__name__, self._reached())

    def _warn_of_answer(self) -> None:
        """Warn of what the user should know about an answer, however long it was looked for."""

    def _reached(self) -> tuple[float, float] | None:
        """The relative gap the fit ended with and the one it was asked for; None where there is no such."""
        tol = getattr(self, "tol", None)
        return None if tol is None or np.isnan(self.outcome_.bound) else (self.outcome_.gap, float(tol))

    def _clean(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> RankingData:
        self._refuse(qid=qid, sample_weight=sample_weight)
        rows, y = validate_data(self, X, y, y_numeric=False, **self._accepted())
        self.classes_, labels = self._encode_labels(y)
        weight, codes = None, None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
            self._check_weights(labels, weight)
        if qid is not None:
            check_consistent_length(rows, qid)
            codes = query_codes(qid)
        return RankingData(rows, labels, codes, weight)

    def _accepted(self) -> dict[str, Any]:
        """What `X` may be, by the tags."""
        missing = self.__sklearn_tags__().input_tags.allow_nan
        finite = "allow-nan" if missing else True
        return {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": finite}

    def _refuse(self, *, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        """Refuse by name what the tags say cannot be used."""
        can = self.ranker_tags
        if qid is not None and not can.queries:
            name = self._blamed(lambda one: abilities(one).queries)
            raise ValueError(f"qid: {name} learns from one list and takes no queries; fit without qid.")
        if sample_weight is not None and not can.weights:
            name = self._blamed(lambda one: abilities(one).weights)
            raise ValueError(f"sample_weight: {name} takes no weights; fit without sample_weight.")

    def _inside(self) -> list[Any]:
        """The estimators this one is made of."""
        return []

    def _blamed(self, able: Callable[[Any], bool]) -> str:
        """Who cannot do it: this ranker, or one inside it."""
        own = type(self).__name__
        unable = [last_step(one) for one in self._inside() if not able(one)]
        rankers = [one for one in unable if isinstance(one, BaseRanker)]
        if rankers:
            return f"{rankers[-1]._blamed(able)} in {own}"
        return f"{type(unable[-1]).__name__} in {own}" if unable else own

    def _check_weights(self, y: NDArray[np.int8], weight: NDArray[np.float64]) -> None:
        """Both classes must count."""
        if not all(weight[y == label].sum() > 0 for label in (0, 1)):
            raise ValueError(
                "sample_weight leaves one class only; both classes need rows with a positive weight."
            )

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
                f"{type(self).__name__} needs two classes to rank, but y has one class only"
                f" ({classes.tolist()[0]!r})."
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
        rows = validate_data(self, X, reset=False, **self._accepted())
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

    # -- tags ---------------------------------------------------------------------------------

    @property
    def ranker_tags(self) -> RankerTags:
        """What this ranker can do with the parameters it has."""
        tags: RankerTags = self.__sklearn_tags__().ranker_tags
        return tags

    def __sklearn_tags__(self) -> Any:
        tags = with_ranker_tags(super().__sklearn_tags__())
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.linear = True
        return tags


def _print_progress(progress: Progress) -> None:
    bound = "" if np.isnan(progress.bound) else f"  bound {progress.bound:.6g}  gap {progress.gap:.2%}"
    print(f"{progress.seconds:8.1f} s  {progress.phase or 'value'} {progress.value:.6g}{bound}", flush=True)
