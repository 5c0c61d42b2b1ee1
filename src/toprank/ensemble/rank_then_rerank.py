"""Rank with something cheap, then rerank the top with something exact."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.base import RankingData, abilities, ranking_scores, take
from toprank.base.tags import last_step
from toprank.base.within import check_able
from toprank.control import Callback, Outcome, Run, Seed, Status, warn_if_cut_short, warn_user
from toprank.ensemble.calibration import calibrated
from toprank.ensemble.explaining import spreads_of
from toprank.ensemble.first_list import FirstList, default_base, first_list
from toprank.ensemble.handover import aim_of, fit_reranker, maximises, medians, stated
from toprank.ensemble.heads import Heads, check_top, heads_of, linear_statistic, spread_of, wide_enough
from toprank.ensemble.inner import takes_lists, takes_missing, takes_sparse
from toprank.ensemble.reranked import RerankedList, part_of
from toprank.exact.problem import RankingProblem
from toprank.labels import KINDS, LabelKind
from toprank.rankers.exact import ExactRanker
from toprank.rankers.parts.starts import linear_direction
from toprank.rankers.tuning.folds import can_be_ranked
from toprank.statistics import LinearRankStatistic

__all__ = [
    "BaseOrderKeptWarning",
    "OneClassTopWarning",
    "RankThenRerank",
    "TopWidenedWarning",
    "default_base",
    "top_values",
]

Floats = NDArray[np.float64]


class BaseOrderKeptWarning(UserWarning):
    """The reranker takes no part in the answer: the base's own order was kept."""


class OneClassTopWarning(BaseOrderKeptWarning):
    """The top of the training list holds one class only; the base order was kept."""


class TopWidenedWarning(UserWarning):
    """The top of the training list held too few rows of one class; more rows are reranked."""


