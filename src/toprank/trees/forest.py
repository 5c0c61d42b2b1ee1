"""`RankingForest`: many ranking trees on bootstrap samples, and what they agree on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from toprank.base import TWO_LABELS, BaseRanker, Matrix, RankingData, strata, take
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status, worker_count
from toprank.labels import KINDS, LabelKind
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count
from toprank.statistics.cutoffs import Cutoff, check_cutoff, cutoff_positions
from toprank.trees.codes import Codes, code_type, encode
from toprank.trees.consensus import consensus
from toprank.trees.growing import UNLIMITED, Growth, compile_growth, grow_tree
from toprank.trees.level_rankers import compile_levels, grow_level_tree
from toprank.trees.level_trees import level_rows
from toprank.trees.nodes import PackedTrees, RankingTree, TreePile, in_threads
from toprank.trees.showing import tree_importances
from toprank.trees.splitting import grow_with, leaf_by_splitters
from toprank.trees.voting import leaf_values

__all__ = ["RankingForest"]

Floats = NDArray[np.float64]
CONSENSUS_SECONDS = 10.0
"""For the consensus of a forest's reference rows."""
AGGREGATIONS = ["mean_rate", "mean_rank", "borda", "consensus"]


class RankingForest(BaseRanker):
    """Ranks by what many ranking trees, each on a bootstrap sample, agree on.

    Each tree is grown as `TreeRank` grows one, every node looking at a few features drawn at random
    (Clémençon, Depecker & Vayatis 2013, "Ranking forests"; Werner 2020, Section 3.3). Trees are deep: a
    single one has a rough idea of a row, their agreement a fine one.

    Labels may also be grades or any response: trees are then grown as `TreeRankTournament` or `CRank` grows
    one (Clémençon & Robbiano 2015), and where shares of positives are meant, how high the labels of a leaf
    are on their scale stands for it. ``max_features=None`` is plain bagging.

    Positives and negatives (or levels) are drawn apart, as many of each as there are. The same seed gives the
    same forest, whatever `n_jobs`. With sample weights, rows drawn count by their weight. Sparse rows are
    made dense, some columns or rows at a time.

    Parameters
    ----------
    n_estimators : int
        Trees.
    splitter : classifier or None
        What parts the rows of a node, as in `TreeRank`; None is a threshold on a single feature.
    max_depth : int or None
        Splits from the root to a leaf, at most.
    min_samples_leaf : int
        Rows in a leaf, at least.
    max_features : int, float, str or None
        Features to look at: a number, a share, "sqrt" or "log2" of all; None is all.
    randomize : {"node", "splitter"}
        Whether the features are drawn for each node of the ranking tree, or by the splitter for each of its
        own (through its parameter `max_features`). For a single threshold they are the same.
    bootstrap : bool
        Whether each tree has a sample of its own; else all have all rows.
    aggregation : {"mean_rate", "mean_rank", "borda", "consensus"}
        What is averaged over the trees: the share of positives in a row's leaf, drawn to that of the nodes
        above it (Agarwal et al. 2022); the place of the leaf among the leaves; or the share of training rows
        ranked below it. The last is the place at which fewest trees are contradicted, among reference rows
        in the order of their Kemeny `consensus`.
    leaf_order : {"rate", "tree"}
        How a tree ranks its leaves: by that share of positives, or from left to right.
    shrinkage : float
        So many rows draw the share of positives in a node to that of its parent.
    n_reference : int
        Reference rows for the consensus.
    max_bins : int or None
        Thresholds are looked for between so many ranges of each feature; None is between all values.
    top : int, str or None
        Split by the local AUC at the top K, or a share such as ``"10%"``; None is the AUC.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`.
    n_jobs : int
        Threads; -1 is one for each processor.
    time_limit : float or None
        Seconds; None for no limit. Trees that were not begun in time are left out.
    random_state : int, Generator, RandomState or None
        Seed of samples and features.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    trees_ : PackedTrees or list of RankingTree
        All trees in one set of arrays; a list where a splitter made them.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the AUC gained, the mean over the trees; NaN where a splitter does not tell.
    outcome_ : Outcome
        The value is the mean AUC of the trees (VUS of grades, C-index of a response), each on its own sample;
        `iterations` is the number of trees.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from toprank import RankingForest
    >>> X, y = make_moons(300, noise=0.3, random_state=0)
    >>> ranker = RankingForest(n_estimators=30, random_state=0).fit(X[:200], y[:200])
    >>> round(ranker.score(X[200:], y[200:]), 2)
    0.98
    """

    trees_: PackedTrees | list[RankingTree]
    feature_importances_: Floats

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        splitter: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: int | float | str | None = "sqrt",
        randomize: str = "node",
        bootstrap: bool = True,
        aggregation: str = "mean_rate",
        leaf_order: str = "rate",
        shrinkage: float = 10.0,
        n_reference: int = 50,
        max_bins: int | None = 255,
        top: Cutoff | None = None,
        levels: str = "auto",
        n_jobs: int = 1,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.randomize = randomize
        self.bootstrap = bootstrap
        self.aggregation = aggregation
        self.leaf_order = leaf_order
        self.shrinkage = shrinkage
        self.n_reference = n_reference
        self.max_bins = max_bins
        self.top = top
        self.levels = levels
        self.n_jobs = n_jobs
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
        self._check_parameters()
        if data.sample_weight is not None:
            data = take(data, np.flatnonzero(data.sample_weight > 0))
        pile = TreePile() if self.splitter is None else None
        grown = self._grow(data, pile, run)
        self.feature_importances_ = np.mean([one.shares for one in grown], axis=0)
        self.trees_ = [one.tree for one in grown] if pile is None else pile.packed()
        self._values = [] if pile is not None else [one.values for one in grown]
        self._reference = self._refer(data, run) if self.aggregation == "consensus" else np.empty((0, 0))
        cut = run.stopped_by if len(grown) < self.n_estimators else None
        value = float(np.mean([one.value for one in grown]))
        return Outcome(value, status=cut or Status.FINISHED, seconds=run.seconds, iterations=len(grown))

    def _check_parameters(self) -> None:
        check_count("n_estimators", self.n_estimators)
        check_choice("randomize", self.randomize, ["node", "splitter"])
        check_choice("aggregation", self.aggregation, AGGREGATIONS)
        check_choice("leaf_order", self.leaf_order, ["rate", "tree"])
        check_at_least("shrinkage", self.shrinkage, 0)
        check_count("n_reference", self.n_reference, 2)
        if self.max_bins is not None:
            check_count("max_bins", self.max_bins, 2)

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS if self.top is None else TWO_LABELS

    def _why_not(self, kind: LabelKind) -> str:
        return "the local AUC that top asks for needs two labels; leave top out"

    def _prepare(self, data: RankingData) -> None:
        if data.kind == "binary":
            compile_growth(code_type(self.max_bins))
        else:
            compile_levels()

    def _grow(self, data: RankingData, pile: TreePile | None, run: Run) -> list[_Grown]:
        """The trees, on the pile where there is one."""
        workers = worker_count(self.n_jobs)
        growth, splitter = self._growth(data), self._node_splitter()
        codes = encode(data.X, self.max_bins, run) if splitter is None else None
        if codes is not None and data.kind != "binary":
            codes = replace(codes, codes=codes.codes.astype(np.int32))  # what is compiled for such trees

        def tree(part: Run) -> _Grown:
            grown = self._one_tree(data, codes, splitter, growth, part)
            values = leaf_values(grown, self.aggregation, self.leaf_order, float(self.shrinkage))
            shares, value = _shares(grown, data.X.shape[1]), grown.value(self.leaf_order)
            # What is needed no longer.
            grown = replace(grown, gains=np.empty(0), masses=np.empty((0, grown.masses.shape[1])))
            return _Grown(grown, values, shares, value)

        found: list[_Grown] = []
        at_once = workers if workers == 1 else 4 * workers
        while len(found) < self.n_estimators:
            batch = min(at_once, self.n_estimators - len(found))
            new = in_threads(tree, [run.part(silent=True) for _ in range(batch)], workers)
            found += new if pile is None else [one.put_on(pile) for one in new]
            if not run.report(Progress(found[-1].value, iterations=len(found), phase="trees")):
                break
        return found

    def _one_tree(
        self, data: RankingData, codes: Codes | None, splitter: Any, growth: Growth, run: Run
    ) -> RankingTree:
        weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
        rows, drawn = _sample(data, run.rng) if self.bootstrap else (np.arange(len(data.y)), 1.0)
        # One for a row on average: what shrinkage is meant for.
        weight = weight[rows] * drawn * (len(weight) / weight.sum())
        if data.kind == "binary" and codes is not None:
            seed = int(run.rng.integers(2**63))
            return grow_tree(codes, rows.astype(np.int32), weight, data.y[rows], growth, run, seed=seed)
        # Features are copied only where a splitter looks at them.
        seen = data if codes is None else replace(data, X=data.X[:, :0])
        part = replace(take(seen, rows), sample_weight=weight)
        if data.kind == "binary":
            return grow_with(splitter, part, growth, run)
        return grow_level_tree(data.kind, level_rows(part), codes, rows, splitter, growth, run)

    def _growth(self, data: RankingData) -> Growth:
        depth = UNLIMITED if self.max_depth is None else check_count("max_depth", self.max_depth)
        min_leaf = check_count("min_samples_leaf", self.min_samples_leaf)
        features = _how_many(self.max_features, data.X.shape[1])
        if self.splitter is not None and self.randomize == "splitter":
            features = UNLIMITED
        top = -1.0
        if self.top is not None:
            top = cutoff_positions(check_cutoff(self.top, "top"), len(data.y), True)
        return Growth(depth, min_leaf, features, top)

    def _node_splitter(self) -> Any:
        if self.splitter is None or self.randomize == "node":
            return self.splitter
        if "max_features" not in self.splitter.get_params():
            name = type(self.splitter).__name__
            raise ValueError(f"randomize='splitter': {name} has no max_features; use randomize='node'.")
        return clone(self.splitter).set_params(max_features=self.max_features)

    def _refer(self, data: RankingData, run: Run) -> Floats:
        """Some training rows, best first by the consensus of the trees: their value in each tree."""
        some = np.sort(run.rng.permutation(len(data.y))[: int(self.n_reference)])
        values = self._by_tree(data.X[some])
        seconds = max(min(run.remaining(), CONSENSUS_SECONDS), 1e-3)
        agreed = consensus(-values.T, time_limit=seconds)
        return values[agreed.order]

    # -- ranking ------------------------------------------------------------------------------

    def _by_tree(self, X: Matrix) -> Floats:
        """The value of each row in each tree."""
        if isinstance(self.trees_, PackedTrees):
            return self.trees_.numbers[self.trees_.leaves(X)]
        found = [v[leaf_by_splitters(t, X)] for t, v in zip(self.trees_, self._values, strict=True)]
        return np.stack(found, axis=1)

    def _scores(self, X: Matrix) -> Floats:
        if self.aggregation == "consensus":
            return self._places(X)
        if isinstance(self.trees_, PackedTrees):
            return self.trees_.total(X, worker_count(self.n_jobs)) / len(self.trees_.roots)
        return self._by_tree(X).mean(axis=1)

    def _places(self, X: Matrix) -> Floats:
        """How many reference rows a row is above; the mean value decides between rows in the same place."""
        from toprank.trees import _kernels

        values, places = self._by_tree(X), np.empty(X.shape[0])
        _kernels.insert_rows(values, self._reference, places)
        # Places are halves apart.
        return len(self._reference) - places + 0.49 * values.mean(axis=1)

    # -- tags ---------------------------------------------------------------------------------

    def _inside(self) -> list[Any]:
        return [] if self.splitter is None else [self.splitter]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = True
        tags.ranker_tags.at_top = self.top is not None
        tags.input_tags.allow_nan = True
        if self.splitter is not None and hasattr(self.splitter, "__sklearn_tags__"):
            accepts = get_tags(self.splitter).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = accepts.sparse, accepts.allow_nan
        return tags


