"""`OrdinalDecomposition`: grades by several problems of two labels each, their scores summed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from toprank import statistics
from toprank.base import (
    BaseRanker,
    Matrix,
    RankingData,
    abilities,
    fit_copy,
    positive_share,
    ranking_scores,
    take,
)
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.ensemble.inner import set_tags
from toprank.labels import KINDS, LabelKind
from toprank.rankers.parts.parameters import check_choice
from toprank.statistics import RankStatistic

__all__ = ["OrdinalDecomposition"]

Floats = NDArray[np.float64]
SCHEMES = ["frank-hall", "pairwise", "one-versus-rest"]


class OrdinalDecomposition(BaseRanker):
    """Ranks grades with any ranker or classifier of two labels: several such problems, scores summed.

    A score is the probability an estimator gives, where it gives one; else its decision function in units of
    its spread over the training rows, so that problems count alike. With ``weighting="pairs"`` a problem
    counts as many times as it has pairs of rows to tell apart (Fürnkranz, Hüllermeier & Vanderlooy 2009;
    Werner 2020, Section 3.2).

    Parameters
    ----------
    estimator : ranker, classifier or None
        What learns each problem; None is logistic regression.
    scheme : {"frank-hall", "pairwise", "one-versus-rest"}
        Which problems: above a level or not, for each level but the highest (Frank & Hall 2001); each two
        levels, without the rows of all others; or each level against all others, counted by its number, so
        that the sum of probabilities is the level to be expected.
    weighting : {"equal", "pairs"}
        What a problem counts.
    statistic : str or RankStatistic
        What `score` reports: "c_index", "vus" or "ordinal_auc" (the U of Fürnkranz et al.), or any other for
        grades.
    levels : {"auto", "binary", "ordinal"}
        What `y` is; "auto" tells it from `y`. Of many numbers that are no grades, "ordinal" takes each value
        as a level.
    time_limit : float or None
        Seconds for all problems; None for no limit.
    random_state : int, Generator, RandomState or None
        Seed of the estimator where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` after each problem; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    estimators_ : list of estimators
        One for each problem.
    problems_ : ndarray of shape (n_problems, 2)
        The levels, by their number, that each tells apart: lower and upper; with "frank-hall" the last level
        below and the first above, with "one-versus-rest" -1 and the level.
    weights_ : ndarray of shape (n_problems,)
        What each score counts.
    outcome_ : Outcome
        The value is the statistic of the training rows, ties counting as mistakes.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2]
    >>> ranker = OrdinalDecomposition(scheme="pairwise", statistic="vus").fit(X, y)
    >>> ranker.problems_.tolist(), ranker.score(X, y)
    ([[0, 1], [0, 2], [1, 2]], 1.0)
    """

    estimators_: list[Any]
    problems_: NDArray[np.int64]
    weights_: Floats

    def __init__(
        self,
        estimator: Any = None,
        scheme: str = "frank-hall",
        *,
        weighting: str = "equal",
        statistic: str | RankStatistic = "c_index",
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.scheme = scheme
        self.weighting = weighting
        self.statistic = statistic
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def _model(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_choice("scheme", self.scheme, SCHEMES)
        check_choice("weighting", self.weighting, ["equal", "pairs"])
        if data.sample_weight is not None:
            data = take(data, np.flatnonzero(data.sample_weight > 0))
        problems = _problems(self.scheme, np.unique(data.y, return_inverse=True)[1])
        self.estimators_, weights = [], []
        for number, problem in enumerate(problems, start=1):
            fitted = self._one(data, problem, run.part(1.0 / (len(problems) - number + 1), silent=True))
            counted = problem.factor
            if self.weighting == "pairs":
                counted *= problem.pairs(data.sample_weight)
            self.estimators_.append(fitted)
            weights.append(counted / self._unit(fitted, data.X))
            if not run.report(Progress(float(number), iterations=number, phase="problems")):
                break
        self.problems_ = np.array([(one.lower, one.upper) for one in problems[: len(weights)]])
        self.weights_ = np.array(weights) / np.sum(weights)
        value = self._scored_by()(data.y, self._scores(data.X), sample_weight=data.sample_weight)
        status = run.stopped_by if len(weights) < len(problems) else None
        return Outcome(
            float(value), status=status or Status.FINISHED, seconds=run.seconds, iterations=len(weights)
        )

    def _one(self, data: RankingData, problem: _Problem, run: Run) -> Any:
        """The estimator of one problem."""
        weight = None if data.sample_weight is None else data.sample_weight[problem.rows]
        return fit_copy(
            self._model,
            RankingData(data.X[problem.rows], problem.above.astype(np.int8), sample_weight=weight),
            run,
        )

    def _unit(self, fitted: Any, X: Matrix) -> float:
        """The spread of its scores; probabilities have a scale of their own."""
        return 1.0 if hasattr(fitted, "predict_proba") else float(ranking_scores(fitted, X).std()) or 1.0

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS - {"continuous"}

    def _why_not(self, kind: LabelKind) -> str:
        return "it poses a problem for each level; levels='ordinal' takes each value as one"

    def _scored_by(self) -> RankStatistic:
        return statistics.get(self.statistic)

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        total = np.zeros(X.shape[0])
        for estimator, weight in zip(self.estimators_, self.weights_, strict=True):
            total += weight * _probability(estimator, X)
        return total

    # -- tags ---------------------------------------------------------------------------------

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        labels = tags.ranker_tags.labels
        set_tags(tags, [self._model])
        tags.ranker_tags.labels, tags.ranker_tags.queries = labels, False
        tags.ranker_tags.weights = abilities(self._model).weights
        return tags


@dataclass(frozen=True)
class _Problem:
    """Some rows, and which of them are above: what tells two groups of levels apart.

    Parameters
    ----------
    lower, upper : int
    rows : array of row numbers
    above : array of bool
        For each of them.
    factor : float
        What the score counts.
    """

    lower: int
    upper: int
    rows: NDArray[np.intp]
    above: NDArray[np.bool_]
    factor: float = 1.0

    def pairs(self, weight: Floats | None) -> float:
        """How many pairs of rows, by weight, it tells apart."""
        mass = np.ones(len(self.rows)) if weight is None else weight[self.rows]
        return float(mass[self.above].sum() * mass[~self.above].sum())


def _problems(scheme: str, codes: NDArray[np.intp]) -> list[_Problem]:
    """The problems of rows with these levels.

    >>> [(one.lower, one.upper, one.above.tolist()) for one in _problems("frank-hall", np.array([0, 1, 2]))]
    [(0, 1, [False, True, True]), (1, 2, [False, False, True])]
    """
    every, levels = np.arange(len(codes)), int(codes.max()) + 1
    if scheme == "frank-hall":
        return [_Problem(one - 1, one, every, codes >= one) for one in range(1, levels)]
    if scheme == "one-versus-rest":
        # The sum of level times probability: the lowest level counts nothing.
        return [_Problem(-1, one, every, codes == one, float(one)) for one in range(1, levels)]
    found = []
    for lower, upper in combinations(range(levels), 2):
        rows = np.flatnonzero((codes == lower) | (codes == upper))
        found.append(_Problem(lower, upper, rows, codes[rows] == upper))
    return found


def _probability(estimator: Any, X: Matrix) -> Floats:
    if hasattr(estimator, "predict_proba"):
        return positive_share(estimator, X)
    return ranking_scores(estimator, X)
