"""Mehrotra's predictor-corrector, for whatever convex quadratic program has a Newton direction.

Every inequality has a dual variable and a slack, both positive; their products sum to the duality gap where
all equations hold. A step first aims at products of zero (the predictor); how far it gets tells how near to
the middle of the way the corrector has to stay.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["InteriorPoint", "Step"]

Floats = NDArray[np.float64]
TO_BOUNDARY = 0.995
"""The part of the longest step that is made: nothing becomes zero."""


@dataclass(frozen=True)
class Step:
    """How the dual variables, the slacks and everything else change."""

    dual: Floats
    slack: Floats
    rest: Any = None


class InteriorPoint(ABC):
    """A point inside all inequalities of a program.

    Attributes
    ----------
    dual, slack : arrays
        One positive number each for every inequality, in the same order.
    """

    dual: Floats
    slack: Floats

    @property
    def products(self) -> float:
        """The sum of the complementarity products."""
        return float(self.dual @ self.slack)

    @abstractmethod
    def _linearise(self, target: Floats) -> Step:
        """Prepare for the directions from here; returns the first, for dual * slack = now + target."""

    @abstractmethod
    def _direction(self, target: Floats) -> Step:
        """Newton's direction from the same point for another target."""

    def _move(self, step: Step, length: float) -> None:
        """Go along a direction; programs with more variables move those too."""
        self.dual = self.dual + length * step.dual
        self.slack = self.slack + length * step.slack

    def advance(self, least: float = 0.0) -> float:
        """One predictor-corrector step; returns its length, zero when rounding has spoilt the direction.

        No product is aimed below `least`: small ones make systems stiff and cost digits.
        """
        dual, slack = self.dual, self.slack
        target = -dual * slack
        now = -float(target.sum())
        predictor = self._linearise(target)
        if not len(dual):
            self._move(predictor, 1.0)  # no inequality is left: one linear system
            return 1.0
        length = self._longest(predictor)
        reached = float((dual + length * predictor.dual) @ (slack + length * predictor.slack))
        center = max((reached / now) ** 3 * now / len(dual), least)
        step = self._direction(target + (center - predictor.dual * predictor.slack))
        longest = self._longest(step)
        if np.isnan(longest):
            return 0.0
        self._move(step, TO_BOUNDARY * longest)
        return TO_BOUNDARY * longest

    def _longest(self, step: Step) -> float:
        """The longest step of at most one that keeps everything non-negative; NaN where it is no number."""
        worst = float((step.dual / self.dual).min()), float((step.slack / self.slack).min())
        if np.isnan(worst[0]) or np.isnan(worst[1]):
            return np.nan
        return 1.0 / max(1.0, -worst[0], -worst[1])
