"""Growing a tree for more than two labels whose nodes are split by any classifier.

A node asks one question for each two adjacent levels it holds, or one about its median; a classifier answers
each, and the best answer is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.base import RankingData, fit_copy
from toprank.control import Run
from toprank.trees.growing import Growth
from toprank.trees.level_trees import GradedTree, LevelRows, graded_tree
from toprank.trees.splitting import NodeSplitter

__all__ = ["grow_levels_with", "leaf_volume"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
ROUNDING = 1e-12
"""Gains below this are none."""


@dataclass(frozen=True)
class Question:
    """Some rows of a node and which of them should go left."""

    rows: Rows
    left: Mask


class Judge(Protocol):
    """What the leaves as they stand are worth, and what a split would gain."""

    value: float

    def questions(self, rows: Rows) -> Sequence[Question]:
        """What to ask of the rows of a node."""
        ...

    def choose(self, node: int, parts: Sequence[tuple[Rows, Rows]]) -> tuple[int, float]:
        """The number of the best split into left and right and what it gains; -1 where none gains."""
        ...

    def split(self, node: int, left: Rows, right: Rows, children: tuple[int, int]) -> None:
        """The node was split into those two, left before right."""
        ...


def grow_levels_with(splitter: Any, data: LevelRows, kind: str, growth: Growth, run: Run) -> GradedTree:
    """A tree on all rows; each classifier gives either side of its question half of the weight.

    Leaves of one depth are looked at from the worst to the best. Nodes that were not looked at in time stay
    leaves.
    """
    judge: Judge = Tournament(data) if kind == "ordinal" else Medians(data)
    members: list[Rows] = [np.arange(len(data.y))]
    links, gains, splitters = [(-1, -1, -1, -1)], [0.0], [None]
    here = [0]
    for _ in range(growth.max_depth):
        deeper: list[int] = []
        for node in here:
            rows = members[node]
            if len(rows) < 2 * growth.min_leaf or run.should_stop():
                continue
            found = [_answer(splitter, data, one, growth, run) for one in judge.questions(rows)]
            parts = [(rows[goes := one.left(data.X[rows])], rows[~goes]) for one in found]
            fit = [k for k, part in enumerate(parts) if min(map(len, part)) >= growth.min_leaf]
            best, gain = judge.choose(node, [parts[k] for k in fit]) if fit else (-1, 0.0)
            if best < 0:
                continue
            child, (left, right) = len(members), parts[fit[best]]
            judge.split(node, left, right, (child, child + 1))
            links[node], gains[node], splitters[node] = (0, child, 1, 1), gain, found[fit[best]]  # type: ignore[call-overload]
            members += [left, right]
            links += [(-1, -1, -1, -1)] * 2
            gains += [0.0, 0.0]
            splitters += [None, None]
            deeper += [child + 1, child]
        if not deeper:
            break
        here = deeper
    found_links = np.array(links, dtype=np.int32)
    return graded_tree(
        found_links, np.zeros(len(links)), np.array(gains), members, data, judge.value, list(splitters)
    )


def _answer(splitter: Any, data: LevelRows, question: Question, growth: Growth, run: Run) -> NodeSplitter:
    X: Any = data.X
    columns = np.arange(X.shape[1])
    if growth.max_features < len(columns):
        columns = np.sort(run.rng.choice(len(columns), growth.max_features, replace=False))
    label, weight = question.left.astype(np.int8), data.weight[question.rows]
    up, down = weight[label == 1].sum(), weight[label == 0].sum()
    # Half the weight for either side, and one for a row on average: what penalties are meant for.
    balance = np.where(label == 1, 0.5 / up, 0.5 / down) * weight * len(label)
    part = RankingData(X[question.rows][:, columns], label, sample_weight=balance)
    return NodeSplitter(fit_copy(splitter, part, run), columns)


class Tournament:
    """Every two adjacent levels of a node ask; the split with the best VUS wins, then the most pairs.

    The VUS is that of all leaves as they stand, from left to right, ties counting as they do on average.
    """

    def __init__(self, data: LevelRows) -> None:
        self._codes = np.unique(data.y, return_inverse=True)[1]
        self._levels = int(self._codes.max()) + 1
        masses = np.bincount(self._codes, weights=data.weight, minlength=self._levels)
        self._shares = data.weight / masses[self._codes]
        # Leaves from left to right, and the share of each level that they hold.
        self._leaves, self._held = [0], np.ones((1, self._levels))
        self.value = leaf_volume(self._held)

    def questions(self, rows: Rows) -> Sequence[Question]:
        """One for each two levels that are next to each other among those of the node."""
        codes = self._codes[rows]
        found = []
        for lower, upper in pairwise(np.unique(codes)):
            asked = rows[(codes == lower) | (codes == upper)]
            found.append(Question(asked, self._codes[asked] == upper))
        return found

    def choose(self, node: int, parts: Sequence[tuple[Rows, Rows]]) -> tuple[int, float]:
        """The split with the best volume."""
        place = self._leaves.index(node)
        gains, pairs = np.zeros(len(parts)), np.zeros(len(parts))
        for number, (left, right) in enumerate(parts):
            gains[number] = leaf_volume(self._parted(place, left, right)) - self.value
            pairs[number] = _pairs_gained(self._part(left), self._part(right))
        best = float(gains.max())
        alike = np.where(gains >= best - ROUNDING, pairs, -np.inf)
        chosen = int(np.argmax(alike >= alike.max() - ROUNDING))
        # No chain may reach a node whose levels others hold in the wrong order: pairs tell all the same.
        if best > ROUNDING or (best > -ROUNDING and pairs[chosen] > ROUNDING):
            return chosen, max(float(gains[chosen]), 0.0)
        return -1, 0.0

    def split(self, node: int, left: Rows, right: Rows, children: tuple[int, int]) -> None:
        """Two leaves in the place of one."""
        place = self._leaves.index(node)
        self._held = self._parted(place, left, right)
        self._leaves[place : place + 1] = list(children)
        self.value = leaf_volume(self._held)

    def _parted(self, place: int, left: Rows, right: Rows) -> Floats:
        halves = np.stack((self._part(left), self._part(right)))
        return np.concatenate((self._held[:place], halves, self._held[place + 1 :]))

    def _part(self, rows: Rows) -> Floats:
        found = np.bincount(self._codes[rows], weights=self._shares[rows], minlength=self._levels)
        return np.asarray(found, dtype=np.float64)


def leaf_volume(held: Floats) -> float:
    """The VUS of leaves, best first, by the share of each level that they hold; ties count on average.

    >>> leaf_volume(np.array([[0.0, 1.0], [1.0, 0.0]])), leaf_volume(np.ones((1, 3))) * 6
    (1.0, 1.0)
    """
    from toprank.statistics import _pair_kernels

    leaves, levels = np.nonzero(held[::-1])
    shares = held[::-1][leaves, levels]
    n_levels = held.shape[1]
    return float(
        _pair_kernels.ordered_chains(levels.astype(np.int64), leaves.astype(np.float64), shares, n_levels, 1)
    )


def _pairs_gained(left: Floats, right: Floats) -> float:
    """Sum over pairs of levels of twice the AUC that ranking one part above the other gains."""
    upper, lower = np.triu_indices(len(left), 1)[::-1]
    return float((left[upper] * right[lower] - left[lower] * right[upper]).sum())


class Medians:
    """Which rows of a node are above its median; a split gains pairs in the right order.

    The C-index of the leaves, ties counting half, is a half plus half of all gains.
    """

    def __init__(self, data: LevelRows) -> None:
        self._y, self._weight = data.y, data.weight
        masses = np.bincount(np.unique(data.y, return_inverse=True)[1], weights=data.weight)
        self._comparable = float(masses[1:] @ np.cumsum(masses)[:-1])
        self.value = 0.5

    def questions(self, rows: Rows) -> Sequence[Question]:
        """One; none where all labels are the same."""
        y = self._y[rows]
        order = np.argsort(y, kind="stable")
        mass = np.cumsum(self._weight[rows][order])
        median = y[order[min(int(np.searchsorted(mass, 0.5 * mass[-1])), len(y) - 1)]]
        above = y >= median if median == y.max() else y > median
        return [] if above.all() else [Question(rows, above)]

    def choose(self, node: int, parts: Sequence[tuple[Rows, Rows]]) -> tuple[int, float]:
        """The one there is, if more pairs come into order than out of it."""
        gain = self._gain(*parts[0])
        return (0, gain) if gain > ROUNDING else (-1, 0.0)

    def split(self, node: int, left: Rows, right: Rows, children: tuple[int, int]) -> None:
        """More pairs in order."""
        self.value += 0.5 * self._gain(left, right)

    def _gain(self, left: Rows, right: Rows) -> float:
        """The share of pairs that ranking the first above the second gains, less that it loses."""
        order = right[np.argsort(self._y[right], kind="stable")]
        below = np.concatenate(([0.0], np.cumsum(self._weight[order])))
        y = self._y[left]
        under = below[np.searchsorted(self._y[order], y, side="left")]
        over = below[-1] - below[np.searchsorted(self._y[order], y, side="right")]
        return float(self._weight[left] @ (under - over)) / self._comparable
