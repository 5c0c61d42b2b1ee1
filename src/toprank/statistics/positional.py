"""Linear statistics given by a formula for the weight of a position, perhaps cut off below the top."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from toprank.statistics.base import LinearRankStatistic
from toprank.statistics.cutoffs import Cutoff, check_cutoff, cutoff_positions

__all__ = ["CutOffStatistic", "PositionalStatistic", "best_sum", "positions"]

Floats = NDArray[np.float64]


class PositionalStatistic(LinearRankStatistic):
    """A linear statistic whose weights have a formula, which real n and n_pos (sums of weights) fit too."""

    def weights(self, n: int, n_pos: int) -> Floats:
        """Weight of each position, top first, never increasing."""
        if not 1 <= n_pos < n:
            raise ValueError(f"n_pos must be at least 1 and less than n = {n}, got {n_pos}")
        result = np.zeros(int(n))
        above = self._weights_above(self._depth(n, True), n, n_pos)
        # Rounding may lift a weight above the one before it; the promise of never increasing is kept exactly.
        result[: above.size] = np.minimum.accumulate(above)
        return result

    @abstractmethod
    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        """Weights of the positions above the depth, ceil(depth) of them; those below are zero."""


class CutOffStatistic(PositionalStatistic):
    """A linear statistic that looks at the positions above a cut-off only; below it the weights are zero."""

    at: Cutoff

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", check_cutoff(self.at, self.name))

    def _depth(self, n: float, whole: bool) -> float:
        return cutoff_positions(self.at, n, whole)


def positions(depth: float) -> Floats:
    """Positions 0, 1, ... above the depth; where the depth is fractional the last one lies there in part."""
    return np.arange(math.ceil(depth), dtype=np.float64)


def best_sum(weights: Floats, mass: float | Floats) -> Floats:
    """Sum of the first weights up to a mass, the last in part: the value when the positives come first."""
    cumulative = np.concatenate(([0.0], np.cumsum(weights)))
    # As the kernels sum, so that a perfect list has 1 to the last digit.
    cell = np.minimum(np.asarray(mass, dtype=np.int64), weights.size)
    after = np.minimum(cell + 1, weights.size)
    return np.asarray(cumulative[cell] + (mass - cell) * (cumulative[after] - cumulative[cell]))
