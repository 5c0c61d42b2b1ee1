"""`TreeRankTournament` and `CRank`: trees of rows with grades, or with any response."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.base import RankingData, take
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.labels import KINDS, LabelKind
from toprank.rankers.parts.parameters import check_count
from toprank.statistics import RankStatistic
from toprank.trees.codes import Codes, encode
from toprank.trees.growing import UNLIMITED, Growth, compile_growth
from toprank.trees.level_growing import grow_medians, grow_tournament
from toprank.trees.level_splitting import grow_levels_with, leaf_volume
from toprank.trees.level_trees import GradedTree, LevelRows, level_rows
from toprank.trees.one_tree import OneTree

__all__ = ["CRank", "TreeRankTournament", "compile_levels", "grow_level_tree"]

Floats = NDArray[np.float64]
MOST_LEVELS = 100
"""With more levels than this hardly any chain is in order."""


class _LevelTree(OneTree):
    """A tree of rows with more than two labels."""

    max_depth: int | None
    min_samples_leaf: int
    statistic: Any
    tree_: GradedTree

    _asks: LabelKind
    """What its nodes ask: adjacent levels of grades in turn, or the median of a response."""

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        if data.sample_weight is not None:
            data = take(data, np.flatnonzero(data.sample_weight > 0))
        depth = UNLIMITED if self.max_depth is None else check_count("max_depth", self.max_depth)
        growth = Growth(depth, check_count("min_samples_leaf", self.min_samples_leaf))
        codes = encode(data.X, run=run) if self.splitter is None else None
        rows = level_rows(data)
        self.tree_ = grow_level_tree(
            self._asks, rows, codes, np.arange(len(rows.y)), self.splitter, growth, run
        )
        run.report(Progress(self.tree_.worth, iterations=len(self.tree_.inner), phase="splits"))
        return Outcome(self.tree_.worth, status=run.stopped_by or Status.FINISHED, seconds=run.seconds)

    def _prepare(self, data: RankingData) -> None:
        compile_levels()

    def _scored_by(self) -> RankStatistic:
        return statistics.get(self.statistic)


class TreeRankTournament(_LevelTree):
    """A ranking tree for grades: at each node all pairs of adjacent levels compete for the best split.

    Every two levels of a node that are next to each other propose the split that tells them apart best, as
    `TreeRank` would find it; the one wins after which the leaves, from left to right, have the largest VUS,
    the share of chains of rows, one of each level, that are in the right order (Clémençon & Robbiano 2015;
    Werner 2020, Section 3.3). With two labels it is `TreeRank`. `RankingForest` bags such trees where labels
    are grades.

    Parameters
    ----------
    splitter : classifier or None
        What parts the rows of a node: None is the best threshold on a single feature; any classifier of
        scikit-learn that takes weights sends the rows it calls the upper level to the left.
    max_depth : int or None
        Splits from the root to a leaf, at most.
    min_samples_leaf : int
        Rows in a leaf, at least.
    statistic : str or RankStatistic
        What `score` reports: "vus", "c_index" or "ordinal_auc", or any other for grades.
    levels : {"auto", "binary", "ordinal"}
        What `y` is; "auto" tells it from `y`. Of many numbers that are no grades, "ordinal" takes each value
        as a level.
    time_limit : float or None
        Seconds; None for no limit. Nodes that were not looked at in time stay leaves.
    random_state : int, Generator, RandomState or None
        Seed of the splitter where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    tree_ : GradedTree
        Nodes, thresholds, gains, weights and mean labels, as arrays.
    n_leaves_, depth_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the VUS gained.
    outcome_ : Outcome
        The value is the VUS of the training rows, tied ones counting as they do on average: 1/d! where all
        are in one leaf, plus all gains.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [2, 2, 0, 0, 1, 1]
    >>> ranker = TreeRankTournament(min_samples_leaf=1).fit(X, y)
    >>> print(ranker.export_text(["x"]))
    x <= 2.5
    |   leaf 1: mean 2 of 2 rows
    x > 2.5
    |   x > 4.5
    |   |   leaf 2: mean 1 of 2 rows
    |   x <= 4.5
    |   |   leaf 3: mean 0 of 2 rows
    >>> ranker.score(X, y)
    1.0
    """

    _asks = "ordinal"

    def __init__(
        self,
        splitter: Any = None,
        *,
        max_depth: int | None = 10,
        min_samples_leaf: int = 5,
        statistic: str | RankStatistic = "vus",
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.statistic = statistic
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _label_kinds(self) -> frozenset[LabelKind]:
        return frozenset({"binary", "ordinal"})

    def _why_not(self, kind: LabelKind) -> str:
        return "chains of one row of each level need few levels; CRank takes any response"


class CRank(_LevelTree):
    """A ranking tree for any response: each node tells rows above its median from those below.

    The rows of a node are cut at the median of their own responses, a split looks for the upper half as
    `TreeRank` looks for positives, and what it calls upper goes left (Clémençon & Achab 2017; Werner 2020,
    Section 3.3). A split that brings no more pairs into order than out of it is not made. `RankingForest`
    bags such trees where labels are a response. Only the order of the responses counts.

    Parameters
    ----------
    splitter : classifier or None
        What parts the rows of a node: None is the best threshold on a single feature; any classifier of
        scikit-learn that takes weights sends the rows it calls upper to the left.
    max_depth : int or None
        Splits from the root to a leaf, at most.
    min_samples_leaf : int
        Rows in a leaf, at least.
    statistic : {"kendall_tau", "integrated_auc"} or other statistic
        What `score` reports: Kendall's tau; or the AUC of rows above against rows below, averaged over all
        responses.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is; "auto" tells it from `y`.
    time_limit : float or None
        Seconds; None for no limit. Nodes that were not looked at in time stay leaves.
    random_state : int, Generator, RandomState or None
        Seed of the splitter where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    tree_ : GradedTree
        Nodes, thresholds, gains, weights and mean responses, as arrays.
    n_leaves_, depth_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the pairs brought into order.
    outcome_ : Outcome
        The value is the share of pairs of training rows in the right order, ties counting half: a half plus
        half of all gains.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0.3, 0.1, 7.5, 99.0]
    >>> ranker = CRank(min_samples_leaf=1).fit(X, y)
    >>> ranker.rank(X).tolist(), ranker.score(X, y)
    ([3, 2, 0, 1], 1.0)
    """

    _asks = "continuous"

    def __init__(
        self,
        splitter: Any = None,
        *,
        max_depth: int | None = 10,
        min_samples_leaf: int = 5,
        statistic: str | RankStatistic = "kendall_tau",
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.statistic = statistic
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS


def grow_level_tree(
    kind: LabelKind,
    rows: LevelRows,
    codes: Codes | None,
    numbers: NDArray[Any],
    splitter: Any,
    growth: Growth,
    run: Run,
) -> GradedTree:
    """A tree that asks what suits a kind of labels, answered by thresholds on codes or by a classifier."""
    levels = len(np.unique(rows.y))
    if kind == "ordinal" and levels > MOST_LEVELS:
        raise ValueError(
            f"y has {levels} levels, and chains of one row of each are compared for {MOST_LEVELS} at most:"
            " use CRank, or levels='continuous'."
        )
    if codes is None:
        return grow_levels_with(splitter, rows, kind, growth, run)
    grow = grow_tournament if kind == "ordinal" else grow_medians
    return grow(rows, codes, numbers, growth, run, int(run.rng.integers(2**63)))


@lru_cache(maxsize=1)
def compile_levels() -> None:
    """Compile what growing such trees needs, or load it from disk."""
    compile_growth(np.int32)
    X, y = np.arange(3.0)[:, None], np.arange(3.0)
    data = level_rows(RankingData(X, y, kind="ordinal"))
    asks: LabelKind
    for asks in ("ordinal", "continuous"):
        grow_level_tree(asks, data, encode(X), np.arange(3), None, Growth(2), Run(rng=0))
    leaf_volume(np.ones((1, 2)))
