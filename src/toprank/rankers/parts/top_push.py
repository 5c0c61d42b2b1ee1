"""What the at-the-top rankers share: threshold rule x surrogate, solved by column generation."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import RankingData
from toprank.control import Outcome, Run, Status, warn_user
from toprank.convex.algebra.merge import merge_rows
from toprank.convex.top_push.by_query import QueryPushProblem, solve_by_query
from toprank.convex.top_push.column_generation import TopPushSolution, solve_top_push
from toprank.convex.top_push.problem import TopPushProblem
from toprank.labels import LabelKind
from toprank.losses.top_push import SURROGATES, Threshold
from toprank.rankers.parts.kernels import KernelRanker
from toprank.rankers.parts.parameters import check_at_least, check_penalty_weight
from toprank.rankers.parts.partitioned import PartitionedFit
from toprank.rankers.parts.queries import divided_queries
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["TopPushRanker", "ZeroOptimumWarning"]

Floats = NDArray[np.float64]
OUT_OF_TIME = "No w better than 0 was found before the fit ended; coef_ is the difference of the class means."
ZERO_BY_QUERY = (
    "w = 0 is optimal for every C: whatever w, the negatives that count in each query lie on average no lower"
    " than its positives; coef_ is the mean difference of the classes within queries instead. What helps:"
    " TauFPL with a larger negative_share, PNormPush or RankSVM."
)
OUT_OF_DIGITS = "Rounding kept the gap above tol; features scaled to similar ranges leave it more digits."


class ZeroOptimumWarning(UserWarning):
    """The best coefficients are all zero, so the problem that was posed ranks nothing.

    The mean of the positives lies in the convex hull of the negatives (or of the means of those shares of
    them that the threshold averages). By Jensen's inequality no w then has a smaller loss than w = 0,
    whatever C and whichever surrogate.
    """


class TopPushRanker(PartitionedFit, KernelRanker):
    """Compares every positive with one threshold of the negatives, of its query where there are several.

    Subclasses name the surrogate (`_loss`) and the threshold (`_rule`); they have the parameters ``C, tol,
    max_iter, time_limit, warm_start, random_state, callback, verbose``. A row of weight 2 counts as two rows;
    the highest negative is the highest whatever its weight.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature; when `zero_is_optimal_`, the difference of the class means.
    zero_is_optimal_ : bool
        Whether w = 0 minimises the objective, so that `coef_` had to come from elsewhere.
    n_iter_ : int
        Rounds of column generation.
    """

    C: float
    tol: float
    max_iter: int
    zero_is_optimal_: bool
    n_iter_: int

    @abstractmethod
    def _loss(self) -> str:
        """The name of the surrogate."""

    @abstractmethod
    def _rule(self) -> Threshold:
        """The threshold of the negatives."""

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self._check_parameters()
        return self._learned(self._problem(self._features(data.X), data), run)

    def _learned(self, problem: TopPushProblem | QueryPushProblem, run: Run) -> Outcome:
        """Solve it, and keep what is learned."""
        solution = self._solve(problem, run)
        self.zero_is_optimal_ = solution.trivial
        coef, notes = solution.point.coef, []
        if not coef.any():
            coef = problem.mean_difference()
            notes.append(self._why_zero(problem) if solution.trivial else OUT_OF_TIME)
        if solution.status is Status.FINISHED:
            notes.append(OUT_OF_DIGITS)
        self._keep(coef)
        self.n_iter_ = max(1, solution.rounds)
        return Outcome(
            solution.point.value, solution.bound, solution.status, run.seconds, solution.rounds, tuple(notes)
        )

    def _why_zero(self, problem: TopPushProblem | QueryPushProblem) -> str:
        """What to say where w = 0 is the answer."""
        return _explain(problem)

    def _check_parameters(self) -> None:
        check_penalty_weight(self.C)
        check_at_least("max_iter", self.max_iter, 1)
        if not 0.0 < self.tol < 1.0:
            raise ValueError(f"tol={self.tol} must be between 0 and 1: it is a relative gap.")

    def _problem(self, X: Any, data: RankingData) -> TopPushProblem | QueryPushProblem:
        X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        query, weight = data.qid, data.sample_weight
        if query is not None:
            # Where one class is all there is, nothing is above or below a threshold.
            weight = np.ones(len(data.y)) if weight is None else weight
            weight = np.where(divided_queries(data.y, query, weight)[query], weight, 0.0)
        stratum = data.y.astype(np.int64) if query is None else data.y + 2 * query
        merged = merge_rows(X, stratum, weight)
        labels = data.y[merged.rows]
        weight = np.ones(len(labels)) if merged.weight is None else merged.weight
        said: dict[str, Any] = {"C": float(self.C), "surrogate": SURROGATES[self._loss()]}
        if query is None or len(np.unique(query[merged.rows])) == 1:
            return TopPushProblem.from_labels(X[merged.rows], labels, weight, rule=self._rule(), **said)
        rows, query = X[merged.rows], query[merged.rows]
        return QueryPushProblem.from_labels(rows, labels, query, weight, rule=self._rule(), **said)

    def _solve(self, problem: TopPushProblem | QueryPushProblem, run: Run) -> TopPushSolution:
        limits: dict[str, Any] = {"tol": self.tol, "max_iter": int(self.max_iter)}
        start = self._last_weights(problem.design.n_features)
        if isinstance(problem, QueryPushProblem):
            return solve_by_query(problem, run=run, start=start, **limits)
        return solve_top_push(problem, run=run, start=start, **limits)

    def _warn_of_answer(self) -> None:
        if self.zero_is_optimal_:
            warn_user(f"{type(self).__name__}: {self.outcome_.notes[0]}", ZeroOptimumWarning)

    def _why_not(self, kind: LabelKind) -> str:
        return (
            "it pushes down the highest of one set of negatives, and every cut between labels has its own"
            " (PNormPush with a large p takes grades)"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.at_top = tags.ranker_tags.queries = True
        return tags


def _explain(problem: TopPushProblem | QueryPushProblem) -> str:
    if isinstance(problem, QueryPushProblem):
        return ZERO_BY_QUERY
    share = problem.share_with_answer()
    advice = "the classes have the same mean, so no linear score separates them on average."
    if share is not None:
        advice = (
            f"TauFPL(negative_share={min(1.0, float(f'{1.1 * share:.2g}')):g}) has an answer other than zero,"
            " PNormPush and RankSVM have one too."
        )
    return (
        "w = 0 is optimal for every C, because the mean of the positives lies in the convex hull of the"
        f" negatives it has to beat; coef_ is the difference of the class means instead. What helps: {advice}"
    )
