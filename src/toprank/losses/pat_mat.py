"""Pat&Mat: relevant items against a smooth stand-in for the top quantile of all scores.

The threshold t is where the mean surrogate of all items above it is the share tau, which makes it a convex
function of the scores (Adam, Mácha, Šmídl and Pevný, "General framework for binary classification on top
samples"):

    mean over all j of  loss(scale (s_j - t)) = tau,        minimise  mean over positives i of  loss(t - s_i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from toprank.losses.top_push import SURROGATES

__all__ = ["PatMatLoss", "PatMatPoint", "surrogate_quantile"]

Floats = NDArray[np.float64]


def surrogate_quantile(
    scores: Floats, weight: Floats, *, share: float, surrogate: str, scale: float
) -> tuple[float, Floats]:
    """The threshold whose mean surrogate is the share, and the share of each item in its gradient.

    With the hinge losses it lies at or above the true quantile: they count an item at the threshold as one.

    >>> options = {"share": 0.5, "surrogate": "hinge", "scale": 1.0}
    >>> level, shares = surrogate_quantile(np.array([0.0, 1.0]), np.ones(2), **options)
    >>> round(level, 9), shares
    (1.0, array([0., 1.]))
    """
    loss = SURROGATES[surrogate]
    part = weight / weight.sum()

    def excess(level: float) -> float:
        return float(part @ loss.value(scale * (scores - level))) - share

    low, high = float(scores.min()), float(scores.max())
    room = (high - low) + 1.0 / scale
    while excess(low) < 0.0:
        low -= room
        room *= 2.0
    while excess(high) > 0.0:
        high += room
        room *= 2.0
    level = float(brentq(excess, low, high, xtol=1e-14 * max(1.0, abs(low), abs(high)), rtol=1e-15))
    slopes = part * loss.slope(scale * (scores - level))
    return level, slopes / slopes.sum()


@dataclass(frozen=True)
class PatMatLoss:
    """The mean loss of the positives against the surrogate quantile, with its gradient.

    Parameters
    ----------
    share : float
        Of all items, or of the negatives, that may lie above the threshold.
    surrogate : {"hinge", "squared_hinge", "logistic"}
    scale : float
        How sharply the surrogate counts items above the threshold; the framework's vartheta.
    negatives_only : bool
        Whether the quantile is that of the negatives (Pat&Mat-NP) instead of all items.

    Examples
    --------
    >>> point = PatMatLoss(0.5, "hinge").at(np.array([0.0, 1.0]), np.array([0, 1]), np.ones(2))
    >>> round(point.value, 9)
    1.0
    """

    share: float
    surrogate: str = "squared_hinge"
    scale: float = 1.0
    negatives_only: bool = False

    def at(self, scores: Floats, y: NDArray[Any], weight: Floats) -> PatMatPoint:
        """The loss at given scores, with what its derivatives need."""
        positive = y > 0
        counted = ~positive if self.negatives_only else np.ones(len(scores), dtype=bool)
        level, shares = surrogate_quantile(
            scores[counted], weight[counted], share=self.share, surrogate=self.surrogate, scale=self.scale
        )
        loss = SURROGATES[self.surrogate]
        part = weight[positive] / weight[positive].sum()
        z = level - scores[positive]
        slopes, threshold, stiffness = part * loss.slope(z), np.zeros(len(scores)), np.zeros(len(scores))
        threshold[counted] = shares
        gradient = float(slopes.sum()) * threshold
        gradient[positive] -= slopes
        # The level is curved where the surrogate of the items that make it is.
        above = self.scale * (scores[counted] - level)
        bent = float(weight[counted] @ loss.slope(above))
        stiffness[counted] = float(slopes.sum()) * self.scale / bent * weight[counted] * loss.curvature(above)
        stiffness[positive] += part * loss.curvature(z)
        return PatMatPoint(float(part @ loss.value(z)), gradient, threshold, stiffness)


@dataclass(frozen=True)
class PatMatPoint:
    """The loss at one vector of scores.

    Parameters
    ----------
    value : float
    gradient : array
        Derivative with respect to the scores.
    shares : array
        The share of each item in the gradient of the threshold.
    stiffness : array
        The Hessian is the sum of stiffness_i (e_i - shares)(e_i - shares)^T.
    """

    value: float
    gradient: Floats
    shares: Floats
    stiffness: Floats

    @property
    def curvature(self) -> Floats:
        """An upper bound on the diagonal of the Hessian with respect to the scores."""
        return self.stiffness + float(self.stiffness.sum()) * self.shares**2

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        pulled = self.stiffness * (direction - float(self.shares @ direction))
        return np.asarray(pulled - float(pulled.sum()) * self.shares)
