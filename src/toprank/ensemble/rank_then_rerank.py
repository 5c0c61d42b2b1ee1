"""Rank with something cheap, then rerank the top with something exact."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from toprank import statistics
from toprank.base import (
    BaseRanker,
    Matrix,
    RankingData,
    best_first,
    clone_for_codes,
    query_codes,
    ranking_scores,
)
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status, warn_user
from toprank.ensemble.handover import aimed, last_step, maximises, query_option
from toprank.ensemble.heads import Heads, check_top, heads_of, linear_statistic, spread_of, squeezed
from toprank.exact.problem import RankingProblem
from toprank.rankers.exact import ExactRanker
from toprank.rankers.parts.starts import linear_direction
from toprank.rankers.tuning.folds import can_be_ranked
from toprank.statistics import LinearRankStatistic

__all__ = ["BaseOrderKeptWarning", "OneClassTopWarning", "RankThenRerank", "default_base", "top_values"]

SHORTEST = 1e-3
"""Seconds for an estimator when all the time there was has been used up."""


class BaseOrderKeptWarning(UserWarning):
    """The reranker takes no part in the answer: the base's own order was kept."""


class OneClassTopWarning(BaseOrderKeptWarning):
    """The top of the training list holds one class only; the base order was kept."""


def default_base() -> Any:
    """Logistic regression on scaled features: the base ranker when none is given."""
    # The intercept is not penalised, so centring changes nothing, and sparse data stay sparse without it.
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=2000))


