"""What a tree says of its leaves, as numbers that can be averaged over trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.trees.nodes import FEATURE, RankingTree

__all__ = ["leaf_values"]

Floats = NDArray[np.float64]


def leaf_values(tree: RankingTree, aggregation: str, leaf_order: str, shrinkage: float) -> Floats:
    """A number between 0 and 1 for each leaf (0 elsewhere), the higher the nearer to the top.

    Parameters
    ----------
    tree : RankingTree
    aggregation : {"mean_rate", "mean_rank", "borda", "consensus"}
        The share of positives, drawn to that of the nodes above; the place of the leaf among the leaves; for
        the others the share of the rows in leaves ranked below, those of the same leaf counting half.
    leaf_order : {"rate", "tree"}
        Leaves by that share of positives, equal ones sharing a place, or from left to right.
    shrinkage : float
        Rows that draw a node's share of positives to its parent's.
    """
    from toprank.trees import _kernels

    leaves = np.flatnonzero(tree.links[:, FEATURE] < 0)
    rates = np.empty(len(tree.links))
    _kernels.shrunk_rates(tree.links, tree.masses, shrinkage, rates)
    values = np.zeros(len(tree.links))
    if aggregation == "mean_rate":
        values[leaves] = rates[leaves]
        return values
    if leaf_order == "tree":
        levels = len(leaves) - 1 - tree.places[leaves]
    else:
        levels = np.unique(rates[leaves], return_inverse=True)[1]
    if aggregation == "mean_rank":
        highest = int(levels.max())
        values[leaves] = levels / highest if highest else 0.5
        return values
    mass = np.bincount(levels, weights=tree.masses[leaves, :2].sum(axis=1))
    values[leaves] = ((np.cumsum(mass) - 0.5 * mass) / mass.sum())[levels]
    return values
