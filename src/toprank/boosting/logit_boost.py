"""`LogitBoost`: the plug-in approach by boosting, the odds of the upper label as the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.base import Matrix, RankingData, WatchedRanker
from toprank.boosting.componentwise import Columns, boost_columns
from toprank.boosting.families import Logit
from toprank.boosting.watching import Watcher, parts_of
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.losses.objectives import LossPoint
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count
from toprank.statistics import RankStatistic
from toprank.trees.engines import RegressionTrees, Round, TreeOptions
from toprank.trees.growing import compile_growth
from toprank.trees.nodes import PackedTrees

__all__ = ["LogitBoost"]

Floats = NDArray[np.float64]


class LogitBoost(WatchedRanker):
    """Ranks by the odds of the upper label, boosted: the plug-in approach.

    Each step is Newton's on the mean of log2(1 + exp(-2 Y s)), Y = -1 or 1 (Friedman, Hastie & Tibshirani
    2000; Werner 2020, Section 3.2): a weighted regression of what is left, on a small tree or on the one
    column that helps most. It looks at rows one by one and not at pairs.

    Parameters
    ----------
    learner : {"tree", "column"}
        What a step adds: a regression tree, grown by scikit-learn, or the regression on a single column,
        which makes a linear and sparse score.
    n_estimators : int
        Steps.
    learning_rate : float
        How much of each step is taken.
    max_leaf_nodes : int
        Leaves of a tree, at most; 2 is a single threshold.
    min_samples_leaf : int
        Rows in a leaf, at least.
    max_bins : int
        Thresholds are looked for between so many ranges of each feature.
    statistic : str or RankStatistic
        What `score` reports and held-out rows are judged by.
    validation_fraction : float or None
        Share of the rows to hold out; boosting stops when the statistic there has not improved for
        `n_iter_no_change` steps, and those after the best are dropped. Not looked at where `fit` gets rows
        to stop by (`X_val`, `y_val`).
    n_iter_no_change : int
        Steps to wait for an improvement.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Which rows are held out, and which of equally good splits are taken.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    trees_ : PackedTrees
        The trees in one set of arrays, where those are added.
    coef_, features_ : ndarrays
        Weight of each column and the column of each step, where those are added.
    losses_ : ndarray
        The loss before each tree, or after each column.
    validation_values_ : ndarray
        The statistic of the rows held out, or brought to stop by, after each step, dropped ones too.
    n_iter_ : int
        Steps in the model.
    outcome_ : Outcome
        The value is the loss of the training rows, as far as it is known.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 1, 0, 0, 0]
    >>> LogitBoost(n_estimators=20, min_samples_leaf=1).fit(X, y).first(X, 2).tolist()
    [1, 2]
    >>> LogitBoost("column", n_estimators=5).fit(X, y).first(X, 2).tolist()
    [0, 1]
    """

    trees_: PackedTrees
    coef_: Floats
    features_: NDArray[np.int64]
    losses_: Floats
    validation_values_: Floats
    n_iter_: int

    def __init__(
        self,
        learner: str = "tree",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 2,
        min_samples_leaf: int = 5,
        max_bins: int = 255,
        statistic: str | RankStatistic = "auc",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.statistic = statistic
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_choice("learner", self.learner, ["tree", "column"])
        check_count("n_estimators", self.n_estimators)
        check_count("n_iter_no_change", self.n_iter_no_change)
        check_at_least("learning_rate", self.learning_rate, 0)
        part, held = parts_of(data, self.validation_fraction, run.rng)
        boost = self._boost_trees if self.learner == "tree" else self._boost_columns
        loss, steps = boost(part, held, run)
        status = run.stopped_by or Status.FINISHED
        return Outcome(loss, status=status, seconds=run.seconds, iterations=steps)

    def _prepare(self, data: RankingData) -> None:
        compile_growth(np.uint8)

    def _worth(self, data: RankingData) -> Any:
        statistic, sign = statistics.get(self.statistic), self._sign()
        return lambda scores: sign * float(statistic(data.y, scores, sample_weight=data.sample_weight))

    def _sign(self) -> float:
        """What turns the statistic so that more is better."""
        return 1.0 if statistics.get(self.statistic).greater_is_better else -1.0

    def _boost_columns(self, data: RankingData, held: RankingData | None, run: Run) -> tuple[float, int]:
        columns, family = Columns(data.X), _family(data)
        watch = None
        if held is not None:
            watch = Watcher(columns, family, held.X, self._worth(held), int(self.n_iter_no_change))
        model = boost_columns(
            columns, family, run, steps=int(self.n_estimators), rate=float(self.learning_rate), watch=watch
        )
        self.validation_values_ = self._sign() * np.array([] if watch is None else watch.values)
        taken = model if watch is None else model.first(watch.best, family.start())
        self.coef_ = taken.coef[0] / columns.scale
        self.features_, self.losses_ = np.array(taken.features, dtype=np.int64), np.array(taken.losses)
        self.n_iter_ = max(1, len(taken.features))
        at_start = family.loss(np.tile(family.start(), (len(data.y), 1)))
        return (model.losses[-1] if model.losses else at_start), len(model.features)

    def _boost_trees(self, data: RankingData, held: RankingData | None, run: Run) -> tuple[float, int]:
        family = _family(data)
        start = float(family.start()[0])

        def objective(scores: Floats) -> LossPoint:
            values = (scores + start)[:, None]
            response, curvature = family.working(values)
            return LossPoint(family.loss(values), -(response * curvature)[:, 0], curvature[:, 0])

        options = TreeOptions(
            learning_rate=float(self.learning_rate),
            max_leaf_nodes=check_count("max_leaf_nodes", self.max_leaf_nodes, 2),
            max_depth=None,
            min_samples_leaf=check_count("min_samples_leaf", self.min_samples_leaf),
            l2=0.0,
            max_bins=check_count("max_bins", self.max_bins, 2),
            n_jobs=1,
            seed=int(run.rng.integers(2**31 - 1)),
        )
        engine = RegressionTrees(data.X, options, run)
        watch = None if held is None else _TreeWatcher(held, self._worth(held), int(self.n_iter_no_change))
        rounds: list[Round] = []
        while len(rounds) < self.n_estimators and (grown := engine.step(objective)) is not None:
            rounds.append(grown)
            goes_on = watch is None or watch(grown)
            if not run.report(Progress(grown.loss, iterations=len(rounds), phase="boosting")) or not goes_on:
                break
        self.validation_values_ = self._sign() * np.array([] if watch is None else watch.values)
        kept = rounds if watch is None else rounds[: watch.best]
        self.trees_ = PackedTrees.joined([PackedTrees.of(one.tree, one.values) for one in kept])
        self.losses_ = np.array([one.loss for one in kept])
        self.n_iter_ = max(1, len(kept))
        return (rounds[-1].loss if rounds else objective(np.zeros(len(data.y))).value), len(rounds)

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        if self.learner == "column":
            return np.asarray(X @ self.coef_, dtype=np.float64)
        return self.trees_.total(X)

    # -- tags ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = True
        tags.ranker_tags.linear = self.learner == "column"
        tags.input_tags.allow_nan = self.learner == "tree"
        return tags


def _family(data: RankingData) -> Logit:
    weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    return Logit(data.y.astype(np.float64), weight)


class _TreeWatcher:
    """Follows the worth of held-out rows, tree by tree."""

    def __init__(self, data: RankingData, judge: Any, patience: int) -> None:
        self._X, self._judge, self._patience = data.X, judge, patience
        self._scores = np.zeros(len(data.y))
        self.values: list[float] = []
        self.best = 0

    def __call__(self, grown: Round) -> bool:
        self._scores = self._scores + PackedTrees.of(grown.tree, grown.values).total(self._X)
        self.values.append(self._judge(self._scores))
        if self.values[-1] > max(self.values[: self.best], default=-np.inf):
            self.best = len(self.values)
        return len(self.values) - self.best < self._patience