class RankThenRerank(RerankedList):
    """Rank with a cheap ranker, then rerank the top of its list with a better one.

    The base learns from all rows. The reranker learns from the `top` rows that the base scores highest, ties
    with the last included. New rows whose base score is at or above `threshold_`, the score of the last of
    these rows, are ranked among themselves by the reranker and stay above all others, which keep the base's
    order (Rudin & Wang 2018, Section 2.1).

    A flexible base scores the rows it learned from too well, and its list of them is not the one that new
    rows make. So the scores of the training rows are those of copies of the base that never saw them
    (`cv`): they decide who is in the top, where the top ends, and what the reranker learns. Where the base
    is not linear its score is one more feature of the reranker (`pass_score`), which can then keep the
    base's order and correct it.

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

    Sample weights go to base and reranker, and are refused where one of them takes none. Missing values
    (NaN) are taken where the base takes them; a reranker that does not sees the median of the column.

    Parameters
    ----------
    base : scikit-learn estimator, optional
        Anything with a decision function, probabilities or predictions that rank, regressors included; by
        default logistic regression on scaled features, of grades or a response ridge regression.
    reranker : scikit-learn estimator, optional
        By default `ExactRanker`, which maximises DCG and takes a minute at most. In a pipeline the last step
        gets what is said of the reranker here.
    top : int or float
        How many training rows to rerank (all, if there are fewer), or which share of them when below 1; of
        each query where there are queries.
    threshold : float, optional
        A base score to rerank from, instead of `top`.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: grades or any numbers where base and reranker take them; "auto" tells it from `y`.
    cv : int, cross-validation generator, iterable of splits, "prefit" or None
        Folds in which the base scores the training rows; every row must be held out once. "prefit": the base
        is fitted already, best to other rows, and used as it is. None: the base scores the rows it learned
        from.
    fewest_of_a_class : int
        The top is doubled until it holds so many rows of either class, or beside the commonest label (all
        there are, if fewer), with a `TopWidenedWarning`: one class alone teaches nothing. 0 keeps to `top`.
    pass_score : "auto" or bool
        Whether the base's score is a feature of the reranker, the last one: less `threshold_`, in units of
        its spread. "auto": where the base is not linear.
    n_bags : int
        Above 1, the reranker is a `BaggedRanker` of so many bootstrap samples of the top: steadier, and
        without a certificate.
    time_limit : float, optional
        Seconds for the whole fit. The base gets half of them at most, what it leaves goes to the reranker, as
        far as they can keep to it.
    random_state : int, Generator, RandomState or None
        Seeds the folds, and base and reranker where they have no seed of their own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable, optional
        Told of the reranker's progress; returning False stops it.
    verbose : int
        Print progress when there is no callback.

    Attributes
    ----------
    base_ : estimator
        The base, fitted to all rows.
    base_scores_ : ndarray of shape (n_samples,)
        The base's scores of the training rows; out of fold, unless `cv` says otherwise.
    reranker_ : estimator or None
        The fitted reranker; None when the top held one class only.
    reranked_ : bool
        Whether the reranker orders the top; False where the base's order was kept.
    by_query_ : bool
        Whether the top was taken of each query.
    top_ : int or float
        `top`, or what it was widened to.
    top_rows_ : ndarray of int
        The training rows in the top.
    threshold_ : float
        Base score from which rows are reranked when no queries are given.
    n_top_ : int
        Training rows in the top, of all queries together.
    passes_score_ : bool
        Whether the base's score is a feature of the reranker.
    coef_ : ndarray of shape (n_features,)
        Weights of the features in the score that orders the top, where that is linear in them.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the order of the top; that of the base's score is dealt to the features by
        the base's own importances.
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
        levels: str = "auto",
        cv: Any = 5,
        fewest_of_a_class: int = 1,
        pass_score: str | bool = "auto",
        n_bags: int = 1,
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
        self.levels = levels
        self.cv = cv
        self.fewest_of_a_class = fewest_of_a_class
        self.pass_score = pass_score
        self.n_bags = n_bags
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def _first(self) -> Any:
        return default_base(getattr(self, "kind_", "binary")) if self.base is None else self.base

    @property
    def _second(self) -> Any:
        return ExactRanker() if self.reranker is None else self.reranker

    # -- fitting ------------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self._check_parameters(data)
        first = first_list(self._first, data, run.part(0.5, silent=True), self.cv, self._two_classes())
        self.base_, self.base_scores_ = first.base, first.scores
        self.by_query_ = data.qid is not None
        heads = self._training_heads(first, data)
        self.threshold_ = float(np.median(heads.cuts))
        self.top_rows_ = np.flatnonzero(heads.inside)
        self._top_scores, self.n_top_ = first.scores[self.top_rows_], len(self.top_rows_)
        self._base_spread = spread_of(first.scores, self.threshold_)
        rows = np.flatnonzero(heads.mixed(data.y))
        direction = linear_direction(self.base_, data.X.shape[1])
        self.passes_score_ = direction is None if self.pass_score == "auto" else bool(self.pass_score)
        self._fill = None if takes_missing(self._second) else medians(data.X)
        if not len(rows):
            return self._keep_one_class(data, first.scores)
        top = replace(take(data, rows), X=self._passage.rows(data.X[rows], first.scores[rows]))
        aim = aim_of(self._second, heads, data.y, self.n_bags) if data.kind == "binary" else None
        start = np.eye(top.X.shape[1])[-1] if self.passes_score_ else direction
        self.reranker_ = fit_reranker(self._second, top, aim, run, n_bags=self.n_bags, start=start)
        return self._judge(data, heads, run, linear_base=direction is not None)

    def _check_parameters(self, data: RankingData) -> None:
        if self.threshold is None:
            check_top(self.top)
        if isinstance(self.n_bags, bool) or not isinstance(self.n_bags, int | np.integer) or self.n_bags < 1:
            raise ValueError(f"n_bags={self.n_bags!r} must be a whole number, at least 1.")
        if not isinstance(self.pass_score, bool | np.bool_) and self.pass_score != "auto":
            raise ValueError(f'pass_score={self.pass_score!r} must be "auto", True or False.')
        if not can_be_ranked(data.y, data.qid):
            raise ValueError("y has one class only in every query (qid): no pair can be ranked.")
        check_able(self._first, data)
        check_able(self._second, data)

    def _training_heads(self, first: FirstList, data: RankingData) -> Heads:
        """The top of the training list, or lists; wider than asked for where it can teach nothing."""
        self.top_ = self.top
        if self.threshold is None:
            fewest = self.fewest_of_a_class
            self.top_ = wide_enough(first.scores, data.y, data.qid, self.top, fewest)
            if self.top_ != self.top:
                of = "the training list" if data.qid is None else "each query's training list"
                warn_user(
                    f"the top {self.top} of {of} hold fewer than {fewest} rows of one class, so the top"
                    f" {self.top_} are reranked; choose a larger top, or fewest_of_a_class=0 to keep to it",
                    TopWidenedWarning,
                )
        return heads_of(first.scores, data.qid, top=self.top_, threshold=self.threshold)

    def _judge(self, data: RankingData, heads: Heads, run: Run, *, linear_base: bool) -> Outcome:
        """The outcome, after a look at whether the reranker does better than the base did."""
        inside, scores = np.flatnonzero(heads.inside), self.base_scores_
        again = scores.copy()
        again[inside] = self._reranked(data.X[inside], scores[inside], part_of(data.qid, inside))
        self._rerank_middle = float(np.median(again[inside]))
        self._rerank_spread = spread_of(again[inside], 0.0)
        self._spreads = spreads_of(self._passage.rows(data.X[inside], scores[inside]))
        inner: Any = getattr(last_step(self.reranker_), "outcome_", None)
        self.reranked_ = True
        if data.kind == "binary" and maximises(self.reranker_):
            statistic = linear_statistic(self.statistic)
            assert statistic is not None
            weights = heads.weights(statistic, data.y)
            before, after = (heads.value(weights, data.y, by) for by in (scores, again))
            if before > after + 1e-12 * abs(before):
                return self._keep_better_base(data, (before, after), inner, linear_base=linear_base)
        if isinstance(inner, Outcome) and self.n_bags == 1:
            return inner
        final = self._placed(data.X, scores, data.qid)
        status = inner.status if isinstance(inner, Outcome) else Status.FINISHED
        return Outcome(self._statistic_of(data, final), status=status, seconds=run.seconds)

    def _keep_one_class(self, data: RankingData, scores: Floats) -> Outcome:
        self.reranker_, self.reranked_ = None, False
        where = f"the top {self.top_} training rows of every query hold" if self.by_query_ else ""
        note = (
            f"{where or f'the top {self.n_top_} training rows hold'} one class only, so there is nothing to"
            " rerank and the base order is kept; choose a larger top or another base"
        )
        warn_user(note, OneClassTopWarning)
        return Outcome(self._statistic_of(data, scores), notes=(note,))

    def _keep_better_base(
        self, data: RankingData, values: tuple[float, float], inner: Outcome, *, linear_base: bool
    ) -> Outcome:
        self.reranked_ = False
        # The order of a linear base can only win by differences below the margin, of which nothing is proved.
        proved = inner.bound < values[0] and not linear_base
        what = f"the best linear order {'' if proved else 'found '}of the top {self.n_top_} training rows"
        kept = "is worse than the base's own, so the base order is kept"
        warn_user(f"{what} {kept}", BaseOrderKeptWarning)
        figures = f"({values[1]:.6g} against {values[0]:.6g} in {self.statistic})"
        return replace(
            inner,
            value=self._statistic_of(data, self.base_scores_),
            bound=math.nan,
            status=Status.FINISHED if inner.status is Status.OPTIMAL else inner.status,
            notes=(*inner.notes, f"{what} {kept} {figures}"),
        )

    def _finish(self, data: RankingData) -> None:
        """Where `predict` cuts, and probabilities: by the scores of rows the base never saw."""
        final = self._placed(data.X, self.base_scores_, data.qid)
        self._set_cuts(final, data)
        if data.kind == "binary" and hasattr(self.base_, "predict_proba"):
            places = self._places(data.X, self.base_scores_, data.qid)
            curve = calibrated(*places, data.y, data.sample_weight)
            self._below_curve, self._top_curve = curve.below, curve.top

    def _warn_if_cut_short(self) -> None:
        name = f"{type(self).__name__} ({type(last_step(self.reranker_)).__name__})"
        warn_if_cut_short(self.outcome_, name)

    def _statistic_of(self, data: RankingData, scores: Floats) -> float:
        return self._scored_by()(data.y, scores, qid=data.qid, sample_weight=data.sample_weight)

    @property
    def statistic(self) -> Any:
        """What the reranker optimises, DCG where it names nothing; `score` reports it."""
        named = getattr(last_step(self._second), "statistic", None)
        return "dcg" if named is None else named

    @property
    def certificate_(self) -> Any:
        """The reranker's certificate, where it has one."""
        check_is_fitted(self)
        if not hasattr(self.reranker_, "certificate_"):
            raise AttributeError(f"{type(self.reranker_).__name__} makes no certificate.")
        return self.reranker_.certificate_

    def problem(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> RankingProblem:
        """The problem that reranking solved, given the rows of the fit, for `toprank.exact.verify`."""
        check_is_fitted(self)
        if not isinstance(self.reranker_, ExactRanker):
            raise ValueError(f"{type(self.reranker_).__name__} states no problem; ExactRanker does.")
        rows = validate_data(self, X, reset=False, **self._accepted())
        labels = self._read_labels(y)
        codes = self._codes(qid)
        scores = self._known_scores(rows.shape[0])
        lists = np.zeros(len(scores), dtype=np.int64) if codes is None else codes
        cuts = np.full(int(lists.max()) + 1, np.inf)
        np.minimum.at(cuts, lists[self.top_rows_], scores[self.top_rows_])
        heads = Heads(lists, scores, cuts)
        chosen = np.flatnonzero(heads.mixed(labels.y))
        if not len(chosen):
            raise ValueError("y: these rows have one class only at the top")
        handed = self._passage.rows(rows[chosen], scores[chosen])
        top = RankingData(handed, labels.y[chosen], part_of(codes, chosen), kind=labels.kind)
        aim = aim_of(self.reranker_, heads, labels.y) if labels.kind == "binary" else None
        return stated(self.reranker_, aim, top)

    def _known_scores(self, n_rows: int) -> Floats:
        """The base's scores of the top of the training rows: all that matters to a reranker."""
        if n_rows <= int(self.top_rows_.max()):
            raise ValueError(f"X has {n_rows} rows, fewer than the fit had: give the rows of the fit.")
        scores = np.full(n_rows, -np.inf)
        scores[self.top_rows_] = self._top_scores
        return scores

    def _label_kinds(self) -> frozenset[LabelKind]:
        base = KINDS if self.base is None else abilities(self.base).labels
        return base & abilities(self._second).labels

    def _inside(self) -> list[Any]:
        return [self._first, self._second]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base, reranker = self._first, self._second
        tags.input_tags.sparse = takes_sparse(base) and takes_sparse(reranker)
        tags.input_tags.allow_nan = takes_missing(base)
        tags.ranker_tags.weights = abilities(base).weights and abilities(reranker).weights
        tags.ranker_tags.queries = takes_lists(base) and abilities(reranker).queries
        tags.ranker_tags.at_top = True
        tags.ranker_tags.exact = abilities(reranker).exact and self.n_bags == 1
        return tags


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
