"""Statistics as scikit-learn scorers, for `cross_val_score`, `GridSearchCV` and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from toprank.statistics.base import RankStatistic, Ties
from toprank.statistics.groups import check_ties
from toprank.statistics.registry import get

__all__ = ["scorer"]


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
    ) -> float:
        return self.statistic(y, scores, ties=self.ties, sample_weight=sample_weight, qid=qid)


def scorer(statistic: str | RankStatistic, *, ties: Ties = "worst") -> Callable[..., float]:
    """Return a scikit-learn scorer that judges an estimator by a statistic; losses come out negated.

    The scores are the estimator's ``decision_function``, else its ``predict_proba`` for the larger class,
    else its ``predict``. ``sample_weight`` and ``qid`` reach the statistic through metadata routing.

    Parameters
    ----------
    statistic : str or RankStatistic
    ties : {"worst", "mean", "best"}

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
    return make_scorer(
        _Score(found, ties),
        response_method=("decision_function", "predict_proba", "predict"),
        greater_is_better=found.greater_is_better,
    )
