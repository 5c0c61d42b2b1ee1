"""Growing one axis-parallel ranking tree with the compiled kernels, looking at the clock."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run
from toprank.trees.codes import Codes
from toprank.trees.nodes import PackedTrees, RankingTree

__all__ = ["UNLIMITED", "Growth", "compile_growth", "grow_tree"]

Floats = NDArray[np.float64]
BUDGET = 20_000_000
"""Codes looked at between two looks at the clock: some hundredths of a second."""
UNLIMITED = 2**31 - 1
"""A depth no tree has, more features than there are."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How far a tree is grown, and for what.

    Parameters
    ----------
    max_depth : int
        Splits from the root to a leaf, at most.
    min_leaf : int
        Rows in a leaf, at least.
    max_features : int
        Features each node looks at.
    top : float
        The weight of the list's top, for splits by the local AUC; -1 for the AUC.
    """

    max_depth: int = UNLIMITED
    min_leaf: int = 1
    max_features: int = UNLIMITED
    top: float = -1.0


def grow_tree(
    codes: Codes,
    rows: NDArray[np.int32],
    weight: Floats,
    label: NDArray[np.int8],
    growth: Growth,
    run: Run,
    *,
    seed: int = 0,
) -> RankingTree:
    """One tree on some rows; a tree that time cuts short has leaves where it would have split.

    Parameters
    ----------
    codes : Codes
        Of all rows.
    rows : array of row numbers
    weight, label : arrays
        Of these rows; 1 for the positives.
    """
    from toprank.trees import _kernels

    n_rows, n_features = len(rows), len(codes.codes)
    most = 2 * max(1, n_rows // growth.min_leaf) + 1
    if growth.max_depth < 30:
        most = min(most, 2 ** (growth.max_depth + 1) + 1)
    # Written as nodes are made: memory that is never touched is free, and there is room for many more nodes.
    bounds, links = np.empty((most, 3), dtype=np.int64), np.empty((most, 4), dtype=np.int32)
    masses, thresholds, gains = np.empty((most, 4)), np.zeros(most), np.zeros(most)
    up, down = float(weight[label == 1].sum()), float(weight[label == 0].sum())
    bounds[0], masses[0] = (0, n_rows, 0), (up, down, 0.0, 0.0)
    state = np.array([0, 1], dtype=np.int64)
    longest = int(codes.n_codes.max(initial=1))
    kept = (rows.astype(np.int32), weight.astype(np.float64), label.astype(np.int8))
    room = (
        np.empty((longest, 3)), np.arange(n_features), np.empty(n_rows, dtype=np.int64),
        np.empty(longest, dtype=np.int64), *(np.empty_like(one) for one in kept),
    )  # fmt: skip
    while not _kernels.grow(
        codes.codes, codes.n_codes, codes.cuts, codes.cut_start, *kept,
        bounds, masses, links, thresholds, gains, state,
        growth.max_depth, growth.min_leaf, min(growth.max_features, n_features), np.uint64(seed),
        float(growth.top), down, BUDGET, *room,
    ):  # fmt: skip
        if run.should_stop():
            break
    size = int(state[1])
    links[state[0] : size] = -1  # those that still wait
    scale = 1.0 / (up * down) if up * down > 0 else 0.0
    return RankingTree(
        links[:size].copy(), thresholds[:size].copy(), gains[:size] * scale, masses[:size].copy()
    )


@lru_cache(maxsize=2)
def compile_growth(kind: type) -> None:
    """Compile the kernels for codes of that type, or load them from disk."""
    codes = Codes(
        np.array([[1, 2]], dtype=kind),
        np.array([3], dtype=np.int64),
        np.array([-np.inf, 0.5]),
        np.zeros(1, dtype=np.int64),
    )
    rows, label = np.arange(2, dtype=np.int32), np.array([0, 1], dtype=np.int8)
    tree = grow_tree(codes, rows, np.ones(2), label, Growth(), Run())
    packed = PackedTrees.of(tree, np.zeros(3))
    packed.total(np.zeros((1, 1)))
    tree.value()
