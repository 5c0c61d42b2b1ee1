"""Regularisation paths: the same ranker for many C, each fit starting from the last."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from toprank.control import Outcome, Run, SearchStoppedWarning

__all__ = ["RegularisationPath", "inner_fit", "regularisation_path"]

Floats = NDArray[np.float64]
SHORTEST = 1e-3
"""Seconds for a fit when others have used up all the time there was."""


@dataclass(frozen=True)
class RegularisationPath:
    """Coefficients and outcomes for each C.

    Parameters
    ----------
    Cs : array of shape (n_Cs,)
        Rising.
    coefs : array of shape (n_Cs, n_features)
    outcomes : tuple of Outcome
    """

    Cs: Floats
    coefs: Floats
    outcomes: tuple[Outcome, ...]


def regularisation_path(
    ranker: Any, X: ArrayLike, y: ArrayLike, Cs: ArrayLike, *, qid: ArrayLike | None = None
) -> RegularisationPath:
    """Fit a linear ranker for each C, from small to large, each from where the last one ended.

    Parameters
    ----------
    ranker : ranker
        With parameters `C` and `warm_start`, and coefficients; a copy is fitted.
    X, y, qid
        As in the ranker's `fit`.
    Cs : array-like
        The values of C.

    Examples
    --------
    >>> from toprank.rankers.rank_svm import RankSVM
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> path = regularisation_path(RankSVM(), X, [0, 1, 0, 1], [0.01, 0.1])
    >>> path.coefs.round(3)
    array([[0.01, 0.02],
           [0.1 , 0.2 ]])
    """
    wanted = np.sort(np.asarray(Cs, dtype=np.float64).ravel())
    ranker = clone(ranker)
    if "warm_start" in ranker.get_params():
        ranker.set_params(warm_start=True)
    coefs, outcomes = [], []
    for C in wanted:
        ranker.set_params(C=float(C)).fit(X, y, **_queries(qid))
        coefs.append(ranker.coef_.copy())
        outcomes.append(ranker.outcome_)
    return RegularisationPath(wanted, np.array(coefs), tuple(outcomes))


def inner_fit(ranker: Any, X: Any, y: Any, qid: Any, run: Run, *, fits_left: int) -> None:
    """Fit a ranker as part of a larger run: with a share of its time, and stopping when it stops.

    >>> from toprank.rankers.rank_svm import RankSVM
    >>> ranker = RankSVM()
    >>> inner_fit(ranker, [[0.0], [1.0]], [0, 1], None, Run(), fits_left=1)
    >>> ranker.coef_.round(6)
    array([1.])
    """
    known = ranker.get_params()
    if "time_limit" in known and np.isfinite(run.remaining()):
        share = max(run.remaining() / fits_left, SHORTEST)
        own = known["time_limit"]
        ranker.set_params(time_limit=share if own is None else min(share, own))
    if known.get("callback", run) is None:
        ranker.set_params(callback=lambda progress: not run.should_stop())
    with warnings.catch_warnings():
        # The outer run says itself when it was cut short.
        warnings.simplefilter("ignore", SearchStoppedWarning)
        ranker.fit(X, y, **_queries(qid))
    if known.get("callback", run) is None:
        ranker.set_params(callback=None)
    if "time_limit" in known:
        ranker.set_params(time_limit=known["time_limit"])


def _queries(qid: Any) -> dict[str, Any]:
    """Nothing without queries: rankers of a single list take none."""
    return {} if qid is None else {"qid": qid}
