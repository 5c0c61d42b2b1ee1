"""The losses of `toprank.losses.top_push` with their corners rounded, so that Newton's method applies.

The threshold of the negatives is a maximum over shares b; a penalty on their squares rounds it,

    t = max { b . s + (width / 2) sum_j b_j (lift - b_j / cap_j) :  0 <= b_j <= cap_j,  sum b = 1 }.

With lift = 1 shares that are all of their cap cost nothing, with lift = 0 many small ones; in between it
makes up for the penalty where the mean part is that.

The best shares are ``cap_j clip((s_j - q) / width + 1/2, 0, 1)`` with q such that they sum to one: linear
time. The derivative of the hinge rises from 0 to 1 over the same width. Shares and derivatives are feasible
dual variables of the problem that was not rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toprank.losses.top_push import SAMPLE, Hinge, Surrogate, likely_cut

__all__ = ["RoundedHinge", "SmoothedPoint", "SmoothedTopPush", "rounded_shares"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
WIDEST_HINGE = 0.5
"""The hinge is rounded over at most half its margin, however wide the threshold is rounded."""


def rounded_shares(scores: Floats, caps: Floats, width: float) -> Floats:
    """For each negative its share in the rounded threshold, as a part of its cap.

    >>> rounded_shares(np.array([1.0, 5.0, 2.0, 1.75]), np.full(4, 0.5), 1.0)
    array([0.   , 1.   , 0.625, 0.375])
    """
    from toprank.losses import _kernels

    low, high = float(scores.min()) - width, float(scores.max()) + width
    counted, their_caps = scores, caps
    if caps.min() < 1.0:
        first = _guess(scores, caps, width, low, high)
    else:
        # The highest alone would fill the sum, so rows a whole width below it have no share.
        low, first = max(low, high - 1.6 * width), high - 1.5 * width
        near = scores > high - 2.2 * width
        counted, their_caps = scores[near], caps[near]
    cut = _kernels.share_cut(counted, their_caps, width, low, first, high)
    return np.clip((scores - cut) / width + 0.5, 0.0, 1.0)


def _guess(scores: Floats, caps: Floats, width: float, low: float, high: float) -> float:
    """Where some of the rows would be cut."""
    from toprank.losses import _kernels

    step = max(1, len(scores) // SAMPLE)
    some, their_caps = scores[::step], caps[::step]
    their_caps = their_caps * (caps.sum() / their_caps.sum())
    return float(_kernels.share_cut(some, their_caps, width, low, likely_cut(some, their_caps), high))


@dataclass(frozen=True)
class RoundedHinge:
    """(1 + z)_+ with a derivative that rises from 0 to 1 over a width around its corner.

    >>> RoundedHinge(2.0).value(np.array([-3.0, -1.0, 3.0]))
    array([0.  , 0.25, 4.  ])
    """

    width: float

    def value(self, z: Floats) -> Floats:
        inside = np.clip(1.0 + z + 0.5 * self.width, 0.0, self.width)
        return inside**2 / (2.0 * self.width) + np.maximum(1.0 + z - 0.5 * self.width, 0.0)

    def slope(self, z: Floats) -> Floats:
        return np.clip((1.0 + z) / self.width + 0.5, 0.0, 1.0)

    def curvature(self, z: Floats) -> Floats:
        return np.where(np.abs(1.0 + z) < 0.5 * self.width, 1.0 / self.width, 0.0)

    def conjugate(self, slope: Floats) -> Floats:
        # Of the hinge itself: the slopes serve as its dual variables.
        return -slope


@dataclass(frozen=True)
class SmoothedTopPush:
    """The rounded loss of the positives against the rounded threshold of the negatives.

    Parameters
    ----------
    positives, negatives : arrays of item numbers
    costs : array
        What the loss of each positive is multiplied by.
    caps : array or None
        The largest share of each negative in the threshold; None for no limit.
    surrogate : Surrogate
        Of the loss that is rounded; smooth ones stay as they are.
    width : float
        Over which corners are rounded, in units of the scores.
    lift : float
        The mean part that costs nothing, between 0 and 1.
    """

    positives: Rows
    negatives: Rows
    costs: Floats
    caps: Floats | None
    surrogate: Surrogate
    width: float
    lift: float = 1.0

    @cached_property
    def limits(self) -> Floats:
        """The caps; one is no limit."""
        return np.ones(len(self.negatives)) if self.caps is None else self.caps

    def at(self, scores: Floats) -> SmoothedPoint:
        """Everything about the loss at these scores."""
        parts = rounded_shares(scores[self.negatives], self.limits, self.width)
        return self._with(scores, parts, (parts > 0.0) & (parts < 1.0))

    def continued(self, scores: Floats, earlier: SmoothedPoint) -> SmoothedPoint:
        """The quadratic that the loss would be if the same shares as at an earlier point were at an end.

        Along a change of the width it leads to where the others stay between their ends.
        """
        between, caps = earlier.between, np.where(earlier.between, self.limits, 0.0)
        rest = 1.0 - float(self.limits @ np.where(between, 0.0, earlier.parts))
        negative = scores[self.negatives]
        cut = (float(caps @ negative) - self.width * rest) / float(caps.sum()) + 0.5 * self.width
        parts = np.where(between, (negative - cut) / self.width + 0.5, earlier.parts)
        return self._with(scores, parts, between)

    def _with(self, scores: Floats, parts: Floats, between: NDArray[np.bool_]) -> SmoothedPoint:
        shares = self.limits * parts
        reward = 0.5 * self.width * float(shares @ (self.lift - parts))
        cut = (float(shares @ scores[self.negatives]) + reward) / float(shares.sum())
        smooth = not isinstance(self.surrogate, Hinge)
        surrogate = self.surrogate if smooth else RoundedHinge(min(self.width, WIDEST_HINGE))
        z = cut - scores[self.positives]
        slopes = surrogate.slope(z)
        return SmoothedPoint(
            self,
            value=float(self.costs @ surrogate.value(z)),
            dual=-float(self.costs @ surrogate.conjugate(slopes)),
            slopes=self.costs * slopes,
            curvatures=self.costs * surrogate.curvature(z),
            parts=parts,
            between=between,
        )


@dataclass(frozen=True)
class SmoothedPoint:
    """The rounded loss at one vector of scores.

    Parameters
    ----------
    loss : SmoothedTopPush
    value : float
    dual : float
        The part of the dual value that does not depend on the rows: minus the conjugate losses.
    slopes, curvatures : arrays
        Derivatives of the positives' losses with respect to the threshold, costs included.
    parts : array
        The share of each negative in the threshold, as a part of its cap.
    between : array of bool
        Which of them are between nothing and their cap.
    """

    loss: SmoothedTopPush
    value: float
    dual: float
    slopes: Floats
    curvatures: Floats
    parts: Floats
    between: NDArray[np.bool_]

    @cached_property
    def shares(self) -> Floats:
        """The share of each negative in the threshold; they sum to one."""
        shares = self.loss.limits * self.parts
        return np.asarray(shares / shares.sum())

    @property
    def mean_part(self) -> float:
        """The mean of the parts, weighted by the shares: the lift that makes up for the rounding here."""
        return float(self.shares @ self.parts)

    @property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return self.spread(-self.slopes, self.slopes.sum() * self.shares)

    @cached_property
    def stiffness(self) -> Floats:
        """How fast the derivative of each negative moves with its score, the others' reaction apart."""
        return np.where(self.between, self.loss.limits * (self.slopes.sum() / self.loss.width), 0.0)

    @cached_property
    def curvature(self) -> Floats:
        """An upper bound on the diagonal of the Hessian with respect to the scores."""
        return self.spread(self.curvatures, self.stiffness + self.curvatures.sum() * self.shares**2)

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        up, down = direction[self.loss.positives], direction[self.loss.negatives]
        total = float(self.stiffness.sum())
        shift = float(self.stiffness @ down) / total if total > 0.0 else 0.0
        lack = self.curvatures * (float(self.shares @ down) - up)
        return self.spread(-lack, self.stiffness * (down - shift) + lack.sum() * self.shares)

    def spread(self, on_positives: Floats, on_negatives: Floats) -> Floats:
        """One number per item from those of the two classes."""
        numbers = np.zeros(len(on_positives) + len(on_negatives))
        numbers[self.loss.positives] = on_positives
        numbers[self.loss.negatives] = on_negatives
        return numbers