class RankThenRerank(BaseRanker):
    """Rank with a cheap ranker, then rerank the top of its list with a better one.

    The base learns from all rows. The reranker learns from the `top` rows that the base scores highest, ties
    with the last included. New rows whose base score is at or above `threshold_`, the score of the last of
    these rows, are ranked among themselves by the reranker and stay above all others, which keep the base's
    order (Rudin & Wang 2018, Section 2.1).

    `ExactRanker` and `DirectRanker` maximise the statistic of the whole list: the reranked rows hold its
    first positions, so the weights are those of the whole list's first positions, and ``precision@5%`` means
    5 % of all rows. `outcome_` and `certificate_` are about the part of the statistic that these positions
    make up; the rest is fixed. Where the base's own order of these rows is better than the one found, as that
    of a base which is not linear may be, it is kept, with a warning. Other rerankers learn from the top as
    from any list.

    With `qid` every query is a list with a top of its own: the first `top` rows of each. Queries whose top
    holds one class only are passed over. A ranker as base and every reranker get the queries, or an error
    says that they cannot take them; other bases, such as classifiers, score row by row and need none. New
    rows are treated likewise where `decision_function`, `rank` and `score` are told their queries; without,
    rows from `threshold_` on are reranked, the median over the training queries of the last score in the top.

    Parameters
    ----------
    base : scikit-learn estimator, optional
        Anything with a decision function, probabilities or predictions that rank; by default logistic
        regression on scaled features.
    reranker : scikit-learn estimator, optional
        By default `ExactRanker`, which maximises DCG and takes a minute at most. In a pipeline the last step
        gets what is said of the reranker here.
    top : int or float
        How many training rows to rerank (all, if there are fewer), or which share of them when below 1; of
        each query where there are queries.
    threshold : float, optional
        A base score to rerank from, instead of `top`.
    time_limit : float, optional
        Seconds for the whole fit. A base that knows a time limit gets half of them at most; what it leaves
        goes to a reranker that knows one.
    random_state : int, Generator, RandomState or None
        Handed to a reranker that has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable, optional
        Told of the reranker's progress; returning False stops it.
    verbose : int
        Print progress when there is no callback.

    Attributes
    ----------
    base_ : estimator
        The fitted base.
    reranker_ : estimator or None
        The fitted reranker; None when the top held one class only.
    reranked_ : bool
        Whether the reranker orders the top; False where the base's order was kept.
    by_query_ : bool
        Whether the top was taken of each query.
    threshold_ : float
        Base score from which rows are reranked when no queries are given.
    n_top_ : int
        Training rows in the top, of all queries together.
    outcome_ : Outcome
        The reranker's outcome. Where the base's order was kept, or the reranker reports none, its value is
        the statistic of the whole training list.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from toprank import RankThenRerank
    >>> X, y = make_classification(n_samples=300, weights=[0.8], random_state=0)
    >>> ranker = RankThenRerank(top=40, random_state=0).fit(X, y)
    >>> ranker.first(X, 3).shape
    (3,)
    """

    def __init__(
        self,
        base: Any = None,
        reranker: Any = None,
        *,
        top: int | float = 50,
        threshold: float | None = None,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.reranker = reranker
        self.top = top
        self.threshold = threshold
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    base_: Any
    reranker_: Any
    reranked_: bool
    by_query_: bool
    threshold_: float
    n_top_: int

    # -- fitting ------------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        if self.threshold is None:
            check_top(self.top)
        base = default_base() if self.base is None else clone_for_codes(self.base)
        reranker: Any = ExactRanker() if self.reranker is None else clone_for_codes(self.reranker)
        if not can_be_ranked(data.y, data.qid):
            raise ValueError("y has one class only in every query (qid): no pair can be ranked.")
        for_base = query_option(base, data.qid, needed=False)
        for_reranker = query_option(reranker, data.qid, needed=True)
        self._limit_base(base, run)
        self.base_ = base.fit(data.X, data.y, **({for_base: data.qid} if for_base else {}))
        self.by_query_ = data.qid is not None
        scores = ranking_scores(self.base_, data.X, data.qid)
        heads = heads_of(scores, data.qid, top=self.top, threshold=self.threshold)
        self.threshold_ = float(np.median(heads.cuts))
        self.n_top_ = int(np.count_nonzero(heads.inside))
        self._base_spread = spread_of(scores, self.threshold_)
        rows = np.flatnonzero(heads.mixed(data.y))
        if not len(rows):
            return self._keep_one_class(data, scores)
        self._prepare_reranker(reranker, data.X.shape[1], run)
        options = {for_reranker: _part(data.qid, rows)} if for_reranker else {}
        with aimed(last_step(reranker), heads, data.y):
            self.reranker_ = reranker.fit(data.X[rows], data.y[rows], **options)
        self._forget_callback()
        return self._judge(data, scores, heads, run)

    def _limit_base(self, base: Any, run: Run) -> None:
        """Half of the time at most, for a base that can keep to it."""
        base = last_step(base)
        known = base.get_params(deep=False)
        if self.time_limit is not None and "time_limit" in known:
            own = known["time_limit"]
            base.set_params(time_limit=min(run.remaining() / 2 or SHORTEST, math.inf if own is None else own))

    def _prepare_reranker(self, reranker: Any, d: int, run: Run) -> None:
        """Tell the reranker the time left, the seed, the callback and where to start."""
        last = last_step(reranker)
        known = last.get_params(deep=False)
        handed: dict[str, Any] = {}
        if self.random_state is not None and "random_state" in known and known["random_state"] is None:
            handed["random_state"] = int(run.rng.integers(2**31 - 1))
        if "callback" in known and known["callback"] is None:
            handed["callback"] = self._relay(run)
        if "start" in known and known["start"] is None and last is reranker:
            handed["start"] = linear_direction(self.base_, d)
        if self.time_limit is not None and "time_limit" in known:
            own = known["time_limit"]
            handed["time_limit"] = min(run.remaining() or SHORTEST, math.inf if own is None else own)
        last.set_params(**handed)

    def _forget_callback(self) -> None:
        """The relay belongs to this fit; what is kept must pickle."""
        last = last_step(self.reranker_)
        if "callback" in last.get_params(deep=False):
            last.set_params(callback=getattr(last_step(self.reranker), "callback", None))

    def _judge(self, data: RankingData, scores: NDArray[np.float64], heads: Heads, run: Run) -> Outcome:
        """The outcome, after a look at whether the reranker does better than the base did."""
        inside = np.flatnonzero(heads.inside)
        again = scores.copy()
        again[inside] = ranking_scores(self.reranker_, data.X[inside], _part(data.qid, inside))
        self._rerank_middle = float(np.median(again[inside]))
        self._rerank_spread = spread_of(again[inside], 0.0)
        inner: Any = getattr(last_step(self.reranker_), "outcome_", None)
        self.reranked_ = True
        if maximises(last_step(self.reranker_)):
            statistic = linear_statistic(self.statistic)
            assert statistic is not None
            weights = heads.weights(statistic, data.y)
            before, after = (heads.value(weights, data.y, by) for by in (scores, again))
            if before > after + 1e-12 * abs(before):
                return self._keep_better_base(data, scores, (before, after), inner)
        if isinstance(inner, Outcome):
            return inner
        final = self._scores(data.X, data.qid)
        return Outcome(self._statistic_of(data, final), seconds=run.seconds)

    def _relay(self, run: Run) -> Callback:
        """The callback of the reranker: ours, and a stop when Ctrl-C came while the base was fitted."""
        report = self._reporter()

        def relay(progress: Progress) -> bool:
            wanted = report is None or report(progress) is not False
            return wanted and not run.flagged

        return relay

    def _keep_one_class(self, data: RankingData, scores: NDArray[np.float64]) -> Outcome:
        self.reranker_, self.reranked_ = None, False
        where = f"the top {self.top} training rows of every query hold" if self.by_query_ else ""
        note = (
            f"{where or f'the top {self.n_top_} training rows hold'} one class only, so there is nothing to"
            " rerank and the base order is kept; choose a larger top or another base"
        )
        warn_user(note, OneClassTopWarning)
        return Outcome(self._statistic_of(data, scores), notes=(note,))

    def _keep_better_base(
        self, data: RankingData, scores: NDArray[np.float64], values: tuple[float, float], inner: Outcome
    ) -> Outcome:
        self.reranked_ = False
        # The order of a linear base can only win by differences below the margin, of which nothing is proved.
        proved = inner.bound < values[0] and linear_direction(self.base_, data.X.shape[1]) is None
        what = f"the best linear order {'' if proved else 'found '}of the top {self.n_top_} training rows"
        kept = "is worse than the base's own, so the base order is kept"
        warn_user(f"{what} {kept}", BaseOrderKeptWarning)
        figures = f"({values[1]:.6g} against {values[0]:.6g} in {self.statistic})"
        return replace(
            inner,
            value=self._statistic_of(data, scores),
            bound=math.nan,
            status=Status.FINISHED if inner.status is Status.OPTIMAL else inner.status,
            notes=(*inner.notes, f"{what} {kept} {figures}"),
        )

    def _warn_if_cut_short(self) -> None:
        """Nothing: the reranker has warned already."""

    def _statistic_of(self, data: RankingData, scores: NDArray[np.float64]) -> float:
        return statistics.get(self.statistic)(data.y, scores, qid=data.qid)

    @property
    def statistic(self) -> Any:
        """What the reranker optimises, DCG where it names nothing; `score` reports it."""
        last = last_step(ExactRanker() if self.reranker is None else self.reranker)
        named = getattr(last, "statistic", None)
        return "dcg" if named is None else named

    @property
    def certificate_(self) -> Any:
        """The reranker's certificate, where it has one."""
        check_is_fitted(self)
        if not hasattr(self.reranker_, "certificate_"):
            raise AttributeError(f"{type(self.reranker_).__name__} makes no certificate.")
        return self.reranker_.certificate_

    def problem(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> RankingProblem:
        """The problem that reranking solves when fitted on these rows, for `toprank.exact.verify`.

        The base's scores and `threshold_` are those of the fit.
        """
        check_is_fitted(self)
        if not isinstance(self.reranker_, ExactRanker):
            raise ValueError(f"{type(self.reranker_).__name__} states no problem; ExactRanker does.")
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        positive = (np.asarray(y) == self.classes_[1]).astype(np.int8)
        codes = self._codes(qid)
        heads = self._heads(ranking_scores(self.base_, rows, codes), codes)
        chosen = np.flatnonzero(heads.mixed(positive))
        if not len(chosen):
            raise ValueError("y: these rows have one class only at the top")
        stated = clone(self.reranker_)
        with aimed(stated, heads, positive):
            return stated.problem(rows[chosen], positive[chosen], qid=_part(codes, chosen))

    # -- scoring ------------------------------------------------------------------------------

    def _codes(self, qid: ArrayLike | None) -> NDArray[np.int64] | None:
        """Query numbers, where the top is taken of each query."""
        return None if qid is None or not self.by_query_ else query_codes(qid)

    def _heads(self, scores: NDArray[np.float64], codes: NDArray[np.int64] | None) -> Heads:
        """The rows to rerank: of each query, or those from the learned threshold on."""
        threshold = self.threshold_ if codes is None else self.threshold
        return heads_of(scores, codes, top=self.top, threshold=threshold)

    def _keys(self, X: Matrix, codes: NDArray[np.int64] | None) -> tuple[Heads | None, NDArray[np.float64]]:
        """Which rows are in the top, and every row's score there or below: the order without any rounding."""
        own = ranking_scores(self.base_, X, codes)
        heads = self._heads(own, codes)
        if not self.reranked_ or not heads.inside.any():
            return None, own
        inside, own = np.flatnonzero(heads.inside), own.copy()
        own[inside] = ranking_scores(self.reranker_, X[inside], _part(codes, inside))
        return heads, own

    def _scores(self, X: Matrix, codes: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The base's score below the cut; above it, the reranker's squeezed into what lies beyond."""
        heads, own = self._keys(X, codes)
        if heads is not None:
            unit = (own[heads.inside] - self._rerank_middle) / self._rerank_spread
            own[heads.inside] = heads.row_cuts[heads.inside] + self._base_spread * squeezed(unit)
        return own

    def decision_function(self, X: ArrayLike, qid: ArrayLike | None = None) -> NDArray[np.float64]:
        """Scores: the higher, the nearer to the top; above zero where `predict` says positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        qid : array-like of shape (n_samples,), optional
            Query of each row. After a fit with queries the first `top` rows of each query are reranked;
            without, the rows that the base scores at or above `threshold_`.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if qid is not None:
            check_consistent_length(rows, qid)
        return self._scores(rows, self._codes(qid)) + self.intercept_

    def _scores_to_judge(self, X: ArrayLike, qid: ArrayLike | None) -> NDArray[np.float64]:
        return self.decision_function(X, qid)

    def rank(self, X: ArrayLike, qid: ArrayLike | None = None) -> NDArray[np.intp]:
        """Row numbers, best first; with `qid` query after query. Equal scores keep the order of the rows.

        The order is that of `decision_function`, decided before its rounding.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if qid is not None:
            check_consistent_length(rows, qid)
        heads, own = self._keys(rows, self._codes(qid))
        order = best_first(own)
        if heads is not None:
            order = order[np.argsort(~heads.inside[order], kind="stable")]
        return order if qid is None else order[np.argsort(query_codes(qid)[order], kind="stable")]


def top_values(
    ranker: RankThenRerank, statistic: LinearRankStatistic, X: Any, y: NDArray[np.int8], qid: Any = None
) -> tuple[float, float]:
    """What the top adds to the statistic of the whole list: in the base's order, and in the final one.

    NaN where no top holds both classes.
    """
    codes = ranker._codes(qid)
    base = ranking_scores(ranker.base_, X, codes)
    heads = ranker._heads(base, codes)
    if not heads.mixed(y).any():
        return math.nan, math.nan
    weights = heads.weights(statistic, y)
    return heads.value(weights, y, base), heads.value(weights, y, ranking_scores(ranker, X, codes))


def _part(codes: NDArray[np.int64] | None, rows: NDArray[np.intp]) -> NDArray[np.int64] | None:
    return None if codes is None else codes[rows]
