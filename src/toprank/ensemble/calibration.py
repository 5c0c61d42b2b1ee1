"""From the scores of a reranked list to probabilities: a rising curve for the rest, another for the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

__all__ = ["Calibration", "calibrated"]

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
    """Step and slope of the top; targets as Platt (1999) has them."""
    if not len(y):
        return 0.0, FLATTEST
    n_pos, n_neg = float(weight[y == 1].sum()), float(weight[y == 0].sum())
    target = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        odds = level + parameters[0] + parameters[1] * unit
        slope = weight * (0.5 * (1.0 + np.tanh(0.5 * odds)) - target)
        return float(weight @ (np.logaddexp(0.0, odds) - target * odds)), np.array(
            [slope.sum(), slope @ unit]
        )

    bounds: Any = [(0.0, None), (FLATTEST, None)]
    found = minimize(loss, np.array([0.1, 0.1]), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(found.x[0]), float(found.x[1])
