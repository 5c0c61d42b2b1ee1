"""Ranking trees as arrays: nodes, the order of their leaves, and where rows end up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix

__all__ = ["PackedTrees", "RankingTree", "TreePile", "dense_parts", "in_threads"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEATURE, CHILD, MISSING_FIRST, LEFT_FIRST = range(4)
"""Columns of `links`."""
CELLS = 4_000_000
"""Cells of a sparse matrix that are made dense at once."""


@dataclass(frozen=True)
class RankingTree:
    """One tree; node 0 is the root, and children come after their parents.

    Parameters
    ----------
    links : array of int32 of shape (n_nodes, 4)
        Feature (-1 in a leaf); first child, the second follows it; whether rows that miss the feature go to
        the first; whether the first one is the left one, ranked above the other.
    thresholds : array of shape (n_nodes,)
        Rows up to it go to the first child.
    gains : array of shape (n_nodes,)
        Twice the AUC (or the local one) that the split of a node gains.
    masses : array of shape (n_nodes, 4)
        The weight of its positives and negatives, and of those in the leaves left of it.
    splitters : list
        What splits each node, None in a leaf, where that is not a feature with a threshold; else empty.
    """

    links: NDArray[np.int32]
    thresholds: Floats
    gains: Floats
    masses: Floats
    splitters: list[Any] = field(default_factory=list)

    @property
    def inner(self) -> Ints:
        """The nodes that are split."""
        return np.flatnonzero(self.links[:, FEATURE] >= 0)

    @property
    def leaves(self) -> Ints:
        """The leaves, from left to right: best first."""
        leaves = np.flatnonzero(self.links[:, FEATURE] < 0)
        return leaves[np.argsort(self.places[leaves])]

    @property
    def places(self) -> Ints:
        """The number of each leaf, counted from the left; of a node, that of its leftmost leaf."""
        from toprank.trees import _kernels

        places = np.empty(len(self.links), dtype=np.int64)
        _kernels.leaf_places(self.links, places)
        return places

    def order(self, by: str) -> Ints:
        """The leaves, best first: from left to right ("tree") or by falling share of positives ("rate")."""
        leaves = self.leaves
        if by == "tree":
            return leaves
        up, down = self.masses[leaves, 0], self.masses[leaves, 1]
        return leaves[np.argsort(-up / np.maximum(up + down, np.finfo(np.float64).tiny), kind="stable")]

    @property
    def depths(self) -> Ints:
        """How many splits there are above each node."""
        depths = np.zeros(len(self.links), dtype=np.int64)
        for node in self.inner:
            child = self.links[node, CHILD]
            depths[child : child + 2] = depths[node] + 1
        return depths

    def value(self, by: str = "tree", top: float = -1.0) -> float:
        """The AUC of the leaves in their order, or the local one at a top of that weight; ties count half."""
        up, down = self.masses[self.order(by), :2].T
        all_up, all_down = up.sum(), down.sum()
        if all_up * all_down == 0:
            return 0.5
        below = all_down - (np.cumsum(down) - down)
        if top < 0:
            return float(up @ (below - 0.5 * down) / (all_up * all_down))
        mass = up + down
        inside = np.clip(top - (np.cumsum(mass) - mass), 0.0, mass)
        # Negatives of the same leaf above a positive in one of the places inside, on average.
        tied = 0.5 * np.maximum(inside - 1.0, 0.0) * down / np.maximum(mass - 1.0, 1e-300)
        tied = np.where(mass > 1.0, tied, 0.0)
        return float((inside * up / mass) @ (below - tied) / (all_up * all_down))

    def leaf_says(self, node: int) -> str:
        """What there is in a leaf."""
        up, down = self.masses[node, :2]
        return f"{up:g} of {up + down:g} positive"

    def left_and_right(self, node: int) -> tuple[int, int]:
        """The two children of a node, the better one first."""
        child = int(self.links[node, CHILD])
        return (child, child + 1) if self.links[node, LEFT_FIRST] else (child + 1, child)

    def kept(self, cut: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which nodes stay when those become leaves at which `cut` is true."""
        kept = np.ones(len(self.links), dtype=bool)
        for node in self.inner:
            child = self.links[node, CHILD]
            kept[child : child + 2] = kept[node] and not cut[node]
        return kept

    def without(self, cut: NDArray[np.bool_]) -> RankingTree:
        """The tree with the nodes made leaves at which `cut` is true, and what was below them gone."""
        kept = self.kept(cut)
        number = np.cumsum(kept) - 1
        links = self.links.copy()
        links[cut] = -1
        inner = links[:, FEATURE] >= 0
        links[inner, CHILD] = number[links[inner, CHILD]]
        gains = np.where(cut, 0.0, self.gains)
        splitters = [
            None if cut[node] else self.splitters[node] for node in np.flatnonzero(kept) if self.splitters
        ]
        return replace(
            self,
            links=links[kept],
            thresholds=self.thresholds[kept],
            gains=gains[kept],
            masses=self.masses[kept],
            splitters=splitters,
        )


