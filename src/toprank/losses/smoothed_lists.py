"""The rounded at-the-top losses of several lists, each with a threshold of its own, added up.

The items are sorted by list; every list has its own `toprank.losses.smoothed_top_push.SmoothedTopPush`, which
numbers its items from zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from toprank.losses.smoothed_top_push import SmoothedPoint, SmoothedTopPush

__all__ = ["SmoothedLists", "SmoothedListsPoint"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SmoothedLists:
    """The sum over lists of their rounded losses.

    Parameters
    ----------
    lists : tuple of SmoothedTopPush
    start : array of shape (n_lists + 1,)
        Where the items of each list begin, and where the last ends.
    """

    lists: tuple[SmoothedTopPush, ...]
    start: NDArray[np.intp]

    def at(self, scores: Floats) -> SmoothedListsPoint:
        """Everything about the loss at these scores."""
        known = zip(self.lists, self.cut(scores), strict=True)
        return SmoothedListsPoint(self, tuple(loss.at(part) for loss, part in known))

    def continued(self, scores: Floats, earlier: SmoothedListsPoint) -> SmoothedListsPoint:
        """The quadratic that the loss would be if the same shares as at an earlier point were at an end."""
        known = zip(self.lists, self.cut(scores), earlier.points, strict=True)
        points = (
            loss.continued(part, point) if point.between.any() else loss.at(part)
            for loss, part, point in known
        )
        return SmoothedListsPoint(self, tuple(points))

    def cut(self, numbers: Floats) -> list[Floats]:
        """The numbers of the items of each list."""
        return [numbers[begin:end] for begin, end in pairwise(self.start)]


@dataclass(frozen=True)
class SmoothedListsPoint:
    """The rounded losses of all lists at one vector of scores."""

    loss: SmoothedLists
    points: tuple[SmoothedPoint, ...]

    @cached_property
    def value(self) -> float:
        """The sum of the losses."""
        return sum(point.value for point in self.points)

    @cached_property
    def dual(self) -> float:
        """The sum of what the dual values have that does not depend on the rows."""
        return sum(point.dual for point in self.points)

    @cached_property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return self.gathered(lambda point: point.gradient)

    @cached_property
    def curvature(self) -> Floats:
        """An upper bound on the diagonal of the Hessian with respect to the scores."""
        return self.gathered(lambda point: point.curvature)

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        known = zip(self.points, self.loss.cut(direction), strict=True)
        return np.concatenate([point.curvature_product(part) for point, part in known])

    @property
    def parts(self) -> Floats:
        """The share of each negative in its threshold, as a part of its cap."""
        return np.concatenate([point.parts for point in self.points])

    @property
    def between(self) -> NDArray[np.bool_]:
        """Which of them are between nothing and their cap."""
        return np.concatenate([point.between for point in self.points])

    @property
    def mean_part(self) -> Floats:
        """Of each list, the lift that makes up for the rounding here."""
        return np.array([point.mean_part for point in self.points])

    def gathered(self, of: Callable[[SmoothedPoint], Floats]) -> Floats:
        """The numbers of the items of all lists, one after another."""
        return np.concatenate([of(point) for point in self.points])
