"""Rank with something cheap, then rerank the top with something exact."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from toprank.base import BaseRanker, Matrix, RankingData, best_first, clone_for_codes, ranking_scores
from toprank.control import Callback, Outcome, Progress, Run, Seed, warn_user
from toprank.linear.exact import ExactRanker

__all__ = ["OneClassTopWarning", "RankThenRerank", "default_base"]

SHORTEST = 1e-3
"""Seconds for a reranker when the base has used up all the time there was."""


class OneClassTopWarning(UserWarning):
    """The top of the training list holds one class only; the base order was kept."""


def default_base() -> Any:
    """Logistic regression on scaled features: the base ranker when none is given."""
    # The intercept is not penalised, so centring changes nothing, and sparse data stay sparse without it.
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=2000))


class RankThenRerank(BaseRanker):
    """Rank with a cheap ranker, then rerank the top of its list with a better one.

    The base learns from all rows. The reranker learns from the rows that the base scores at or above
    `threshold_`, the score of the last of the `top` training rows. New rows at or above the threshold are
    ranked among themselves by the reranker and stay above all others, which keep the base's order (Rudin &
    Wang 2018, Section 2.1).

    Parameters
    ----------
    base : scikit-learn estimator, optional
        Anything with a decision function, probabilities or predictions that rank; by default logistic
        regression on scaled features.
    reranker : scikit-learn estimator, optional
        By default `ExactRanker`, which maximises DCG and takes a minute at most.
    top : int or float
        How many training rows to rerank (all, if there are fewer), or which share of them when below 1.
    threshold : float, optional
        A base score to rerank from, instead of `top`.
    time_limit : float, optional
        Seconds for the whole fit; what the base leaves goes to a reranker that knows a time limit.
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
    threshold_ : float
        Base score from which rows are reranked.
    n_top_ : int
        Training rows at or above it.
    outcome_ : Outcome
        The reranker's outcome.

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
    threshold_: float
    n_top_: int

    # -- fitting ------------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self.base_ = (default_base() if self.base is None else clone_for_codes(self.base)).fit(data.X, data.y)
        scores = ranking_scores(self.base_, data.X)
        self.threshold_ = self._threshold(scores)
        inside = np.flatnonzero(scores >= self.threshold_)
        self.n_top_ = len(inside)
        self._base_spread = _spread(scores, self.threshold_)
        if len(np.unique(data.y[inside])) < 2:
            return self._keep_base_order(data, scores)
        self.reranker_ = self._prepared_reranker(data.X.shape[1], run)
        options = {}
        if data.qid is not None and has_fit_parameter(self.reranker_, "qid"):
            options["qid"] = data.qid[inside]
        self.reranker_.fit(data.X[inside], data.y[inside], **options)
        if "callback" in self.reranker_.get_params(deep=False):
            # The relay belongs to this fit; what is kept must pickle.
            self.reranker_.set_params(callback=getattr(self.reranker, "callback", None))
        reranked = ranking_scores(self.reranker_, data.X[inside])
        self._rerank_middle, self._rerank_spread = float(np.median(reranked)), _spread(reranked, 0.0)
        return self._reranked_outcome(data.y[inside], reranked, run)

    def _threshold(self, scores: NDArray[np.float64]) -> float:
        """Base score of the last row to rerank."""
        if self.threshold is not None:
            return float(self.threshold)
        if isinstance(self.top, Integral) and self.top >= 1:
            count = min(int(self.top), len(scores))
        elif isinstance(self.top, Real) and 0 < float(self.top) < 1:
            count = max(1, math.ceil(float(self.top) * len(scores)))
        else:
            raise ValueError(f"top={self.top!r} must be a whole number of rows or a share between 0 and 1.")
        return float(np.partition(scores, len(scores) - count)[len(scores) - count])

    def _prepared_reranker(self, d: int, run: Run) -> Any:
        """A clone of the reranker that knows the time left, the seed, the callback and where to start."""
        reranker = ExactRanker() if self.reranker is None else clone_for_codes(self.reranker)
        known = reranker.get_params(deep=False)
        handed: dict[str, Any] = {}
        if self.time_limit is not None and "time_limit" in known:
            own = known["time_limit"]
            handed["time_limit"] = min(run.remaining() or SHORTEST, math.inf if own is None else own)
        if self.random_state is not None and "random_state" in known and known["random_state"] is None:
            handed["random_state"] = int(run.rng.integers(2**31 - 1))
        if "callback" in known and known["callback"] is None:
            handed["callback"] = self._relay(run)
        if "start" in known and known["start"] is None:
            handed["start"] = _linear_direction(self.base_, d)
        return reranker.set_params(**handed)

    def _relay(self, run: Run) -> Callback:
        """The callback of the reranker: ours, and a stop when Ctrl-C came while the base was fitted."""
        report = self._reporter()

        def relay(progress: Progress) -> bool:
            wanted = report is None or report(progress) is not False
            return wanted and not run.flagged

        return relay

    def _keep_base_order(self, data: RankingData, scores: NDArray[np.float64]) -> Outcome:
        self.reranker_ = None
        note = (
            f"the top {self.n_top_} training rows hold one class only, so there is nothing to rerank and the"
            " base order is kept; choose a larger top or another base"
        )
        warn_user(note, OneClassTopWarning)
        return Outcome(self._statistic_of(data.y, scores), notes=(note,))

    def _reranked_outcome(self, y: NDArray[np.int8], scores: NDArray[np.float64], run: Run) -> Outcome:
        inner = getattr(self.reranker_, "outcome_", None)
        if isinstance(inner, Outcome):
            return inner
        return Outcome(self._statistic_of(y, scores), seconds=run.seconds)

    def _warn_if_cut_short(self) -> None:
        """Nothing: the reranker has warned already."""

    def _statistic_of(self, y: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
        from toprank import statistics

        return statistics.get(self.statistic)(y, scores)

    @property
    def statistic(self) -> Any:
        """What the reranker optimises; `score` reports it."""
        return getattr(ExactRanker() if self.reranker is None else self.reranker, "statistic", "dcg")

    @property
    def certificate_(self) -> Any:
        """The reranker's certificate, where it has one."""
        check_is_fitted(self)
        if not hasattr(self.reranker_, "certificate_"):
            raise AttributeError(f"{type(self.reranker_).__name__} makes no certificate.")
        return self.reranker_.certificate_

    # -- scoring ------------------------------------------------------------------------------

    def _keys(self, X: Matrix) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Whether each row is in the top, and its score there or below: the order without any rounding."""
        own = ranking_scores(self.base_, X)
        inside = np.asarray(own >= self.threshold_)
        if self.reranker_ is None or not inside.any():
            return np.zeros(len(own), dtype=bool), own
        own = own.copy()
        own[inside] = ranking_scores(self.reranker_, X[np.flatnonzero(inside)])
        return inside, own

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        """The base's score below the threshold; above it, the reranker's squeezed into what lies beyond."""
        inside, own = self._keys(X)
        if inside.any():
            unit = (own[inside] - self._rerank_middle) / self._rerank_spread
            own[inside] = self.threshold_ + self._base_spread * _positive(unit)
        return own

    def rank(self, X: ArrayLike) -> NDArray[np.intp]:
        """Row numbers, best first; equal scores keep the order of the rows.

        The order is that of `decision_function`, decided before its rounding.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        inside, own = self._keys(rows)
        by_score = best_first(own)
        return by_score[np.argsort(~inside[by_score], kind="stable")]


def _positive(unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """A strictly increasing map onto the positive numbers, precise at both ends: 1 + u or 1/(1 - u)."""
    return np.where(unit >= 0, 1.0 + np.maximum(unit, 0.0), 1.0 / (1.0 + np.maximum(-unit, 0.0)))


def _spread(scores: NDArray[np.float64], reference: float) -> float:
    """A positive unit in which differences of these scores, and the reference, are neither huge nor tiny."""
    spread = float(np.std(scores))
    size = max(abs(reference), float(np.abs(scores).max(initial=0.0)))
    return spread if spread > 1e-12 * size else (size or 1.0)


def _linear_direction(base: Any, d: int) -> NDArray[np.float64] | None:
    """Coefficients of a base that scores linearly (a pipeline of scaler and linear model, say), else None."""
    probes = np.random.default_rng(0).normal(size=(3, d))
    try:
        origin, *units = _score_rows(base, np.vstack((np.zeros((1, d)), np.eye(d))))
        direction = np.asarray(units) - origin
        seen = np.asarray(_score_rows(base, probes))
    except Exception:  # a base that cannot score such rows is not linear in them
        return None
    expected = origin + probes @ direction
    linear = np.allclose(seen, expected, rtol=1e-6, atol=1e-6 * float(np.abs(seen).max(initial=0.0)))
    return direction if linear and np.isfinite(direction).all() and direction.any() else None


def _score_rows(base: Any, rows: NDArray[np.float64]) -> list[float]:
    return ranking_scores(base, sp.csr_matrix(rows) if rows.shape[1] > 1000 else rows).tolist()
