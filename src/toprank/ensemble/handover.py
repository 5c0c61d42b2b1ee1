"""What `RankThenRerank` hands to its reranker: the statistic of the whole list, and rows it can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.base import Matrix, RankingData, clone_for_codes, fit_copy
from toprank.base.tags import last_step
from toprank.control import Run
from toprank.ensemble.bagging import BaggedRanker
from toprank.ensemble.heads import Heads, linear_statistic
from toprank.exact.objective import PositionWeights
from toprank.rankers.direct import DirectRanker
from toprank.rankers.exact import ExactRanker

__all__ = ["Passage", "aim_of", "fit_reranker", "maximises", "medians", "stated"]

Floats = NDArray[np.float64]
DIRECT_RANKERS = (ExactRanker, DirectRanker)
"""Those that maximise a linear rank statistic itself, and take position weights in its place."""


@dataclass(frozen=True)
class Passage:
    """How rows reach the reranker.

    Parameters
    ----------
    fill : array of shape (n_features,) or None
        What stands in for missing values, where the reranker cannot take any.
    score : (middle, unit) or None
        The base's score, less the middle and in this unit, is one more feature, the last; None for none.
    """

    fill: Floats | None = None
    score: tuple[float, float] | None = None

    def rows(self, X: Matrix, scores: Floats) -> Matrix:
        """Rows as the reranker sees them."""
        if self.fill is not None:
            X = _filled(X, self.fill)
        if self.score is None:
            return X
        column: Any = ((scores - self.score[0]) / self.score[1])[:, None]
        if isinstance(X, np.ndarray):
            return np.hstack((X, column))
        return sp.csr_matrix(sp.hstack((X, sp.csr_matrix(column))))


def medians(X: Matrix) -> Floats | None:
    """The median of each column, missing values left aside; None where there are none; 0 in sparse rows."""
    if not isinstance(X, np.ndarray):
        return np.zeros(X.shape[1]) if np.isnan(X.data).any() else None
    if not np.isnan(X).any():
        return None
    empty = np.isnan(X).all(axis=0)
    return np.nanmedian(np.where(empty, 0.0, X), axis=0)


def _filled(X: Matrix, fill: Floats) -> Matrix:
    if isinstance(X, np.ndarray):
        return np.where(np.isnan(X), fill, X)
    X = X.copy()
    X.data[np.isnan(X.data)] = 0.0
    return X


def fit_reranker(
    reranker: Any, data: RankingData, aim: PositionWeights | None, run: Run, *, n_bags: int, start: Any
) -> Any:
    """A copy of the reranker fitted to the top; afterwards its own statistic stands, whatever its aim was.

    Parameters
    ----------
    reranker : estimator
    data : RankingData
    aim : PositionWeights or None
        What to maximise instead of its statistic.
    run : Run
    n_bags : int
        Above 1, the mean of so many copies fitted to bootstrap samples.
    start : array or None
        Coefficients to begin from.
    """
    copy = clone_for_codes(reranker)
    named = getattr(last_step(copy), "statistic", None)
    if aim is not None:
        last_step(copy).set_params(statistic=aim)
    wanted = copy if n_bags == 1 else BaggedRanker(copy, n_bags=n_bags)
    fitted = fit_copy(wanted, data, run, start=None if last_step(copy) is not copy else start)
    if aim is not None:
        copies = [fitted] if n_bags == 1 else [fitted.ranker, *fitted.rankers_]
        for one in copies:
            last_step(one).set_params(statistic=named)
    return fitted


def aim_of(reranker: Any, heads: Heads, y: NDArray[np.int8], n_bags: int = 1) -> PositionWeights | None:
    """The part of the whole list's statistic that the heads make up, for a reranker that can maximise it.

    None where the statistic of the heads means the same, and for bags of whole queries, whose number of rows
    differs from bag to bag.
    """
    last = last_step(reranker)
    statistic = linear_statistic(last.statistic) if isinstance(last, DIRECT_RANKERS) else None
    if statistic is None or (n_bags > 1 and len(heads.cuts) > 1):
        return None
    aim = heads.objective(statistic, y)
    return aim if isinstance(aim, PositionWeights) else None


def maximises(reranker: Any) -> bool:
    """Whether a reranker seeks the best value of the statistic and nothing else, such as few coefficients."""
    last = last_step(reranker)
    alone = not getattr(last, "penalty", 0.0) and getattr(last, "constraints", None) is None
    return isinstance(last, DIRECT_RANKERS) and alone and linear_statistic(last.statistic) is not None


def stated(reranker: ExactRanker, aim: PositionWeights | None, data: RankingData) -> Any:
    """The problem that an exact reranker solved."""
    copy = clone_for_codes(reranker)
    if aim is not None:
        copy.set_params(statistic=aim)
    return copy.problem(data.X, data.y, qid=data.qid)
