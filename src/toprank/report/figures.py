"""Figures in scikit-learn's manner: a Display holds arrays, draws itself, and keeps what it drew."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.base import ranking_scores
from toprank.report.progress import SearchProgressDisplay
from toprank.report.style import Legend, draw_curve, finish, new_axes, percent_axes, reference_line
from toprank.statistics.curves import (
    GainCurve,
    LiftCurve,
    PrecisionRecallCurve,
    RocCurve,
    cumulative_gain_curve,
    lift_curve,
    precision_recall_curve,
    roc_curve,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = [
    "CumulativeGainDisplay",
    "LiftDisplay",
    "PrecisionRecallDisplay",
    "ROCDisplay",
    "SearchProgressDisplay",
]

Floats = NDArray[np.float64]
_EXAMINED = "Share of the list examined"
C = TypeVar("C", bound=RocCurve | PrecisionRecallCurve | GainCurve | LiftCurve)


class _CurveDisplay(ABC, Generic[C]):
    """A curve of one model; several displays can share axes.

    Subclasses say how the curve is made and how it is drawn.

    Parameters
    ----------
    curve : curve of `toprank.statistics.curves`
    name : str, optional
        Name of the model for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    line_: Line2D
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, curve: C, *, name: str | None = None) -> None:
        self.curve: C = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Score rows with a fitted estimator and draw the curve.

        Parameters
        ----------
        estimator : fitted scikit-learn estimator
            Its decision function, else its probability, else its prediction is the score.
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Two values; the larger one is positive.
        sample_weight : array-like of shape (n,), optional
        name : str, optional
            The estimator's class unless given.
        ax : matplotlib Axes, optional
            New ones unless given.
        **options
            Passed to `from_predictions`, and from there to matplotlib's ``plot``.
        """
        return cls.from_predictions(
            y,
            ranking_scores(estimator, X),
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **options,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of given scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            Two values; the larger one is positive.
        scores : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        name : str, optional
        ax : matplotlib Axes, optional
        **options
            What the display itself takes (`max_fpr`, `top`); the rest is passed to matplotlib's ``plot``.
        """
        own = {option: options.pop(option) for option in cls._own_options if option in options}
        return cls(cls._make(y, scores, sample_weight), name=name, **own).plot(ax, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw, on new axes unless some are given; `options` go to matplotlib's ``plot``."""
        self.ax_ = new_axes(ax, square=self._square)
        self.figure_ = self.ax_.figure
        shown = self.name if name is None else name
        label = f"{shown} ({self._summary})" if shown and self._summary else shown or self._summary
        self.line_ = draw_curve(self.ax_, *self._points(), {"label": label} | self._draw_options | options)
        self._decorate(self.ax_)
        return self

    _square = False
    _own_options: tuple[str, ...] = ()
    _draw_options: dict[str, Any] = {}  # noqa: RUF012 - read only

    @staticmethod
    @abstractmethod
    def _make(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> C:
        """Make the curve."""

    @abstractmethod
    def _points(self) -> tuple[Floats, Floats]:
        """What to draw."""

    @abstractmethod
    def _decorate(self, ax: Axes) -> None:
        """Draw what to compare with, label the axes."""

    @property
    def _summary(self) -> str:
        """The curve in one number, for the legend; empty for none."""
        return ""


class ROCDisplay(_CurveDisplay[RocCurve]):
    """ROC curve: share of the positives found against share of the negatives let through.

    Parameters
    ----------
    curve : RocCurve
    name : str, optional
    max_fpr : float, optional
        Show the left corner only, up to this false positive rate: the top of the list.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> display = ROCDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], name="ours", ax=ax)
    >>> display.line_.get_label()
    'ours (AUC 0.750)'
    """

    _square = True
    _own_options = ("max_fpr",)

    def __init__(self, curve: RocCurve, *, name: str | None = None, max_fpr: float | None = None) -> None:
        super().__init__(curve if max_fpr is None else curve.up_to(max_fpr), name=name)
        self.max_fpr = max_fpr

    @staticmethod
    def _make(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> RocCurve:
        return roc_curve(y, scores, sample_weight=sample_weight)

    def _points(self) -> tuple[Floats, Floats]:
        return self.curve.fpr, self.curve.tpr

    @property
    def _summary(self) -> str:
        if self.max_fpr is None:
            return f"AUC {self.curve.area:.3f}"
        return f"TPR {self.curve.tpr[-1]:.2f} at FPR {self.max_fpr:g}"

    def _decorate(self, ax: Axes) -> None:
        limit = 1.0 if self.max_fpr is None else self.max_fpr
        reference_line(ax, [0.0, limit], [0.0, limit], "Chance")
        margin = 0.015
        ax.set_xlim(-margin * limit, (1.0 + margin) * limit)
        ax.set_ylim(-margin, 1.0 + margin)
        finish(ax, xlabel="False positive rate", ylabel="True positive rate", legend="lower right")


class PrecisionRecallDisplay(_CurveDisplay[PrecisionRecallCurve]):
    """Precision-recall curve: share of positives among the items taken against share of positives found.

    Parameters
    ----------
    curve : PrecisionRecallCurve
    name : str, optional

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> y, scores = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> display = PrecisionRecallDisplay.from_predictions(y, scores, name="ours", ax=ax)
    >>> display.line_.get_label()
    'ours (AP 0.833)'
    """

    _square = True
    # Precision does not run straight between two thresholds.
    _draw_options = {"drawstyle": "steps-post"}  # noqa: RUF012 - read only

    @staticmethod
    def _make(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> PrecisionRecallCurve:
        return precision_recall_curve(y, scores, sample_weight=sample_weight)

    def _points(self) -> tuple[Floats, Floats]:
        return self.curve.recall, self.curve.precision

    @property
    def _summary(self) -> str:
        average = -float(np.diff(self.curve.recall) @ self.curve.precision[:-1])
        return f"AP {average:.3f}"

    def _decorate(self, ax: Axes) -> None:
        chance = self.curve.prevalence
        reference_line(ax, [0.0, 1.0], [chance, chance], f"Chance ({chance:.3g})")
        ax.set_xlim(-0.015, 1.015)
        ax.set_ylim(-0.015, 1.015)
        finish(ax, xlabel="Recall", ylabel="Precision", legend="lower left")


class _ListDisplay(_CurveDisplay[C]):
    """A curve along the list, the whole of it or its first part, up to the share `top`."""

    _own_options = ("top",)

    def __init__(self, curve: C, *, name: str | None = None, top: float | None = None) -> None:
        if top is not None and not 0 < top <= 1:
            raise ValueError(f"top={top!r} must be a share of the list, above 0 and at most 1.")
        super().__init__(curve, name=name)
        self.top = top

    def _examined(self, ax: Axes) -> None:
        """The axis along the list, cut at the top."""
        end = 1.0 if self.top is None else self.top
        ax.set_xlim(-0.01 * end, 1.01 * end)


class CumulativeGainDisplay(_ListDisplay[GainCurve]):
    """Cumulative gain: share of the positives found when so much of the list has been examined.

    Parameters
    ----------
    curve : GainCurve
    name : str, optional
    top : float, optional
        Show the first part of the list only, up to this share of it; the other axis follows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> y, scores = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> display = CumulativeGainDisplay.from_predictions(y, scores, name="ours", ax=ax)
    >>> display.line_.get_ydata()
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    @staticmethod
    def _make(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> GainCurve:
        return cumulative_gain_curve(y, scores, sample_weight=sample_weight)

    def _points(self) -> tuple[Floats, Floats]:
        return self.curve.depth, self.curve.gain

    def _decorate(self, ax: Axes) -> None:
        reference_line(
            ax, [0.0, self.curve.prevalence, 1.0], [0.0, 1.0, 1.0], "Perfect", dashes=(0, (1, 1.5))
        )
        reference_line(ax, [0.0, 1.0], [0.0, 1.0], "Chance")
        percent_axes(ax)
        self._examined(ax)
        perfect = 1.0 if self.top is None else min(1.0, self.top / self.curve.prevalence)
        ax.set_ylim(-0.015 * perfect, 1.015 * perfect)
        where: Legend = "lower right" if self.top is None else "upper left"
        finish(ax, xlabel=_EXAMINED, ylabel="Share of positives found", legend=where)


class LiftDisplay(_ListDisplay[LiftCurve]):
    """Lift: how many times more positives than a random list, when so much of the list has been examined.

    Parameters
    ----------
    curve : LiftCurve
    name : str, optional
    top : float, optional
        Show the first part of the list only, up to this share of it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> display = LiftDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], name="ours", ax=ax)
    >>> ax.get_ylabel()
    'Lift over a random list'
    """

    @staticmethod
    def _make(y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None) -> LiftCurve:
        return lift_curve(y, scores, sample_weight=sample_weight)

    def _points(self) -> tuple[Floats, Floats]:
        return self.curve.depth, self.curve.lift

    def _decorate(self, ax: Axes) -> None:
        reference_line(ax, [0.0, 1.0], [1.0, 1.0], "Chance")
        percent_axes(ax, y=False)
        self._examined(ax)
        ax.set_ylim(bottom=0.0)
        finish(ax, xlabel=_EXAMINED, ylabel="Lift over a random list", legend="upper right")
