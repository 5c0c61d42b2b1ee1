"""`GreedyRankRLS`: pairwise least squares on the few features that help most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import LinearRanker, RankingData
from toprank.control import Callback, Outcome, Run, Status
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import minimise
from toprank.convex.pairwise.greedy_selection import greedy_selection
from toprank.convex.pairwise.least_squares import RankLeastSquares
from toprank.labels import KINDS, LabelKind
from toprank.losses.pairwise_squares import PairwiseSquares
from toprank.rankers.parts.parameters import check_at_least, check_penalty_weight
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["GreedyRankRLS"]

Floats = NDArray[np.float64]
TOL = 1e-10
"""The relative gap of the fit on the selected features."""


class GreedyRankRLS(LinearRanker):
    """Ranks with few features: adds the one that lowers the leave-one-out error most, one at a time.

    The error is exact and costs no refitting, so a step takes O(n d) (Pahikkala et al. 2010; Naula et al.
    2011).

    Parameters
    ----------
    n_features_to_select : int or None
        How many features to take; None stops when the leave-one-out error no longer falls.
    C : float
        As in `RankRLS`.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, which are fitted as 0 and 1, grades or any numbers, the higher the nearer to
        the top; "auto" tells it from `y`.
    time_limit : float or None
        Seconds; None for no limit.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the selection.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Zero but for the selected features.
    selected_ : ndarray
        The features in the order they were taken.
    errors_ : ndarray
        Leave-one-out error before and after each was taken.
    outcome_ : Outcome
        Value and bound of the final fit on the selected features; the selection itself is greedy.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> GreedyRankRLS(1, C=10.0).fit(X, [0, 1, 0, 1]).selected_
    array([1])
    """

    selected_: NDArray[np.int64]
    errors_: Floats
    n_iter_: int

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        C: float = 1.0,
        levels: str = "auto",
        time_limit: float | None = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.levels = levels
        self.time_limit = time_limit
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        C = check_penalty_weight(self.C)
        wanted = self.n_features_to_select
        if wanted is not None:
            check_at_least("n_features_to_select", wanted, 1)
        X: Any = data.X
        found = greedy_selection(X, data.grade, data.qid, run, C=C, n_features=wanted)
        self.selected_, self.errors_ = found.features, found.errors
        squares = PairwiseSquares.from_labels(data.grade, qid=data.qid)
        problem = RankLeastSquares(Design(X[:, found.features], squares.query), squares, C)
        fitted, outcome = minimise(problem, np.zeros(len(found.features)), Run(), tol=TOL, max_iter=100)
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[found.features] = fitted.coef
        self.n_iter_ = max(1, len(found.features))
        status = run.stopped_by or Status.FINISHED
        return Outcome(outcome.value, outcome.bound, status, run.seconds, len(found.features))

    def _reached(self) -> tuple[float, float]:
        return self.outcome_.gap, TOL

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.queries = True
        return tags
