"""What an ensemble is made of: estimators, scores on a common scale, scores of rows they never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from toprank.base import RankingData, fit_copy, positive_share, ranking_scores, take
from toprank.control import Run
from toprank.labels import LabelKind

__all__ = ["USUAL_WEIGHTS", "cross_fitted", "default_members", "logit_scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CERTAIN = 1e-6
"""Probabilities nearer to 0 or 1 than this are taken to be this near."""
SLOW: dict[str, Any] = {"learning_rate": 0.03, "max_iter": 200, "min_samples_leaf": 10, "max_features": 0.5}
LIGHTGBM: dict[str, Any] = {
    "learning_rate": 0.03,
    "n_estimators": 200,
    "subsample": 0.7,
    "subsample_freq": 1,
    "colsample_bytree": 0.7,
    "n_jobs": 1,
    "verbosity": -1,
}
CATBOOST: dict[str, Any] = {
    "iterations": 400,
    "verbose": False,
    "allow_writing_files": False,
    "thread_count": 1,
}
"""How the three kinds of boosting learn: slowly, from part of the features."""
USUAL_WEIGHTS = {"catboost": 2.0}
"""What members count before their scores are looked at, 1 if nothing is said: CatBoost alone finds most."""


def default_members(statistic: Any, kind: LabelKind = "binary") -> list[tuple[str, Any]]:
    """Logistic regression, boosting (up to three kinds, as installed), forest, nets, a bagged direct ranker.

    Of grades or a response, ridge regression, boosting and a forest of regression trees, and `RankSVM`, which
    asks for their order only. They err in different ways, which is what a blend lives on.

    >>> [name for name, _ in default_members("dcg")][:2]
    ['logistic', 'boosting']
    >>> [name for name, _ in default_members("c_index", "continuous")][:2]
    ['ridge', 'boosting']
    """
    return _classifiers(statistic) if kind == "binary" else _regressors()


def _regressors() -> list[tuple[str, Any]]:
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.preprocessing import StandardScaler

    from toprank.rankers.rank_svm import RankSVM

    penalties = tuple(10.0**power for power in range(-2, 5))
    scaled = partial(StandardScaler, with_mean=False)
    members = [
        ("ridge", make_pipeline(_filled(), scaled(), RidgeCV(penalties))),
        ("boosting", HistGradientBoostingRegressor(**SLOW)),
        ("forest", RandomForestRegressor(n_estimators=200, min_samples_leaf=2, max_features=0.5)),
        ("pairs", make_pipeline(_filled(), scaled(), RankSVM(loss="squared_hinge", tol=1e-4))),
    ]
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMRegressor

        members.append(("lightgbm", LGBMRegressor(**LIGHTGBM)))
    if find_spec("catboost") is not None:
        from catboost import CatBoostRegressor

        members.append(("catboost", CatBoostRegressor(**CATBOOST)))
    return members


def _filled() -> Any:
    """Those who cannot take missing values get medians; trees make what they can of them."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", keep_empty_features=True)


def _classifiers(statistic: Any) -> list[tuple[str, Any]]:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    from toprank.ensemble.bagging import BaggedRanker
    from toprank.ensemble.nets import SmallNets
    from toprank.rankers.direct import DirectRanker

    # The intercept is not penalised, so centring changes nothing, and sparse data stay sparse without it.
    logistic = make_pipeline(_filled(), StandardScaler(with_mean=False), LogisticRegression(max_iter=2000))
    # A quarter of a second is what a climb on some hundred rows takes; bags are many, and steady each other.
    direct = DirectRanker(statistic, n_restarts=10, time_limit=0.25)
    members = [
        ("logistic", logistic),
        ("boosting", HistGradientBoostingClassifier(**SLOW)),
        ("forest", RandomForestClassifier(n_estimators=200, min_samples_leaf=2)),
        ("direct", make_pipeline(_filled(), BaggedRanker(direct))),
        ("nets", make_pipeline(_filled(), StandardScaler(), SmallNets())),
    ]
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMClassifier

        members.append(("lightgbm", LGBMClassifier(**LIGHTGBM)))
    if find_spec("catboost") is not None:
        from catboost import CatBoostClassifier

        members.append(("catboost", CatBoostClassifier(**CATBOOST)))
    return members


def logit_scores(estimator: Any, X: Any) -> Floats:
    """Scores of a fitted estimator on a scale where adding them up makes sense: log-odds where there are any.

    >>> from sklearn.dummy import DummyClassifier
    >>> logit_scores(DummyClassifier(strategy="prior").fit([[0], [1]], [0, 1]), [[5]])
    array([0.])
    """
    if hasattr(estimator, "decision_function") or not hasattr(estimator, "predict_proba"):
        return ranking_scores(estimator, X)
    share = np.clip(positive_share(estimator, X), CERTAIN, 1 - CERTAIN)
    voters = len(getattr(estimator, "estimators_", ()))
    if voters:
        # A forest's share of votes is a frequency: none of 300 does not mean impossible.
        share = (share * voters + 0.5) / (voters + 1.0)
    return np.asarray(np.log(share) - np.log1p(-share))


def cross_fitted(
    member: Any,
    data: RankingData,
    folds: Sequence[tuple[Ints, Ints]],
    run: Run,
    score: Callable[[Any, Any], Floats] = logit_scores,
    *,
    to_the_end: bool = False,
) -> Floats:
    """Scores of every row by a copy of the member that was fitted without it.

    Parameters
    ----------
    member : estimator
    data : RankingData
    folds : sequence of (rows to learn from, rows to score)
    run : Run
        What is left of its time is shared by the folds.
    score : callable
        From a fitted estimator and rows to scores.
    to_the_end : bool
        Whether to go on although Ctrl-C or the callback asked to stop; otherwise that is a ValueError.
    """
    scores = np.full(len(data.y), np.nan)
    for number, (learn, judge) in enumerate(folds):
        if run.flagged and not to_the_end:
            raise ValueError("stopped before every row was held out once.")
        part = run.part(1.0 / (len(folds) - number), silent=True)
        scores[judge] = score(fit_copy(member, take(data, learn), part), data.X[judge])
    if np.isnan(scores).any():
        raise ValueError("cv: every row must be held out once, and every score be a number.")
    return scores
