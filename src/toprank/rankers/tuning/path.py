"""Regularisation paths: the same ranker for many C, each fit starting from the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from toprank.control import Outcome, Run, warn_if_cut_short

__all__ = ["RegularisationPath", "regularisation_path"]

Floats = NDArray[np.float64]


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
    ranker: Any,
    X: ArrayLike,
    y: ArrayLike,
    Cs: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    time_limit: float | None = None,
) -> RegularisationPath:
    """Fit a linear ranker for each C, from small to large, each from where the last one ended.

    Parameters
    ----------
    ranker : ranker
        With parameters `C` and `warm_start`, and coefficients; a copy is fitted.
    X, y, sample_weight, qid
        As in the ranker's `fit`.
    Cs : array-like
        The values of C.
    time_limit : float, optional
        Seconds for all fits together; each gets its share of what is left.

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
    with Run(time_limit=time_limit, rng=getattr(ranker, "random_state", None)) as run:
        for number, C in enumerate(wanted):
            part = run.part(1.0 / (len(wanted) - number))
            ranker.set_params(C=float(C)).fit_within(X, y, part, sample_weight=sample_weight, qid=qid)
            coefs.append(ranker.coef_.copy())
            outcomes.append(ranker.outcome_)
    for outcome in outcomes:
        warn_if_cut_short(outcome, type(ranker).__name__)
    return RegularisationPath(wanted, np.array(coefs), tuple(outcomes))
