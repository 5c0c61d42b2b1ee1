"""`RankingTreeDisplay`: what is drawn is what the text says."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from toprank import RankingForest, TreeRank
from toprank.report import RankingTreeDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def fitted(**options):
    X = np.random.default_rng(0).normal(size=(80, 2))
    return TreeRank(**options).fit(X, (X[:, 0] + np.abs(X[:, 1]) > 1).astype(int))


@pytest.mark.parametrize("order", ["tree", "rate"])
def test_every_node_is_drawn_and_leaves_stand_from_left_to_right(order):
    tree = fitted(max_depth=3, leaf_order=order)
    display = RankingTreeDisplay.from_estimator(tree)
    texts = [text.get_text() for text in display.texts_]
    assert len(texts) == len(tree.tree_.links)
    assert len(display.ax_.get_lines()) == len(texts) - 1  # one edge above every node but the root
    leaves = [text for text in display.texts_ if "positive" in text.get_text()]
    assert [text.get_position()[0] for text in leaves] == list(range(tree.n_leaves_))
    numbers = [int(text.get_text().split("\n")[0]) for text in leaves]
    assert sorted(numbers) == list(range(1, tree.n_leaves_ + 1))
    assert (numbers == sorted(numbers)) or order == "rate"
    # The same words as the text, in the same order.
    said = tree.export_text()
    for text in leaves:
        number, words = text.get_text().split("\n")
        assert f"leaf {number}: {words}" in said


def test_the_upper_part_of_a_deep_tree():
    tree = fitted(min_samples_leaf=1)
    display = RankingTreeDisplay.from_estimator(
        tree, max_depth=1, names=["a", "b"], ax=Figure().add_subplot()
    )
    assert len(display.texts_) == 3
    assert display.texts_[0].get_text()[0] in "ab"


def test_a_splitter_and_a_single_leaf():
    display = RankingTreeDisplay.from_estimator(fitted(splitter=LogisticRegression(), max_depth=1))
    assert display.texts_[0].get_text() == "LogisticRegression says yes"
    lone = TreeRank().fit(np.zeros((10, 1)), np.arange(10) % 2)
    assert [text.get_text() for text in RankingTreeDisplay.from_estimator(lone).texts_] == [
        "1\n5 of 10 positive"
    ]


def test_what_cannot_be_drawn_is_said():
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) % 2
    with pytest.raises(ValueError, match="leaves, more than can be read"):
        RankingTreeDisplay.from_estimator(TreeRank(max_depth=None, min_samples_leaf=1).fit(X, y))
    with pytest.raises(ValueError, match="RankingForest is not a single ranking tree"):
        RankingTreeDisplay.from_estimator(RankingForest(2).fit(X, y))
    with pytest.raises(ValueError, match="3 names"):
        RankingTreeDisplay.from_estimator(TreeRank(max_depth=1).fit(X, y), names=["a", "b", "c"])
