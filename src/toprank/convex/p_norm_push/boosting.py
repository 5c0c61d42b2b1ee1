"""Boosting for the P-Norm Push: one weak ranker a round, as far as the loss falls.

Coordinate descent on log R_p (Rudin 2009; p = 1 is RankBoost, Freund et al. 2003): each round takes the
weak ranker along which the loss falls fastest and moves along it to the minimum. Positives are weighted by
exp(-score), negatives by exp(p * score), both in the log domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Progress, Run, Status
from toprank.convex.p_norm_push.weak_rankers import WeakRankers
from toprank.losses.exponential_grades import ExponentialGrades, ExponentialGradesPoint
from toprank.losses.exponential_pairs import ExponentialPairs, ExponentialPoint
from toprank.losses.p_norm_push import PNormPushItems, PNormPushPoint

__all__ = ["Boosted", "Items", "boost"]

Floats = NDArray[np.float64]
Items = PNormPushItems | ExponentialPairs | ExponentialGrades
Point = PNormPushPoint | ExponentialPoint | ExponentialGradesPoint
LONGEST = 50.0
"""No weak ranker with range one gets a larger weight in a round: exp(-50) is zero for all purposes."""
SEARCH_STEPS = 60


@dataclass
class Boosted:
    """The weak rankers taken, with their weights, and the loss after each round."""

    rankers: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def truncated(self, rounds: int) -> Boosted:
        """The first rounds only."""
        return Boosted(self.rankers[:rounds], self.weights[:rounds], self.losses[:rounds])


Watcher = Callable[[Any, float], bool]


def boost(
    family: WeakRankers,
    items: Items,
    run: Run,
    *,
    p: float,
    rounds: int,
    tol: float,
    watcher: Watcher | None = None,
) -> tuple[Boosted, Outcome]:
    """Boost for a number of rounds, or until no weak ranker lowers the loss.

    Parameters
    ----------
    family : WeakRankers
        Weak rankers over the training rows.
    items : PNormPushItems, ExponentialPairs or ExponentialGrades
        The positives and negatives among them, or pairs of them, listed or made by their labels.
    run : Run
    p : float
    rounds : int
    tol : float
        Stop when the loss falls less than this per unit of the best weak ranker.
    watcher : callable, optional
        Told each round's weak ranker and weight; returning False stops (early stopping).
    """
    scores = np.zeros(items.n_items)
    point = items.at(scores, p)
    answer = Boosted()
    status = Status.FINISHED
    notes: tuple[str, ...] = ()
    for done in range(rounds):
        if point.value < -LONGEST:
            notes = ("The positives are above the negatives by so much that nothing is left to gain.",)
            break
        if not run.report(Progress(point.value, iterations=done)):
            status = run.stopped_by or status
            break
        ranker, slope = family.steepest(point.gradient)
        if abs(slope) <= tol:
            break
        values = family.values(ranker)
        weight, point = _line_search(items, p, scores, math.copysign(1.0, -slope) * values)
        weight = math.copysign(weight, -slope)
        scores += weight * values
        answer.rankers.append(ranker)
        answer.weights.append(weight)
        answer.losses.append(point.value)
        if watcher is not None and not watcher(ranker, weight):
            break
    outcome = Outcome(
        point.value, status=status, seconds=run.seconds, iterations=len(answer.rankers), notes=notes
    )
    return answer, outcome


def _line_search(items: Items, p: float, scores: Floats, move: Floats) -> tuple[float, Point]:
    """The minimum along a direction in which the loss falls: Newton's method inside a bracket."""
    low, high = 0.0, LONGEST
    length = 0.0
    point = items.at(scores, p)
    for _ in range(SEARCH_STEPS):
        slope = float(point.gradient @ move)
        if slope < 0:
            low = length
        else:
            high = length
        curve = float(move @ point.curvature_product(move))
        following = length - slope / curve if curve > 0 else high
        if not low < following < high:
            following = 0.5 * (low + high) if high < LONGEST else min(2.0 * low + 1.0, LONGEST)
        if abs(following - length) <= 1e-12 * following:
            break
        length = following
        point = items.at(scores + length * move, p)
        if length == LONGEST:
            break
    return length, point
