"""`LearningCurveDisplay`: what was learned is what is drawn."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator

from toprank.report import LearningCurveDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


class Fitted(BaseEstimator):
    """One that was fitted."""

    def __init__(self, history_, n_iter_):
        self.history_, self.n_iter_ = history_, n_iter_

    def fit(self):
        return self


def test_lines_are_the_history():
    history = {"loss": np.array([0.7, 0.5, 0.4]), "value": np.array([0.6, 0.9, 0.8])}
    display = LearningCurveDisplay.from_estimator(Fitted(history_=history, n_iter_=2), name="net")
    np.testing.assert_array_equal(display.line_.get_ydata(), history["loss"])
    np.testing.assert_array_equal(display.value_line_.get_ydata(), history["value"])
    assert list(display.best_line_.get_xdata()) == [2, 2]
    assert display.line_.get_label() == "net: loss"


def test_without_held_out_rows_there_is_one_line():
    history = {"loss": np.array([0.7, 0.5]), "value": np.array([])}
    display = LearningCurveDisplay.from_estimator(Fitted(history_=history, n_iter_=2))
    assert display.value_line_ is None
    assert display.best_line_ is None


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="losses is empty"):
        LearningCurveDisplay([])
    with pytest.raises(ValueError, match="values has 1 entries for 2 passes"):
        LearningCurveDisplay([0.1, 0.2], [0.1])
