"""A figure of a selection of columns: how often each was taken along the path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from toprank.report.style import draw_curve, finish, new_axes, percent_axes, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["StabilityPathDisplay"]

NAMED = 10
"""Columns that get a colour and a name, at most; the others are quiet."""


class StabilityPathDisplay:
    """Stability paths: the share of subsamples that took each column, from few columns to many.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        What the path runs along.
    paths : array-like of shape (n_values, n_features)
    support : array-like of bool of shape (n_features,)
        The columns that were taken in the end: they are named.
    names : sequence of str, optional
        x0, x1, ... unless given.
    threshold : float, optional
        Drawn as a line.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Of the named columns, the most stable first.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = StabilityPathDisplay([1, 2], [[0.9, 0.1], [1.0, 0.3]], [True, False], names=["age", "size"])
    >>> [line.get_label() for line in display.plot(Figure().add_subplot()).lines_]
    ['age']
    """

    lines_: list[Line2D]
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        values: ArrayLike,
        paths: ArrayLike,
        support: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        threshold: float | None = None,
    ) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.paths = np.asarray(paths, dtype=np.float64)
        self.support = np.asarray(support, dtype=bool)
        if self.paths.shape != (len(self.values), len(self.support)):
            raise ValueError("paths needs a row for each value and a column for each entry of support.")
        self.names = [f"x{one}" for one in range(len(self.support))] if names is None else list(names)
        if len(self.names) != len(self.support):
            raise ValueError(f"names has {len(self.names)} names, but there are {len(self.support)} columns.")
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the paths of a fitted `StabilitySelection`.

        Parameters
        ----------
        estimator : StabilitySelection
        names : sequence of str, optional
            The names its rows came with by default.
        ax : matplotlib Axes, optional
        **options
            Passed to matplotlib's ``plot``.
        """
        check_is_fitted(estimator)
        known = getattr(estimator, "feature_names_in_", None) if names is None else names
        threshold = float(estimator.threshold) if estimator.rule == "threshold" else None
        display = cls(
            estimator.path_values_, estimator.paths_, estimator.support_, names=known, threshold=threshold
        )
        return display.plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw, on new axes unless some are given; `options` go to matplotlib's ``plot``."""
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        highest = np.argsort(-self.paths.max(axis=0), kind="stable")
        named = [int(one) for one in highest if self.support[one]][:NAMED]
        for one in sorted(set(range(len(self.names))) - set(named)):
            self.ax_.plot(self.values, self.paths[:, one], color="#C8C8C8", linewidth=0.8, zorder=1)
        self.lines_ = [
            draw_curve(self.ax_, self.values, self.paths[:, one], {"label": str(self.names[one])} | options)
            for one in named
        ]
        if self.threshold is not None:
            ends = [self.values.min(), self.values.max()]
            reference_line(self.ax_, ends, [self.threshold] * 2, f"threshold {self.threshold:g}")
        if (self.values > 0).all() and self.values.max() > 100 * self.values.min():
            self.ax_.set_xscale("log")
        self.ax_.set_ylim(-0.02, 1.02)
        percent_axes(self.ax_, x=False)
        finish(
            self.ax_, xlabel="From few columns to many", ylabel="Subsamples that took it", legend="upper left"
        )
        return self
