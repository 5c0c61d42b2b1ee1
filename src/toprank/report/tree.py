"""A figure of a ranking tree: its splits, and its leaves from left to right, best first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from toprank.report.style import PALETTE, new_axes
from toprank.trees.nodes import RankingTree
from toprank.trees.showing import condition, leaf_numbers, names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text

__all__ = ["RankingTreeDisplay"]

MOST_LEAVES = 64
"""More are not readable."""


class RankingTreeDisplay:
    r"""A ranking tree: what is true of a row goes left, and leaves further left are ranked higher.

    Parameters
    ----------
    tree : RankingTree
        The `tree_` of a fitted tree.
    names : sequence of str
        Of the features.
    leaf_order : {"tree", "rate"}
        How leaves are numbered.
    max_depth : int, optional
        Draw so many splits below each other; what is below is taken for leaves.

    Attributes
    ----------
    texts_ : list of matplotlib Text
        Of the nodes, a node before those below it, the left before the right.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from toprank import TreeRank
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> tree = TreeRank(min_samples_leaf=1).fit(X, y)
    >>> display = RankingTreeDisplay.from_estimator(tree, names=["size"], ax=Figure().add_subplot())
    >>> [text.get_text() for text in display.texts_]
    ['size > 1.5', '1\n2 of 2 positive', '2\n0 of 2 positive']
    """

    texts_: list[Text]
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        tree: RankingTree,
        names: Sequence[str],
        *,
        leaf_order: str = "tree",
        max_depth: int | None = None,
    ) -> None:
        self.tree = tree
        self.names = [str(name) for name in names]
        self.leaf_order = leaf_order
        self.max_depth = max_depth

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        max_depth: int | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the tree of a fitted `TreeRank`, or of another ranker that is one tree.

        Parameters
        ----------
        estimator : ranker with a `tree_`
        names : sequence of str, optional
            The names its rows came with by default, else x0, x1, ...
        max_depth : int, optional
        ax : matplotlib Axes, optional
        **options
            Passed to matplotlib's ``text``.
        """
        check_is_fitted(estimator)
        if not isinstance(getattr(estimator, "tree_", None), RankingTree):
            raise ValueError(f"{type(estimator).__name__} is not a single ranking tree: it has no tree_.")
        order = getattr(estimator, "leaf_order", "tree")
        display = cls(estimator.tree_, names_of(estimator, names), leaf_order=order, max_depth=max_depth)
        return display.plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw, on new axes unless some are given; `options` go to matplotlib's ``text``."""
        deepest = len(self.tree.links) if self.max_depth is None else int(self.max_depth)
        cut = self.tree.depths >= deepest
        tree = self.tree.without(cut & (self.tree.links[:, 0] >= 0)) if cut.any() else self.tree
        if len(tree.leaves) > MOST_LEAVES:
            raise ValueError(
                f"The tree has {len(tree.leaves)} leaves, more than can be read: give a smaller max_depth."
            )
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        across, down = _positions(tree), -tree.depths.astype(np.float64)
        numbers = leaf_numbers(tree, self.leaf_order)
        self.texts_ = []
        for node in _walk(tree):
            leaf = node in numbers
            if not leaf:
                for child in tree.left_and_right(node):
                    ends = [across[node], across[child]], [down[node], down[child]]
                    self.ax_.plot(*ends, color="#7A7A7A", linewidth=1.0, zorder=1)
                said = condition(tree, node, tree.left_and_right(node)[0], self.names, 3)
            else:
                said = f"{numbers[node]}\n{tree.leaf_says(node)}"
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": PALETTE[2 if leaf else 0]}
            style = {"ha": "center", "va": "center", "fontsize": "small", "bbox": box} | options
            self.texts_.append(self.ax_.text(float(across[node]), float(down[node]), said, **style))
        self.ax_.set_xlim(-0.7, len(numbers) - 0.3)
        self.ax_.set_ylim(float(down.min()) - 0.5, 0.5)
        self.ax_.set_axis_off()
        return self


def _positions(tree: RankingTree) -> NDArray[np.float64]:
    """Leaves by their place, a node in the middle above its children."""
    across = tree.places.astype(np.float64)
    for node in tree.inner[::-1]:
        left, right = tree.left_and_right(int(node))
        across[node] = 0.5 * (across[left] + across[right])
    return across


def _walk(tree: RankingTree) -> list[int]:
    found, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if tree.links[node, 0] >= 0:
            waiting += reversed(tree.left_and_right(node))
    return found
