"""`OneTree`: what rankers share that are a single tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from toprank.base import BaseRanker, Matrix
from toprank.trees.nodes import PackedTrees, RankingTree
from toprank.trees.showing import names_of, tree_importances, tree_text
from toprank.trees.splitting import leaf_by_splitters

__all__ = ["OneTree", "scores_by"]

Floats = NDArray[np.float64]


class OneTree(BaseRanker):
    """A ranker whose leaves are the list: it can be read, drawn and asked for the worth of its features."""

    tree_: RankingTree
    splitter: Any
    leaf_order: str = "tree"

    def _scores(self, X: Matrix) -> Floats:
        return scores_by(self.tree_, X, self.leaf_order)

    @property
    def n_leaves_(self) -> int:
        """How many different scores there are."""
        return len(self.tree_.leaves)

    @property
    def depth_(self) -> int:
        """Splits from the root to the farthest leaf."""
        return int(self.tree_.depths.max())

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of what was gained; with a splitter, its own shares weighted by the gains."""
        return tree_importances(self.tree_, self.n_features_in_)

    def export_text(self, feature_names: Sequence[str] | None = None, *, decimals: int = 3) -> str:
        """The tree as text, best leaf first.

        Parameters
        ----------
        feature_names : sequence of str, optional
            The names `X` came with by default, else x0, x1, ...
        decimals : int
            Of the thresholds.
        """
        check_is_fitted(self)
        return tree_text(self.tree_, names_of(self, feature_names), decimals, self.leaf_order)

    def _inside(self) -> list[Any]:
        return [] if self.splitter is None else [self.splitter]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = True
        tags.input_tags.allow_nan = True
        if self.splitter is not None and hasattr(self.splitter, "__sklearn_tags__"):
            accepts = get_tags(self.splitter).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = accepts.sparse, accepts.allow_nan
        return tags


def scores_by(tree: RankingTree, X: Matrix, leaf_order: str) -> Floats:
    """The number of each row's leaf, counted from the worst."""
    order = tree.order(leaf_order)
    values = np.zeros(len(tree.links))
    values[order] = np.arange(len(order), 0, -1)
    if tree.splitters:
        return values[leaf_by_splitters(tree, X)]
    return PackedTrees.of(tree, values).total(X)
