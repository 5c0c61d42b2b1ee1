"""Ranking trees of rows with more than two labels: what their nodes hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix, RankingData
from toprank.trees.nodes import RankingTree

__all__ = ["GradedTree", "LevelRows", "graded_tree", "level_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GradedTree(RankingTree):
    """A tree of graded rows; instead of positives it counts how high on the scale of labels rows are.

    The weight of the positives of a node is the sum of its rows' rates, numbers from 0 to 1 that rise with
    the label, that of its negatives what is left of their weight. So what is said of the share of positives
    holds for the mean rate.

    Parameters
    ----------
    means : array of shape (n_nodes,)
        The mean label of each node.
    worth : float
        The statistic of the leaves from left to right, ties counting on average.
    """

    means: Floats = field(default_factory=lambda: np.empty(0))
    worth: float = 0.5

    def value(self, by: str = "tree", top: float = -1.0) -> float:
        """What the leaves from left to right are worth to who grew the tree."""
        return self.worth

    def leaf_says(self, node: int) -> str:
        """What there is in a leaf."""
        rows = self.masses[node, :2].sum()
        return f"mean {self.means[node]:.4g} of {rows:g} {'row' if rows == 1 else 'rows'}"

    def without(self, cut: NDArray[np.bool_]) -> RankingTree:
        """The tree with the nodes made leaves at which `cut` is true, and what was below them gone."""
        found = super().without(cut)
        assert isinstance(found, GradedTree)
        return replace(found, means=self.means[self.kept(cut)])


@dataclass(frozen=True)
class LevelRows:
    """The rows a tree is grown from.

    Parameters
    ----------
    X : array or CSR matrix
    y : array
        Labels as numbers.
    rates : array
        From 0 to 1, rising with the labels.
    weight : array
    """

    X: Matrix
    y: Floats
    rates: Floats
    weight: Floats


def level_rows(data: RankingData) -> LevelRows:
    """Rows with their rates: how far up the list of all responses, or of all levels, a label is."""
    weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    codes = np.unique(data.grade, return_inverse=True)[1]
    if data.kind == "continuous":
        mass = np.bincount(codes, weights=weight)
        rates = ((np.cumsum(mass) - 0.5 * mass) / mass.sum())[codes]
    else:
        rates = codes / codes.max()
    return LevelRows(data.X, data.grade, rates, weight)


def graded_tree(
    links: NDArray[np.int32],
    thresholds: Floats,
    gains: Floats,
    members: Sequence[NDArray[Any]],
    data: LevelRows,
    worth: float,
    splitters: list[Any] | None = None,
) -> GradedTree:
    """The tree of these nodes, given the rows of each."""
    masses, means = np.zeros((len(members), 4)), np.zeros(len(members))
    for node, rows in enumerate(members):
        weight = data.weight[rows]
        mass = weight.sum()
        masses[node, 0] = weight @ data.rates[rows]
        masses[node, 1] = mass - masses[node, 0]
        means[node] = weight @ data.y[rows] / mass
    tree = GradedTree(links, thresholds, gains, masses, splitters or [], means, worth)
    for node in tree.inner:
        left, right = tree.left_and_right(int(node))
        masses[left, 2:] = masses[node, 2:]
        masses[right, 2:] = masses[node, 2:] + masses[left, :2]
    return tree
