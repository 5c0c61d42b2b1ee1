"""Figures drawn from stored results."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from toprank.report import SearchProgressDisplay

__all__ = ["draw"]

WIDTH, HEIGHT = 9.0, 3.2
"""Inches, for two panels side by side."""


def draw(points: Sequence[dict[str, Any] | None]) -> bytes | None:
    """How value and bound met in each split, as a PNG; None when no history was kept."""
    histories = [
        (number, point["history"])
        for number, point in enumerate(points, start=1)
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
    stream = io.BytesIO()
    # Without a version in it the same results give the same file.
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return stream.getvalue()
