"""Figures drawn from stored results."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.report import ROCDisplay, SearchProgressDisplay
from toprank.report.style import finish
from toprank.reproduce.experiment import Arm, Experiment
from toprank.reproduce.figures import Figures, State
from toprank.reproduce.rows import load_rows
from toprank.reproduce.tables import Drawing, DrawingKind
from toprank.statistics import RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "drawing_state"]

WIDTH, HEIGHT = 9.0, 3.2
"""Inches, for two panels side by side."""
SQUARE = 4.3
POSITIVE, NEGATIVE = "#9A9A9A", "#000000"
"""Gray and black, as in Rudin & Wang's Fig. 1."""


def drawing_state(drawing: Drawing, figures: Figures) -> str:
    """How far everything in the drawing has come."""
    states = {figures.state(experiment, arm) for experiment, arm in _arms(drawing, figures)}
    if len(states) == 1:
        return states.pop()
    for one in (State.FAILED, State.UNAVAILABLE):
        if one in states:
            return one
    return State.PARTLY if states & {State.DONE, State.PARTLY} else State.NOT_RUN


def draw(drawing: Drawing, figures: Figures) -> bytes | None:
    """A drawing as a PNG; None when nothing to draw was kept."""
    figure = _KINDS[drawing.kind](drawing, figures)
    if figure is None:
        return None
    stream = io.BytesIO()
    # Without a version in it the same results give the same file.
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return stream.getvalue()


def _arms(drawing: Drawing, figures: Figures) -> Iterator[tuple[Experiment, Arm]]:
    for name, arm in drawing.places:
        experiment = figures.paper.experiment(name)
        yield experiment, experiment.arm(arm)


# -- how value and bound met -----------------------------------------------------------------------


def _progress(drawing: Drawing, figures: Figures) -> Figure | None:
    """One panel a split."""
    ((experiment, arm),) = _arms(drawing, figures)
    histories = [
        (number, point["history"])
        for number, point in enumerate(figures.chosen(experiment, arm), start=1)
        if point is not None and point["history"]
    ]
    if not histories:
        return None
    from matplotlib.figure import Figure

    rows = math.ceil(len(histories) / 2)
    figure = Figure(figsize=(WIDTH, HEIGHT * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for panel in panels[len(histories) :]:
        panel.set_visible(False)
    for panel, (number, history) in zip(panels, histories, strict=False):
        seconds, values, bounds = (
            [math.nan if event[k] is None else event[k] for event in history] for k in range(3)
        )
        SearchProgressDisplay(seconds, values, bounds).plot(panel)
        panel.set_title(f"split {number}")
    return figure


# -- ROC curves --------------------------------------------------------------------------------------


def _roc(drawing: Drawing, figures: Figures) -> Figure | None:
    """All curves on one panel, and their left corner on another."""
    curves = list(_curves(drawing, figures))
    if not curves:
        return None
    from matplotlib.figure import Figure

    limits = [None] if drawing.zoom is None else [None, drawing.zoom]
    figure = Figure(figsize=(len(limits) * SQUARE, SQUARE), layout="constrained")
    for panel, limit in zip(figure.subplots(1, len(limits), squeeze=False).ravel(), limits, strict=True):
        for name, curve in curves:
            ROCDisplay(curve, name=name, max_fpr=limit).plot(panel, linewidth=1.5)
        if limit is not None:
            panel.legend().remove()  # the colours are those of the first panel, and curves are everywhere
    return figure


def _curves(drawing: Drawing, figures: Figures) -> Iterator[tuple[str, RocCurve]]:
    """Name and curve of each arm on the first split."""
    several = len({experiment for experiment, _ in drawing.places}) > 1
    for experiment, arm in _arms(drawing, figures):
        point = figures.chosen(experiment, arm)[0]
        if point is not None:
            chosen = ", ".join(f"{name} = {value:g}" for name, value in point["parameters"].items())
            name = experiment.source.title if several else arm.title
            fpr, tpr = (np.asarray(rates) for rates in point["roc"])
            # Scores were not kept: nothing here asks for thresholds.
            curve = RocCurve(fpr, tpr, np.full(len(fpr), np.nan))
            yield f"{name} ({chosen})" if chosen and "C" not in point["parameters"] else name, curve


# -- rows on a line ----------------------------------------------------------------------------------


def _rows(drawing: Drawing, figures: Figures) -> Figure | None:
    """Rows by their only feature, spread sideways for the eye, and an arrow for each arm."""
    from matplotlib.figure import Figure

    arms = list(_arms(drawing, figures))
    rows = load_rows(arms[0][0].source)
    height = rows.X[:, 0]
    aside = np.random.default_rng(0).uniform(-1.0, 1.0, len(height))
    figure = Figure(figsize=(SQUARE, SQUARE), layout="constrained")
    panel = figure.add_subplot()
    for label, color, name in ((1, POSITIVE, "positive"), (0, NEGATIVE, "negative")):
        shown = rows.y == label
        panel.scatter(aside[shown], height[shown], s=3, color=color, linewidths=0, label=name)
    for number, (_, arm) in enumerate(arms):
        _arrow(panel, arm, 1.25 + 0.35 * number, float(height.min()), float(height.max()))
    panel.set_xlim(-1.1, 1.25 + 0.35 * len(arms))
    finish(panel, xlabel="spread out for the eye", ylabel="x", legend="lower left")
    panel.set_xticks([])
    # Where no rows are: the clumps lie at both ends and near the middle.
    panel.legend(loc="center left", fontsize="small", edgecolor="none", markerscale=4)
    return figure


def _arrow(panel: Axes, arm: Arm, place: float, low: float, high: float) -> None:
    """From the top of an arm's list to its end."""
    ends = (high, low) if arm.parameters["coef"][0] > 0 else (low, high)
    style: dict[str, Any] = {"arrowstyle": "->", "linewidth": 1.5}
    panel.annotate("", xy=(place, ends[1]), xytext=(place, ends[0]), arrowprops=style)
    panel.text(place + 0.05, (low + high) / 2.0, arm.title, rotation=90, va="center", fontsize="small")


_KINDS: dict[DrawingKind, Callable[[Drawing, Figures], Figure | None]] = {
    "progress": _progress,
    "roc": _roc,
    "rows": _rows,
}
