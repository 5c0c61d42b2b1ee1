"""A figure of a search: the best value found and the bound on it, over time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Progress, relative_gap
from toprank.report.style import draw_curve, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["SearchProgressDisplay"]

Floats = NDArray[np.float64]


class SearchProgressDisplay:
    """How the best value and the bound of a search came together over time.

    Parameters
    ----------
    seconds, values, bounds : array-likes of shape (n_events,)
        Where no bound was known, NaN or infinite.
    name : str, optional
        Name of the search for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The best value so far.
    bound_line_ : matplotlib Line2D or None
        The bound, where there was one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> events = [Progress(8.0, 12.0, seconds=0.5), Progress(9.0, 10.0, seconds=2.0)]
    >>> display = SearchProgressDisplay.from_progress(events, ax=Figure().add_subplot())
    >>> display.bound_line_.get_label()
    'bound 10 (gap 10%)'
    """

    line_: Line2D
    bound_line_: Line2D | None
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self, seconds: ArrayLike, values: ArrayLike, bounds: ArrayLike, *, name: str | None = None
    ) -> None:
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.values = np.asarray(values, dtype=np.float64)
        self.bounds = np.asarray(bounds, dtype=np.float64)
        self.name = name
        if self.seconds.ndim != 1 or self.seconds.size == 0:
            raise ValueError("progress is empty; pass the events that a callback collected")
        if not self.seconds.shape == self.values.shape == self.bounds.shape:
            raise ValueError("seconds, values and bounds must have the same length, one entry for each event")

    @classmethod
    def from_progress(
        cls, progress: Iterable[Progress], *, name: str | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the progress events that a callback collected.

        Parameters
        ----------
        progress : iterable of Progress
        name : str, optional
        ax : matplotlib Axes, optional
        **options
            Passed to matplotlib's ``plot`` for the line of the value; the bound takes its colour.
        """
        events = list(progress)
        seconds, values, bounds = ([getattr(e, k) for e in events] for k in ("seconds", "value", "bound"))
        return cls(seconds, values, bounds, name=name).plot(ax, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw, on new axes unless some are given; `options` go to matplotlib's ``plot``."""
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        shown = self.name if name is None else name
        prefix = f"{shown}: " if shown else ""
        style = {"label": f"{prefix}best found {self.values[-1]:.6g}", "drawstyle": "steps-post"}
        values = _finite(self.values)
        self.line_ = draw_curve(self.ax_, self.seconds, values, style | options)
        self.bound_line_ = self._plot_bound(values, prefix)
        finish(self.ax_, xlabel="Seconds", ylabel="Value", legend="lower right")
        return self

    def _plot_bound(self, values: Floats, prefix: str) -> Line2D | None:
        bounds = _finite(self.bounds)
        if bool(np.isnan(bounds).all()):
            return None
        gap = relative_gap(float(self.values[-1]), float(self.bounds[-1]))
        # Proofs end within a billionth: that is closed, not a gap of 1e-08 %.
        shown = "closed" if gap < 1e-8 else f"gap {100 * gap:.2g}%"
        label = f"{prefix}bound {self.bounds[-1]:.6g} ({shown})"
        color = self.line_.get_color()
        dashes: Any = (0, (4, 2))
        (line,) = self.ax_.plot(
            self.seconds,
            bounds,
            drawstyle="steps-post",
            color=color,
            linestyle=dashes,
            linewidth=1.4,
            label=label,
        )
        self.ax_.fill_between(self.seconds, values, bounds, step="post", color=color, alpha=0.10, linewidth=0)
        return line


def _finite(values: Floats) -> Floats:
    """Leave gaps in the line where there is nothing to draw."""
    return np.where(np.isfinite(values), values, math.nan)
