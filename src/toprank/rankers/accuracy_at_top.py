"""`AccuracyAtTop`: what scores above the top quantile should be relevant, what scores below should not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.base import Matrix, PairData, PairRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed, Status
from toprank.convex.accuracy_at_top.local_minimum import LocalAnswer, local_minimum
from toprank.convex.accuracy_at_top.pin_search import Choice, Progressed, search_all, search_screened
from toprank.convex.accuracy_at_top.pins import Items, PinTable, quantile
from toprank.rankers.parts.items import (
    WEIGHTINGS,
    Prices,
    gather,
    prices_by_query,
    prices_of_labels,
    prices_of_pairs,
)
from toprank.rankers.parts.kernels import KernelRanker
from toprank.rankers.parts.parameters import check_choice, check_penalty_weight, check_share
from toprank.rankers.parts.partitioned import PartitionedFit
from toprank.rankers.parts.spaces import Space, space_of
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["AccuracyAtTop"]

Floats = NDArray[np.float64]
WORTH_NOTING = 1e-6
ROUNDING = 1e-10
SOLVERS = ("exhaustive", "screened", "local")


class AccuracyAtTop(PartitionedFit, KernelRanker, PairRanker):
    """Puts relevant items above the top quantile of the scores and the others below it.

    Minimises, with q the quantile of the scores at `top_share` (the k-th highest of n, k = top_share n)::

        1/2 |w|^2 + C sum over pairs (x, x') of  (w.x - q + 1)_+ + (q - w.x' + 1)_+ ,

    x' preferred to x: problem (1) of Boyd, Cortes, Mohri and Radovanovic (2012, "Accuracy at the Top",
    NIPS). With labels the pairs are all of one negative and one positive row, so each positive counts ``n_-``
    times and each negative ``n_+`` times; the quantile is that of the rows, as in their experiments.

    The problem is not convex. Their algorithm (``solver="exhaustive"``) pins q to the score of each
    distinct item in turn, which is convex (problem (2)), and keeps the w_k under which item k is closest to
    the true quantile. That distance is in score units: a short w makes all distances short, so the rule
    favours pins with little scale, and strong regularisation. `relative_distance_` and `pins_` give the
    distance in standard deviations of the scores too, to see whether the choice would be another. "local"
    minimises (1) itself, and often finds a lower value. Distances equal to 1e-6 of the margin are equal; then
    the smaller objective decides, then the first row.

    Identical rows are one item. Relevant rows that do not fit above the quantile pay, wherever they are;
    `outcome_.notes` says so. Where all rows are identical the scores are equal and `predict` marks all of
    them. One class only is an error. Give the features unit spread first: where rounding keeps a problem from
    being solved, a warning says that, and nothing is certified.

    A row of weight two counts as two rows; sparse rows are made dense.

    With `qid` (``solver="local"`` only) the pairs are those within queries and every query has its own
    quantile q, that of its k_q-th highest row of n_q, k_q = top_share n_q. Pins of several quantiles would
    have to be tried in all their combinations, so the other solvers take one list only. `quantile_` and
    `threshold_` are then those of all rows together, for `predict` knows no queries.

    Parameters
    ----------
    top_share : float, strictly between 0 and 1
        Share of the list that is its top, rounded to the nearest whole number of items, at least
        one and at most all but one (`outcome_.notes` says when that mattered).
    C : float
        Price of one unit of lacking margin, for each pair.
    kernel : str, callable or None
        None is linear; "rbf", "poly", ..., a callable of two rows, or "precomputed" (dual (4)).
    gamma, degree, coef0 : floats
        Of the kernel, as in scikit-learn.
    kernel_params : dict or None
        Further parameters of the kernel, such as those of a callable.
    approximation : {None, "nystroem", "fourier"}
        Stands in for an exact kernel when there are many rows.
    n_components : int
        Features of the approximation.
    n_landmarks : int or None
        Rows that Nystroem's features are made of, the best `n_components` directions of them; None: as many.
    solver : {"exhaustive", "screened", "local"}
        "exhaustive": every pin, exactly. "screened": every pin to a gap of 5 %, then the promising ones
        exactly; `certified_` says whether that is proved to be the exhaustive answer. "local": problem (1)
        from several starts, for hundreds of thousands of rows.
    weighting : {"pairs", "balanced", "rows"}
        What each row's price is, for labels: ``C n_-`` and ``C n_+`` as published; the same proportion
        with mean C; or C for every row.
    n_candidates : int
        How many promising pins "screened" solves exactly.
    certify : bool
        Whether "screened" goes on until its answer is proved.
    n_restarts : int
        Random starts of "local", after two from the class means.
    n_jobs : int or None
        Processes over which the pins are spread, through joblib: ``joblib.parallel_config(backend=...)``
        chooses where they run. The answer does not depend on it.
    checkpoint : path or None
        A file in which solved pins are kept; fitting again with the same data and parameters goes on from
        there.
    tol : float
        Relative duality gap of each pinned problem; the gain at which "local" stops is the larger of it and
        1e-5.
    max_iter : int
        Most rounds of "local" from each start.
    time_limit, random_state, pos_label, callback, verbose
        As for every ranker. Out of time, the best of the pins solved so far is kept, with a warning.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Without a kernel. With an approximation: the weights of its features.
    dual_coef_, support_ : ndarrays
        With an exact kernel: weights of training rows, and which rows.
    norm_ : float
        ``|w|``, in the space of the kernel where there is one.
    quantile_ : float
        The k-th highest training score.
    threshold_ : float
        The middle between the quantile and the next lower score; `predict` marks what scores above it.
    n_top_ : float
        How many training rows the top holds.
    pin_ : int
        The row whose score the quantile was pinned to; -1 for "local".
    distance_, relative_distance_ : float
        Between the pin's score and the quantile, in score units and in standard deviations of the scores.
    pins_ : PinTable
        Objective, bound, distance and spread for each distinct item; `pin_rows_` says which rows those are.
    certified_ : bool
        Whether the answer is proved to be what the published rule chooses.
    outcome_ : Outcome
        The value of problem (1) and, where all pins were looked at, the smallest pinned bound, which no w
        can beat.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]])
    >>> ranker = AccuracyAtTop(top_share=0.5).fit(X, [0, 1, 0, 1])
    >>> ranker.predict(X), ranker.certified_
    (array([0, 1, 0, 1]), True)
    """

    n_iter_: int

    def __init__(
        self,
        top_share: float = 0.05,
        C: float = 1.0,
        *,
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        solver: str = "exhaustive",
        weighting: str = "pairs",
        n_candidates: int = 20,
        certify: bool = False,
        n_restarts: int = 3,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        tol: float = 1e-9,
        max_iter: int = 100,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.top_share = top_share
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.solver = solver
        self.weighting = weighting
        self.n_candidates = n_candidates
        self.certify = certify
        self.n_restarts = n_restarts
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def statistic(self) -> str:
        """What `score` gives: the precision among the top share."""
        return f"precision@{100 * self.top_share:.10f}%"

    # -- fitting ------------------------------------------------------------------------------

    def _prepare(self, data: RankingData) -> None:
        self._check_parameters()

    def _finish(self, data: RankingData) -> None:
        self.intercept_ = -self.threshold_

    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        """The general setting of the paper: a row counts in the quantile as often as it occurs in pairs."""
        prices = prices_of_pairs(data.X.shape[0], data.pairs, data.weight, top_share=self.top_share, C=self.C)
        return self._learn(data.X, prices, run)

    def _prepare_pairs(self, data: PairData) -> None:
        self._check_parameters()

    def _middle(self, data: PairData) -> float:
        return -self.threshold_

    def _check_parameters(self) -> None:
        check_share("top_share", self.top_share, "the list")
        check_penalty_weight(self.C)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        if not 0.0 < self.tol < 1.0:
            raise ValueError(f"tol={self.tol} must be between 0 and 1: it is a relative gap.")
        self._check_kernel()

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        said: dict[str, Any] = {"top_share": self.top_share, "C": self.C, "weighting": self.weighting}
        if data.qid is None:
            prices = prices_of_labels(data.y, data.sample_weight, **said)
        else:
            prices = prices_by_query(data.y, data.qid, data.sample_weight, **said)
        return self._learn(data.X, prices, run)

    def _learn(self, X: Matrix, prices: Prices, run: Run) -> Outcome:
        self._space: Space = space_of(self, X)
        local = self.solver == "local"
        self.pin_rows_, merged = gather(
            self._space.train, prices, merge=self.kernel != "precomputed", by_row=not local
        )
        items = self._space.items(self.pin_rows_, merged, local=local)
        self.n_top_ = merged.top
        if local:
            return self._locally(items, run)
        state = Progressed(items, self.tol, None if self.checkpoint is None else Path(self.checkpoint))
        if self.solver == "exhaustive":
            choice = search_all(state, run, self.n_jobs)
        else:
            choice = search_screened(
                state, run, self.n_jobs, candidates=self.n_candidates, certify=self.certify
            )
        return self._take(items, choice, run)

    # -- from a solver's answer to the learned attributes ---------------------------------------

    def _take(self, items: Items, choice: Choice | None, run: Run) -> Outcome:
        """Solve the chosen pin once more, here, so that no worker's rounding is in the answer."""
        self._gap = 0.0
        if choice is None:
            ahead = items.up / items.up.sum() - items.down / items.down.sum()
            choice = Choice(-1, PinTable.empty(len(items)), np.zeros(len(items), dtype=bool), False)
            weights = ahead
        else:
            solution = items.solve(choice.pin, self.tol)
            weights, self._gap = items.weights(choice.pin, solution), solution.gap / solution.value
        self.pins_, self.certified_ = choice.table, choice.certified
        self.n_iter_ = max(1, int(np.count_nonzero(choice.table.solved)))
        self.pin_ = int(self.pin_rows_[choice.pin]) if choice.pin >= 0 else -1
        scores, square = self._space.keep(self, items, weights)
        self.norm_ = float(np.sqrt(max(square, 0.0)))
        self._set_threshold(items, scores)
        known = choice.pin >= 0
        self.distance_ = float(choice.table.distance[choice.pin]) if known else np.nan
        self.relative_distance_ = float(choice.table.relative_distance[choice.pin]) if known else np.nan
        bound = float(choice.table.bound.min()) if choice.table.solved.all() else np.nan
        status = run.stopped_by if run.stopped_by and not choice.certified else Status.FINISHED
        return self._outcome(items, items.objective(0.5 * square, scores), bound, status, run)

    def _locally(self, items: Items, run: Run) -> Outcome:
        answer: LocalAnswer = local_minimum(
            items, run, n_restarts=self.n_restarts, max_iter=self.max_iter, tol=max(self.tol, 1e-5)
        )
        self.pins_, self.certified_, self.pin_, self._gap = PinTable.empty(0), False, -1, 0.0
        self.distance_ = self.relative_distance_ = 0.0
        self.n_iter_ = max(1, answer.rounds)
        scores = self._space.keep_coef(self, items, answer.coef)
        self.norm_ = float(np.linalg.norm(answer.coef))
        self._set_threshold(items, scores)
        ended = Status.ITERATION_LIMIT if answer.cut_off else Status.FINISHED
        return self._outcome(items, answer.value, np.nan, run.stopped_by or ended, run)

    def _reached(self) -> tuple[float, float]:
        # The gap of the pinned problem; that to the least bound of all pins is not for `tol` to close.
        return self._gap, max(WORTH_NOTING, self.tol)

    def _set_threshold(self, items: Items, scores: Floats) -> None:
        offset = self._space.offset
        level = quantile(scores, items.mass, items.top)
        # Rounding parts equal scores, differently in `predict`: what is as good as equal stays together.
        lower = scores[scores < level - ROUNDING * np.abs(scores + offset).max()]
        following = float(lower.max()) if len(lower) else level - 1.0
        middle = following + (level - following) / 2
        self.quantile_ = level + offset
        self.threshold_ = (middle if middle < level else following) + offset

    def _outcome(self, items: Items, value: float, bound: float, status: Status, run: Run) -> Outcome:
        notes = []
        total, preferred = float(items.mass.sum()), float(items.mass[items.up > 0].sum())
        if abs(items.top - self.top_share * total) > 0.5 * len(items.lists):
            share = f"top_share={self.top_share:g} of {total:g} rows"
            notes.append(f"{share} is less than one or all: {items.top:g} was taken.")
        if preferred > items.top:
            notes.append(f"{preferred:g} relevant rows do not fit above a quantile that holds {items.top:g}.")
        if len(items) == 1:
            notes.append("All rows are identical: nothing can be ranked.")
        # Both are rounded: where they meet, the bound may come out a digit too high.
        bound = min(bound, value) if bound <= value * (1.0 + self.tol) else bound
        return Outcome(value, bound, status, run.seconds, self.n_iter_, tuple(notes))

    def _scores(self, X: Matrix) -> Floats:
        if self.kernel is None:
            return np.asarray(X @ self.coef_)
        return self._space.scores(self, X)

    def _why_no_queries(self) -> str:
        return (
            f"with solver={self.solver!r} pins one quantile and takes no queries (solver='local' takes them)"
        )

    def squared_norms(self, X: ArrayLike) -> Floats:
        """K(x, x) of each row: its squared norm in the space where the score is linear.

        >>> AccuracyAtTop(0.5).fit([[0.0], [1.0]], [0, 1]).squared_norms([[3.0]])
        array([9.])
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._space.squares(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # predict marks the top share, not as many rows as there are positives.
        tags.classifier_tags.poor_score = True
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.ranker_tags.weights = tags.ranker_tags.at_top = tags.ranker_tags.weak = True
        tags.ranker_tags.queries = self.solver == "local"
        return tags
