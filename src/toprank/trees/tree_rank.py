"""`TreeRank`: a tree whose leaves, from left to right, are the list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.base import RankingData, take
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count
from toprank.rankers.tuning.folds import ranking_folds
from toprank.statistics.cutoffs import Cutoff, check_cutoff, cutoff_positions
from toprank.trees.codes import code_type, encode
from toprank.trees.growing import UNLIMITED, Growth, compile_growth, grow_tree
from toprank.trees.nodes import RankingTree
from toprank.trees.one_tree import OneTree, scores_by
from toprank.trees.pruning import critical_prices, pruned
from toprank.trees.splitting import grow_with

__all__ = ["TreeRank"]

Floats = NDArray[np.float64]


class TreeRank(OneTree):
    """Parts the rows again and again, the better part always to the left; the leaves are the list.

    Each node looks for the part C of its rows with the largest ``a beta(C) - b alpha(C)``, where alpha and
    beta are shares of all negatives and positives, a and b those of the node: twice the AUC that ranking C
    above the rest gains (Clémençon & Vayatis 2009, "Tree-based ranking methods"; Werner 2020, Section 3.3).
    That is classification with equal weight for both classes of the node. The score is constant on leaves,
    the ROC curve piecewise linear, and its area a half plus half of all gains.

    Rows of the same leaf are tied, which statistics count as mistakes: a list needs many leaves, or a
    `RankingForest`. With sample weights the shares are shares of weight. Sparse rows are made dense, some
    columns or rows at a time.

    Parameters
    ----------
    splitter : classifier or None
        What parts the rows of a node: None is the best threshold on a single feature; any classifier of
        scikit-learn that takes weights sends the rows it calls positive to the left (LeafRank).
    max_depth : int or None
        Splits from the root to a leaf, at most.
    min_samples_leaf : int
        Rows in a leaf, at least.
    leaf_penalty : float or "cv"
        What a leaf costs: the tree is pruned to the subtree with the largest AUC - leaf_penalty * leaves
        (Clémençon et al. 2011); "cv" chooses it by the AUC on held-out folds.
    cv : int
        Folds, for ``leaf_penalty="cv"``.
    top : int, str or None
        Split by the local AUC at the top K, or a share such as ``"10%"``: by how often a positive is in the
        top and above a negative. What is below the top is not split. None is the AUC.
    leaf_order : {"tree", "rate"}
        Leaves are ranked from left to right, or by their share of positives, which makes the ROC curve of
        the training rows concave.
    time_limit : float or None
        Seconds; None for no limit. Nodes that were not looked at in time stay leaves.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of the splitter where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    tree_ : RankingTree
        Nodes, thresholds, gains and weights, as arrays.
    n_leaves_, depth_ : int
    leaf_penalty_ : float
        What a leaf cost.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the AUC gained.
    roc_ : pair of ndarrays
        Shares of the negatives and of the positives above the end of each leaf: the corners of the ROC
        curve of the training rows.
    outcome_ : Outcome
        The value is the AUC (or local AUC) of the training rows, ties counting half.

    Examples
    --------
    Positives are on the left of 1 or on the right of 2; no linear score ranks them first.

    >>> X, y = [[0.0], [1.0], [1.25], [1.75], [2.0], [3.0], [3.5]], [1, 1, 0, 0, 1, 1, 1]
    >>> ranker = TreeRank(min_samples_leaf=1).fit(X, y)
    >>> print(ranker.export_text(["x"]))
    x > 1.875
    |   leaf 1: 3 of 3 positive
    x <= 1.875
    |   x <= 1.125
    |   |   leaf 2: 2 of 2 positive
    |   x > 1.125
    |   |   leaf 3: 0 of 2 positive
    >>> ranker.outcome_.value
    1.0
    """

    leaf_penalty_: float

    def __init__(
        self,
        splitter: Any = None,
        *,
        max_depth: int | None = 10,
        min_samples_leaf: int = 5,
        leaf_penalty: float | str = 0.0,
        cv: int = 5,
        top: Cutoff | None = None,
        leaf_order: str = "tree",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.leaf_penalty = leaf_penalty
        self.cv = cv
        self.top = top
        self.leaf_order = leaf_order
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def statistic(self) -> str:
        """What the splits gain; `score` reports it."""
        return "auc" if self.top is None else f"local_auc@{self.top}"

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        check_choice("leaf_order", self.leaf_order, ["tree", "rate"])
        if data.sample_weight is not None:
            data = take(data, np.flatnonzero(data.sample_weight > 0))
        self.leaf_penalty_ = (
            0.0 if self.leaf_penalty == "cv" else check_at_least("leaf_penalty", self.leaf_penalty, 0)
        )
        growth = self._growth(data)
        tree = self._grow(data, run)
        if self.leaf_penalty == "cv":
            self.leaf_penalty_ = self._choose_penalty(tree, data, run)
        self.tree_ = pruned(tree, self.leaf_penalty_)
        value = self.tree_.value(self.leaf_order, growth.top)
        run.report(Progress(value, iterations=len(tree.inner), phase="splits"))
        return Outcome(value, status=run.stopped_by or Status.FINISHED, seconds=run.seconds)

    def _prepare(self, data: RankingData) -> None:
        compile_growth(code_type(None))

    def _grow(self, data: RankingData, run: Run) -> RankingTree:
        growth = self._growth(data)
        if self.splitter is not None:
            return grow_with(self.splitter, data, growth, run)
        weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
        codes = encode(data.X, run=run)
        return grow_tree(codes, np.arange(len(data.y), dtype=np.int32), weight, data.y, growth, run)

    def _growth(self, data: RankingData) -> Growth:
        depth = None if self.max_depth is None else check_count("max_depth", self.max_depth)
        min_leaf = check_count("min_samples_leaf", self.min_samples_leaf)
        top = -1.0
        if self.top is not None:
            mass = len(data.y) if data.sample_weight is None else float(data.sample_weight.sum())
            top = cutoff_positions(check_cutoff(self.top, "top"), mass, mass == round(mass))
        return Growth(depth or UNLIMITED, min_leaf, top=top)

    def _choose_penalty(self, tree: RankingTree, data: RankingData, run: Run) -> float:
        """The price of a leaf with the best mean value on held-out folds; of several, the largest."""
        prices = critical_prices(tree)
        statistic = statistics.get(self.statistic)
        total = np.zeros(len(prices))
        folds = ranking_folds(data.y.astype(np.float64), None, check_count("cv", self.cv), run.rng)
        for number, (learn, judge) in enumerate(folds):
            if not run.report(Progress(tree.value(self.leaf_order), iterations=number, phase="pruning")):
                break
            grown, held = self._grow(take(data, learn), run), take(data, judge)
            for k, price in enumerate(prices):
                scores = scores_by(pruned(grown, price), held.X, self.leaf_order)
                total[k] += statistic(held.y, scores, ties="mean", sample_weight=held.sample_weight)
        return float(prices[len(prices) - 1 - int(np.argmax(total[::-1]))])

    # -- looking at it ------------------------------------------------------------------------

    @property
    def roc_(self) -> tuple[Floats, Floats]:
        """Shares of the negatives and of the positives above the end of each leaf, from (0, 0) to (1, 1)."""
        masses = self.tree_.masses[self.tree_.order(self.leaf_order)]
        up, down = (np.concatenate(([0.0], np.cumsum(masses[:, k]))) for k in (0, 1))
        return down / down[-1], up / up[-1]

    # -- tags ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.at_top = self.top is not None
        return tags
