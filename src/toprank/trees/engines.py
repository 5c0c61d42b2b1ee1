"""Who grows the regression trees of boosting: LightGBM where it is installed, else scikit-learn.

Either way a tree comes back as arrays of ours: a model scores without the library that grew it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix
from toprank.control import Run
from toprank.losses.objectives import Objective
from toprank.trees.codes import encode
from toprank.trees.nodes import RankingTree

__all__ = ["Engine", "Round", "TreeOptions", "make_engine"]

Floats = NDArray[np.float64]
FLOOR = 1e-3
"""Rows with less curvature than this share of the mean are given so much: no step is endless."""


@dataclass(frozen=True)
class TreeOptions:
    """How large the trees are, and how much of each is taken."""

    learning_rate: float
    max_leaf_nodes: int
    max_depth: int | None
    min_samples_leaf: int
    l2: float
    max_bins: int
    n_jobs: int
    seed: int


@dataclass(frozen=True)
class Round:
    """One tree: its nodes, the values of its leaves, what each feature gained, and the loss before it."""

    tree: RankingTree
    values: Floats
    gains: Floats
    loss: float


class Engine(Protocol):
    """Adds one tree after the other to the scores of the training rows."""

    def step(self, objective: Objective) -> Round | None:
        """The next tree, or None where no split lowers the loss."""
        ...


def make_engine(name: str, X: Matrix, options: TreeOptions, run: Run | None = None) -> Engine:
    """The engine by name, "auto" being LightGBM where it is installed; features are prepared on the clock."""
    there = find_spec("lightgbm") is not None
    if name == "lightgbm" and not there:
        raise ValueError(
            "engine='lightgbm' needs LightGBM: install it with `pip install toprank[boosting]`, or use"
            " engine='sklearn'."
        )
    if name == "lightgbm" or (name == "auto" and there):
        return LightGBM(X, options)
    return RegressionTrees(X, options, run)


def derivatives(objective: Objective, scores: Floats) -> tuple[float, Floats, Floats]:
    """Loss, gradient and curvature, one for a row on average where the loss counts one for all of them."""
    point = objective(scores)
    curvature = point.curvature + FLOOR * float(point.curvature.mean()) + 1e-12
    return point.value, point.gradient * len(scores), curvature * len(scores)


class LightGBM:
    """Trees by LightGBM, through its interface for losses of one's own."""

    def __init__(self, X: Matrix, options: TreeOptions) -> None:
        import lightgbm

        parameters = {
            "objective": "none",
            "learning_rate": options.learning_rate,
            "num_leaves": options.max_leaf_nodes,
            "max_depth": -1 if options.max_depth is None else options.max_depth,
            "min_data_in_leaf": options.min_samples_leaf,
            "min_sum_hessian_in_leaf": 1e-9,
            "lambda_l2": options.l2,
            "max_bin": options.max_bins,
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            "num_threads": options.n_jobs,
            "seed": options.seed,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
        }
        self._booster = None
        if _varies(X):  # LightGBM gives up on columns that are all constant
            matrix: Any = X
            rows = lightgbm.Dataset(matrix, label=np.zeros(X.shape[0]), params=parameters)
            self._booster = lightgbm.Booster(parameters, rows)
        self._n_features = X.shape[1]
        self._loss = np.nan

    def step(self, objective: Objective) -> Round | None:
        if self._booster is None:
            return None
        done = self._booster.update(fobj=lambda scores, _: self._derivatives(objective, scores))
        if done:
            return None
        last = self._booster.num_trees() - 1
        described = self._booster.dump_model(start_iteration=last, num_iteration=1)["tree_info"][0]
        if "split_feature" not in described["tree_structure"]:
            return None
        tree, values, gains = _from_lightgbm(described["tree_structure"], self._n_features)
        return Round(tree, values, gains, self._loss)

    def _derivatives(self, objective: Objective, scores: Any) -> tuple[Floats, Floats]:
        self._loss, gradient, curvature = derivatives(objective, np.asarray(scores, dtype=np.float64))
        return gradient, curvature


