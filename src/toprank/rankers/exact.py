"""`ExactRanker`: the best linear ranker with a proof, or the best found and how far it can be off."""

from __future__ import annotations

import os
from contextlib import ExitStack
from copy import copy
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.base import PairData, PairRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed, worker_count
from toprank.exact.certificate import Certificate
from toprank.exact.mip.constraints import Constraints
from toprank.exact.mip.solve import solve_program
from toprank.exact.problem import DEFAULT_MARGIN, RankingProblem
from toprank.exact.search.compiling import begin_compiling
from toprank.exact.search.driver import search
from toprank.labels import LabelKind
from toprank.rankers.parts.starts import Start, pair_start_directions, start_directions
from toprank.rankers.parts.weighted import WeightedRanker
from toprank.statistics import RankStatistic

__all__ = ["ExactRanker", "Solver"]

Solver = Literal["search", "mip", "mip-subrank", "mip-resolved", "mip-auc"]
_PROGRAM_MARGIN = 1e-4
"""Mixed-integer solvers work within tolerances of 1e-6 or so: their margin must be well above."""


class ExactRanker(WeightedRanker, PairRanker):
    """Finds the linear score with the best rank statistic of all, and proves it where time allows.

    Maximises ``sum_j g(j, c_(j)) - penalty * (number of non-zero coefficients)`` over linear scores, c_i
    the number of negatives that positive i does not beat, sorted ascending, ties counted as mistakes: any
    linear rank statistic, where g is a weight of the position j + c (Rudin & Wang 2018, Eqs. (8) and (11)),
    and average precision, positives at the top, partial and local AUC, push losses. With `qid`, the mean
    over queries. A branch and bound over directions; `certificate_` says what was proved. Lists of some
    hundred items with up to about ten features are within reach of a proof; beyond, the answer is that of
    `DirectRanker` or better, with a bound.

    Parameters
    ----------
    statistic : str, RankStatistic or array
        What to maximise: ``"dcg"``, ``"auc"``, ``"ndcg@10"``, ``"average_precision"``,
        ``"positives_at_top"``, ...: any with a `RankStatistic.count_table`, a loss with its sign changed. Or
        position weights, best position first, never increasing.
    margin : float or None
        None: a pair is won by any difference of its scores, in exact arithmetic on the numbers given.
        Otherwise the difference must be at least this much of the pair's own length, the features divided
        by `Certificate.scales` and the largest coefficient being 1; the mixed-integer solvers, whose
        tolerances must stay well below, use 1e-4 for None.
    penalty : float
        Price of each non-zero coefficient, in units of the statistic.
    solver : {"search", "mip", "mip-subrank", "mip-resolved", "mip-auc"}
        The geometric search; our mixed-integer program; or one of Rudin & Wang's, Eq. (22) to (26), Eq. (11)
        to (21), and Appendix A.1, which is for ``statistic="auc"``.
    strengthen : bool
        Whether ``solver="mip-subrank"`` gets Eq. (27) to (30) as well: the ranks of relevant rows that are
        equal are counted together, and the relaxation is tighter.
    perturb : bool
        Whether ``solver="mip-subrank"`` parts relevant rows that are equal by random differences, in the
        comparisons among them: equal ones would share the lowest of their ranks, for which the bound makes
        an allowance otherwise.
    backend : {"highs", "scip", "gurobi"}
        Who solves a mixed-integer program.
    constraints : Constraints or None
        Signs, number of features, whole coefficients, must-haves at the top; for ``solver="mip"`` only.
    start : {"logistic", "mean"}, array of shape (n_features,), estimator or None
        Where the search for good answers begins; see `DirectRanker`.
    method : {"auto", "boxes", "cells", "slices", "rows", "angles"}
        How the search proves; see `toprank.exact.search.driver.search`.
    device : {"auto", "cpu", "gpu"}
        Where the search runs. "gpu" is a graphics card (``pip install toprank[gpu]``): one list of at most
        255 positives and 255 negatives. "auto" takes it where there is one and it is known to be quicker:
        five to twelve features, none with few values only, or a margin.
    time_limit : float or None
        Seconds; the best answer so far and its bound are kept. None for no limit.
    n_jobs : int
        Threads; -1 for one per processor.
    checkpoint : path or None
        A file to leave an unfinished proof in, and to go on from.
    keep_proof : bool
        Whether `certificate_` should carry the partition that was searched, for `verify` to replay.
    cluster : distributed.Client, str or None
        Workers of a Dask cluster search instead of threads: a client that is running, the address of a
        scheduler, or "local" for `n_jobs` processes of this machine. For ``solver="search"``; see
        docs/scale.md.
    random_state : int, Generator, RandomState or None
        Seed of the search for good answers.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`. Grades for ``"dcg"`` and ``"ndcg"``; any numbers for ``"kendall_tau"``, ``"c_index"``,
        ``"hard_ranking_loss"``, ``"ordinal_auc"``, ``"spearman_rho"`` and ``"weak_ranking_loss@K"``.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    certificate_ : Certificate
        Value, bound, gap, status, and what they are about; can be saved and verified.
    outcome_ : Outcome
        The same in the words every ranker uses.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [1.5, 1.5]])
    >>> ranker = ExactRanker("dcg").fit(X, [0, 1, 0, 1, 1])
    >>> ranker.certificate_.summary()
    'dcg 2.13093: proved optimal'
    """

    certificate_: Certificate

    def __init__(
        self,
        statistic: str | RankStatistic | NDArray[np.float64] = "dcg",
        *,
        margin: float | None = None,
        penalty: float = 0.0,
        solver: Solver = "search",
        strengthen: bool = False,
        perturb: bool = False,
        backend: str = "highs",
        constraints: Constraints | None = None,
        start: Start = None,
        method: str = "auto",
        device: str = "auto",
        time_limit: float | None = 60.0,
        n_jobs: int = -1,
        checkpoint: str | os.PathLike[str] | None = None,
        keep_proof: bool = False,
        cluster: Any = None,
        random_state: Seed = None,
        pos_label: Any = None,
        levels: str = "auto",
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.statistic = statistic
        self.margin = margin
        self.penalty = penalty
        self.solver = solver
        self.strengthen = strengthen
        self.perturb = perturb
        self.backend = backend
        self.constraints = constraints
        self.start = start
        self.method = method
        self.time_limit = time_limit
        self.device = device
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.keep_proof = keep_proof
        self.cluster = cluster
        self.random_state = random_state
        self.pos_label = pos_label
        self.levels = levels
        self.callback = callback
        self.verbose = verbose

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        made_of, problem = self.__dict__.pop("_prepared", (None, None))
        if made_of is not data:
            problem = self._problem(data.X, data.y, data.kind, data.qid)
        return self._solve(problem, start_directions(self.start, data, problem, run), run)

    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        problem = self.problem_of_pairs(data.X, data.pairs, data.weight)
        return self._solve(problem, pair_start_directions(self.start, data, problem, run), run)

    def _solve(self, problem: RankingProblem, starts: list[NDArray[np.float64]], run: Run) -> Outcome:
        solve = self._search if self.solver == "search" else self._solve_program
        self.certificate_ = solve(problem, starts, run)
        self.coef_ = np.array(self.certificate_.coef)
        return self.certificate_.outcome

    def _prepare(self, data: RankingData) -> None:
        if self.solver == "search":
            problem = self._problem(data.X, data.y, data.kind, data.qid)
            begin_compiling(problem, self.method)
            self._prepared = (data, problem)  # made once: `_fit` takes it away

    def _prepare_pairs(self, data: PairData) -> None:
        if self.solver == "search":
            begin_compiling(self.problem_of_pairs(data.X, data.pairs, data.weight), self.method)

    def problem_of_pairs(
        self, X: Any, pairs: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RankingProblem:
        """The problem that fitting these pairs solves, for `toprank.exact.verify`."""
        return RankingProblem.from_preferences(X, pairs, sample_weight, **self._problem_options(X))

    def problem(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> RankingProblem:
        """The problem that fitting these rows solves, for `toprank.exact.verify`."""
        labels = self._read_labels(y)
        return self._problem(X, labels.y, labels.kind, qid)

    def _problem(self, X: Any, y: NDArray[Any], kind: LabelKind, qid: ArrayLike | None) -> RankingProblem:
        return self._problem_of(X, y, kind, qid, **self._problem_options(X))

    def _problem_options(self, X: Any) -> dict[str, Any]:
        """Margin, penalty and scales, by the parameters."""
        if self.solver not in get_args(Solver):
            raise ValueError(f"solver={self.solver!r} must be one of {', '.join(get_args(Solver))}.")
        for name in ("strengthen", "perturb"):
            if getattr(self, name) and self.solver != "mip-subrank":
                raise ValueError(f"{name}=True is for solver='mip-subrank' only.")
        if self.cluster is not None and self.solver != "search":
            raise ValueError("cluster is for solver='search' only.")
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            raise ValueError("constraints must be None or a Constraints(...) of toprank.exact.")
        usual = DEFAULT_MARGIN if self.solver == "search" else _PROGRAM_MARGIN
        return {
            "margin": usual if self.margin is None else self.margin,
            "penalty": self.penalty,
            "scales": np.ones(X.shape[1]) if self._wants_points() else None,
        }

    def _wants_points(self) -> bool:
        """Whether the answer is a score card: whole coefficients of the columns as they are."""
        return self.constraints is not None and self.constraints.integer_range is not None

    def _search(self, problem: RankingProblem, starts: list[NDArray[np.float64]], run: Run) -> Certificate:
        if self.constraints is not None and not self.constraints.empty:
            raise ValueError("solver='search' knows no constraints; use solver='mip'.")
        with ExitStack() as opened:
            recruit = None
            if self.cluster is not None:
                from toprank.scale.proof import recruiting

                with run.uncounted():
                    workers = worker_count(self.n_jobs)
                    recruit = opened.enter_context(recruiting(self.cluster, workers=workers))
            return search(
                problem,
                run,
                starts=starts,
                n_jobs=self.n_jobs,
                method=self.method,
                checkpoint=self.checkpoint,
                keep_proof=self.keep_proof,
                recruit=recruit,
                device=self.device,
            )

    def _solve_program(
        self, problem: RankingProblem, starts: list[NDArray[np.float64]], run: Run
    ) -> Certificate:
        assert self.solver != "search"
        return solve_program(
            problem,
            run,
            formulation=self.solver,
            backend=self.backend,
            constraints=self.constraints,
            start=max(starts, key=problem.evaluate),
            strengthen=self.strengthen,
            perturb=self.perturb,
            threads=worker_count(self.n_jobs),
        )

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        bare.cluster = None
        twin = super(ExactRanker, bare).__sklearn_clone__()
        twin.cluster = self.cluster  # a client that is running is shared: it cannot be copied
        return twin

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        scheduler = getattr(self.cluster, "scheduler", None)
        # In another process there is no such client, but the same cluster.
        return state if scheduler is None else {**state, "cluster": scheduler.address}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.exact = True
        return tags
