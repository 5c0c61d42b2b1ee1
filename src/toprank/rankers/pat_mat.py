"""`PatMat` and `Grill`: the relatives of Accuracy at the Top with other thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import LinearRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed, Status
from toprank.convex.accuracy_at_top.local_minimum import local_minimum
from toprank.convex.accuracy_at_top.pat_mat import PatMatByQuery, PatMatProblem
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import SmoothProblem, minimise
from toprank.losses.pat_mat import PatMatLoss
from toprank.rankers.parts.items import dense_rows, gather, items_of_points, mean_prices, prices_of_labels
from toprank.rankers.parts.parameters import check_choice, check_penalty_weight, check_share
from toprank.rankers.parts.queries import divided_queries
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["Grill", "PatMat"]

Floats = NDArray[np.float64]
SMOOTH = ("squared_hinge", "logistic")


class _Weighted(LinearRanker):
    """A linear ranker of the top share; a row of weight two counts as two rows."""

    n_iter_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.at_top = tags.ranker_tags.weak = True
        tags.ranker_tags.queries = True
        return tags


def _weights(data: RankingData) -> Floats:
    """The weight of each row."""
    return np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight


class PatMat(_Weighted):
    """Lifts relevant items above a smooth stand-in for the top quantile of all scores: a convex problem.

    Minimises ``1/2 |w|^2 + C mean_i loss(t - w.x_i)`` over the positives i, where t solves ``mean_j
    loss(scale (w.x_j - t)) = top_share`` over all rows j: Pat&Mat of Adam, Mácha, Šmídl and Pevný,
    "General framework for binary classification on top samples"; over the negatives j only, Pat&Mat-NP.
    Unlike `AccuracyAtTop` it has one optimum, found with a bound, at the price of a threshold above the true
    quantile. With `qid` every query has its own t and the same weight: the mean over queries of the mean over
    their positives.

    Parameters
    ----------
    top_share : float, strictly between 0 and 1
        Share of the list that is its top.
    C : float
        Weight of the loss.
    negative_share : float or None
        In place of `top_share`: the share of the negatives that may be in the top (Pat&Mat-NP).
    loss : {"squared_hinge", "logistic"}
    scale : float
        How sharply items above the threshold are counted.
    tol : float
        Relative gap between value and bound.
    max_iter : int
        Most Newton steps.
    time_limit, pos_label, callback, verbose
        As for every ranker.

    Examples
    --------
    >>> ranker = PatMat(0.5, C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> ranker.rank([[0.0], [1.0], [2.0], [3.0]]), ranker.outcome_.gap < 1e-5
    (array([3, 2, 1, 0]), True)
    """

    def __init__(
        self,
        top_share: float = 0.05,
        C: float = 1.0,
        *,
        negative_share: float | None = None,
        loss: str = "squared_hinge",
        scale: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 1000,
        time_limit: float | None = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.top_share = top_share
        self.C = C
        self.negative_share = negative_share
        self.loss = loss
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_choice("loss", self.loss, SMOOTH)
        if not self.scale > 0:
            raise ValueError(f"scale={self.scale} must be positive.")
        loss = PatMatLoss(self._share(), self.loss, self.scale, self.negative_share is not None)
        problem = _pat_mat_problem(data, check_penalty_weight(self.C), loss)
        start = np.zeros(data.X.shape[1])
        found, outcome = minimise(problem, start, run, tol=self.tol, max_iter=int(self.max_iter))
        self.coef_ = found.coef
        self.n_iter_ = max(1, outcome.iterations)
        return outcome

    def _share(self) -> float:
        """The share that the threshold stands for, of the list or of the negatives."""
        if self.negative_share is None:
            return check_share("top_share", self.top_share, "the list")
        return check_share("negative_share", self.negative_share, "the negatives")


def _pat_mat_problem(data: RankingData, C: float, loss: PatMatLoss) -> SmoothProblem[Any]:
    weight = _weights(data)
    if data.qid is not None:
        weight = np.where(divided_queries(data.y, data.qid, weight)[data.qid], weight, 0.0)
    used = np.flatnonzero(weight > 0)
    rows = data.X[used] if len(used) < len(weight) else data.X
    if data.qid is None:
        return PatMatProblem(Design(rows), data.y[used], weight[used], C, loss)
    return PatMatByQuery.from_labels(rows, data.y[used], data.qid[used], weight[used], C, loss)


class Grill(_Weighted):
    """Relevant items above the top quantile of all scores, the others below, each class on average.

    Minimises ``1/2 |w|^2 + C (mean_i (1 + q - w.x_i)_+ + mean_j (1 + w.x_j - q)_+)`` over positives i and
    negatives j, q the true quantile of all scores at `top_share`: Grill, as in Adam, Mácha, Šmídl and
    Pevný, "General framework for binary classification on top samples". It is problem (1) of
    `AccuracyAtTop` with ``C / (n_+ n_-)`` for C, and is minimised like that by ``solver="local"``: from
    several starts, without a bound. With `qid` every query has its own quantile and the same weight: the mean
    over queries of the two means, over the queries with rows of both classes.

    Parameters
    ----------
    top_share : float, strictly between 0 and 1
    C : float
        Weight of the losses.
    n_restarts : int
        Descents from random directions, after two from the class means.
    tol : float
        A descent ends when a round gains less than this, relative to the objective.
    max_iter : int
        Most rounds of a descent.
    time_limit, random_state, pos_label, callback, verbose
        As for every ranker.

    Examples
    --------
    >>> ranker = Grill(0.5, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> ranker.rank([[0.0], [1.0], [2.0], [3.0]])
    array([3, 2, 1, 0])
    """

    def __init__(
        self,
        top_share: float = 0.05,
        C: float = 1.0,
        *,
        n_restarts: int = 3,
        tol: float = 1e-5,
        max_iter: int = 100,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.top_share = top_share
        self.C = C
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_share("top_share", self.top_share, "the list")
        weight, C = _weights(data), check_penalty_weight(self.C)
        if data.qid is None:
            total = float(weight[data.y == 1].sum()) * float(weight[data.y == 0].sum())
            prices = prices_of_labels(
                data.y, weight, top_share=self.top_share, C=C / total, weighting="pairs"
            )
        else:
            prices = mean_prices(data.y, data.qid, weight, top_share=self.top_share, C=C)
        rows = dense_rows(data.X)
        kept, prices = gather(rows, prices, by_row=False)
        points = rows[kept] - rows[kept].mean(axis=0)
        basis = None
        if points.shape[1] > len(points):
            left, size, basis = np.linalg.svd(points, full_matrices=False)
            points = left * size
        answer = local_minimum(
            items_of_points(points, prices),
            run,
            n_restarts=self.n_restarts,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.coef_ = answer.coef if basis is None else answer.coef @ basis
        self.n_iter_ = max(1, answer.rounds)
        ended = Status.ITERATION_LIMIT if answer.cut_off else Status.FINISHED
        return Outcome(
            answer.value, status=run.stopped_by or ended, seconds=run.seconds, iterations=self.n_iter_
        )
