"""The problem of the at-the-top rankers, and points in it.

    min over w   1/2 |w|^2 + sum over positives i of  c_i loss(t - w.x_i),     t = threshold of the w.x_j

with the thresholds and losses of `toprank.losses.top_push`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import Design
from toprank.losses.smoothed_top_push import SmoothedPoint, SmoothedTopPush
from toprank.losses.top_push import Surrogate, Threshold, threshold

__all__ = ["RoundedTopPush", "Seen", "TopPushPoint", "TopPushProblem", "best_between", "certain"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
HALVINGS = 8
SHORTEST = 1e-3
FLAT = 0.02
CERTAIN = 1e-6


class Seen(Protocol):
    """Coefficients and the objective there."""

    @property
    def coef(self) -> Floats:
        """The coefficients."""
        ...

    @property
    def value(self) -> float:
        """The objective."""
        ...


@dataclass(frozen=True)
class TopPushProblem:
    """Rows, who is positive, costs and caps.

    Parameters
    ----------
    design : Design
    positives, negatives : arrays of row numbers
    costs : array
        c_i > 0 of each positive: C times its share of the weight.
    negative_weight : array
        Weight of each negative.
    caps : array or None
        The largest share of each negative in the threshold; None for the highest negative.
    surrogate : Surrogate

    Build it with `TopPushProblem.from_labels`.
    """

    design: Design
    positives: Rows
    negatives: Rows
    costs: Floats
    negative_weight: Floats
    caps: Floats | None
    surrogate: Surrogate

    @classmethod
    def from_labels(
        cls, X: Any, y: NDArray[Any], weight: Floats, *, C: float, surrogate: Surrogate, rule: Threshold
    ) -> TopPushProblem:
        """The problem of labelled rows: y is 1 for positives, 0 for negatives; all weights are positive."""
        return cls.of_design(Design(X), y, weight, C=C, surrogate=surrogate, rule=rule)

    @classmethod
    def of_design(
        cls,
        design: Design,
        y: NDArray[Any],
        weight: Floats,
        *,
        C: float,
        surrogate: Surrogate,
        rule: Threshold,
    ) -> TopPushProblem:
        """The same of rows that are a design already."""
        positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        costs = C * weight[positives] / weight[positives].sum()
        caps = rule.caps(weight[negatives])
        return cls(design, positives, negatives, costs, weight[negatives], caps, surrogate)

    def rows(self, numbers: Rows) -> Any:
        """Some rows."""
        return self.design.X[numbers]

    def combine(self, on_positives: Floats, on_negatives: Floats) -> Floats:
        """The sum of the rows, each times its number."""
        numbers = np.zeros(self.design.n_rows)
        numbers[self.positives] = on_positives
        numbers[self.negatives] = on_negatives
        return self.design.combine(numbers)

    def at(self, coef: Floats) -> TopPushPoint:
        """The point with these coefficients."""
        return self.seen(coef, self.design.scores(coef))

    def seen(self, coef: Floats, scores: Floats) -> TopPushPoint:
        """The point with these coefficients and the scores of all rows."""
        return TopPushPoint(self, coef, scores[self.positives], scores[self.negatives])

    def rounded(self, width: float, lift: float) -> RoundedTopPush:
        """The problem with its corners rounded."""
        sides = self.positives, self.negatives, self.costs, self.caps
        return RoundedTopPush(self.design, SmoothedTopPush(*sides, self.surrogate, width, lift))

    def zero(self) -> TopPushPoint:
        """The point w = 0, where all are tied."""
        nothing = np.zeros(self.design.n_features)
        return TopPushPoint(self, nothing, np.zeros(len(self.positives)), np.zeros(len(self.negatives)))

    def mean_difference(self) -> Floats:
        """From the mean of the negatives to the mean of the positives: a direction that is always there."""
        weight = self.negative_weight
        return self.combine(self.costs / self.costs.sum(), -weight / weight.sum())

    def share_with_answer(self) -> float | None:
        """A share of the negatives so large that the mean over it is beaten: then w = 0 is not optimal.

        The smallest such share along the mean difference; None when the classes have the same mean.
        """
        point = self.at(self.mean_difference())
        level = float(self.costs @ point.positive_scores / self.costs.sum())
        falling = np.argsort(-point.negative_scores, kind="stable")
        weight = np.cumsum(self.negative_weight[falling])
        sums = np.cumsum(self.negative_weight[falling] * point.negative_scores[falling])
        beaten = np.flatnonzero(sums < level * weight)
        return float(weight[beaten[0]] / weight[-1]) if len(beaten) else None


@dataclass(frozen=True)
class TopPushPoint:
    """Coefficients with the scores of both classes."""

    problem: TopPushProblem
    coef: Floats
    positive_scores: Floats
    negative_scores: Floats

    @cached_property
    def threshold(self) -> float:
        """What the positives have to beat."""
        if self.problem.caps is None:
            return float(self.negative_scores.max())
        return self._cut[0]

    @cached_property
    def _cut(self) -> tuple[float, Floats]:
        return threshold(self.negative_scores, self.problem.caps)

    @cached_property
    def value(self) -> float:
        """The objective."""
        losses = self.problem.surrogate.value(self.threshold - self.positive_scores)
        return float(0.5 * self.coef @ self.coef + self.problem.costs @ losses)

    def slope_towards(self, other: TopPushPoint) -> float:
        """The derivative of the objective on the way to another point."""
        if self.problem.caps is None:
            top = int(np.argmax(self.negative_scores))
            push = float(other.negative_scores[top] - self.negative_scores[top])
        else:
            push = float(self._cut[1] @ (other.negative_scores - self.negative_scores))
        move = push - (other.positive_scores - self.positive_scores)
        slopes = self.problem.surrogate.slope(self.threshold - self.positive_scores)
        return float(self.coef @ (other.coef - self.coef) + (self.problem.costs * slopes) @ move)

    def towards(self, other: TopPushPoint, part: float) -> TopPushPoint:
        """The point a part of the way to another one, without touching the rows."""
        return TopPushPoint(
            self.problem,
            (1.0 - part) * self.coef + part * other.coef,
            (1.0 - part) * self.positive_scores + part * other.positive_scores,
            (1.0 - part) * self.negative_scores + part * other.negative_scores,
        )


@dataclass(frozen=True)
class RoundedTopPush:
    """The rounded problem as `toprank.convex.algebra.newton` wants it."""

    design: Design
    loss: SmoothedTopPush
    C: float = 1.0

    def at(self, scores: Floats) -> SmoothedPoint:
        return self.loss.at(scores)

    def hessian(self, point: SmoothedPoint) -> Floats:
        """X^T (Hessian with respect to the scores) X: one Gram matrix and three corrections of rank one."""
        combine, spread = self.design.combine, point.spread
        no_positives, no_negatives = np.zeros(len(point.slopes)), np.zeros(len(point.parts))
        matrix = self.design.gram(spread(point.curvatures, point.stiffness))
        ahead = combine(spread(point.curvatures, no_negatives))
        threshold = combine(spread(no_positives, point.shares))
        matrix -= np.outer(ahead, threshold)
        matrix -= np.outer(threshold, ahead)
        matrix += float(point.curvatures.sum()) * np.outer(threshold, threshold)
        total = float(point.stiffness.sum())
        if total > 0.0:
            inside = combine(spread(no_positives, point.stiffness))
            matrix -= np.outer(inside, inside) / total
        return matrix


def best_between(start: TopPushPoint, end: TopPushPoint) -> TopPushPoint:
    """The best point found on the way from one point to another.

    Scores are linear along the way, so each look costs O(n); the search halves on the sign of the slope.
    """
    if end.value <= start.value and end.slope_towards(start) >= 0.0:
        return end
    best = min(start, end, key=lambda point: point.value)
    short, long, trial = 0.0, 1.0, SHORTEST
    flat = FLAT * abs(start.slope_towards(end))
    for _ in range(HALVINGS + 1):
        point = start.towards(end, trial)
        if point.value < best.value:
            best = point
        slope = point.slope_towards(end) / (1.0 - trial)
        if abs(slope) <= flat:
            break
        if slope <= 0.0:
            short = trial
        elif trial == SHORTEST:
            break
        else:
            long = trial
        trial = 0.5 * (short + long)
    return best


def certain(best: Seen, tol: float) -> float:
    """The gap to reach: `tol`, but a zero answer helps nobody, so it has to be certain."""
    return tol if best.coef.any() else min(tol, CERTAIN)
