"""Displays: what they draw is what the curves hold, alone and several on one pair of axes."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from toprank import report
from toprank.control import Progress
from toprank.report import (
    CumulativeGainDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    ROCDisplay,
    SearchProgressDisplay,
)
from toprank.statistics import curves

CURVES = {
    ROCDisplay: (curves.roc_curve, "fpr", "tpr"),
    PrecisionRecallDisplay: (curves.precision_recall_curve, "recall", "precision"),
    CumulativeGainDisplay: (curves.cumulative_gain_curve, "depth", "gain"),
    LiftDisplay: (curves.lift_curve, "depth", "lift"),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 6, weights=[0.8], random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return LogisticRegression().fit(*data)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def references(ax):
    return [line for line in ax.get_lines() if str(line.get_gid()).startswith("toprank-reference")]


@pytest.mark.parametrize("display_class", CURVES)
def test_the_line_is_the_curve(display_class, data, model):
    X, y = data
    weight = np.linspace(0.5, 2, y.size)
    display = display_class.from_estimator(model, X, y, sample_weight=weight)
    make, x_name, y_name = CURVES[display_class]
    expected = make(y, model.decision_function(X), sample_weight=weight)
    np.testing.assert_array_equal(display.line_.get_xdata(), getattr(expected, x_name))
    np.testing.assert_array_equal(display.line_.get_ydata(), getattr(expected, y_name))
    assert display.line_.axes is display.ax_
    assert display.ax_.figure is display.figure_
    assert display.name == "LogisticRegression"
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    display.figure_.canvas.draw()


@pytest.mark.parametrize("display_class", CURVES)
def test_several_models_share_axes_but_not_colours(display_class, data, model):
    X, y = data
    ax = plt.figure().add_subplot()
    rng = np.random.default_rng(0)
    displays = [display_class.from_estimator(model, X, y, ax=ax, name="first")]
    references_alone = len(references(ax))
    displays += [
        display_class.from_predictions(y, rng.normal(size=y.size), ax=ax, name=f"{i}") for i in range(8)
    ]
    assert all(display.ax_ is ax for display in displays)
    looks = {(to_hex(d.line_.get_color()), str(d.line_._dash_pattern)) for d in displays}
    assert len(looks) == 9
    assert len(references(ax)) == references_alone
    texts = legend_texts(ax)
    assert len(texts) == 9 + references_alone
    assert texts[0].startswith("first")
    assert all("Chance" in text or "Perfect" in text for text in texts[9:])


@pytest.mark.parametrize("display_class", CURVES)
def test_options_reach_matplotlib_and_win(display_class, data, model):
    X, y = data
    display = display_class.from_estimator(model, X, y, c="black", lw=4)
    assert to_hex(display.line_.get_color()) == "#000000"
    assert display.line_.get_linewidth() == 4
    again = display.plot(plt.figure().add_subplot(), name="renamed", label="mine")
    assert again is display
    assert legend_texts(display.ax_)[0] == "mine"


def test_summaries_are_the_numbers(data, model):
    X, y = data
    scores = model.decision_function(X)
    roc = ROCDisplay.from_predictions(y, scores, name="a")
    assert legend_texts(roc.ax_) == [f"a (AUC {roc_auc_score(y, scores):.3f})", "Chance"]
    precision = PrecisionRecallDisplay.from_predictions(y, scores)
    assert legend_texts(precision.ax_) == [
        f"AP {average_precision_score(y, scores):.3f}",
        f"Chance ({y.mean():.3g})",
    ]


def test_left_corner_stops_at_its_limit(data, model):
    X, y = data
    display = ROCDisplay.from_estimator(model, X, y, max_fpr=0.1, name="a")
    expected = curves.left_corner_roc_curve(y, model.decision_function(X), max_fpr=0.1)
    np.testing.assert_array_equal(display.line_.get_ydata(), expected.tpr)
    assert display.line_.get_xdata()[-1] == pytest.approx(0.1)
    assert display.ax_.get_xlim()[1] == pytest.approx(0.1, rel=0.05)
    assert legend_texts(display.ax_)[0] == f"a (TPR {expected.tpr[-1]:.2f} at FPR 0.1)"
    with pytest.raises(ValueError, match="max_fpr"):
        ROCDisplay.from_estimator(model, X, y, max_fpr=2.0)


@pytest.mark.parametrize("other", [RandomForestClassifier(5, random_state=0), LinearRegression()])
def test_scores_may_be_probabilities_or_predictions(other, data):
    X, y = data
    other.fit(X, y)
    display = ROCDisplay.from_estimator(other, X, y)
    scores = other.predict_proba(X)[:, 1] if hasattr(other, "predict_proba") else other.predict(X)
    assert display.curve.area == pytest.approx(roc_auc_score(y, scores))


def test_perfect_line_turns_at_the_prevalence():
    display = CumulativeGainDisplay.from_predictions([1, 0, 0, 0], [4, 3, 2, 1])
    perfect = next(line for line in references(display.ax_) if line.get_label() == "Perfect")
    np.testing.assert_allclose(perfect.get_xydata(), [[0, 0], [0.25, 1], [1, 1]])
    np.testing.assert_allclose(display.line_.get_xydata()[:2], [[0, 0], [0.25, 1]])


@pytest.mark.parametrize("display_class", [CumulativeGainDisplay, LiftDisplay])
def test_the_first_share_of_the_list(display_class, data, model):
    X, y = data
    display = display_class.from_estimator(model, X, y, top=0.1, ax=Figure().add_subplot())
    whole = display_class.from_estimator(model, X, y, ax=Figure().add_subplot())
    np.testing.assert_array_equal(display.line_.get_xydata(), whole.line_.get_xydata())
    assert display.ax_.get_xlim() == pytest.approx((-0.001, 0.101))
    if display_class is CumulativeGainDisplay:
        assert display.ax_.get_ylim()[1] == pytest.approx(1.015 * 0.1 / y.mean())
    for wrong in (0.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="top="):
            display_class.from_estimator(model, X, y, top=wrong, ax=Figure().add_subplot())


EVENTS = [
    Progress(7.0, np.inf, seconds=0.1),
    Progress(8.0, 16.0, seconds=1.0),
    Progress(9.5, 10.0, seconds=3.0),
]


def test_search_progress_draws_value_and_bound():
    display = SearchProgressDisplay.from_progress(iter(EVENTS))
    np.testing.assert_array_equal(display.line_.get_xydata(), [[0.1, 7], [1, 8], [3, 9.5]])
    np.testing.assert_array_equal(display.bound_line_.get_ydata(), [np.nan, 16, 10])
    assert display.line_.get_drawstyle() == display.bound_line_.get_drawstyle() == "steps-post"
    assert display.line_.get_color() == display.bound_line_.get_color()
    assert legend_texts(display.ax_) == ["best found 9.5", "bound 10 (gap 5%)"]
    display.figure_.canvas.draw()


def test_search_progress_without_a_bound_and_beside_another():
    first = SearchProgressDisplay.from_progress(EVENTS, name="a")
    second = SearchProgressDisplay.from_progress(
        [Progress(3.0, seconds=1.0)], name="b", ax=first.ax_, c="black"
    )
    assert second.bound_line_ is None
    assert to_hex(second.line_.get_color()) == "#000000"
    assert legend_texts(first.ax_) == ["a: best found 9.5", "a: bound 10 (gap 5%)", "b: best found 3"]


def test_search_progress_errors():
    with pytest.raises(ValueError, match="empty"):
        SearchProgressDisplay.from_progress([])
    with pytest.raises(ValueError, match="same length"):
        SearchProgressDisplay([1.0], [1.0, 2.0], [1.0])


def test_long_curves_draw_without_complaint():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50_000)
    for display_class in CURVES:
        display = display_class.from_predictions(y, rng.normal(size=y.size))
        display.figure_.canvas.draw()
        assert display.ax_.lines


def test_public_names():
    assert set(report.__all__) <= set(dir(report))
    for name in report.__all__:
        assert getattr(report, name).__name__ == name
    with pytest.raises(AttributeError, match="Pie"):
        report.PieDisplay  # noqa: B018


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, toprank.report.figures; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
