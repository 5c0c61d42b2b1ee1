"""What an ensemble is made of: estimators, scores on a common scale, scores of rows they never saw."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter

from toprank.base import RankingData, ranking_scores
from toprank.control import Run

__all__ = ["cross_fitted", "default_members", "fit_member", "logit_scores", "take"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CERTAIN = 1e-6
"""Probabilities nearer to 0 or 1 than this are taken to be this near."""


def default_members(statistic: Any) -> list[tuple[str, Any]]:
    """Logistic regression, boosting (up to three kinds, as installed), a forest and a bagged direct ranker.

    They err in different ways, which is what a blend lives on.

    >>> [name for name, _ in default_members("dcg")][:2]
    ['logistic', 'boosting']
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    from toprank.ensemble.bagging import BaggedRanker
    from toprank.rankers.direct import DirectRanker

    # The intercept is not penalised, so centring changes nothing, and sparse data stay sparse without it.
    logistic = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=2000))
    slow = {"learning_rate": 0.03, "max_iter": 200, "min_samples_leaf": 10, "max_features": 0.5}
    members = [
        ("logistic", logistic),
        ("boosting", HistGradientBoostingClassifier(**slow)),
        ("forest", RandomForestClassifier(n_estimators=300, min_samples_leaf=2)),
        ("direct", BaggedRanker(DirectRanker(statistic, time_limit=0.5))),
    ]
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMClassifier

        options: dict[str, Any] = {"learning_rate": 0.03, "n_estimators": 200, "subsample": 0.7}
        options |= {"subsample_freq": 1, "colsample_bytree": 0.7, "n_jobs": 1, "verbosity": -1}
        members.append(("lightgbm", LGBMClassifier(**options)))
    if find_spec("catboost") is not None:
        from catboost import CatBoostClassifier

        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        members.append(("catboost", CatBoostClassifier(iterations=400, **quiet)))
    return members


def fit_member(member: Any, data: RankingData, run: Run, rows: Ints | None = None) -> Any:
    """A clone of an estimator, given a seed and the time that is left where it takes them, and fitted.

    Queries go to estimators whose `fit` takes `qid`; others look at rows one by one.
    """
    estimator = clone(member)
    known = estimator.get_params()
    handed: dict[str, Any] = {
        name: int(run.rng.integers(2**31 - 1))
        for name, value in known.items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    if np.isfinite(run.remaining()) and "time_limit" in known:
        own = known["time_limit"]
        handed["time_limit"] = max(run.remaining() if own is None else min(run.remaining(), own), 1e-3)
    estimator.set_params(**handed)
    part = data if rows is None else take(data, rows)
    options: dict[str, Any] = {}
    if part.qid is not None and has_fit_parameter(estimator, "qid"):
        options["qid"] = part.qid
    if part.sample_weight is not None:
        options[_weight_parameter(estimator)] = part.sample_weight
    return estimator.fit(part.X, part.y, **options)


def _weight_parameter(estimator: Any) -> str:
    """What `fit` calls the weights of the rows: a pipeline hands them to its last step."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_parameter(last)}"
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__}.fit takes no sample_weight; fit without weights.")
    return "sample_weight"


def take(data: RankingData, rows: Ints) -> RankingData:
    """Some rows of the data."""
    qid = None if data.qid is None else data.qid[rows]
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return RankingData(data.X[rows], data.y[rows], qid, weight)


def logit_scores(estimator: Any, X: Any) -> Floats:
    """Scores of a fitted estimator on a scale where adding them up makes sense: log-odds where there are any.

    >>> from sklearn.dummy import DummyClassifier
    >>> logit_scores(DummyClassifier(strategy="prior").fit([[0], [1]], [0, 1]), [[5]])
    array([0.])
    """
    if hasattr(estimator, "decision_function") or not hasattr(estimator, "predict_proba"):
        return ranking_scores(estimator, X)
    share = np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1], CERTAIN, 1 - CERTAIN)
    voters = len(getattr(estimator, "estimators_", ()))
    if voters:
        # A forest's share of votes is a frequency: none of 300 does not mean impossible.
        share = (share * voters + 0.5) / (voters + 1.0)
    return np.asarray(np.log(share) - np.log1p(-share))


def cross_fitted(member: Any, data: RankingData, folds: Iterable[tuple[Ints, Ints]], run: Run) -> Floats:
    """Scores of every row by a copy of the member that was fitted without it."""
    scores = np.full(len(data.y), np.nan)
    for learn, judge in folds:
        fitted = fit_member(member, data, run, learn)
        scores[judge] = logit_scores(fitted, data.X[judge])
    if np.isnan(scores).any():
        raise ValueError("cv: every row must be held out once, and every score be a number.")
    return scores
