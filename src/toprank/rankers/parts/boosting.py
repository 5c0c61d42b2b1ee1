"""What the boosted push rankers share: rounds, early stopping, and scores from weak rankers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import BaseRanker, Matrix, PairData, RankingData, fit_copy, ranking_scores, strata
from toprank.base.levels import suited
from toprank.control import Outcome, Run
from toprank.convex.algebra.design import centered
from toprank.convex.p_norm_push.boosting import Boosted, Items, boost
from toprank.convex.p_norm_push.weak_rankers import (
    FeatureRankers,
    StumpRankers,
    WeakRanker,
    WeakRankers,
    weak_values,
)
from toprank.losses.exponential_pairs import ExponentialPairs
from toprank.losses.p_norm_push import PNormPushItems
from toprank.rankers.parts.parameters import check_at_least, check_choice
from toprank.statistics import RankStatistic

__all__ = ["PNormPushBooster", "lists_and_weights", "split_rows"]

Floats = NDArray[np.float64]


class PNormPushBooster(BaseRanker):
    """A ranker made of weak rankers, boosted on the P-Norm Push.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature, where single features are the weak rankers.
    stump_features_, stump_thresholds_, stump_weights_ : ndarrays
        The stumps, where those are the weak rankers.
    weak_estimators_, weak_weights_ : list, ndarray
        The fitted estimators and what their scores count, where those are the weak rankers.
    losses_ : ndarray
        log R_p on the training rows after each round.
    """

    weak_rankers: Any
    n_estimators: int
    validation_fraction: float | None
    validation_statistic: Any = None
    n_iter_no_change: int
    tol: float
    n_iter_: int
    coef_: Floats
    losses_: Floats
    stump_features_: NDArray[np.int64]
    stump_thresholds_: Floats
    stump_weights_: Floats
    weak_estimators_: list[Any]
    weak_weights_: Floats

    def _boost_pairs(self, data: PairData, run: Run) -> Outcome:
        self._check_boosting()
        if self.validation_fraction is not None:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} holds out labelled rows; use None for pairs."
            )
        if hasattr(self.weak_rankers, "fit"):
            raise ValueError(
                f"weak_rankers={type(self.weak_rankers).__name__} learns from rows of two classes, which"
                " pairs do not make; use 'features' or 'stumps'."
            )
        X = centered(data.X) if self._by_features() else data.X
        # Rows that no pair names must not count for the ranges and thresholds of features.
        named, places = np.unique(data.pairs, return_inverse=True)
        items = ExponentialPairs(len(named), places.reshape(-1, 2).astype(np.int64), data.weight)
        answer, outcome = boost(
            self._family(X[named], run), items, run, p=1.0, rounds=int(self.n_estimators), tol=self.tol
        )
        self._keep(answer, X.shape[1])
        return outcome

    def _check_boosting(self) -> None:
        if not hasattr(self.weak_rankers, "fit"):
            check_choice("weak_rankers", self.weak_rankers, ["features", "stumps"])
        check_at_least("n_estimators", self.n_estimators, 1)

    def _boost(self, data: RankingData, run: Run, p: float) -> Outcome:
        self._check_boosting()
        if self._by_features():
            data = replace(data, X=centered(data.X))
        learn, watch = split_rows(data, self.validation_fraction, run.rng)
        if data.sample_weight is not None:
            # Rows without weight must not count for the ranges and thresholds of features either.
            learn = (
                np.flatnonzero(data.sample_weight > 0)
                if watch is None
                else learn[data.sample_weight[learn] > 0]
            )
        family = self._family(data.X[learn], run)
        items = self._items(data, learn)
        watcher = None if watch is None else self._watcher(data, watch, p)
        answer, outcome = boost(
            family, items, run, p=p, rounds=int(self.n_estimators), tol=self.tol, watcher=watcher
        )
        if watcher is not None:
            answer = answer.truncated(watcher.best_round)
        self._keep(answer, data.X.shape[1])
        return outcome

    def _by_features(self) -> bool:
        return isinstance(self.weak_rankers, str) and self.weak_rankers == "features"

    def _watcher(self, data: RankingData, rows: NDArray[np.int64], p: float) -> _Watcher:
        if self.validation_statistic is None:
            return _Watcher(data, rows, self._items(data, rows), p, self.n_iter_no_change)
        statistic = suited(self.validation_statistic, data.kind)
        return _StatisticWatcher(data, rows, statistic, self.n_iter_no_change)

    def _items(self, data: RankingData, rows: Any) -> Items:
        """What the loss is made of."""
        return PNormPushItems.from_labels(data.y[rows], **lists_and_weights(data, rows))

    def _family(self, X: Any, run: Run) -> WeakRankers:
        if hasattr(self.weak_rankers, "fit"):
            return EstimatorRankers(X, self.weak_rankers, run)
        return FeatureRankers(X) if self._by_features() else StumpRankers(X)

    def _inside(self) -> list[Any]:
        return [self.weak_rankers] if hasattr(self.weak_rankers, "fit") else []

    def _keep(self, answer: Boosted, n_features: int) -> None:
        self.n_iter_ = max(1, len(answer.rankers))
        self.losses_ = np.array(answer.losses)
        weights = np.array(answer.weights, dtype=np.float64)
        if hasattr(self.weak_rankers, "fit"):
            self.weak_estimators_ = [ranker.estimator for ranker in answer.rankers]
            self.weak_weights_ = weights / np.array([ranker.unit for ranker in answer.rankers])
            return
        features = np.array([ranker.feature for ranker in answer.rankers], dtype=np.int64)
        if self._by_features():
            units = np.array([ranker.unit for ranker in answer.rankers])
            self.coef_ = np.bincount(features, weights=weights / units, minlength=n_features).astype(float)
        else:
            self.stump_features_, self.stump_weights_ = features, weights
            self.stump_thresholds_ = np.array([ranker.threshold for ranker in answer.rankers])

    def _scores(self, X: Matrix) -> Floats:
        if hasattr(self.weak_rankers, "fit"):
            found = zip(self.weak_estimators_, self.weak_weights_, strict=True)
            return sum((weight * ranking_scores(one, X) for one, weight in found), np.zeros(X.shape[0]))
        if self._by_features():
            return np.asarray(X @ self.coef_, dtype=np.float64)
        columns: Any = X if isinstance(X, np.ndarray) else X.tocsc()
        scores = np.zeros(X.shape[0])
        for feature, threshold, weight in zip(
            self.stump_features_, self.stump_thresholds_, self.stump_weights_, strict=True
        ):
            scores += weight * weak_values(columns, WeakRanker(int(feature), threshold=float(threshold)))
        return scores


@dataclass(frozen=True)
class FittedRanker:
    """An estimator as a weak ranker: its scores, divided by their range over the training rows."""

    estimator: Any
    unit: float

    def values(self, X: Any) -> Floats:
        """Its value in every row."""
        return ranking_scores(self.estimator, X) / self.unit


class EstimatorRankers:
    """What an estimator learns when each row weighs what the loss would gain by moving it.

    The gradient is below zero for positives and above it for negatives, and with two classes the weight of a
    pair is the product of theirs (Freund et al. 2003): the estimator looks for the ranker that orders most of
    that weight.
    """

    def __init__(self, X: Any, estimator: Any, run: Run) -> None:
        self._X, self._estimator, self._run = X, estimator, run

    def steepest(self, gradient: Floats) -> tuple[Any, float]:
        """A weak ranker along which the loss falls, and its slope; 0 where it tells no rows apart."""
        rows = np.flatnonzero(gradient)
        weight = np.abs(gradient[rows])
        y = (gradient[rows] < 0).astype(np.int8)
        # One for a row on average.
        data = RankingData(self._X[rows], y, sample_weight=weight * (len(rows) / weight.sum()))
        fitted = fit_copy(self._estimator, data, self._run.part(silent=True))
        width = float(np.ptp(ranking_scores(fitted, self._X)))
        if width == 0.0:
            return FittedRanker(fitted, 1.0), 0.0
        ranker = FittedRanker(fitted, width)
        return ranker, float(gradient @ ranker.values(self._X))

    def values(self, ranker: Any) -> Floats:
        """Its value in every row."""
        return ranker.values(self._X)


def split_rows(
    data: RankingData, share: float | None, rng: np.random.Generator
) -> tuple[Any, NDArray[np.int64] | None]:
    """Rows to learn from and rows to watch (or None): a share of rows with like labels, or of the queries."""
    if share is None:
        return slice(None), None
    if not 0 < share < 1:
        raise ValueError(f"validation_fraction={share!r} must lie between 0 and 1, or be None.")
    held = np.zeros(len(data.y), dtype=bool)
    counted = np.ones(len(data.y), dtype=bool) if data.sample_weight is None else data.sample_weight > 0
    if data.qid is None:
        alike = strata(data)
        for stratum in range(int(alike.max()) + 1):
            rows = np.flatnonzero(counted & (alike == stratum))
            held[rng.permutation(rows)[: max(1, round(share * len(rows)))]] = True
    else:
        queries = rng.permutation(int(data.qid.max()) + 1)
        held = np.isin(data.qid, queries[: max(1, round(share * len(queries)))])
    for part, use in ((held, "watch"), (~held, "learn from")):
        if len(np.unique(data.y[part & counted])) < 2:
            raise ValueError(
                f"validation_fraction={share} leaves only one class to {use}; use None or more rows."
            )
    return np.flatnonzero(~held), np.flatnonzero(held)


def lists_and_weights(data: RankingData, rows: Any) -> dict[str, Any]:
    """Queries and weights of some rows, as losses take them."""
    return {
        "qid": None if data.qid is None else data.qid[rows],
        "sample_weight": None if data.sample_weight is None else data.sample_weight[rows],
    }


class _Watcher:
    """Follows the loss on held-out rows and says when it has not fallen for long enough."""

    def __init__(
        self, data: RankingData, rows: NDArray[np.int64], items: Items, p: float, patience: int
    ) -> None:
        self._items, self._p = items, p
        self._begin(data, rows, patience)

    def _begin(self, data: RankingData, rows: NDArray[np.int64], patience: int) -> None:
        self._X: Any = data.X[rows]
        self._columns = self._X if isinstance(self._X, np.ndarray) else self._X.tocsc()
        self._patience = patience
        self._scores = np.zeros(len(rows))
        self._best = self._loss()
        self._round = 0
        self.best_round = 0

    def _loss(self) -> float:
        """What should fall, at the present scores."""
        return self._items.at(self._scores, self._p).value

    def __call__(self, ranker: Any, weight: float) -> bool:
        self._round += 1
        fitted = isinstance(ranker, FittedRanker)
        values = ranker.values(self._X) if fitted else weak_values(self._columns, ranker)
        self._scores += weight * values
        loss = self._loss()
        if loss < self._best:
            self._best, self.best_round = loss, self._round
        return self._round - self.best_round < self._patience


class _StatisticWatcher(_Watcher):
    """Follows a statistic of the held-out list, ties counted as mistakes."""

    def __init__(
        self, data: RankingData, rows: NDArray[np.int64], statistic: RankStatistic, patience: int
    ) -> None:
        self._statistic, self._y = statistic, data.y[rows]
        self._qid = None if data.qid is None else data.qid[rows]
        self._weight = None if data.sample_weight is None else data.sample_weight[rows]
        self._begin(data, rows, patience)

    def _loss(self) -> float:
        value = float(self._statistic(self._y, self._scores, qid=self._qid, sample_weight=self._weight))
        return -value if self._statistic.greater_is_better else value