@dataclass(frozen=True)
class PackedTrees:
    """Several trees in one set of arrays, with a value for every leaf: 16 bytes a node.

    A forest of deep trees is larger than its data, so nothing is kept that is not needed to score.

    Parameters
    ----------
    roots : array of shape (n_trees,)
    links : array of int32 of shape (n_nodes, 2)
        Twice the feature, one more where rows that miss it go to the first child (-1 in a leaf); and the
        first child, with node numbers of their own.
    numbers : array of shape (n_nodes,)
        The threshold of a node that is split, the value of a leaf.
    """

    roots: Ints
    links: NDArray[np.int32]
    numbers: Floats

    @classmethod
    def of(cls, tree: RankingTree, values: Floats) -> PackedTrees:
        """One tree with a value for each node, of which those of the leaves are kept."""
        inner = tree.links[:, FEATURE] >= 0
        codes = np.where(inner, 2 * tree.links[:, FEATURE] + (tree.links[:, MISSING_FIRST] > 0), -1)
        links = np.column_stack([codes, tree.links[:, CHILD]]).astype(np.int32)
        numbers = np.where(inner, tree.thresholds, values)
        return cls(np.zeros(1, dtype=np.int64), links, numbers)

    @classmethod
    def joined(cls, parts: Iterable[PackedTrees]) -> PackedTrees:
        """Trees one after the other; none at all give no value."""
        pile = TreePile()
        for part in parts:
            pile.add(part)
        return pile.packed()

    def total(self, X: Matrix, workers: int = 1) -> Floats:
        """The sum over the trees of the values of each row's leaves."""
        from toprank.trees import _kernels

        total = np.zeros(X.shape[0])

        def add(part: slice) -> None:
            for inside, rows in dense_parts(X[part]):
                out = total[part][inside]
                _kernels.add_values(rows, self.roots, self.links, self.numbers, out)

        ends = np.linspace(0, X.shape[0], workers + 1).astype(int)
        in_threads(add, [slice(a, b) for a, b in pairwise(ends)], workers)
        return total

    def leaves(self, X: Matrix) -> NDArray[np.int32]:
        """The leaf of each row in each tree, as a node number."""
        from toprank.trees import _kernels

        leaves = np.empty((X.shape[0], len(self.roots)), dtype=np.int32)
        for part, rows in dense_parts(X):
            _kernels.leaf_of(rows, self.roots, self.links, self.numbers, leaves[part])
        return leaves


class TreePile:
    """Trees that are packed one after the other as they are grown.

    Arrays are made longer where they are (the system moves large ones without copying), so that a forest
    larger than its data is never there twice.
    """

    def __init__(self) -> None:
        self._roots: list[Ints] = [np.empty(0, dtype=np.int64)]
        self._links, self._numbers = np.empty((0, 2), dtype=np.int32), np.empty(0)
        self._size = 0

    def add(self, part: PackedTrees) -> None:
        """Put trees behind those that are there."""
        start, end = self._size, self._size + len(part.numbers)
        self._links.resize((end, 2), refcheck=False)
        self._numbers.resize(end, refcheck=False)
        self._links[start:end], self._numbers[start:end] = part.links, part.numbers
        self._links[start:end, CHILD] += np.where(part.links[:, FEATURE] >= 0, start, 0).astype(np.int32)
        self._roots.append(part.roots + start)
        self._size = end

    def packed(self) -> PackedTrees:
        """All trees; nothing may be added afterwards."""
        return PackedTrees(np.concatenate(self._roots), self._links, self._numbers)


def in_threads(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> list[Result]:
    """The results of all tasks in their order, by so many threads; kernels let others work meanwhile."""
    if workers == 1:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, tasks))


def dense_parts(X: Matrix) -> Any:
    """The rows of a matrix, all at once or, where it is sparse, some at a time; each with where they are."""
    if isinstance(X, np.ndarray):
        yield slice(0, X.shape[0]), X
        return
    step = max(1, CELLS // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        part = slice(start, min(start + step, X.shape[0]))
        yield part, np.asarray(X[part].toarray(), dtype=np.float64)
