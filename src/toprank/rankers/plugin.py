"""`PluginRanker`: rank by the scores of any scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from toprank import statistics
from toprank.base import BaseRanker, Matrix, RankingData, abilities, fit_copy, ranking_scores
from toprank.control import Outcome, Run

__all__ = ["PluginRanker"]


class PluginRanker(BaseRanker):
    """Ranks by another estimator's scores: decision function, else probability, else prediction.

    The plug-in approach estimates P(y = 1 | x), or anything that rises with it, and sorts by the estimate.
    Logistic regression (Rudin & Wang 2018, Eq. (5)), gradient boosting with the logistic loss, regressors
    and pipelines all do. Weights and queries go to the estimator, and are refused where its `fit` takes none.

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
        The value is the AUC on the training rows (the mean over queries), ties counted as mistakes.

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

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self.estimator_ = fit_copy(self._model, data, run)
        scores = ranking_scores(self.estimator_, data.X)
        value = statistics.get("auc")(data.y, scores, sample_weight=data.sample_weight, qid=data.qid)
        return Outcome(value, seconds=run.seconds)

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return ranking_scores(self.estimator_, X)

    @property
    def _model(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression() if self.estimator is None else self.estimator

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = abilities(self._model)
        labels = tags.ranker_tags.labels
        tags.ranker_tags = replace(inner, labels=labels, linear=False, exact=False, pairs=False)
        if hasattr(self._model, "__sklearn_tags__"):
            accepts = get_tags(self._model).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = accepts.sparse, accepts.allow_nan
        return tags
