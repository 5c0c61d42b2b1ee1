"""P-Norm Push: minimise 1/2 |w|^2 + C log R_p(X w) by Newton's method in the log domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.convex.design import Design, dense
from toprank.losses.push import PushItems, PushPoint

__all__ = ["LogPush"]

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-9
"""Rows whose share of the Hessian is below this, over their number, are left out of it."""


@dataclass(frozen=True)
class LogPush:
    """log R_p as a function of X w, and its weight C: what `smooth.minimise` wants."""

    design: Design
    items: PushItems
    C: float
    p: float

    def at(self, scores: Floats) -> PushPoint:
        """The loss at given scores."""
        return self.items.at(scores, self.p)

    def hessian(self, point: PushPoint) -> Floats:
        """The softmax covariances of the rows, positives and negatives."""
        spread = point.spread
        matrix = self.design.gram(np.where(spread < NEGLIGIBLE / len(spread), 0.0, spread))
        for side, share, factor in point.sides():
            means = self._means(side, share) * np.sqrt(factor / self.items.n_queries)
            matrix -= means.T @ means
        return matrix

    def _means(self, side: Any, share: Floats) -> Floats:
        """The mean row of each query, weighted by share."""
        shape = (self.items.n_queries, self.design.n_rows)
        averaging = sp.csr_array((share, (side.query, side.item)), shape=shape)
        return dense(averaging @ self.design.X)
