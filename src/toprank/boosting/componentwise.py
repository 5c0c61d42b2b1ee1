"""Boosting that adds one column at a time: by the loss it fits or, now and then, by a statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.base import Matrix
from toprank.boosting.families import Family
from toprank.control import Progress, Run

__all__ = ["Boosted", "Columns", "boost_columns"]

Floats = NDArray[np.float64]
Judge = Callable[[Floats], float]
"""The worth of scores: the higher, the better."""
ROUNDING = 1e-10
"""Columns that vary by less, relative to their size, are constant."""


class Columns:
    """Simple regressions on each single column, all at once, in time n times columns.

    Parameters
    ----------
    X : array or CSR matrix
        Dense rows are shifted to their mean; all columns are scaled to at most one.
    """

    def __init__(self, X: Matrix) -> None:
        dense = isinstance(X, np.ndarray)
        rows: Any = X
        self.shift = rows.mean(axis=0) if dense else np.zeros(rows.shape[1])
        largest = (
            np.abs(rows - self.shift).max(axis=0) if dense else np.abs(rows).max(axis=0).toarray().ravel()
        )
        # What is left of a constant after its mean was taken off is rounding.
        size = np.abs(self.shift) + largest
        self.varies = largest > ROUNDING * size
        self.scale = np.where(self.varies, largest, 1.0)
        self._rows = (
            (rows - self.shift) / self.scale if dense else (rows @ sp.diags(1.0 / self.scale)).tocsc()
        )
        self._squares = self._rows**2 if dense else self._rows.multiply(self._rows).tocsc()
        self.shape = rows.shape

    def fits(self, response: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
        """Slope, intercept and gain (squared error that goes) of the regression on each column.

        Parameters
        ----------
        response, weight : arrays of shape (n_rows, k) or (n_rows, 1)

        Returns
        -------
        three arrays of shape (n_columns, k)
        """
        weight = np.broadcast_to(weight, response.shape)
        total = weight.sum(axis=0)
        middle = (weight * response).sum(axis=0) / total
        means = self._rows.T @ weight / total
        cross = self._rows.T @ (weight * (response - middle))
        spread = self._squares.T @ weight
        left = spread - total * means**2
        usable = self.varies[:, None] & (left > ROUNDING * spread)
        safe = np.where(usable, left, 1.0)
        slopes = np.where(usable, cross / safe, 0.0)
        return slopes, middle - slopes * means, np.where(usable, cross**2 / safe, 0.0)

    def column(self, number: int) -> Floats:
        """One column, shifted and scaled."""
        if isinstance(self._rows, np.ndarray):
            return self._rows[:, number]
        return np.asarray(self._rows[:, [number]].toarray()).ravel()


@dataclass
class Boosted:
    """A model in the units of `Columns`, one row of coefficients for each function of the family.

    Parameters
    ----------
    coef : array of shape (k, n_columns)
    offset : array of shape (k,)
    features : list of int
        The column of each step.
    losses : list of float
        The family's loss after each step.
    history : list of arrays
        What each step added to its column's coefficients and to the offset, two arrays of shape (k,) a step.
    """

    coef: Floats
    offset: Floats
    features: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    history: list[tuple[Floats, Floats]] = field(default_factory=list)

    def add(self, feature: int, slope: Floats, intercept: Floats, loss: float) -> None:
        """One more step."""
        self.coef[:, feature] += slope
        self.offset += intercept
        self.features.append(feature)
        self.losses.append(loss)
        self.history.append((slope, intercept))

    def first(self, steps: int, start: Floats) -> Boosted:
        """The model after so many steps."""
        found = Boosted(np.zeros_like(self.coef), start.copy())
        for feature, (slope, intercept), loss in zip(
            self.features[:steps], self.history[:steps], self.losses[:steps], strict=True
        ):
            found.add(feature, slope, intercept, loss)
        return found


def boost_columns(
    columns: Columns,
    family: Family,
    run: Run,
    *,
    steps: int,
    rate: float,
    every: int | None = None,
    judge: Judge | None = None,
    watch: Callable[[int, Floats, Floats], bool] | None = None,
) -> Boosted:
    """Step after step the column whose regression lowers the squared error of the working response most.

    Parameters
    ----------
    columns : Columns
    family : Family
    run : Run
    steps : int
    rate : float
        How much of each regression is taken.
    every : int, optional
        Each so manyth step is singular: the column after which `judge` likes the scores best is taken.
    judge : callable, optional
    watch : callable, optional
        Told of each step: column, slopes, intercepts; False ends it.
    """
    start = family.start()
    model = Boosted(np.zeros((family.columns, columns.shape[1])), start.copy())
    values = np.tile(start, (columns.shape[0], 1))
    for step in range(1, steps + 1):
        slopes, intercepts, gains = columns.fits(*family.working(values))
        gain = gains.sum(axis=1)
        if not gain.any():
            break
        slopes, intercepts = rate * family.adjusted(slopes), rate * family.adjusted(intercepts)
        chosen = int(np.argmax(gain))
        if every is not None and judge is not None and step % every == 0:
            chosen = _most_liked(columns, family, values, slopes, intercepts, gain, judge, run)
        values = values + intercepts[chosen] + np.outer(columns.column(chosen), slopes[chosen])
        model.add(chosen, slopes[chosen], intercepts[chosen], family.loss(values))
        goes_on = watch is None or watch(chosen, slopes[chosen], intercepts[chosen])
        if not run.report(Progress(model.losses[-1], iterations=step, phase="boosting")) or not goes_on:
            break
    return model


def _most_liked(
    columns: Columns,
    family: Family,
    values: Floats,
    slopes: Floats,
    intercepts: Floats,
    gain: Floats,
    judge: Judge,
    run: Run,
) -> int:
    """The column whose step leaves the list best; of several, the one that lowers the squared error most."""
    best, chosen = -np.inf, int(np.argmax(gain))
    # By falling gain: whoever comes first wins a tie, and time that runs out leaves the likeliest.
    for column in np.argsort(-gain, kind="stable"):
        if gain[column] <= 0.0 or run.should_stop():
            break
        after = values + intercepts[column] + np.outer(columns.column(int(column)), slopes[column])
        worth = judge(family.scores(after))
        if worth > best:
            best, chosen = worth, int(column)
    return chosen
