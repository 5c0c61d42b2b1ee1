"""The first list: a base fitted to all rows, and its scores of rows it never saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from toprank.base import RankingData, fit_copy, ranking_scores
from toprank.control import Run
from toprank.ensemble.members import cross_fitted
from toprank.labels import LabelKind
from toprank.rankers.tuning.folds import ranking_folds

__all__ = ["FirstList", "default_base", "first_list", "folds_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FirstList:
    """A fitted base and the scores of the training rows."""

    base: Any
    scores: Floats


def default_base(kind: LabelKind = "binary") -> Any:
    """The base ranker when none is given: logistic, else ridge regression on scaled features."""
    # The intercept is not penalised, so centring changes nothing, and sparse data stay sparse without it.
    scaler = StandardScaler(with_mean=False)
    return make_pipeline(scaler, LogisticRegression(max_iter=2000) if kind == "binary" else Ridge())


def first_list(base: Any, data: RankingData, run: Run, cv: Any, classes: NDArray[Any] | None) -> FirstList:
    """Fit the base and score the training rows.

    Parameters
    ----------
    base : estimator
    data : RankingData
    run : Run
    cv : int, cross-validation generator, iterable of splits, "prefit" or None
        Folds; a base that is fitted already; or the scores of the rows the base learned from.
    classes : array of two labels, or None where labels have an order
        The second belongs at the top; a fitted base must think so too.
    """
    if isinstance(cv, str) and cv != "prefit":
        raise ValueError(f'cv={cv!r} must be a number of folds, a splitter, "prefit" or None.')
    if isinstance(cv, str):
        fitted = _fitted(base, classes)
        return FirstList(fitted, ranking_scores(fitted, data.X, data.qid))
    folds = [] if cv is None else list(folds_of(cv, data, run))
    # Every fold learns from nearly all rows, so the last fit takes about as long as each of them.
    unseen = _unseen(base, data, folds, run.part(len(folds) / (len(folds) + 1))) if folds else None
    fitted = fit_copy(base, data, run)
    return FirstList(fitted, ranking_scores(fitted, data.X, data.qid) if unseen is None else unseen)


def _unseen(base: Any, data: RankingData, folds: list[Any], run: Run) -> Floats | None:
    """Out-of-fold scores; None where Ctrl-C or the callback left no more than one fit to be made."""
    try:
        return cross_fitted(base, data, folds, run, ranking_scores)
    except ValueError:
        if run.flagged:
            return None
        raise


def folds_of(cv: Any, data: RankingData, run: Run) -> Iterable[tuple[Any, Any]]:
    """Rows to learn from and rows to score, queries kept whole."""
    if isinstance(cv, Integral):
        return ranking_folds(data.y.astype(np.float64), data.qid, int(cv), run.rng)
    return check_cv(cv, data.y, classifier=data.kind != "continuous").split(data.X, data.y, data.qid)


def _fitted(base: Any, classes: NDArray[Any] | None) -> Any:
    """A base as it is; it must be fitted, and agree on which label belongs at the top."""
    fitted = base.estimator if isinstance(base, FrozenEstimator) else base
    try:
        check_is_fitted(fitted)
    except Exception as error:
        raise ValueError(f'cv="prefit": the base is not fitted ({error}).') from None
    if classes is None:
        return fitted
    upper, ours = np.asarray(getattr(fitted, "classes_", classes)).tolist()[-1], classes.tolist()[1]
    if upper != ours and upper not in (1, True):
        raise ValueError(
            f'cv="prefit": the base puts {upper!r} at the top, this ranker {ours!r};'
            f" set pos_label={upper!r}, or fit the base to 0 and 1."
        )
    return fitted
