"""Rankers that choose C, or any parameters, by cross-validation on any rank statistic."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from toprank import statistics
from toprank.base import BaseRanker, Matrix, RankingData, abilities, clone_for_codes, take, tell_kind
from toprank.base.levels import suited
from toprank.control import Callback, Outcome, Progress, Run, Seed
from toprank.labels import LabelKind
from toprank.rankers.parts.parameters import check_penalty_weight
from toprank.rankers.rank_svm import RankSVM
from toprank.rankers.tuning.folds import can_be_ranked, ranking_folds
from toprank.statistics import RankStatistic

__all__ = ["RankerCV"]

Floats = NDArray[np.float64]
DEFAULT_CS = tuple(10.0**power for power in range(-3, 4))


class RankerCV(BaseRanker):
    """Chooses C, or any parameters, of a ranker by a rank statistic on held-out rows, and refits on all rows.

    Folds are stratified by label; with `qid` whole queries are held out, each fold getting its share of those
    that can be ranked, and there are fewer folds where these do not suffice. Within a fold the fits go from
    small to large C, each starting from the last one's coefficients. Among equally good values the first
    tried wins, so the smallest C.

    Parameters
    ----------
    ranker : ranker
        With a parameter `C`, or those in `grid`; a copy is fitted.
    Cs : array-like
        The values of C to try.
    grid : dict or None
        Instead of C, the values to try of any parameters, of rankers inside it as well:
        ``{"top": [50, 100], "reranker__penalty": [0.0, 0.1]}``. Every combination is tried.
    statistic : str, RankStatistic or None
        What to judge by: "auc", "ndcg@10", "average_precision", ...; None is the ranker's own, else the AUC,
        or of grades or a response the concordance index.
    cv : int or splitter
        Number of folds, or anything scikit-learn takes for cross-validation.
    time_limit : float or None
        Seconds for all fits together; None for no limit.
    random_state : int, Generator, RandomState or None
        How rows are dealt to folds; also seeds a ranker that has no seed of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then (the value is the best mean statistic so far); returning False
        stops.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    C_ : float
        The chosen value of C, where that is chosen.
    Cs_ : ndarray
        The values tried, rising; without `grid`.
    params_ : list of dict
        What was tried.
    best_params_ : dict
        What was chosen.
    scores_ : ndarray of shape (n_folds, n_params)
        The statistic on each fold.
    ranker_ : ranker
        The copy fitted on all rows with what was chosen.
    outcome_ : Outcome
        Of the last fit.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    >>> search = RankerCV(RankSVM(), Cs=[0.1, 10.0], cv=3, random_state=0).fit(X, [0, 1, 0, 1, 0, 1])
    >>> search.C_
    0.1
    >>> grid = {"loss": ["hinge", "squared_hinge"], "C": [0.1, 10.0]}
    >>> RankerCV(RankSVM(), grid=grid, cv=3, random_state=0).fit(X, [0, 1, 0, 1, 0, 1]).best_params_
    {'loss': 'hinge', 'C': 0.1}
    """

    C_: float
    Cs_: Floats
    params_: list[dict[str, Any]]
    best_params_: dict[str, Any]
    scores_: Floats
    ranker_: Any
    n_iter_: int

    def __init__(
        self,
        ranker: Any = None,
        Cs: ArrayLike = DEFAULT_CS,
        *,
        grid: Mapping[str, Sequence[Any]] | None = None,
        statistic: str | RankStatistic | None = None,
        cv: Any = 5,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.ranker = ranker
        self.Cs = Cs
        self.grid = grid
        self.statistic = statistic
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- what a named subclass changes --------------------------------------------------------

    def _prototype(self) -> Any:
        """The ranker to copy, without its C."""
        return RankSVM() if self.ranker is None else self.ranker

    def _label_kinds(self) -> frozenset[LabelKind]:
        return abilities(self._prototype()).labels

    # -- the search ---------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self.params_ = self._points()
        if self.__sklearn_tags__().input_tags.pairwise and data.X.shape[0] != data.X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs a square matrix of kernel values to fit,"
                f" got {data.X.shape[0]} x {data.X.shape[1]}."
            )
        counted = None if data.sample_weight is None else np.flatnonzero(data.sample_weight > 0)
        self.scores_ = self._search(data if counted is None else self._taken(data, counted), run)
        self.best_params_ = self.params_[int(np.argmax(_column_means(self.scores_)))]
        if "C" in self.best_params_:
            self.C_ = float(self.best_params_["C"])
        self.ranker_ = self._copy(run).set_params(**_cloned(self.best_params_))
        self._fit_inner(self.ranker_, data, run.part(silent=True))
        self.n_iter_ = 1
        outcome: Outcome = self.ranker_.outcome_
        return replace(outcome, status=run.stopped_by or outcome.status, seconds=run.seconds)

    def _points(self) -> list[dict[str, Any]]:
        """What to try, in this order."""
        grid = getattr(self, "grid", None)
        if grid is None:
            self.Cs_ = np.array([check_penalty_weight(float(C)) for C in np.sort(np.ravel(self.Cs))])
            if len(self.Cs_) == 0:
                raise ValueError("Cs is empty; give at least one value of C to try.")
            return [{"C": float(C)} for C in self.Cs_]
        known = self._prototype().get_params()
        unknown = [name for name in grid if name not in known]
        if unknown:
            raise ValueError(
                f"grid: {type(self._prototype()).__name__} has no parameter {unknown[0]!r}; it has"
                f" {', '.join(sorted(known))}."
            )
        return self._combinations(grid)

    def _combinations(self, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        if not grid or not all(len(values) for values in grid.values()):
            raise ValueError("grid is empty; give at least one value of a parameter to try.")
        return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]

    def _copy(self, run: Run) -> Any:
        """A fresh ranker, seeded where it has no seed of its own and this one has."""
        ranker = tell_kind(clone_for_codes(self._prototype()), self.kind_)
        if self.random_state is not None and ranker.get_params().get("random_state", 0) is None:
            ranker.set_params(random_state=int(run.rng.integers(2**31)))
        return ranker

    def _search(self, data: RankingData, run: Run) -> Floats:
        judge = self._held_out_judge()
        folds = list(self._folds(data, run))
        scores = np.full((len(folds), len(self.params_)), np.nan)
        for number, (train, test) in enumerate(folds):
            self._check_fold(data, train, test, number)
            ranker = self._copy(run)
            if "warm_start" in ranker.get_params():
                ranker.set_params(warm_start=True)
            for place, point in enumerate(self.params_):
                if run.should_stop():
                    return scores
                left = (len(folds) - number) * len(self.params_) - place + 1
                ranker.set_params(**_cloned(point))
                self._fit_inner(ranker, self._taken(data, train), run.part(1.0 / left, silent=True))
                held_out = ranker.decision_function(self._rows(data.X, test, train))
                scores[number, place] = judge(self._taken(data, test), held_out)
            run.report(Progress(float(_column_means(scores).max()), iterations=number + 1))
        return scores

    def _fit_inner(self, ranker: Any, data: RankingData, run: Run) -> None:
        ranker.fit_within(data.X, data.y, run, sample_weight=data.sample_weight, qid=data.qid)

    def _taken(self, data: RankingData, rows: Any) -> RankingData:
        """Some rows of the data."""
        return replace(take(data, rows), X=self._rows(data.X, rows, rows))

    def _rows(self, X: Any, rows: Any, known: Any) -> Any:
        """Some rows; of a precomputed kernel, their values with the rows learned from."""
        return X[rows][:, known] if self.__sklearn_tags__().input_tags.pairwise else X[rows]

    def _held_out_judge(self) -> Any:
        statistic = self._scored_by()
        sign = 1.0 if statistic.greater_is_better else -1.0
        return lambda data, scores: (
            sign * float(statistic(data.y, scores, qid=data.qid, sample_weight=data.sample_weight))
        )

    def _scored_by(self) -> RankStatistic:
        return self._judged_by(getattr(self._prototype(), "statistic", None))

    def _judged_by(self, own: Any) -> RankStatistic:
        """What was asked for, else what the ranker has of its own, where it fits the labels."""
        if self.statistic is not None:
            return statistics.get(self.statistic)
        return suited(own if isinstance(own, str | RankStatistic) else "auc", self.kind_)

    def _folds(self, data: RankingData, run: Run) -> Iterable[tuple[Any, Any]]:
        if isinstance(self.cv, Integral):
            return ranking_folds(data.grade, data.qid, int(self.cv), run.rng)
        return check_cv(self.cv, data.y, classifier=True).split(data.X, data.y, data.qid)

    def _check_fold(self, data: RankingData, train: Any, test: Any, number: int) -> None:
        """Refuse a fold of the user's splitter that nothing can be learned from or judged by."""
        for rows, purpose in ((train, "learn from"), (test, "judge by")):
            if not can_be_ranked(data.grade[rows], _part(data.qid, rows)):
                what = (
                    "two different labels" if data.qid is None else "a query (qid) with two different labels"
                )
                raise ValueError(
                    f"cv={self.cv!r}: fold {number} lacks {what} to {purpose}; a number of folds sees to it."
                )

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.ranker_.decision_function(X), dtype=np.float64)

    def _reached(self) -> tuple[float, float] | None:
        reached: tuple[float, float] | None = self.ranker_._reached()
        return reached

    def _inside(self) -> list[Any]:
        return [self._prototype()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype())
        tags.input_tags.pairwise, tags.input_tags.sparse = inner.input_tags.pairwise, inner.input_tags.sparse
        # What was proved is the ranker's, `ranker_.certificate_`.
        own = {"linear": False, "pairs": False, "exact": False, "labels": tags.ranker_tags.labels}
        tags.ranker_tags = replace(abilities(self._prototype()), **own)
        return tags


def _cloned(point: dict[str, Any]) -> dict[str, Any]:
    """Values of parameters, estimators among them as copies of their own."""
    return {name: clone(value, safe=False) for name, value in point.items()}


def _column_means(scores: Floats) -> Floats:
    """Mean of each column over the folds done so far; minus infinity where none was."""
    done = ~np.isnan(scores)
    sums = np.where(done, scores, 0.0).sum(axis=0)
    return np.divide(sums, done.sum(axis=0), out=np.full(len(sums), -np.inf), where=done.any(axis=0))


def _part(by_row: Any, rows: Any) -> Any:
    return None if by_row is None else by_row[rows]
