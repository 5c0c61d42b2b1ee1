"""Greedy selection of features for pairwise least squares, by the exact leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run
from toprank.convex.pairwise.least_squares import centered_rows
from toprank.losses.pairwise_squares import PairwiseSquares

__all__ = ["GreedySelection", "greedy_selection"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COLUMNS = 64


@dataclass(frozen=True)
class GreedySelection:
    """Features in the order they were taken, and the leave-one-out error before and after each."""

    features: Ints
    errors: Floats


def greedy_selection(
    X: Any, y: Floats, qid: Ints | None, run: Run, *, C: float, n_features: int | None
) -> GreedySelection:
    """Take, one at a time, the feature that lowers the exact leave-one-out error of RankRLS most.

    The error is the mean square of each row's residual, relative to its query, under the ranker trained
    without the row. With M = (I + k Z Z^T)^-1 for the features Z taken so far, centred by query, and k = C
    / (n - 1), the residuals are r = M y, and a new feature x changes M by a rank-one matrix: a step costs
    O(n d) (Pahikkala et al. 2010; Naula et al. 2011).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,)
    qid : array of shape (n,) or None
    run : Run
    C : float
    n_features : int or None
        How many to take; None stops when the error no longer falls.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    >>> greedy_selection(X, np.array([0.0, 1.0, 2.0, 3.0]), None, Run(), C=100.0, n_features=1).features
    array([0])
    """
    state = _State.start(X, np.asarray(y, dtype=np.float64), qid, C)
    chosen: list[int] = []
    errors = [state.error()]
    wanted = X.shape[1] if n_features is None else min(n_features, X.shape[1])
    while len(chosen) < wanted and run.report(Progress(errors[-1], iterations=len(chosen))):
        candidates = state.candidate_errors()
        candidates[chosen] = np.inf
        best = int(np.argmin(candidates))
        if n_features is None and not candidates[best] < errors[-1]:
            break
        state.take(best)
        chosen.append(best)
        errors.append(float(candidates[best]))
    return GreedySelection(np.array(chosen, dtype=np.int64), np.array(errors))


@dataclass
class _State:
    """Centred rows X, images M X, residuals M y, the diagonal of M, 1 / query size, and C / (n - 1)."""

    rows: Floats
    images: Floats
    residual: Floats
    free: Floats
    share: Floats
    strength: float

    @classmethod
    def start(cls, X: Any, y: Floats, qid: Ints | None, C: float) -> _State:
        query = np.zeros(len(y), dtype=np.int64)
        if qid is not None:
            query = np.unique(qid, return_inverse=True)[1].astype(np.int64)
        rows = centered_rows(X, query)
        share = 1.0 / np.bincount(query)[query]
        residual = PairwiseSquares.from_labels(y, qid=query).centered(y)
        return cls(rows, rows.copy(), residual, np.ones(len(y)), share, C / (len(y) - 1))

    def error(self) -> float:
        """The leave-one-out error now; rows alone in their query say nothing."""
        compared = self.share < 1.0
        left_out = self.residual[compared] / (self.free - self.share)[compared]
        return float(np.mean(left_out**2))

    def candidate_errors(self) -> Floats:
        """The leave-one-out error after taking each feature."""
        compared = self.share < 1.0
        norm, gain = self._norms(), self._gains()
        free, residual = (self.free - self.share)[compared, np.newaxis], self.residual[compared, np.newaxis]
        errors = np.empty(len(norm))
        for begin in range(0, len(norm), COLUMNS):
            part = slice(begin, begin + COLUMNS)
            images = self.images[compared, part]
            left_out = (residual - images * gain[part]) / (free - images**2 / norm[part])
            errors[part] = np.mean(left_out**2, axis=0)
        return errors

    def take(self, feature: int) -> None:
        """Add a feature."""
        norm, gain = self._norms()[feature], self._gains()[feature]
        column = self.images[:, feature].copy()
        self.residual = self.residual - column * gain
        self.free = self.free - column**2 / norm
        self.images -= np.outer(column, (column @ self.rows) / norm)

    def _norms(self) -> Floats:
        return np.asarray(1.0 / self.strength + np.einsum("ij,ij->j", self.rows, self.images))

    def _gains(self) -> Floats:
        return np.asarray((self.residual @ self.rows) / self._norms())
