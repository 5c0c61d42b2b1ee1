"""Growing one axis-parallel tree for more than two labels with the compiled kernels, looking at the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run
from toprank.trees.codes import Codes
from toprank.trees.growing import BUDGET, Growth
from toprank.trees.level_trees import GradedTree, LevelRows, graded_tree

__all__ = ["grow_medians", "grow_tournament"]

Floats = NDArray[np.float64]


def grow_tournament(
    data: LevelRows, codes: Codes, numbers: NDArray[Any], growth: Growth, run: Run, seed: int = 0
) -> GradedTree:
    """A tree whose nodes are split by the adjacent levels that gain most in VUS.

    Parameters
    ----------
    data : LevelRows
    codes : Codes
    numbers : array
        The number of each row of the data among those that have codes.
    growth : Growth
    run : Run
    seed : int
        Of the features drawn.
    """
    from toprank.trees import _level_kernels as kernels

    nodes, codes_of = _Nodes(data, numbers, growth), np.unique(data.y, return_inverse=True)[1]
    n_levels, n_rows = int(codes_of.max()) + 1, len(codes.codes[0])
    levels = _by_number(codes_of, numbers, n_rows)
    masses = np.bincount(codes_of, weights=data.weight, minlength=n_levels)
    held = np.zeros((nodes.most, n_levels))
    held[0] = 1.0
    line, state = np.zeros(1, dtype=np.int64), np.array([1, 0, 1, 0], dtype=np.int64)
    pair = (np.empty_like(nodes.rows), np.empty_like(nodes.weight), np.empty(len(numbers), np.int8))
    spare = (np.empty_like(nodes.rows), np.empty_like(nodes.weight), np.empty(len(numbers), np.int8))
    dummy, found = np.zeros(len(numbers), np.int8), np.empty((2 * n_levels, 6))
    left, right = np.empty(n_levels), np.empty(n_levels)
    work, features = _work(codes, len(numbers)), min(growth.max_features, len(codes.codes))
    nodes.links[:] = -1
    while state[3] < growth.max_depth and not run.should_stop():
        suffix, following = np.empty((len(line) + 1, n_levels + 1)), np.empty(2 * len(line), dtype=np.int64)
        kernels.pull_line(line, held, suffix)
        reached = np.eye(1, n_levels + 1)[0]
        state[:2] = len(line), 0
        while not kernels.tournament_round(
            codes.codes, codes.n_codes, codes.cuts, codes.cut_start, nodes.rows, nodes.weight, levels,
            1.0 / np.maximum(masses, np.finfo(np.float64).tiny),
            nodes.bounds, held, nodes.links, nodes.thresholds, nodes.gains, line, following, suffix, reached,
            state, growth.min_leaf, features, np.uint64(seed), BUDGET, work,
            *pair, dummy, *spare, left, right, found,
        ):  # fmt: skip
            if run.should_stop():
                # What was not looked at stays as it is.
                rest = line[: state[0]][::-1]
                following[state[1] : state[1] + len(rest)] = rest
                state[1] += len(rest)
                break
        grown = state[1] > len(line)
        line = following[: state[1]][::-1].copy()
        state[3] += 1
        if not grown:
            break
    worth = _volume(kernels, line, held)
    return nodes.tree(int(state[2]), data, worth)


def grow_medians(
    data: LevelRows, codes: Codes, numbers: NDArray[Any], growth: Growth, run: Run, seed: int = 0
) -> GradedTree:
    """A tree whose nodes are split at the median of their responses; parameters as of `grow_tournament`."""
    from toprank.trees import _level_kernels as kernels

    nodes, ranks = _Nodes(data, numbers, growth), np.unique(data.y, return_inverse=True)[1]
    levels = _by_number(ranks, numbers, len(codes.codes[0]))
    masses = np.bincount(ranks, weights=data.weight)
    comparable = float(masses[1:] @ np.cumsum(masses)[:-1])
    label, state = np.zeros(len(numbers), np.int8), np.array([0, 1], dtype=np.int64)
    spare = (np.empty_like(nodes.rows), np.empty_like(nodes.weight), np.empty_like(label))
    work, features = _work(codes, len(numbers)), min(growth.max_features, len(codes.codes))
    while not kernels.grow_medians(
        codes.codes, codes.n_codes, codes.cuts, codes.cut_start, nodes.rows, nodes.weight, levels, label,
        nodes.bounds, nodes.links, nodes.thresholds, nodes.gains, state,
        growth.max_depth, growth.min_leaf, features, np.uint64(seed), comparable, BUDGET, work, *spare,
    ):  # fmt: skip
        if run.should_stop():
            break
    size = int(state[1])
    nodes.links[state[0] : size] = -1  # those that still wait
    return nodes.tree(size, data, 0.5 + 0.5 * float(nodes.gains[:size].sum()))


class _Nodes:
    """Arrays that nodes are written to as they are made."""

    def __init__(self, data: LevelRows, numbers: NDArray[Any], growth: Growth) -> None:
        n_rows = len(numbers)
        self.most = 2 * max(1, n_rows // growth.min_leaf) + 1
        if growth.max_depth < 30:
            self.most = min(self.most, 2 ** (growth.max_depth + 1) + 1)
        self.rows, self.weight = numbers.astype(np.int32), data.weight.astype(np.float64)
        self.bounds = np.zeros((self.most, 3), dtype=np.int64)
        self.bounds[0, 1] = n_rows
        self.links = np.zeros((self.most, 4), dtype=np.int32)
        self.thresholds, self.gains = np.zeros(self.most), np.zeros(self.most)
        self._numbers = numbers

    def tree(self, size: int, data: LevelRows, worth: float) -> GradedTree:
        """The nodes made so far; the rows of each lie together."""
        place = np.zeros(int(self._numbers.max(initial=0)) + 1, dtype=np.int64)
        place[self._numbers] = np.arange(len(self._numbers))
        order = place[self.rows]
        members = [order[start:stop] for start, stop, _ in self.bounds[:size]]
        links, thresholds = self.links[:size].copy(), self.thresholds[:size].copy()
        return graded_tree(links, thresholds, self.gains[:size].copy(), members, data, worth)


def _by_number(values: NDArray[np.intp], numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    found = np.zeros(size, dtype=np.int64)
    found[numbers] = values
    return found


def _work(codes: Codes, n_rows: int) -> tuple[Any, ...]:
    longest = int(codes.n_codes.max(initial=1))
    return (
        np.empty((longest, 3)),
        np.arange(len(codes.codes)),
        np.empty(n_rows, dtype=np.int64),
        np.empty(longest, dtype=np.int64),
    )


def _volume(kernels: Any, line: NDArray[np.int64], held: Floats) -> float:
    suffix = np.empty((len(line) + 1, held.shape[1] + 1))
    kernels.pull_line(line, held, suffix)
    return float(suffix[-1, 0])
