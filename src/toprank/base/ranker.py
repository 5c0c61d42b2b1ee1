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
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from toprank.base.data import Matrix, RankingData, query_codes
from toprank.base.labelling import LabelReader, ReadLabels
from toprank.base.levels import grade_cuts, response_curve, suited, upper_part
from toprank.base.scores import best_first, prevalence_threshold
from toprank.base.searched import warn_if_searched
from toprank.base.tags import RankerTags, abilities, with_ranker_tags
from toprank.base.text import text_explained
from toprank.control import Outcome, Progress, Run, check_time_limit, warn_if_cut_short
from toprank.labels import LabelKind, as_numbers
from toprank.statistics import RankStatistic

__all__ = ["BaseRanker"]


class BaseRanker(LabelReader, ClassifierMixin, BaseEstimator):
    """A scikit-learn estimator whose scores put the best items first.

    Subclasses implement `_fit(data, run)`, which sets the learned attributes and returns an
    `Outcome`, and `_scores(X)`. Parameters every iterative ranker shares, where it has them:
    ``tol, time_limit, max_iter, random_state, callback, verbose``.

    The label `pos_label` marks the items that belong at the top. Without it, the larger of two numbers does,
    or the plain one of two words (yes of yes and no, true, positive, ...); of two other words the last in
    sorted order, with an `UnclearLabelsWarning`.

    Where the mathematics allows it, labels may be more than two numbers, the higher the nearer to the top;
    `ranker_tags.labels` says which kinds. The kind is told from `y` (`toprank.labels.kind_of`) unless the
    parameter `levels` says it. To scikit-learn such a ranker is a classifier all the same: it asks before it
    has seen `y`, two labels are the rule, and only a classifier gets stratified folds and scorers of its
    decision function ("roc_auc"), while folds of a response and scorers of predictions do not ask. The price
    is that two of scikit-learn's checks expect an error which does not come: see
    `toprank.testing.expected_failures`. One that was told to take grades or a response is no classifier.

    Attributes
    ----------
    kind_ : {"binary", "ordinal", "continuous"}
        What the labels were taken as.
    classes_ : ndarray
        The labels, rising; a response has none. Of two labels the second belongs at the top: so
        `decision_function` is above zero where `predict` says ``classes_[1]``, as scikit-learn has it. Where
        `pos_label` is the first in sorted order, though, `classes_` is not sorted: a scorer without
        `pos_label` ("roc_auc") counts the other label, and what numbers the labels itself (stacking,
        calibration) wants ``y == pos_label`` instead.
    intercept_ : float
        Shifts the scores so that as many training rows score above zero as there are positives; as are above
        the lowest grade; or half of them, where the labels are a response.
    cuts_ : ndarray of shape (n_grades - 1,)
        Scores where one grade ends and the next begins; with grades only.
    curve_ : ndarray of shape (2, n_points)
        Scores, and the mean response there (isotonic regression on the training rows); with a response only.
    outcome_ : Outcome
        Value, bound, gap, status and seconds of the fit.

    Examples
    --------
    >>> from toprank.control import Status
    >>> class FirstColumn(BaseRanker):
    ...     def _fit(self, data, run):
    ...         return Outcome(value=0.0, bound=np.nan, status=Status.FINISHED, seconds=run.seconds)
    ...
    ...     def _scores(self, X):
    ...         return np.asarray(X[:, 0], dtype=np.float64)
    >>> X, y = [[3.0], [1.0], [2.0]], [1, 0, 0]
    >>> FirstColumn().fit(X, y).rank(X)
    array([0, 2, 1])
    """

    kind_: LabelKind
    classes_: NDArray[Any]
    cuts_: NDArray[np.float64]
    curve_: NDArray[np.float64]
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
            Two different labels; `pos_label`, else the larger, marks the items that belong at the top. Where
            the tags allow it, grades or any numbers, the higher the nearer to the top.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        qid : array-like of shape (n_samples,), optional
            Query or group of each row, in any order; rows are only compared within their group.

        Returns
        -------
        self
        """
        check_time_limit(getattr(self, "time_limit", None))
        if self._fitted_in_passes(X, y, qid, sample_weight):
            return self
        return self._fit_clean(self._clean(X, y, qid, sample_weight))

    def _fitted_in_passes(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> bool:
        """Learn from rows that stay where they are, if a subclass can; False where they go into memory."""
        return False

    def _fit_clean(self, data: RankingData) -> Self:
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
        self._set_cuts(self._scores(data.X), data)

    def _set_cuts(self, scores: NDArray[np.float64], data: RankingData) -> None:
        """Set what `predict` needs, from the scores of the training rows."""
        y, weight = data.y, data.sample_weight
        if data.kind == "binary":
            self.intercept_ = -prevalence_threshold(scores, y, weight)
            return
        self.intercept_ = -prevalence_threshold(scores, upper_part(y, data.kind, weight), weight)
        if data.kind == "ordinal":
            self.cuts_ = grade_cuts(scores + self.intercept_, y, weight)
        else:
            self.curve_ = response_curve(scores + self.intercept_, y, weight)

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
        with text_explained():
            rows, y = validate_data(self, X, y, y_numeric=False, **self._accepted())
        labels = self._read_labels(y)
        self._keep_labels(labels)
        weight, codes = None, None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
            self._check_weights(labels.y, weight)
        if qid is not None:
            check_consistent_length(rows, qid)
            codes = query_codes(qid)
        return RankingData(rows, labels.y, codes, weight, kind=labels.kind)

    def _keep_labels(self, labels: ReadLabels) -> None:
        self.kind_ = labels.kind
        if labels.classes is not None:
            self.classes_ = labels.classes
        elif hasattr(self, "classes_"):
            del self.classes_  # of an earlier fit

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
            raise ValueError(f"qid: {name} {self._why_no_queries()}; fit without qid.")
        if sample_weight is not None and not can.weights:
            name = self._blamed(lambda one: abilities(one).weights)
            raise ValueError(f"sample_weight: {name} takes no weights; fit without sample_weight.")

    def _why_no_queries(self) -> str:
        """What to say of queries that cannot be used."""
        return "learns from one list and takes no queries"

    def _inside(self) -> list[Any]:
        """The estimators this one is made of."""
        return []

    def _check_weights(self, y: NDArray[Any], weight: NDArray[np.float64]) -> None:
        """Two different labels must count."""
        counted = y[weight > 0]
        if len(counted) == 0 or counted.min() == counted.max():
            raise ValueError(
                "sample_weight leaves one class only; both classes need rows with a positive weight."
                if self.kind_ == "binary"
                else "sample_weight leaves one class only; two different labels need a positive weight."
            )

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
        with text_explained():
            rows = validate_data(self, X, reset=False, **self._accepted())
        return self._scores(rows) + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of each row, from its score.

        Of two labels the second where the score is above zero; of several grades the one between whose cuts
        the score lies: as many training rows get each label as had it, ties permitting. Of a response the
        mean over training rows that score alike (isotonic regression).
        """
        scores = self.decision_function(X)
        if self.kind_ == "continuous":
            return np.asarray(np.interp(scores, *self.curve_))
        if self.kind_ == "ordinal":
            return self.classes_[np.searchsorted(self.cuts_, scores, side="left")]
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
        """The statistic this ranker optimises on `X`; ties are mistakes.

        `statistic`, where it has one and that is meant for labels of the kind it learned from; else the AUC
        of two labels, and of grades or a response the concordance index: the share of pairs with different
        labels that are in the right order, which is the AUC where there are two and (1 + Kendall's tau) / 2
        where no labels are equal.
        """
        statistic = self._scored_by()
        warn_if_searched(statistic)
        labels = np.asarray(y) == self.classes_[1] if self.kind_ == "binary" else as_numbers(y)
        value = statistic(labels, self._scores_to_judge(X, qid), sample_weight=sample_weight, qid=qid)
        return float(value if statistic.greater_is_better else -value)

    def _scored_by(self) -> RankStatistic:
        """The statistic that `score` reports, for the kind of labels that was learned from."""
        return suited(getattr(self, "statistic", "auc"), self.kind_)

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
        tags.ranker_tags.labels = self._kinds_taken()
        if self._told_levels() & {"ordinal", "continuous"}:
            # Numbers with an order: no classes to scikit-learn, nor, with scores of their own, a regression.
            tags.estimator_type, tags.classifier_tags = None, None
        return tags


def _print_progress(progress: Progress) -> None:
    bound = "" if np.isnan(progress.bound) else f"  bound {progress.bound:.6g}  gap {progress.gap:.2%}"
    print(f"{progress.seconds:8.1f} s  {progress.phase or 'value'} {progress.value:.6g}{bound}", flush=True)
