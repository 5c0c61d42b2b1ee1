"""`DirectRanker`: maximise the rank statistic itself, at any list length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import PairData, PairRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed, Status
from toprank.exact.climb.local_search import local_search
from toprank.exact.problem import RankingProblem
from toprank.exact.search.methods import compile_climb
from toprank.rankers.parts.starts import Start, pair_start_directions, start_directions
from toprank.rankers.parts.weighted import WeightedRanker
from toprank.statistics import RankStatistic

__all__ = ["DirectRanker"]


class DirectRanker(WeightedRanker, PairRanker):
    """Finds the linear score with the best rank statistic it can, by exact line searches.

    Maximises ``sum_j g(j, c_(j))`` over linear scores, c_i the number of negatives scored at or above
    positive i, sorted ascending, ties counted as mistakes: any linear rank statistic, where g is a weight
    of the position j + c (Rudin & Wang 2018, Eq. (8)), and average precision, positives at the top, ...
    With `qid`, the mean over queries. Local search from a warm start; every step takes the exact best point
    of a line through the present answer. There is no proof of optimality: `outcome_.bound` is the value of
    all positives first.

    Parameters
    ----------
    statistic : str, RankStatistic or array
        What to maximise: ``"dcg"``, ``"auc"``, ``"ndcg@10"``, ``"average_precision"``,
        ``"positives_at_top"``, ...: any with a `RankStatistic.count_table`, a loss with its sign changed. Or
        position weights, best position first, never increasing.
    penalty : float
        Price of every coefficient that is not zero: what is maximised is the statistic less the penalty times
        their number, as in `ExactRanker`. The search then goes through sets of columns too.
    start : {"logistic", "mean"}, array of shape (n_features,), estimator or None
        Where to begin: logistic regression (also for None), the difference of the class means, given
        coefficients, or an estimator with `coef_`, which is fitted first if need be.
    n_restarts : int
        Further climbs from perturbed best answers.
    max_iter : int or None
        Line searches in all; None chooses by the length of the list (up to 5000).
    time_limit : float or None
        Seconds; None for no limit. Without a limit the same `random_state` gives the same answer.
    random_state : int, Generator, RandomState or None
        Seed of the search directions.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`. See `ExactRanker` for the statistics that go with each.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
        Line searches made.
    outcome_ : Outcome
        Value of the statistic on the training rows (less the penalty), the bound, and why the search ended.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]])
    >>> ranker = DirectRanker("auc", random_state=0).fit(X, [0, 1, 0, 1])
    >>> ranker.outcome_.value
    1.0
    >>> sorted(ranker.first(X, 2).tolist())
    [1, 3]
    """

    n_iter_: int

    def __init__(
        self,
        statistic: str | RankStatistic | NDArray[np.float64] = "dcg",
        *,
        penalty: float = 0.0,
        start: Start = None,
        n_restarts: int = 100,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        levels: str = "auto",
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.statistic = statistic
        self.penalty = penalty
        self.start = start
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.levels = levels
        self.callback = callback
        self.verbose = verbose

    def _prepare(self, data: RankingData) -> None:
        compile_climb()

    def _prepare_pairs(self, data: PairData) -> None:
        compile_climb()

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        problem = self._problem_of(data.X, data.y, data.kind, data.qid, penalty=self.penalty)
        return self._climb(problem, start_directions(self.start, data, problem, run), run)

    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        problem = RankingProblem.from_preferences(data.X, data.pairs, data.weight, penalty=self.penalty)
        return self._climb(problem, pair_start_directions(self.start, data, problem, run), run)

    def _climb(self, problem: RankingProblem, directions: list[NDArray[np.float64]], run: Run) -> Outcome:
        starts = [problem.scale(coef) for coef in directions]
        search = local_search(problem, starts, run, n_restarts=self.n_restarts, max_iter=self.max_iter)
        best = search.best.coef if search.best.coef.any() else starts[0]
        self.coef_ = problem.unscale(best)
        self.n_iter_ = max(1, search.lines)
        return Outcome(
            value=search.best.value,
            bound=problem.trivial_bound,
            status=self._status(search.best.value, search.lines, problem, run),
            seconds=run.seconds,
            iterations=search.lines,
        )

    def _status(self, value: float, lines: int, problem: RankingProblem, run: Run) -> Status:
        if value >= problem.trivial_bound:
            return Status.OPTIMAL
        if run.stopped_by is not None:
            return run.stopped_by
        if self.max_iter is not None and lines >= self.max_iter:
            return Status.ITERATION_LIMIT
        return Status.FINISHED
