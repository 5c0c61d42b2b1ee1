"""`BaggedRanker`: the average of one ranker over bootstrap samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import BaseRanker, Matrix, RankingData, abilities, fit_copy, ranking_scores, strata, take
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.ensemble.explaining import importances_of, spreads_of
from toprank.ensemble.inner import set_tags
from toprank.labels import LabelKind
from toprank.rankers.parts.weighted import value_of_scores

__all__ = ["BaggedRanker", "bootstrap"]

Floats = NDArray[np.float64]


class BaggedRanker(BaseRanker):
    """The mean score of one ranker fitted to several bootstrap samples.

    A single optimum of a rank statistic follows the few items at the top of the training list closely; the
    average over samples steadies it (Breiman 1996). Each score is first brought to unit spread over the
    training rows, so that samples count alike.

    Parameters
    ----------
    ranker : estimator or None
        Anything that ranks; None is `DirectRanker` for DCG.
    n_bags : int
        Bootstrap samples.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, or grades or any numbers where the ranker takes them; "auto" tells it from
        `y`.
    time_limit : float or None
        Seconds for all of them; those that were not begun in time are left out.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    random_state : int, Generator, RandomState or None
        Seed of the samples, and of the ranker where it has none of its own.
    callback : callable or None
        Called with a `Progress` after each sample; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    rankers_ : list of estimators
        The fitted ranker of each sample.
    coef_, feature_importances_ : ndarray of shape (n_features,)
        Coefficients of the mean score where all rankers are linear; share of each feature where they tell.
    outcome_ : Outcome
        Value of the statistic (the ranker's, else AUC) on the training rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from toprank import BaggedRanker, DirectRanker
    >>> X, y = make_classification(n_samples=200, weights=[0.8], random_state=0)
    >>> ranker = BaggedRanker(DirectRanker("dcg@10", max_iter=200), n_bags=3, random_state=0).fit(X, y)
    >>> len(ranker.rankers_), ranker.coef_.shape
    (3, (20,))
    """

    rankers_: list[Any]

    def __init__(
        self,
        ranker: Any = None,
        *,
        n_bags: int = 8,
        levels: str = "auto",
        time_limit: float | None = None,
        pos_label: Any = None,
        random_state: Seed = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.ranker = ranker
        self.n_bags = n_bags
        self.levels = levels
        self.time_limit = time_limit
        self.pos_label = pos_label
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @property
    def statistic(self) -> Any:
        """What the bagged ranker optimises; `score` reports it."""
        return getattr(self._model, "statistic", "auc")

    @property
    def _model(self) -> Any:
        from toprank.rankers.direct import DirectRanker

        return DirectRanker() if self.ranker is None else self.ranker

    @property
    def coef_(self) -> Floats:
        """Coefficients of the mean score, where all rankers are linear."""
        if not all(hasattr(ranker, "coef_") for ranker in self.rankers_):
            raise AttributeError(f"{type(self.rankers_[0]).__name__} has no coefficients.")
        shares = [np.ravel(r.coef_) / s for r, s in zip(self.rankers_, self._spreads, strict=True)]
        return np.asarray(np.mean(shares, axis=0))

    @property
    def feature_importances_(self) -> Floats:
        """The mean share of each feature in the rankers' scores, where they tell."""
        found = [importances_of(ranker, self._feature_spreads) for ranker in self.rankers_]
        known = [shares for shares in found if shares is not None]
        if not known:
            raise AttributeError(f"{type(self.rankers_[0]).__name__} tells nothing of its features.")
        return np.asarray(np.mean(known, axis=0))

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        if not isinstance(self.n_bags, int | np.integer) or self.n_bags < 1:
            raise ValueError(f"n_bags={self.n_bags!r} must be a whole number, at least 1.")
        self.rankers_ = []
        self._feature_spreads = spreads_of(data.X)
        total = np.zeros(len(data.y))
        spreads: list[float] = []
        for bag in range(self.n_bags):
            # What is left of the time is shared by the samples that are left.
            part = run.part(1.0 / (self.n_bags - bag), silent=True)
            ranker = fit_copy(self._model, bootstrap(data, run.rng), part, start=data.start)
            scores = ranking_scores(ranker, data.X)
            spreads.append(float(scores.std()) or 1.0)
            self.rankers_.append(ranker)
            total += scores / spreads[-1]
            value = self._value(data, total)
            if not run.report(Progress(value, iterations=bag + 1, phase="bagging")):
                break
        self._spreads = spreads
        cut = run.stopped_by if len(spreads) < self.n_bags else None
        return Outcome(value, status=cut or Status.FINISHED, seconds=run.seconds, iterations=len(spreads))

    def _value(self, data: RankingData, scores: Floats) -> float:
        statistic = self.statistic if data.kind == "binary" else self._scored_by()
        return value_of_scores(statistic, data.y, scores, qid=data.qid, sample_weight=data.sample_weight)

    def _label_kinds(self) -> frozenset[LabelKind]:
        return abilities(self._model).labels

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(tags, [self._model])
        return tags

    def _scores(self, X: Matrix) -> Floats:
        shares = [ranking_scores(r, X) / s for r, s in zip(self.rankers_, self._spreads, strict=True)]
        return np.asarray(np.mean(shares, axis=0))


def bootstrap(data: RankingData, rng: np.random.Generator) -> RankingData:
    """Rows drawn with replacement, as many of like labels as there are; whole queries where there are any."""
    if data.qid is None:
        alike = strata(data)
        drawn = [rng.choice(rows, len(rows)) for rows in np.split(*_by_stratum(alike))]
        return take(data, np.concatenate(drawn))
    queries = [np.flatnonzero(data.qid == query) for query in range(int(data.qid.max()) + 1)]
    both = [query for query, rows in enumerate(queries) if data.y[rows].min() < data.y[rows].max()]
    drawn = [queries[query] for query in rng.choice(both, len(queries))]
    # A query drawn twice is two queries: its copies must not be compared with each other.
    number = np.repeat(np.arange(len(drawn)), [len(rows) for rows in drawn])
    return replace(take(data, np.concatenate(drawn)), qid=number)


def _by_stratum(alike: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows sorted by stratum, and where each but the first begins."""
    order = np.argsort(alike, kind="stable")
    return order, np.flatnonzero(np.diff(alike[order])) + 1
