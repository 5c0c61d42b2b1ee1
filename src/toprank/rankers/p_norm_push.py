"""`PNormPush`: push the highest negatives down, the harder the larger p."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from toprank.base import TWO_LABELS, Matrix, RankingData, strata
from toprank.control import Callback, Outcome, Run, Seed
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.merge import merge_rows
from toprank.convex.p_norm_push.newton import LogPush, log_push
from toprank.labels import LabelKind
from toprank.losses.p_norm_push import PNormPushItems
from toprank.rankers.parts.boosting import Floats, PNormPushBooster
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_penalty_weight
from toprank.rankers.parts.partitioned import PartitionedFit
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["PNormPush"]


class PNormPush(PartitionedFit, PNormPushBooster):
    """Pushes the highest-scored negatives down the list, the harder the larger p.

    With ``R_p = (mean_j (mean_i exp(-(s_i - s_j)))^p)^(1/p)``, positives i and negatives j (Rudin 2009;
    Agarwal 2011, Eq. (3.15) with the exponential loss), it minimises

    - ``solver="newton"``: ``1/2 |w|^2 + C log R_p`` over linear scores, to a relative gap of `tol`;
    - ``solver="boosting"``: log R_p itself, one weak ranker a round, as in the paper.

    With `qid`, log R_p is averaged over queries; of grades over the cuts between them, the items above a cut
    being its positives and those below its negatives. p = 1 is RankBoost; p to infinity approaches the
    Infinite Push. Everything is computed in the log domain, so that p = 64 is as safe as p = 1.

    With sample weights a pair weighs the product of its rows' weights.

    Parameters
    ----------
    p : float
        At least 1.
    C : float
        How much the loss weighs against the penalty ``1/2 |w|^2`` (Newton only).
    solver : {"newton", "boosting"}
    weak_rankers : {"features", "stumps"} or estimator
        What boosting combines: single features, scaled to a range of one, thresholds on single features, or
        what an estimator that takes weights learns in each round.
    n_estimators : int
        Rounds of boosting.
    validation_fraction : float or None
        Share of the rows (queries) to hold out for early stopping of the boosting. Not looked at where `fit`
        gets rows to stop by (`X_val`, `y_val`).
    n_iter_no_change : int
        Rounds to wait for the held-out loss to fall.
    tol : float
        Newton: relative gap between value and bound. Boosting: least slope along the best weak ranker.
    max_iter : int
        Newton steps.
    warm_start : bool
        Whether Newton's method starts from the last coefficients.
    levels : {"auto", "binary", "ordinal"}
        What `y` is: two labels, or grades, the higher the nearer to the top; "auto" tells it from `y`.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Which rows are held out for early stopping.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature, unless stumps are boosted.
    stump_features_, stump_thresholds_, stump_weights_ : ndarrays
        The stumps, where those are the weak rankers.
    losses_ : ndarray
        log R_p after each round of boosting.
    validation_values_ : ndarray
        log R_p of the rows to stop by after each round of boosting, dropped ones too.
    outcome_ : Outcome
        Newton: value and bound of the penalised objective. Boosting: log R_p, without a bound.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> ranker = PNormPush(p=16).fit(X, [0, 1, 0, 1])
    >>> ranker.rank(X).tolist(), str(ranker.outcome_.status)
    ([1, 3, 0, 2], 'optimal')
    """

    def __init__(
        self,
        p: float = 4.0,
        *,
        C: float = 1.0,
        solver: str = "newton",
        weak_rankers: Any = "features",
        n_estimators: int = 100,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        tol: float = 1e-6,
        max_iter: int = 200,
        warm_start: bool = False,
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.C = C
        self.solver = solver
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        p = check_at_least("p", self.p, 1)
        check_choice("solver", self.solver, ["newton", "boosting"])
        return self._newton(data, run, p) if self.solver == "newton" else self._boost(data, run, p)

    def _newton(self, data: RankingData, run: Run, p: float) -> Outcome:
        C = check_penalty_weight(self.C)
        X: Any = np.ascontiguousarray(data.X) if isinstance(data.X, np.ndarray) else data.X
        grade = strata(data)
        stratum = grade if data.qid is None else data.qid * (int(grade.max()) + 1) + grade
        merged = merge_rows(X, stratum, data.sample_weight)
        rows = merged.rows
        qid = None if data.qid is None else data.qid[rows]
        items = PNormPushItems.from_labels(data.y[rows], qid=qid, sample_weight=merged.weight)
        problem = LogPush(Design(X[rows], qid), items, C, p)
        start = np.zeros(X.shape[1])
        if self.warm_start and getattr(self, "coef_", start).shape == start.shape:
            start = getattr(self, "coef_", start)
        self.coef_, outcome = log_push(problem, start, run, tol=self.tol, max_iter=int(self.max_iter))
        self.n_iter_ = max(1, outcome.iterations)
        return outcome

    def _scores(self, X: Matrix) -> Floats:
        if self.solver == "newton":
            return np.asarray(X @ self.coef_, dtype=np.float64)
        return super()._scores(X)

    def _label_kinds(self) -> frozenset[LabelKind]:
        return TWO_LABELS | {"ordinal"}

    def _why_not(self, kind: LabelKind) -> str:
        return "every cut between two labels is a push of its own, and a response has as many as items"

    def _why_no_validation(self) -> str:
        return "with solver='newton' ends at its optimum, solver='boosting' stops early"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.validation = self.solver == "boosting"
        tags.ranker_tags.weights = tags.ranker_tags.queries = True
        tags.ranker_tags.at_top = isinstance(self.p, Real) and self.p > 1
        tags.ranker_tags.linear = self.solver == "newton" or self._by_features()
        return tags
