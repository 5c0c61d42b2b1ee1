"""From scores to probabilities: one logistic curve, or for a reranked list two, below the top and in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

__all__ = ["Calibration", "calibrated", "logistic_curve", "shares"]

Floats = NDArray[np.float64]
FLATTEST = 1e-3
"""Slopes are at least this: a higher score is a higher probability."""


@dataclass(frozen=True)
class Calibration:
    """Log-odds as a rising function of place and score.

    Parameters
    ----------
    below : array of shape (2, m)
        Scores relative to the cut, rising, and the log-odds there; straight lines between.
    top : array of shape (3,)
        Log-odds at the cut, the step up to the top, the slope within it.
    """

    below: Floats
    top: Floats

    def probabilities(self, under: Floats, inside: NDArray[np.bool_], unit: Floats) -> Floats:
        """Of rows `under` the cut by so much (0 or less), or in the top with this squeezed score."""
        rest = np.interp(under, *self.below) + FLATTEST * np.clip(under, -50.0, 0.0)
        odds = np.where(inside, self.top[0] + self.top[1] + self.top[2] * unit, rest)
        return shares(odds)


def shares(odds: Floats) -> Floats:
    """Probabilities of log-odds.

    >>> shares(np.array([0.0, np.log(3.0)])).round(9)
    array([0.5 , 0.75])
    """
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * odds)))


def calibrated(
    under: Floats, inside: NDArray[np.bool_], unit: Floats, y: NDArray[np.int8], weight: Floats | None
) -> Calibration:
    """Isotonic regression below the cut; in the top the logistic curve of least loss that begins above it.

    >>> under, y = np.array([-2.0, -1.0, 0.0, 0.0]), np.array([0, 0, 1, 1], dtype=np.int8)
    >>> curve = calibrated(under, under == 0, np.ones(4), y, None)
    >>> curve.probabilities(under, under == 0, np.ones(4)).round(2)
    array([0.17, 0.17, 0.75, 0.75])
    """
    weights = np.ones(len(y)) if weight is None else weight
    rest = ~inside & (weights > 0)
    below = _steps(under[rest], y[rest], weights[rest])
    level = float(below[1, -1])
    return Calibration(below, np.array([level, *_top(unit[inside], y[inside], weights[inside], level)]))


def _steps(under: Floats, y: NDArray[np.int8], weight: Floats) -> Floats:
    """The middles of the steps of isotonic regression, half a row of either label added to each."""
    if not len(y):
        return np.zeros((2, 1))
    level = IsotonicRegression().fit(under, y, weight).predict(under)
    values, step = np.unique(level, return_inverse=True)
    size, hits, place = (
        np.bincount(step, weights=one, minlength=len(values)) for one in (weight, weight * y, weight * under)
    )
    share = np.maximum.accumulate((hits + 0.5) / (size + 1.0))
    return np.vstack((place / size, np.log(share) - np.log1p(-share)))


def _top(unit: Floats, y: NDArray[np.int8], weight: Floats, level: float) -> tuple[float, float]:
    """Step and slope of the top."""
    return logistic_curve(unit, y, weight, level=level, lowest=0.0) if len(y) else (0.0, FLATTEST)


def logistic_curve(
    scores: Floats,
    y: NDArray[np.int8],
    weight: Floats | None = None,
    *,
    level: float = 0.0,
    lowest: float | None = None,
) -> tuple[float, float]:
    """Log-odds at a score of zero and slope of the rising logistic curve of least loss.

    Targets are those of Platt (1999): a little inside 0 and 1, so that classes that do not overlap have a
    curve too.

    Parameters
    ----------
    scores : array of shape (n,)
        With a spread of about one.
    y : array of 0 and 1 of shape (n,)
    weight : array of shape (n,), optional
    level : float
        Log-odds to which those that are returned are added.
    lowest : float, optional
        Least log-odds to return.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 0, 1, 1], dtype=np.int8)
    >>> start, slope = logistic_curve(np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), y)
    >>> abs(start) < 1e-4, slope > 0.5
    (True, True)
    """
    weight = np.ones(len(y)) if weight is None else weight
    n_pos, n_neg = float(weight[y == 1].sum()), float(weight[y == 0].sum())
    target = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        odds = level + parameters[0] + parameters[1] * scores
        slope = weight * (shares(odds) - target)
        return float(weight @ (np.logaddexp(0.0, odds) - target * odds)), np.array(
            [slope.sum(), slope @ scores]
        )

    bounds: Any = [(lowest, None), (FLATTEST, None)]
    found = minimize(loss, np.array([0.1, 0.1]), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(found.x[0]), float(found.x[1])
