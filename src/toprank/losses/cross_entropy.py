"""The cross entropy of all pairs with targets that are probabilities: RankNet's loss for graded targets.

With targets p_ij = sigmoid(t_i - t_j), t the labels in some unit, the mean over all pairs of a list of

    -p_ij log sigmoid(s_i - s_j) - (1 - p_ij) log sigmoid(s_j - s_i)  =  log(1 + exp(-(s_i - s_j))) + (1 - p_ij)(s_i - s_j)

is L(s) - gradient L(t) . s, L the logistic loss with every pair named once: no pair is looked at by itself,
and s = t is a minimum (Burges et al. 2005; Werner 2020, Section 3.4).
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.losses.pairs import Pairs
from toprank.losses.pairwise_logistic import LogisticPoint, pairwise_logistic

__all__ = ["CrossEntropy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CrossEntropy:
    """All pairs of each list, ties included, with the target that the difference of their labels makes.

    Examples
    --------
    >>> loss = CrossEntropy.from_labels([1.0, 0.0], unit=1.0)
    >>> bool(np.allclose(loss.at(np.array([1.0, 0.0])).gradient, 0.0))
    True
    """

    pairs: Pairs
    slope: Floats

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        unit: float,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> CrossEntropy:
        """Labels, the higher the nearer to the top, in this unit; every query counts the same."""
        target = np.asarray(y, dtype=np.float64) / unit
        place = np.empty(len(target), dtype=np.int64)
        place[np.argsort(target, kind="stable")] = np.arange(len(target))
        pairs = Pairs.from_labels(place, qid=qid, sample_weight=sample_weight, weighting="queries")
        return cls(pairs, pairwise_logistic(pairs, target).gradient)

    def at(self, scores: Floats) -> LogisticPoint:
        """The loss at these scores."""
        found = pairwise_logistic(self.pairs, scores)
        value = found.value - float(self.slope @ scores)
        return LogisticPoint(value, found.gradient - self.slope, found.curvature)
