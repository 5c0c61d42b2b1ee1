"""A figure of a training: the loss of each pass, and the statistic of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from toprank.report.style import PALETTE, draw_curve, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["LearningCurveDisplay"]


class LearningCurveDisplay:
    """The loss of a network pass by pass, with the statistic of held-out rows on an axis of its own.

    Parameters
    ----------
    losses : array-like of shape (n_passes,)
    values : array-like of shape (n_passes,), optional
        Of the held-out rows; the more the better.
    best : int, optional
        The pass whose weights were kept, from 1; marked.
    name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The loss.
    value_line_ : matplotlib Line2D or None
        The statistic of the held-out rows.
    best_line_ : matplotlib Line2D or None
        Where the kept pass is.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = LearningCurveDisplay([0.7, 0.5, 0.4], [0.6, 0.9, 0.8], best=2)
    >>> display.plot(Figure().add_subplot()).value_line_.get_label()
    'held out'
    """

    line_: Line2D
    value_line_: Line2D | None
    best_line_: Line2D | None
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        losses: ArrayLike,
        values: ArrayLike | None = None,
        *,
        best: int | None = None,
        name: str | None = None,
    ) -> None:
        self.losses = np.asarray(losses, dtype=np.float64)
        self.values = np.empty(0) if values is None else np.asarray(values, dtype=np.float64)
        self.best = best
        self.name = name
        if self.losses.ndim != 1 or not len(self.losses):
            raise ValueError("losses is empty; pass the loss of each pass, one at least.")
        if len(self.values) and self.values.shape != self.losses.shape:
            raise ValueError(f"values has {len(self.values)} entries for {len(self.losses)} passes.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the training of a fitted network.

        Parameters
        ----------
        estimator : RankNet, DirectLossRanker or SoDeepRanker
            Fitted.
        name : str, optional
            The name of its class unless given.
        ax : matplotlib Axes, optional
        **options
            Passed to matplotlib's ``plot`` for the line of the loss.
        """
        check_is_fitted(estimator, "history_")
        history = estimator.history_
        watched = history["value"] if len(history["value"]) else None
        best = None if watched is None else estimator.n_iter_
        shown = type(estimator).__name__ if name is None else name
        return cls(history["loss"], watched, best=best, name=shown).plot(ax, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw, on new axes unless some are given; `options` go to matplotlib's ``plot``."""
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        shown = self.name if name is None else name
        passes = np.arange(1, len(self.losses) + 1)
        style = {"label": f"{shown}: loss" if shown else "loss"}
        self.line_ = draw_curve(self.ax_, passes, self.losses, style | options)
        self.value_line_, self.best_line_ = None, None
        if len(self.values):
            other = self.ax_.twinx()
            (self.value_line_,) = other.plot(passes, self.values, color=PALETTE[1], label="held out")
            other.set_ylabel("Held-out statistic")
        if self.best is not None:
            self.best_line_ = self.ax_.axvline(self.best, color="0.5", linewidth=1.0, linestyle=":")
        finish(self.ax_, xlabel="Pass over the rows", ylabel="Loss", legend="upper right")
        return self
