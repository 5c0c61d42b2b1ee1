"""`RankOver`: classifiers laid over each other, one for each step of the ROC curve."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from toprank.base import BaseRanker, Matrix, RankingData, fit_copy, ranking_scores, take
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.rankers.parts.parameters import check_at_least, check_count

__all__ = ["RankOver"]

Floats = NDArray[np.float64]


class RankOver(BaseRanker):
    """Looks for the best set of rows at each of some false positive rates, and lays the sets over each other.

    Where `TreeRank` parts the rows, this parts the ROC space: between two corners of the curve found so far
    it looks, among all rows, for the set whose share of the negatives is half-way between theirs and whose
    share of the positives is largest; a classifier learns it with negatives that weigh as much as the curve
    is steep there, and its threshold is put where no more than that share of the negatives is above it. A
    corner that lifts the curve by less than `tol` is left out and not looked around further. In the end each
    set is made to hold those of the smaller rates, and the score is the number of sets a row is in.

    Built from the abstract of Clémençon & Vayatis (2010, "Overlaying classifiers: a practical approach to
    optimal scoring": classifiers by constrained minimisation, laid over each other) and from Werner (2020,
    Section 3.3); the text of the former was not at hand, and how corners are chosen may differ from it.

    Parameters
    ----------
    classifier : classifier or None
        Any of scikit-learn that takes weights and scores rows; None is a tree of depth 5.
    max_depth : int
        How often an interval of rates is halved: at most 2^max_depth - 1 sets.
    tol : float
        How much a corner must lift the curve to be kept.
    time_limit : float or None
        Seconds; None for no limit. Sets that were not looked for in time are left out.
    random_state : int, Generator, RandomState or None
        Seed of the classifier where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    classifiers_ : list of classifiers
        By rising false positive rate.
    thresholds_ : ndarray
        A row is in a set where the classifier's score is at least its threshold.
    roc_ : pair of ndarrays
        Corners of the ROC curve of the training rows, from (0, 0) to (1, 1).
    outcome_ : Outcome
        The value is the area under it; `iterations` is the number of classifiers that were fitted.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.3, random_state=0)
    >>> ranker = RankOver(random_state=0).fit(X[:200], y[:200])
    >>> len(ranker.classifiers_) > 2, bool(ranker.outcome_.value > 0.95)
    (True, True)
    """

    classifiers_: list[Any]
    thresholds_: Floats
    roc_: tuple[Floats, Floats]

    def __init__(
        self,
        classifier: Any = None,
        *,
        max_depth: int = 4,
        tol: float = 0.005,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.classifier = classifier
        self.max_depth = max_depth
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def _model(self) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        if self.classifier is None:
            return DecisionTreeClassifier(max_depth=5, min_samples_leaf=5)
        return self.classifier

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        deepest, tol = check_count("max_depth", self.max_depth), check_at_least("tol", self.tol, 0)
        if data.sample_weight is not None:
            data = take(data, np.flatnonzero(data.sample_weight > 0))
        shares = _Shares(data)
        kept: list[_Corner] = []
        waiting = deque([(_Corner(0.0, 0.0), _Corner(1.0, 1.0), 1)])
        tried = 0
        while waiting:
            low, high, depth = waiting.popleft()
            corner = self._between(data, shares, low, high, run)
            tried += 1
            going = run.report(Progress(float(len(kept)), iterations=tried, phase="corners"))
            if low.alpha <= corner.alpha <= high.alpha and corner.above(low, high) > tol:
                kept.append(corner)
                halves = [(low, corner, depth + 1), (corner, high, depth + 1)]
                waiting += [one for one in halves if depth < deepest and one[0].alpha < one[1].alpha]
            if not going:
                break
        kept.sort(key=lambda one: one.alpha)
        self.classifiers_ = [one.classifier for one in kept]
        self.thresholds_ = np.array([one.threshold for one in kept])
        self.roc_ = shares.curve(self._scores(data.X))
        value = float(np.trapezoid(self.roc_[1], self.roc_[0]))
        status = run.stopped_by or Status.FINISHED
        return Outcome(value, status=status, seconds=run.seconds, iterations=tried)

    def _between(self, data: RankingData, shares: _Shares, low: _Corner, high: _Corner, run: Run) -> _Corner:
        """The best set half-way between two corners."""
        steep = (high.beta - low.beta) / (high.alpha - low.alpha)
        weight = np.where(data.y == 1, shares.up, max(steep, 1e-6) * shares.down)
        part = replace(data, sample_weight=weight * (shares.total / weight.sum()))
        fitted = fit_copy(self._model, part, run.part(silent=True))
        scores = ranking_scores(fitted, data.X)
        threshold = shares.threshold(scores, 0.5 * (low.alpha + high.alpha))
        inside = scores >= threshold
        return _Corner(float(shares.down[inside].sum()), float(shares.up[inside].sum()), fitted, threshold)

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        total = np.zeros(X.shape[0])
        inside = np.zeros(X.shape[0], dtype=bool)
        for classifier, threshold in zip(self.classifiers_, self.thresholds_, strict=True):
            inside |= ranking_scores(classifier, X) >= threshold
            total += inside
        return total

    # -- tags ---------------------------------------------------------------------------------

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = True
        if hasattr(self._model, "__sklearn_tags__"):
            accepts = get_tags(self._model).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = accepts.sparse, accepts.allow_nan
        return tags


@dataclass(frozen=True)
class _Corner:
    """A corner of the curve: shares of the negatives and positives inside a set, and what tells the set."""

    alpha: float
    beta: float
    classifier: Any = None
    threshold: float = 0.0

    def above(self, low: _Corner, high: _Corner) -> float:
        """How far it is above the line between two others."""
        along = (self.alpha - low.alpha) / (high.alpha - low.alpha)
        return self.beta - (low.beta + along * (high.beta - low.beta))


class _Shares:
    """What share of all positives, or of all negatives, each row is."""

    def __init__(self, data: RankingData) -> None:
        weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
        self.total = float(weight.sum())
        self.up = np.where(data.y == 1, weight, 0.0)
        self.down = np.where(data.y == 0, weight, 0.0)
        self.up, self.down = self.up / self.up.sum(), self.down / self.down.sum()

    def threshold(self, scores: Floats, alpha: float) -> float:
        """The lowest score of a positive with no more than that share of the negatives at or above it."""
        falling = np.argsort(-scores, kind="stable")
        ordered, mass = scores[falling], np.cumsum(self.down[falling])
        last_of_its_score = np.append(ordered[1:] != ordered[:-1], True)
        allowed = last_of_its_score & (mass <= alpha * (1.0 + 1e-12))
        if not allowed.any():
            return np.inf
        # Below the last positive a set would only take in negatives.
        inside = scores[(self.up > 0) & (scores >= ordered[allowed][-1])]
        return float(inside.min()) if len(inside) else np.inf

    def curve(self, scores: Floats) -> tuple[Floats, Floats]:
        """Corners of the ROC curve."""
        levels = np.unique(-scores, return_inverse=True)[1]
        found = (np.concatenate(([0.0], np.cumsum(np.bincount(levels, one)))) for one in (self.down, self.up))
        alpha, beta = found
        return alpha, beta
