"""Pat&Mat: minimise 1/2 |w|^2 + C * mean over positives of loss(t - w.x_i), t the surrogate quantile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import Design
from toprank.losses.pat_mat import PatMatLoss, PatMatPoint

__all__ = ["PatMatProblem"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PatMatProblem:
    """The loss as a function of X w, and its weight C: what `smooth.minimise` wants."""

    design: Design
    y: NDArray[np.int8]
    weight: Floats
    C: float
    loss: PatMatLoss

    def at(self, scores: Floats) -> PatMatPoint:
        """The loss at given scores."""
        return self.loss.at(scores, self.y, self.weight)

    def hessian(self, point: PatMatPoint) -> Floats:
        """The spread of the rows around the mean row of the threshold."""
        stiffness = point.stiffness
        matrix = self.design.gram(stiffness)
        threshold = self.design.combine(point.shares)
        cross = np.outer(self.design.combine(stiffness), threshold)
        matrix -= cross
        matrix -= cross.T
        matrix += float(stiffness.sum()) * np.outer(threshold, threshold)
        return matrix