NO_TREE = RankingTree(np.empty((0, 4), np.int32), np.empty(0), np.empty(0), np.empty((0, 4)))


@dataclass(frozen=True)
class _Grown:
    """A tree, the values of its leaves, the shares of the features and its AUC on its own sample."""

    tree: RankingTree
    values: Floats
    shares: Floats
    value: float

    def put_on(self, pile: TreePile) -> _Grown:
        """The same without the tree, which is on the pile."""
        pile.add(PackedTrees.of(self.tree, self.values))
        return replace(self, tree=NO_TREE, values=np.empty(0))


def _shares(tree: RankingTree, n_features: int) -> Floats:
    try:
        return tree_importances(tree, n_features)
    except AttributeError:  # a splitter that does not tell
        return np.full(n_features, np.nan)


def _sample(data: RankingData, rng: np.random.Generator) -> tuple[NDArray[np.intp], Floats]:
    """Rows drawn with replacement, as many of each level as there are, and how often each was drawn."""
    alike = strata(data)
    counts = np.zeros(len(alike), dtype=np.int64)
    for stratum in range(int(alike.max()) + 1):
        rows = np.flatnonzero(alike == stratum)
        counts[rows] = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
    drawn = np.flatnonzero(counts)
    return drawn, counts[drawn].astype(np.float64)


def _how_many(max_features: Any, n_features: int) -> int:
    """Features to look at, of so many.

    >>> [_how_many(one, 100) for one in ("sqrt", "log2", None, 7, 0.25)]
    [10, 6, 100, 7, 25]
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        check_choice("max_features", max_features, ["sqrt", "log2"])
        return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
    if isinstance(max_features, float):
        if not 0 < max_features <= 1:
            raise ValueError(f"max_features={max_features!r}: a share is above 0 and at most 1.")
        return max(1, int(max_features * n_features))
    return min(check_count("max_features", max_features), n_features)
