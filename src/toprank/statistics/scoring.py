"""Statistics as scikit-learn scorers, for `cross_val_score`, `GridSearchCV` and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics._scorer import _Scorer

from toprank.labels import told_label, top_label
from toprank.statistics.base import RankStatistic, Ties
from toprank.statistics.groups import check_ties
from toprank.statistics.registry import get

__all__ = ["scorer"]

REMEDY = "make it scorer(..., pos_label={})"


@dataclass(frozen=True)
class _Score:
    """A statistic with its tie policy fixed, in the shape scikit-learn calls; pickles with the scorer."""

    statistic: RankStatistic
    ties: Ties

    @property
    def __name__(self) -> str:
        """Text form of the statistic: what scikit-learn prints."""
        return str(self.statistic)

    def __call__(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> float:
        return self.statistic(
            y, scores, ties=self.ties, sample_weight=sample_weight, qid=qid, pos_label=pos_label
        )


class _LabelScorer(_Scorer):
    """A scorer that settles which of two labels is the positive one before it asks for scores of that."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        said = self._kwargs.get("pos_label", told_label(estimator))
        known = np.unique(np.asarray(y_true))
        if said is None and len(known) == 2 and known.dtype.kind not in "biuf":
            said = known[top_label(known.tolist(), remedy=REMEDY)]
        plain = _Scorer(
            self._score_func, self._sign, {} if said is None else {"pos_label": said}, self._response_method
        )
        return float(plain._score(method_caller, estimator, X, y_true, **kwargs))


def scorer(
    statistic: str | RankStatistic, *, ties: Ties = "worst", pos_label: Any = None
) -> Callable[..., float]:
    """Return a scikit-learn scorer that judges an estimator by a statistic; losses come out negated.

    The scores are the estimator's ``decision_function``, else its ``predict_proba`` for the positive class,
    else its ``predict``. ``sample_weight`` and ``qid`` reach the statistic through metadata routing.

    Parameters
    ----------
    statistic : str or RankStatistic
    ties : {"worst", "mean", "best"}
    pos_label : label, optional
        Which of two labels is the positive one; None: the one the estimator was told, else the larger number
        or the yes of yes and no.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(random_state=0)
    >>> values = cross_val_score(LogisticRegression(), X, y, scoring=scorer("ndcg@10"))
    >>> values.shape
    (5,)
    """
    check_ties(ties)
    found = get(statistic)
    sign = 1 if found.greater_is_better else -1
    said = {} if pos_label is None else {"pos_label": pos_label}
    return _LabelScorer(_Score(found, ties), sign, said, ("decision_function", "predict_proba", "predict"))
