"""Smaller trees: the subtree with the largest AUC less a price for each leaf.

The AUC of a tree, ties counting half, is a half plus half the gains of all its splits. So the best subtree is
found from the leaves up: a split is kept if it and what is below it gain more than they cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.trees.nodes import RankingTree

__all__ = ["critical_prices", "pruned"]

Floats = NDArray[np.float64]
STEP = 1.1
"""Prices that differ by a smaller factor are not told apart."""


def pruned(tree: RankingTree, price: float) -> RankingTree:
    """The subtree with the largest AUC - price * leaves; of several, the smallest."""
    from toprank.trees import _kernels

    cut = np.zeros(len(tree.links), dtype=bool)
    _kernels.not_worth_it(tree.links, 0.5 * tree.gains, float(price), cut)
    return tree.without(cut) if cut.any() else tree


def critical_prices(tree: RankingTree) -> Floats:
    """Rising prices between which the best subtree changes: 0 keeps all, the last one the root alone.

    The weakest link (Breiman et al. 1984, Section 3.3): the node that gains least for each split at and below
    it goes first.
    """
    from toprank.trees import _kernels

    breaks = [0.0]
    while len(tree.inner):
        total, inner = np.empty(len(tree.links)), np.empty(len(tree.links), dtype=np.int64)
        _kernels.subtree_sums(tree.links, 0.5 * tree.gains, total, inner)
        split = inner > 0
        weakest = float((total[split] / inner[split]).min())
        # A hair more, so that rounding does not keep what should go.
        breaks.append(max(weakest * (1.0 + 1e-9), STEP * breaks[-1]))
        tree = pruned(tree, breaks[-1])
    between = np.sqrt(np.array(breaks[1:-1]) * np.array(breaks[2:]))
    return np.concatenate(([0.0], between, breaks[-1:])) if len(breaks) > 1 else np.zeros(1)
