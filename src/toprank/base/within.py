"""Estimators inside estimators: how each gets its share of the time, its seed and the stop button.

A ranker of this library has `BaseRanker.fit_within`. What strangers get, they get here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from toprank.base.data import RankingData
from toprank.base.ranker import BaseRanker
from toprank.base.tags import abilities, last_step
from toprank.control import Progress, Run
from toprank.control.threads import one_thread_for
from toprank.labels import LabelKind, told_labels

__all__ = ["check_able", "clone_for_codes", "fit_copy", "tell_kind"]

SHORTEST = 1e-3
"""Seconds for an estimator when all the time there was has been used up."""


def clone_for_codes(estimator: Any) -> Any:
    """A clone to be fitted on 1 for the top and 0 for the rest, whatever labels it was told of.

    >>> from toprank.rankers.rank_svm import RankSVM
    >>> clone_for_codes(RankSVM(pos_label="fraud"))
    RankSVM()
    """
    copy = clone(estimator)
    told = told_labels(copy)
    return copy.set_params(**dict.fromkeys(told)) if told else copy


def fit_copy(estimator: Any, data: RankingData, run: Run, *, start: NDArray[np.float64] | None = None) -> Any:
    """A copy of any estimator, fitted to clean data as a part of a larger run.

    Seeds that were left open are drawn from the run, if that has one. Rankers of ours, last in a pipeline
    too, are fitted within the run. Others get what is left of the time where they have a parameter
    `time_limit`, and the stop button where they have a `callback`; both parameters are afterwards what they
    were. Queries go to rankers, and to those whose `fit` takes them; others look at rows one by one.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Copied, not fitted.
    data : RankingData
    run : Run
        Of the whole.
    start : array of shape (n_features,), optional
        Coefficients for a ranker to begin from.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = RankingData(np.array([[0.0], [1.0]]), np.array([0, 1], dtype=np.int8))
    >>> fit_copy(LogisticRegression(), data, Run(rng=0)).classes_
    array([0, 1], dtype=int8)
    """
    check_able(estimator, data)
    copy = _seeded(tell_kind(clone_for_codes(estimator), data.kind), run)
    if isinstance(copy, BaseRanker):
        _fit_ranker(copy, data.X, data, run, start)
    elif isinstance(last_step(copy), BaseRanker):
        before = copy[:-1]
        rows = before.fit_transform(data.X, data.y) if before.steps else data.X
        copy.steps[:-1] = before.steps  # a pipeline with a memory fits copies of its steps
        _fit_ranker(last_step(copy), rows, data, run, None)
    else:
        _fit_stranger(copy, data, run)
    return copy


def check_able(estimator: Any, data: RankingData) -> None:
    """Refuse data with labels, weights or queries that an estimator cannot use, by name."""
    last = last_step(estimator)
    if data.kind not in abilities(last).labels:
        raise ValueError(
            f"y: {type(last).__name__} does not learn from {data.kind} labels; regressors do, and rankers"
            " such as RankSVM, RankRLS or RankBoost."
        )
    if data.sample_weight is not None and not abilities(last).weights:
        raise ValueError(f"sample_weight: {type(last).__name__} takes no weights; fit without sample_weight.")
    # A ranker would compare rows of different queries; a classifier looks at rows one by one.
    if data.qid is not None and isinstance(last, BaseRanker) and not abilities(last).queries:
        raise ValueError(
            f"qid: {type(last).__name__} learns from one list and takes no queries; fit without qid."
        )


def tell_kind(estimator: Any, kind: LabelKind) -> Any:
    """An estimator with the kind of labels said: some rows of a list may look like another kind.

    >>> from toprank.rankers.rank_svm import RankSVM
    >>> tell_kind(RankSVM(), "continuous")
    RankSVM(levels='continuous')
    """
    last = last_step(estimator)
    if kind != "binary" and isinstance(last, BaseRanker) and "levels" in last.get_params(deep=False):
        last.set_params(levels=kind)
    return estimator


def _seeded(estimator: Any, run: Run) -> Any:
    """With seeds where there are none; a ranker hands its own on to those inside it."""
    if not run.seeded:
        return estimator
    known = estimator.get_params(deep=not isinstance(estimator, BaseRanker))
    seeds = {
        name: int(run.rng.integers(2**31 - 1))
        for name, value in known.items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return estimator.set_params(**seeds) if seeds else estimator


def _fit_ranker(ranker: BaseRanker, X: Any, data: RankingData, run: Run, start: Any) -> None:
    ranker.fit_within(X, data.y, run, sample_weight=data.sample_weight, qid=data.qid, start=start)


def _fit_stranger(estimator: Any, data: RankingData, run: Run) -> None:
    last = last_step(estimator)
    known = last.get_params(deep=False)
    handed: dict[str, Any] = {}
    if "time_limit" in known and np.isfinite(run.remaining()):
        own = known["time_limit"]
        handed["time_limit"] = max(run.remaining() if own is None else min(run.remaining(), own), SHORTEST)
    if known.get("callback", run) is None:
        handed["callback"] = _relay(run)
    if handed:
        last.set_params(**handed)
    try:
        with one_thread_for(data.X.shape[0] * data.X.shape[1]):
            estimator.fit(data.X, data.y, **_options(estimator, data))
    finally:
        if handed:
            last.set_params(**{name: known[name] for name in handed})


def _relay(run: Run) -> Any:
    def relay(progress: Any) -> bool:
        return run.report(progress) if isinstance(progress, Progress) else not run.should_stop()

    return relay


def _options(estimator: Any, data: RankingData) -> dict[str, Any]:
    """Weights and queries by the names `fit` takes them under; a pipeline hands them to its last step."""
    step = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    options: dict[str, Any] = {}
    if data.sample_weight is not None:
        options[f"{step}sample_weight"] = data.sample_weight
    if data.qid is not None and abilities(estimator).queries:
        options[f"{step}qid"] = data.qid
    return options
