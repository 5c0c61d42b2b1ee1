"""The exponential loss of given pairs, in the log domain: RankBoost in its original setting.

log sum over pairs (i, k) of D(i, k) exp(-(s_i - s_k)), the weights D summing to one (Freund et al. 2003).
A value, its gradient and a product with its Hessian take time proportional to the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExponentialPairs", "ExponentialPoint"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ExponentialPairs:
    """Pairs of items (upper, lower) and their weights.

    Examples
    --------
    >>> pairs = ExponentialPairs(2, np.array([(0, 1)]), np.ones(1))
    >>> pairs.at(np.array([1.0, 0.0])).value
    -1.0
    """

    n_items: int
    pairs: Ints
    weight: Floats

    def at(self, scores: Floats, p: float = 1.0) -> ExponentialPoint:
        """The loss at these scores; `p` is there for company with the push and must be 1."""
        assert p == 1.0
        upper, lower = self.pairs.T
        logs = np.log(self.weight / self.weight.sum()) - (scores[upper] - scores[lower])
        highest = float(logs.max())
        share = np.exp(logs - highest)
        total = float(share.sum())
        return ExponentialPoint(highest + float(np.log(total)), share / total, self)


@dataclass(frozen=True)
class ExponentialPoint:
    """The loss at one vector of scores: its value, and the distribution over pairs that boosting uses."""

    value: float
    share: Floats
    items: ExponentialPairs

    @cached_property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return self._spread(-self.share)

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        upper, lower = self.items.pairs.T
        apart = direction[upper] - direction[lower]
        return self._spread(self.share * (apart - float(self.share @ apart)))

    def _spread(self, by_pair: Floats) -> Floats:
        """Numbers of pairs added to their upper items and taken from their lower ones."""
        upper, lower = self.items.pairs.T
        n = self.items.n_items
        up = np.bincount(upper, weights=by_pair, minlength=n)
        return np.asarray(up - np.bincount(lower, weights=by_pair, minlength=n), dtype=np.float64)
