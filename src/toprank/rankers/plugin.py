"""`PluginRanker`: rank by the scores of any scikit-learn estimator."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import has_fit_parameter

from toprank import statistics
from toprank.base import BaseRanker, Matrix, RankingData, clone_for_codes, ranking_scores
from toprank.control import Outcome, Run

__all__ = ["PluginRanker"]


class PluginRanker(BaseRanker):
    """Ranks by another estimator's scores: decision function, else probability, else prediction.

    The plug-in approach estimates P(y = 1 | x), or anything that rises with it, and sorts by the estimate.
    Logistic regression (Rudin & Wang 2018, Eq. (5)), gradient boosting with the logistic loss, regressors
    and pipelines all do. It looks at rows one by one: with `qid` the ranking is by query but the learning
    is not.

    Parameters
    ----------
    estimator : estimator or None
        Any scikit-learn classifier for two classes, or regressor (trained on 0 and 1); None is logistic
        regression.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy.
    outcome_ : Outcome
        The value is the AUC on the training rows, ties counted as mistakes.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> PluginRanker().fit(X, [0, 1, 0, 1]).rank(X).tolist()
    [3, 1, 2, 0]
    >>> PluginRanker(GradientBoostingClassifier()).fit(X, [0, 1, 0, 1]).first(X, 2).tolist()
    [1, 3]
    """

    estimator_: Any

    def __init__(self, estimator: Any = None, *, pos_label: Any = None) -> None:
        self.estimator = estimator
        self.pos_label = pos_label

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit a copy of the estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two different labels; `pos_label`, else the larger, marks the items that belong at the top.
        sample_weight : array-like of shape (n_samples,), optional
            Handed to the estimator, which must accept it.
        qid : array-like of shape (n_samples,), optional
            Not used for learning.

        Returns
        -------
        self
        """
        return self._fit_clean(X, y, qid=qid, sample_weight=sample_weight)

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self.estimator_ = self._fresh()
        extra: dict[str, Any] = {}
        if data.sample_weight is not None:
            if not has_fit_parameter(self.estimator_, "sample_weight"):
                raise ValueError(
                    f"{type(self.estimator_).__name__}.fit takes no sample_weight; fit without weights."
                )
            extra["sample_weight"] = data.sample_weight
        self.estimator_.fit(data.X, data.y, **extra)
        scores = ranking_scores(self.estimator_, data.X)
        counted = None if data.sample_weight is None else data.sample_weight > 0
        if counted is not None and len(np.unique(data.y[counted])) < 2:
            return Outcome(math.nan, seconds=run.seconds)
        value = statistics.get("auc")(data.y, scores, sample_weight=data.sample_weight)
        return Outcome(value, seconds=run.seconds)

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return ranking_scores(self.estimator_, X)

    def _fresh(self) -> Any:
        if self.estimator is not None:
            return clone_for_codes(self.estimator)
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.sparse = self.estimator.__sklearn_tags__().input_tags.sparse
        return tags
