"""`GradientBoostingRanker`: regression trees that lower a ranking loss, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import TWO_LABELS, Matrix, RankingData, WatchedRanker
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status, worker_count
from toprank.labels import KINDS, LabelKind
from toprank.losses.objectives import Labels, OwnLoss, make_objective
from toprank.rankers.parts.boosting import split_rows
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count, check_share
from toprank.statistics import RankStatistic
from toprank.trees.engines import Round, TreeOptions, make_engine
from toprank.trees.growing import compile_growth
from toprank.trees.nodes import PackedTrees

__all__ = ["GradientBoostingRanker"]

Floats = NDArray[np.float64]
PAIRWISE = ["squared_hinge", "logistic"]
AT_TOP = ["p_norm", "top_push"]


class GradientBoostingRanker(WatchedRanker):
    """Adds regression trees, each a step of Newton's method on a ranking loss.

    Gradients and curvatures of the loss are taken at the scores of all rows together, in time n log n: no
    list is too long, and pairs are never listed (Friedman 2001; Zheng et al. 2007, "GBRank", for the squared
    hinge over pairs). LightGBM grows the trees where it is installed (``pip install toprank[boosting]``),
    scikit-learn otherwise; the model scores without either.

    With `qid` rows are compared within their query, and every query counts the same. With sample weights a
    pair weighs the product of its rows' weights.

    Parameters
    ----------
    loss : {"logistic", "squared_hinge", "p_norm", "top_push"} or callable
        Over pairs: log(1 + exp(-(s_i - s_j))) or max(0, 1 - (s_i - s_j))^2, i above j. Of the top: the p-norm
        push (Rudin 2009), or max(0, 1 + t - s_i)^2 for positives i below a threshold t of the negatives,
        rounded off (Li, Jin & Zhou 2014). A callable takes `toprank.losses.objectives.Labels` and returns a
        function of the scores, which gives a `LossPoint`; see docs/extending.md.
    p : float
        Of the p-norm push: the larger, the more the highest negatives count.
    negative_share : float or None
        The share of the negatives, the highest of each list, that positives are compared with: pairs with the
        others are left out (the partial AUC; Narasimhan & Agarwal 2013), or t is their mean. None is all of
        them, and for "top_push" the highest alone.
    n_estimators : int
        Trees.
    learning_rate : float
        How much of each step is taken.
    max_leaf_nodes : int
        Leaves of a tree, at most.
    max_depth : int or None
        Splits from the root to a leaf, at most.
    min_samples_leaf : int
        Rows in a leaf, at least.
    l2 : float
        Added to the curvature of a leaf: the larger, the smaller its step.
    max_bins : int
        Thresholds are looked for between so many ranges of each feature.
    engine : "auto", "lightgbm" or "sklearn"
        Who grows the trees; "auto" is LightGBM where it is installed.
    statistic : str or RankStatistic
        What `score` reports and held-out rows are judged by; any statistic will do. With grades or a response
        one that is meant for two labels stands for the concordance index.
    validation_fraction : float or None
        Share of the rows (queries) to hold out; boosting stops when the statistic there has not improved for
        `n_iter_no_change` trees, and those after the best are dropped. Not looked at where `fit` gets rows
        to stop by (`X_val`, `y_val`).
    n_iter_no_change : int
        Trees to wait for an improvement.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top (losses over pairs
        only); "auto" tells it from `y`.
    n_jobs : int
        Threads of LightGBM and of scoring; -1 is one for each processor.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Which rows are held out.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    trees_ : PackedTrees
        All trees in one set of arrays.
    losses_ : ndarray
        The loss of the training rows before each tree.
    validation_values_ : ndarray
        The statistic of the rows held out, or brought to stop by, after each tree, dropped ones too.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of what the splits gained.
    n_iter_ : int
        Trees in the model.
    outcome_ : Outcome
        The value is the loss of the training rows before the last tree.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from toprank import GradientBoostingRanker
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ranker = GradientBoostingRanker("p_norm", n_estimators=20).fit(X[:300], y[:300])
    >>> bool(ranker.score(X[300:], y[300:]) > 0.9)
    True

    Rows of one's own, next month's say, can tell when to stop:

    >>> ranker = GradientBoostingRanker(statistic="auc", n_iter_no_change=5, engine="sklearn")
    >>> ranker = ranker.fit(X[:200], y[:200], X_val=X[200:300], y_val=y[200:300])
    >>> len(ranker.validation_values_) - ranker.n_iter_
    5
    """

    trees_: PackedTrees
    losses_: Floats
    validation_values_: Floats
    feature_importances_: Floats
    n_iter_: int

    def __init__(
        self,
        loss: str | OwnLoss = "logistic",
        *,
        p: float = 4.0,
        negative_share: float | None = None,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2: float = 0.0,
        max_bins: int = 255,
        engine: str = "auto",
        statistic: str | RankStatistic = "auc",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        levels: str = "auto",
        n_jobs: int = 1,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.p = p
        self.negative_share = negative_share
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.max_bins = max_bins
        self.engine = engine
        self.statistic = statistic
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.levels = levels
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        options = self._options(run)
        part, watch = split_rows(data, self.validation_fraction, run.rng)
        held = None if watch is None else _Watcher(watch, self._scored_by(), int(self.n_iter_no_change))
        objective = make_objective(
            Labels(part.grade, part.qid, part.sample_weight),
            self.loss,
            p=float(self.p),
            negative_share=self.negative_share,
        )
        engine = make_engine(self.engine, part.X, options, run)
        rounds: list[Round] = []
        while len(rounds) < self.n_estimators and (grown := engine.step(objective)) is not None:
            rounds.append(grown)
            progress = Progress(grown.loss, iterations=len(rounds), phase="boosting")
            if (held is not None and not held.goes_on(grown)) or not run.report(progress):
                break
        loss = rounds[-1].loss if rounds else objective(np.zeros(len(part.grade))).value
        self._keep(rounds, held, data.X.shape[1])
        status = run.stopped_by or Status.FINISHED
        return Outcome(loss, status=status, seconds=run.seconds, iterations=len(rounds))

    def _options(self, run: Run) -> TreeOptions:
        if not callable(self.loss):
            check_choice("loss", self.loss, [*PAIRWISE, *AT_TOP])
        check_choice("engine", self.engine, ["auto", "lightgbm", "sklearn"])
        check_count("n_estimators", self.n_estimators)
        check_count("n_iter_no_change", self.n_iter_no_change)
        check_at_least("p", self.p, 1)
        if self.negative_share is not None and self.negative_share != 1:
            check_share("negative_share", self.negative_share, "the negatives")
        rate = check_at_least("learning_rate", self.learning_rate, 0)
        return TreeOptions(
            learning_rate=rate,
            max_leaf_nodes=check_count("max_leaf_nodes", self.max_leaf_nodes, 2),
            max_depth=None if self.max_depth is None else check_count("max_depth", self.max_depth),
            min_samples_leaf=check_count("min_samples_leaf", self.min_samples_leaf),
            l2=check_at_least("l2", self.l2, 0),
            max_bins=check_count("max_bins", self.max_bins, 2),
            n_jobs=worker_count(self.n_jobs),
            seed=int(run.rng.integers(2**31 - 1)),
        )

    def _keep(self, rounds: list[Round], held: _Watcher | None, n_features: int) -> None:
        self.losses_ = np.array([one.loss for one in rounds])
        self.validation_values_ = np.array([] if held is None else held.values)
        kept = rounds if held is None else rounds[: held.best]
        self.n_iter_ = max(1, len(kept))
        self.trees_ = PackedTrees.joined([PackedTrees.of(one.tree, one.values) for one in kept])
        gains = np.sum([one.gains for one in kept], axis=0) if kept else np.zeros(n_features)
        self.feature_importances_ = gains / (gains.sum() or 1.0)

    def _prepare(self, data: RankingData) -> None:
        compile_growth(np.uint8)
        two = Labels(np.array([0.0, 1.0]))
        make_objective(two, self.loss if self.loss in [*PAIRWISE, *AT_TOP] else "logistic")(np.zeros(2))

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        return self.trees_.total(X, worker_count(self.n_jobs))

    # -- tags ---------------------------------------------------------------------------------

    def _label_kinds(self) -> frozenset[LabelKind]:
        return TWO_LABELS if self.loss in AT_TOP or self.negative_share is not None else KINDS

    def _why_not(self, kind: LabelKind) -> str:
        what = f"loss={self.loss!r}" if self.loss in AT_TOP else "negative_share"
        return f"{what} needs two labels; a loss over all pairs takes any numbers"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.queries = True
        tags.ranker_tags.at_top = self.loss in AT_TOP or self.negative_share is not None
        tags.input_tags.allow_nan = True
        return tags


class _Watcher:
    """Follows a statistic on held-out rows and says when it has not improved for long enough."""

    def __init__(self, data: RankingData, statistic: RankStatistic, patience: int) -> None:
        self._data, self._statistic, self._patience = data, statistic, patience
        self._scores = np.zeros(len(data.y))
        self.values: list[float] = []
        self.best = 0
        self._best_value = -np.inf

    def goes_on(self, grown: Round) -> bool:
        self._scores = self._scores + PackedTrees.of(grown.tree, grown.values).total(self._data.X)
        data = self._data
        value = float(
            self._statistic(data.grade, self._scores, qid=data.qid, sample_weight=data.sample_weight)
        )
        self.values.append(value)
        good = value if self._statistic.greater_is_better else -value
        if good > self._best_value:
            self._best_value, self.best = good, len(self.values)
        return len(self.values) - self.best < self._patience