def _varies(X: Matrix) -> bool:
    """Whether some column has two different values, a missing one being a value too."""
    if isinstance(X, np.ndarray):
        return any(len(np.unique(X[:, feature])) > 1 for feature in range(X.shape[1]))
    columns: Any = X.tocsc()
    return any(len(np.unique(columns[:, [feature]].toarray())) > 1 for feature in range(X.shape[1]))


class RegressionTrees:
    """Trees by scikit-learn, on the codes of the features: Newton's step as a weighted regression."""

    def __init__(self, X: Matrix, options: TreeOptions, run: Run | None = None) -> None:
        self._codes = encode(X, options.max_bins, run)
        self._X = np.ascontiguousarray(self._codes.codes.T, dtype=np.float32)
        self._options = options
        self._scores = np.zeros(X.shape[0])
        self._rng = np.random.RandomState(options.seed % 2**32)

    def step(self, objective: Objective) -> Round | None:
        from sklearn.tree import DecisionTreeRegressor

        options = self._options
        loss, gradient, curvature = derivatives(objective, self._scores)
        grower = DecisionTreeRegressor(
            max_leaf_nodes=options.max_leaf_nodes,
            max_depth=options.max_depth,
            min_samples_leaf=options.min_samples_leaf,
            random_state=self._rng.randint(2**31 - 1),
        ).fit(self._X, -gradient / curvature, sample_weight=curvature)
        if grower.tree_.node_count == 1:
            return None
        leaf = grower.apply(self._X)
        size = grower.tree_.node_count
        total, mass = np.bincount(leaf, gradient, size), np.bincount(leaf, curvature, size)
        values = -options.learning_rate * total / np.maximum(mass + options.l2, 1e-300)
        self._scores = self._scores + values[leaf]
        tree, order = _from_scikit_learn(grower.tree_, self._codes.cuts, self._codes.cut_start)
        gains = grower.tree_.compute_feature_importances(normalize=False)
        return Round(tree, values[order], gains, loss)


# -- trees of others as ours ------------------------------------------------------------------------


def _from_lightgbm(root: dict[str, Any], n_features: int) -> tuple[RankingTree, Floats, Floats]:
    """Nodes numbered so that the second child follows the first."""
    waiting, links, thresholds, values = [root], [], [], []
    gains = np.zeros(n_features)
    made = 1
    # The list grows while it is walked: children are put at its end, two at a time.
    for node in waiting:
        if "split_feature" not in node:
            links.append((-1, -1, -1, -1))
            thresholds.append(0.0)
            values.append(float(node["leaf_value"]))
            continue
        threshold = float(node["threshold"])
        # Where none was missing LightGBM takes a missing value for zero.
        missing_first = node["default_left"] if node["missing_type"] != "None" else threshold >= 0.0
        links.append((node["split_feature"], made, int(missing_first), 1))
        thresholds.append(threshold)
        values.append(0.0)
        gains[node["split_feature"]] += max(float(node["split_gain"]), 0.0)
        waiting += [node["left_child"], node["right_child"]]
        made += 2
    return _tree(np.array(links), np.array(thresholds)), np.array(values), gains


def _from_scikit_learn(
    found: Any, cuts: Floats, cut_start: NDArray[np.int64]
) -> tuple[RankingTree, NDArray[np.intp]]:
    """The tree, and the numbers its nodes had."""
    order, links, thresholds = [0], [], []
    for node in order:
        feature = int(found.feature[node])
        if feature < 0:
            links.append((-1, -1, -1, -1))
            thresholds.append(0.0)
            continue
        # Codes up to this one go left; code 0, a missing value, always does.
        code = int(np.floor(found.threshold[node]))
        links.append((feature, len(order), 1, 1))
        thresholds.append(float(cuts[cut_start[feature] + code]))
        order += [int(found.children_left[node]), int(found.children_right[node])]
    return _tree(np.array(links), np.array(thresholds)), np.array(order)


def _tree(links: NDArray[Any], thresholds: Floats) -> RankingTree:
    return RankingTree(links.astype(np.int32), thresholds, np.empty(0), np.empty((0, 4)))
