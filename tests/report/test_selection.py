"""`StabilityPathDisplay`: the paths that were learned are the lines that are drawn."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

from toprank import GradientFreeBoosting, StabilitySelection
from toprank.report import StabilityPathDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("rule", ["loss", "threshold"])
def test_lines_are_paths(rule):
    X = np.random.default_rng(0).normal(size=(120, 6))
    y = (X[:, 1] > X[:, 3]).astype(int)
    ranker = StabilitySelection(
        GradientFreeBoosting(n_estimators=10), rule=rule, n_subsamples=5, random_state=0
    ).fit(X, y)
    display = StabilityPathDisplay.from_estimator(ranker, names=list("abcdef"))
    assert {"b", "d"} <= {line.get_label() for line in display.lines_}
    for line in display.lines_:
        np.testing.assert_array_equal(line.get_ydata(), ranker.paths_[:, "abcdef".index(line.get_label())])
    extra = 1 if rule == "threshold" else 0
    assert len(display.ax_.get_lines()) == 6 + extra


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="a row for each value"):
        StabilityPathDisplay([1, 2], [[0.5]], [True])
    with pytest.raises(ValueError, match="names has 2"):
        StabilityPathDisplay([1], [[0.5]], [True], names=["a", "b"])


def test_a_path_along_penalties_is_logarithmic():
    display = StabilityPathDisplay([0.001, 1.0], [[0.1], [0.9]], [True]).plot()
    assert display.ax_.get_xscale() == "log"
