"""Growing a ranking tree whose nodes are split by any classifier (LeafRank; Clémençon et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix, RankingData, fit_copy, take
from toprank.control import Run
from toprank.trees.growing import Growth
from toprank.trees.nodes import CHILD, RankingTree

__all__ = ["NodeSplitter", "grow_with", "leaf_by_splitters"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
ROUNDING = 1e-10
"""Gains below this share of all there is to gain are none."""


@dataclass(frozen=True)
class NodeSplitter:
    """A fitted classifier that says which rows of a node go left, and the columns it looks at."""

    estimator: Any
    columns: NDArray[np.intp]

    def left(self, X: Matrix) -> NDArray[np.bool_]:
        """True for the rows that it calls positive."""
        whole = len(self.columns) == X.shape[1]
        return np.asarray(self.estimator.predict(X if whole else X[:, self.columns]) == 1)


def grow_with(splitter: Any, data: RankingData, growth: Growth, run: Run) -> RankingTree:
    """A tree on all rows; each node's classifier gives either class of the node half of the weight.

    A node stays a leaf where that gains nothing or leaves too few rows on a side.
    """
    weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    members: list[Rows] = [np.arange(len(data.y))]
    nodes = _Nodes(_mass(data.y, weight))
    node = 0
    while node < len(nodes.masses):
        rows = members[node]
        split = None if run.should_stop() else _split(splitter, data, weight, rows, nodes, node, growth, run)
        if split is not None:
            left = split.left(data.X[rows])
            better, worse = rows[left], rows[~left]
            gain = _gain(
                *_mass(data.y[better], weight[better]), *nodes.masses[node], growth.top, nodes.all_down
            )
            if (
                gain > ROUNDING * nodes.all_up * nodes.all_down
                and min(len(better), len(worse)) >= growth.min_leaf
            ):
                members += [better, worse]
                nodes.split(node, split, gain, _mass(data.y[better], weight[better]))
        members[node] = rows[:0]
        node += 1
    return nodes.tree()


def _split(
    splitter: Any,
    data: RankingData,
    weight: Floats,
    rows: Rows,
    nodes: _Nodes,
    node: int,
    growth: Growth,
    run: Run,
) -> NodeSplitter | None:
    """The classifier fitted to a node; None where there is nothing to split."""
    up, down, up_before, down_before = nodes.masses[node]
    outside = 0.0 <= growth.top <= up_before + down_before
    if (
        nodes.depths[node] >= growth.max_depth
        or len(rows) < 2 * growth.min_leaf
        or min(up, down) <= 0
        or outside
    ):
        return None
    n_features = data.X.shape[1]
    columns = np.arange(n_features)
    if growth.max_features < n_features:
        columns = np.sort(run.rng.choice(n_features, growth.max_features, replace=False))
    part = take(data, rows)
    # Half the weight for either class, and one for a row on average: what penalties are meant for.
    balance = np.where(part.y == 1, 0.5 / up, 0.5 / down) * weight[rows] * len(rows)
    X = part.X if len(columns) == n_features else part.X[:, columns]
    return NodeSplitter(fit_copy(splitter, replace(part, X=X, sample_weight=balance), run), columns)


def _mass(y: NDArray[np.int8], weight: Floats) -> tuple[float, float]:
    return float(weight[y == 1].sum()), float(weight[y == 0].sum())


def _gain(up: float, down: float, *node: float) -> float:
    """Twice the pairs gained by ranking a part of a node above the rest."""
    from toprank.trees import _kernels

    return float(_kernels.split_gain(up, down, *node))


class _Nodes:
    """The nodes made so far."""

    def __init__(self, root: tuple[float, float]) -> None:
        self.all_up, self.all_down = root
        self.masses: list[tuple[float, float, float, float]] = [(*root, 0.0, 0.0)]
        self.depths = [0]
        self._gains = [0.0]
        self._children = [-1]
        self._splitters: list[NodeSplitter | None] = [None]

    def split(self, node: int, splitter: NodeSplitter, gain: float, better: tuple[float, float]) -> None:
        up, down, up_before, down_before = self.masses[node]
        self._children[node], self._splitters[node], self._gains[node] = len(self.masses), splitter, gain
        self.masses.append((*better, up_before, down_before))
        self.masses.append((up - better[0], down - better[1], up_before + better[0], down_before + better[1]))
        self.depths += [self.depths[node] + 1] * 2
        self._gains += [0.0, 0.0]
        self._children += [-1, -1]
        self._splitters += [None, None]

    def tree(self) -> RankingTree:
        children = np.array(self._children, dtype=np.int32)
        inner = children >= 0
        links = np.stack((np.where(inner, 0, -1), children, inner, inner), axis=1).astype(np.int32)
        gains = np.array(self._gains) / (self.all_up * self.all_down)
        return RankingTree(links, np.zeros(len(links)), gains, np.array(self.masses), self._splitters)


def leaf_by_splitters(tree: RankingTree, X: Matrix) -> NDArray[np.intp]:
    """The leaf of each row, as a node number, in a tree made by `grow_with`."""
    leaf = np.zeros(X.shape[0], dtype=np.intp)
    for node in tree.inner:
        rows = np.flatnonzero(leaf == node)
        if len(rows):
            left = tree.splitters[node].left(X[rows])
            leaf[rows] = tree.links[node, CHILD] + ~left
    return leaf
