"""What a tree says of itself: as text, and by feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.trees.nodes import FEATURE, RankingTree

__all__ = ["condition", "leaf_numbers", "names_of", "tree_importances", "tree_text"]

Floats = NDArray[np.float64]


def tree_text(tree: RankingTree, names: Sequence[str], decimals: int, leaf_order: str) -> str:
    """The nodes, left before right, each below its parent; leaves with their number in the list."""
    return "\n".join(_lines(tree, names, decimals, leaf_numbers(tree, leaf_order)))


def leaf_numbers(tree: RankingTree, leaf_order: str) -> dict[int, int]:
    """The place of each leaf in the list, by its node, from 1."""
    return {int(leaf): place for place, leaf in enumerate(tree.order(leaf_order), start=1)}


def names_of(estimator: Any, names: Sequence[str] | None) -> list[str]:
    """The names given, those the rows of a fitted estimator came with, or x0, x1, ..."""
    known = getattr(estimator, "feature_names_in_", None) if names is None else names
    wanted = int(estimator.n_features_in_)
    if known is None:
        known = [f"x{feature}" for feature in range(wanted)]
    if len(known) != wanted:
        raise ValueError(f"feature_names has {len(known)} names, but there are {wanted} features.")
    return [str(name) for name in known]


def _lines(tree: RankingTree, names: Sequence[str], decimals: int, number: dict[int, int]) -> Iterator[str]:
    # Deepest last: the children of a node come right after it, the left one first.
    waiting: list[tuple[int, int, str]] = [(0, 0, "")]
    while waiting:
        node, depth, says = waiting.pop()
        if says:
            yield "|   " * (depth - 1) + says
        if tree.links[node, FEATURE] < 0:
            yield "|   " * depth + f"leaf {number[node]}: {tree.leaf_says(node)}"
            continue
        left, right = tree.left_and_right(node)
        for child in (right, left):
            waiting.append((child, depth + 1, condition(tree, node, child, names, decimals)))


def condition(tree: RankingTree, node: int, child: int, names: Sequence[str], decimals: int) -> str:
    """What is true of the rows of a child."""
    _, first, left_first, _ = tree.links[node]
    if tree.splitters:
        kind = type(tree.splitters[node].estimator).__name__
        return f"{kind} says yes" if (child == first) == bool(left_first) else f"{kind} says no"
    name, threshold = names[tree.links[node, FEATURE]], tree.thresholds[node]
    if threshold == -np.inf:
        return f"{name} is missing" if child == first else f"{name} is known"
    return f"{name} {'<=' if child == first else '>'} {threshold:.{decimals}f}".rstrip("0").rstrip(".")


def tree_importances(tree: RankingTree, n_features: int) -> Floats:
    """Each feature's share of the gains; of the splits by classifiers, the shares these give it.

    Raises
    ------
    AttributeError
        Where a classifier tells nothing of its features.
    """
    shares = np.zeros(n_features)
    if not tree.splitters:
        shares += np.bincount(tree.links[tree.inner, FEATURE], tree.gains[tree.inner], minlength=n_features)
    for node in tree.inner if tree.splitters else []:
        splitter = tree.splitters[node]
        own = _own_shares(splitter.estimator)
        shares[splitter.columns] += tree.gains[node] * own / (own.sum() or 1.0)
    return shares / (shares.sum() or 1.0)


def _own_shares(estimator: Any) -> Floats:
    found = getattr(estimator, "feature_importances_", None)
    if found is None:
        raise AttributeError(f"{type(estimator).__name__} has no feature_importances_.")
    return np.asarray(found, dtype=np.float64)
