"""How far the positives are from beating the best negatives: threshold rule x surrogate.

Every loss of this family compares each positive with one threshold computed from the negatives,

    mean over positives i of  loss(t - s_i),      t = threshold of the negatives' scores,

so it costs O(n). The threshold is the highest negative (Infinite Push, Agarwal 2011; TopPush, Li, Jin and
Zhou 2014), the mean of the k highest negatives, or the mean of the highest share tau of them
(tau-FPL, Zhang et al. 2018). All are maxima of weighted means of the negatives' scores,

    t = max { b . s :  0 <= b_j <= cap_j,  sum b = 1 },

with cap_j = infinity, 1/k and 1/(tau n): a rule is nothing but its caps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

__all__ = [
    "SURROGATES",
    "Highest",
    "Hinge",
    "Logistic",
    "MeanOfHighest",
    "QuantileMean",
    "SquaredHinge",
    "Surrogate",
    "Threshold",
    "likely_cut",
    "threshold",
]

Floats = NDArray[np.float64]
SAMPLE = 2000
"""So many rows tell roughly where a threshold lies."""


class Surrogate(Protocol):
    """A convex, increasing function of how far a positive is below the threshold."""

    def value(self, z: Floats) -> Floats:
        """The loss at z = threshold - score."""
        ...

    def slope(self, z: Floats) -> Floats:
        """Its derivative."""
        ...

    def curvature(self, z: Floats) -> Floats:
        """Its second derivative (0 where there is none)."""
        ...

    def conjugate(self, slope: Floats) -> Floats:
        """The convex conjugate at a possible slope: sup over z of slope z - loss(z)."""
        ...


class Hinge:
    """(1 + z)_+, the surrogate of the Infinite Push (Agarwal 2011, Eq. 3.2)."""

    def value(self, z: Floats) -> Floats:
        return np.maximum(1.0 + z, 0.0)

    def slope(self, z: Floats) -> Floats:
        return (z > -1.0).astype(np.float64)

    def curvature(self, z: Floats) -> Floats:
        return np.zeros_like(z)

    def conjugate(self, slope: Floats) -> Floats:
        return -slope


class SquaredHinge:
    """(1 + z)_+^2, the surrogate of TopPush (Li, Jin and Zhou 2014)."""

    def value(self, z: Floats) -> Floats:
        return np.maximum(1.0 + z, 0.0) ** 2

    def slope(self, z: Floats) -> Floats:
        return 2.0 * np.maximum(1.0 + z, 0.0)

    def curvature(self, z: Floats) -> Floats:
        return np.where(z > -1.0, 2.0, 0.0)

    def conjugate(self, slope: Floats) -> Floats:
        return slope**2 / 4.0 - slope


class Logistic:
    """log(1 + exp z)."""

    def value(self, z: Floats) -> Floats:
        return np.logaddexp(0.0, z)

    def slope(self, z: Floats) -> Floats:
        return np.asarray(expit(z))

    def curvature(self, z: Floats) -> Floats:
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, slope: Floats) -> Floats:
        return np.asarray(xlogy(slope, slope) + xlogy(1.0 - slope, 1.0 - slope))


SURROGATES: dict[str, Surrogate] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}


class Threshold(Protocol):
    """A rule that turns the negatives' scores into one threshold."""

    def caps(self, weight: Floats) -> Floats | None:
        """The largest share of each negative, given the negatives' weights; None for no limit."""
        ...


@dataclass(frozen=True)
class Highest:
    """The highest negative."""

    def caps(self, weight: Floats) -> None:
        """No limit: one negative may take the whole share."""
        return


@dataclass(frozen=True)
class MeanOfHighest:
    """The mean of the k highest negatives (all of them when there are fewer than k).

    >>> value, shares = threshold(np.array([3.0, 1.0, 2.0]), MeanOfHighest(2).caps(np.ones(3)))
    >>> value, shares
    (2.5, array([0.5, 0. , 0.5]))
    """

    k: int

    def __post_init__(self) -> None:
        if not self.k >= 1:
            raise ValueError(f"k={self.k} must be at least 1: it counts the highest negatives to average.")

    def caps(self, weight: Floats) -> Floats:
        """Weight over k: a row of weight 2 counts as two rows."""
        return weight / min(float(self.k), weight.sum())


@dataclass(frozen=True)
class QuantileMean:
    """The mean of the highest share of the negatives, the boundary row counted in part.

    >>> threshold(np.array([4.0, 3.0, 2.0, 1.0]), QuantileMean(0.375).caps(np.ones(4)))[0]
    3.6666666666666665
    """

    negative_share: float

    def __post_init__(self) -> None:
        if not 0.0 < self.negative_share <= 1.0:
            raise ValueError(
                f"negative_share={self.negative_share} must be above 0 and at most 1:"
                " it is a share of the negatives."
            )

    def caps(self, weight: Floats) -> Floats:
        """Weight over the weight of the share."""
        return weight / (self.negative_share * weight.sum())


def threshold(scores: Floats, caps: Floats | None) -> tuple[float, Floats]:
    """The threshold of the negatives' scores and the share each negative has in it.

    The shares are a subgradient of the threshold.

    >>> threshold(np.array([1.0, 5.0, 2.0]), None)
    (5.0, array([0., 1., 0.]))
    """
    shares = np.zeros(len(scores))
    if caps is None:
        best = int(np.argmax(scores))
        shares[best] = 1.0
        return float(scores[best]), shares
    order = _highest(scores, caps)
    taken = np.minimum(np.cumsum(caps[order]), 1.0)
    shares[order] = np.diff(taken, prepend=0.0)
    # Caps that sum to a hair less than one leave a rest: the lowest row takes it.
    shares[order[-1]] += 1.0 - taken[-1]
    return float(shares @ scores), shares


def _highest(scores: Floats, caps: Floats) -> NDArray[np.intp]:
    """Row numbers by falling score, enough of them that their caps reach one; few are sorted when few do."""
    top = np.flatnonzero(scores >= likely_cut(scores, caps, spare=1.0))
    if caps[top].sum() < 1.0:
        top = np.arange(len(scores))
    return np.asarray(top[np.argsort(-scores[top], kind="stable")])


def likely_cut(scores: Floats, caps: Floats, *, spare: float = 0.0) -> float:
    """Where the caps of the highest rows reach one, judged by some of the rows.

    With `spare`, so much lower that it is hardly ever too high.
    """
    sample = np.sort(scores[:: max(1, len(scores) // SAMPLE)])
    share = min(1.0, 1.0 / float(caps.sum()))
    share += spare * (0.2 * share + 4.0 * np.sqrt(share / len(sample)))
    return float(sample[max(0, len(sample) - 1 - int(share * len(sample)))])
