"""What the boosted push rankers share: rounds, early stopping, and scores from weak rankers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import (
    Matrix,
    PairData,
    RankingData,
    WatchedRanker,
    fit_copy,
    ranking_scores,
    strata,
    take,
)
from toprank.base.levels import suited
from toprank.control import Outcome, Run
from toprank.convex.algebra.design import Origin, centered
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

__all__ = ["PNormPushBooster", "split_rows"]

Floats = NDArray[np.float64]


class PNormPushBooster(WatchedRanker):
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
    validation_values_ : ndarray
        The loss of the rows to stop by, or `validation_statistic`, after each round, dropped ones too.
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
    validation_values_: Floats
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
            data = _centered(data)
        # Rows without weight must not count for the ranges and thresholds of features either.
        learn, held = split_rows(data, self.validation_fraction, run.rng)
        family, items = self._family(learn.X, run), self._items(learn)
        watcher = None if held is None else self._watcher(held, p)
        answer, outcome = boost(
            family, items, run, p=p, rounds=int(self.n_estimators), tol=self.tol, watcher=watcher
        )
        self.validation_values_ = np.array([] if watcher is None else watcher.values)
        if watcher is not None:
            answer = answer.truncated(watcher.best_round)
        self._keep(answer, data.X.shape[1])
        return outcome

    def _by_features(self) -> bool:
        return isinstance(self.weak_rankers, str) and self.weak_rankers == "features"

    def _watcher(self, held: RankingData, p: float) -> _Watcher:
        if self.validation_statistic is None:
            return _Watcher(held, self._items(held), p, self.n_iter_no_change)
        return _StatisticWatcher(held, suited(self.validation_statistic, held.kind), self.n_iter_no_change)

    def _items(self, data: RankingData) -> Items:
        """What the loss is made of."""
        return PNormPushItems.from_labels(data.y, qid=data.qid, sample_weight=data.sample_weight)

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


def _centered(data: RankingData) -> RankingData:
    """Rows, and those the user brought to stop by, relative to where the rows lie."""
    origin = Origin(data.X)
    brought = data.watch
    watch = None if brought is None else replace(brought, X=origin.shifted(brought.X))
    return replace(data, X=origin.shifted(data.X), watch=watch)


def split_rows(
    data: RankingData, share: float | None, rng: np.random.Generator
) -> tuple[RankingData, RankingData | None]:
    """Rows to learn from, all of some weight, and rows to watch, or None.

    To be watched are those the user brought; else a share of the rows with like labels, or of the queries.
    """
    if data.watch is not None or share is None:
        weight = data.sample_weight
        return (data if weight is None else take(data, np.flatnonzero(weight > 0))), data.watch
    counted, held = _held_out(data, share, rng)
    return take(data, np.flatnonzero(counted & ~held)), take(data, np.flatnonzero(held))


def _held_out(
    data: RankingData, share: float, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows count, and which are held out."""
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
    return counted, held


class _Watcher:
    """Follows the loss of rows that are not learned from, and says when it has not fallen for long enough."""

    sign = -1.0
    """What turns a value so that more is better."""

    def __init__(self, held: RankingData, items: Items, p: float, patience: int) -> None:
        self._items, self._p = items, p
        self._begin(held, patience)

    def _begin(self, held: RankingData, patience: int) -> None:
        self._X: Any = held.X
        self._columns = self._X if isinstance(self._X, np.ndarray) else self._X.tocsc()
        self._patience = patience
        self._scores = np.zeros(len(held.y))
        self._best = self.sign * self._value()
        self.values: list[float] = []
        self.best_round = 0

    def _value(self) -> float:
        """What is looked at, at the present scores."""
        return float(self._items.at(self._scores, self._p).value)

    def __call__(self, ranker: Any, weight: float) -> bool:
        fitted = isinstance(ranker, FittedRanker)
        values = ranker.values(self._X) if fitted else weak_values(self._columns, ranker)
        self._scores += weight * values
        self.values.append(self._value())
        if self.sign * self.values[-1] > self._best:
            self._best, self.best_round = self.sign * self.values[-1], len(self.values)
        return len(self.values) - self.best_round < self._patience


class _StatisticWatcher(_Watcher):
    """Follows a statistic of the list of those rows, ties counted as mistakes."""

    def __init__(self, held: RankingData, statistic: RankStatistic, patience: int) -> None:
        self._statistic, self._held = statistic, held
        self.sign = 1.0 if statistic.greater_is_better else -1.0
        self._begin(held, patience)

    def _value(self) -> float:
        held = self._held
        return float(self._statistic(held.y, self._scores, qid=held.qid, sample_weight=held.sample_weight))
