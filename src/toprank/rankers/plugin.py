"""`PluginRanker`: rank by the scores of any scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import get_tags

from toprank.base import BaseRanker, Matrix, RankingData, abilities, fit_copy, ranking_scores
from toprank.control import Outcome, Run
from toprank.labels import KINDS, LabelKind, expected_rank
from toprank.rankers.parts.parameters import check_choice

__all__ = ["PluginRanker"]


class PluginRanker(BaseRanker):
    """Ranks by another estimator's scores: decision function, else probability, else prediction.

    The plug-in approach estimates P(y = 1 | x), or anything that rises with it, and sorts by the estimate; of
    grades or a response it estimates E(y | x), and needs a regressor.
    Logistic regression (Rudin & Wang 2018, Eq. (5)), gradient boosting with the logistic loss, regressors
    and pipelines all do. Weights and queries go to the estimator, and are refused where its `fit` takes none.

    Parameters
    ----------
    estimator : estimator or None
        Any scikit-learn classifier for two classes, or regressor (trained on 0 and 1, on grades, or on a
        response); None is logistic regression, or ridge regression where labels are grades or a response.
    response : {"labels", "expected_rank"}
        What the estimator learns: the labels as they are, or each row's expected rank in its list,
        `toprank.labels.expected_rank` (expected rank regression, Kamishima et al. 2005): then it is a
        regressor (None is ridge regression), and queries are lists of their own whichever it is.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy.
    outcome_ : Outcome
        The value is the AUC on the training rows (the mean over queries), of grades or a response the
        concordance index; ties are mistakes.

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        response: str = "labels",
        levels: str = "auto",
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.response = response
        self.levels = levels
        self.pos_label = pos_label

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_choice("response", self.response, ["labels", "expected_rank"])
        learned = data
        if self._by_rank:
            ranks = expected_rank(data.grade, qid=data.qid, sample_weight=data.sample_weight)
            learned = replace(data, y=ranks, qid=None, kind="continuous")
        self.estimator_ = fit_copy(Ridge() if self._open(data.kind) else self._model, learned, run)
        scores = ranking_scores(self.estimator_, data.X)
        value = self._scored_by()(data.y, scores, sample_weight=data.sample_weight, qid=data.qid)
        return Outcome(value, seconds=run.seconds)

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return ranking_scores(self.estimator_, X)

    @property
    def _by_rank(self) -> bool:
        return self.response == "expected_rank"

    @property
    def _model(self) -> Any:
        if self.estimator is None:
            return Ridge() if self._by_rank else LogisticRegression()
        return self.estimator

    def _open(self, kind: LabelKind) -> bool:
        """Whether the choice is ours, and classes are not what is looked for."""
        return self.estimator is None and kind != "binary"

    def _label_kinds(self) -> frozenset[LabelKind]:
        if self._by_rank and "continuous" in abilities(self._model).labels:
            return KINDS
        return KINDS if self.estimator is None else abilities(self.estimator).labels

    def _why_not(self, kind: LabelKind) -> str:
        return "a classifier scores rows by one number only where there are two classes; a regressor will do"

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = abilities(self._model)
        labels = tags.ranker_tags.labels
        queries = inner.queries or self._by_rank
        tags.ranker_tags = replace(
            inner, labels=labels, linear=False, exact=False, pairs=False, queries=queries
        )
        if hasattr(self._model, "__sklearn_tags__"):
            accepts = get_tags(self._model).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = accepts.sparse, accepts.allow_nan
        return tags
