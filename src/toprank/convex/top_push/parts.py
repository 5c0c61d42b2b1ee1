"""What the decided rows contribute to a restricted problem of the at-the-top rankers.

Positives with a hinge loss are decided row by row: at the upper end of the dual interval the loss is linear,
at the lower end it is zero. So are those with a squared hinge: where it counts it is quadratic, elsewhere
zero. Positives with the logistic loss are all decided; they enter by the quadratic model of their loss at the
best point so far. Negatives are decided row by row: outside the threshold, or in it with their cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.row_systems import DenseMetric, Identity, LowRankMetric, Metric
from toprank.convex.top_push.problem import TopPushPoint, TopPushProblem
from toprank.convex.top_push.working_set import FREE, LOWER, UPPER, WorkingSet, pick_worst

__all__ = [
    "HingePositives",
    "LogisticPositives",
    "Negatives",
    "PositivePart",
    "Positives",
    "SquaredPositives",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
MANY_POSITIVES = 5000
MOST_NEGATIVES = 4000
BAND = 500
SKETCH_SIZE = 60
LEAST_CURVATURE = 1e-10


@dataclass(frozen=True)
class PositivePart:
    """The positives' part of a restricted problem (symbols of `toprank.convex.top_push.restricted`).

    Attributes
    ----------
    metric : Metric
        H.
    pull : array
        H w_0.
    center : array
        The part of m that comes from the positives.
    mass, curvature, start_mass : float
    free : array of positions among the positives
    costs : array
        Costs of the free positives.
    """

    metric: Metric
    pull: Floats
    center: Floats
    mass: float
    curvature: float
    start_mass: float
    free: Rows
    costs: Floats


class Positives(Protocol):
    """The positives as the rounds see them."""

    def part(self) -> PositivePart:
        """Their part of the next restricted problem."""
        ...

    def dual(self, free: Rows, y: Floats, scores: Floats, level: float) -> Floats:
        """Dual variables a, feasible in the whole problem, that go with a restricted solution."""
        ...

    def update(self, best: TopPushPoint, latest: TopPushPoint, free: Rows, y: Floats) -> int:
        """Learn from a round; returns how many decisions were wrong."""
        ...


class HingePositives:
    """Positives whose loss is (1 + z)_+; all at the upper end to begin with, as they are at w = 0."""

    def __init__(self, problem: TopPushProblem, start: TopPushPoint) -> None:
        self._problem = problem
        lack = 1.0 + start.threshold - start.positive_scores
        self._set = WorkingSet(np.where(lack > 0.0, UPPER, LOWER).astype(np.int8))
        # Rows near the kink of a start that knows something may fall on either side.
        near = np.flatnonzero(np.abs(lack) < 0.1)
        self._set.admit(near[np.argsort(np.abs(lack[near]))[:MANY_POSITIVES]])

    def part(self) -> PositivePart:
        problem = self._problem
        free, costs = self._set.free, problem.costs
        fixed = np.where(self._set.state == UPPER, costs, 0.0)
        nothing = np.zeros(len(problem.negatives))
        pull = problem.combine(fixed, nothing)
        center = np.zeros(problem.design.n_features)
        return PositivePart(Identity(), pull, center, float(fixed.sum()), 0.0, 0.0, free, costs[free])

    def dual(self, free: Rows, y: Floats, scores: Floats, level: float) -> Floats:
        multipliers = np.where(self._set.state == UPPER, self._problem.costs, 0.0)
        multipliers[free] = y
        return multipliers

    def update(self, best: TopPushPoint, latest: TopPushPoint, free: Rows, y: Floats) -> int:
        lack = 1.0 + latest.threshold - latest.positive_scores
        wrong = pick_worst(self._set.wrong(lack), MANY_POSITIVES)
        self._set.release(free, y / self._problem.costs[free], lack[free])
        self._set.admit(wrong)
        return len(wrong)


class SquaredPositives:
    """Positives whose loss is (1 + z)_+^2; all counted as quadratic to begin with, as they are at w = 0.

    With too many features for a d x d matrix, the rows that count are all undecided instead.
    """

    def __init__(self, problem: TopPushProblem, start: TopPushPoint) -> None:
        self._problem = problem
        lack = 1.0 + start.threshold - start.positive_scores
        counted = UPPER if problem.design.direct else FREE
        self._set = WorkingSet(np.where(lack > 0.0, counted, LOWER).astype(np.int8))

    def part(self) -> PositivePart:
        problem, free = self._problem, self._set.free
        costs = problem.costs[free]
        weights = np.where(self._set.state == UPPER, 2.0 * problem.costs, 0.0)
        total = float(weights.sum())
        if total == 0.0:
            nothing = np.zeros(problem.design.n_features)
            return PositivePart(Identity(), nothing, nothing, 0.0, 0.0, 0.0, free, costs)
        # sum_i c_i (1 + T - s_i)^2: the slopes 2 c_i (1 + T - s_i) make pull, mass and curvature.
        center = _weighted_mean(problem, weights, total)
        metric = DenseMetric(_covariance_plus_identity(problem, weights, center, total))
        return PositivePart(metric, np.zeros_like(center), center, total, total, total, free, costs)

    def dual(self, free: Rows, y: Floats, scores: Floats, level: float) -> Floats:
        slopes = 2.0 * self._problem.costs * np.maximum(1.0 + level - scores, 0.0)
        multipliers = np.where(self._set.state == UPPER, slopes, 0.0)
        multipliers[free] = y
        return multipliers

    def update(self, best: TopPushPoint, latest: TopPushPoint, free: Rows, y: Floats) -> int:
        lack = 1.0 + latest.threshold - latest.positive_scores
        wrong = pick_worst(self._set.wrong(lack), MANY_POSITIVES)
        direct = self._problem.design.direct
        self._set.release(free, (lack[free] > 0.0).astype(np.float64), lack[free], may_be_upper=direct)
        self._set.admit(wrong)
        return len(wrong)


class LogisticPositives:
    """Positives with the logistic loss: a quadratic model, renewed when the best point moves."""

    def __init__(self, problem: TopPushProblem, start: TopPushPoint, rng: np.random.Generator) -> None:
        self._problem, self._rng = problem, rng
        self._renew(start)

    def _renew(self, point: TopPushPoint) -> None:
        problem = self._problem
        self._point = point
        z = point.threshold - point.positive_scores
        self._slopes = problem.costs * problem.surrogate.slope(z)
        curvatures = problem.surrogate.curvature(z)
        least = LEAST_CURVATURE * float(curvatures.max()) + np.finfo(np.float64).tiny
        self._weights = problem.costs * np.maximum(curvatures, least)
        total, slope_sum = float(self._weights.sum()), float(self._slopes.sum())
        center = _weighted_mean(problem, self._weights, total)
        metric, product = self._metric(center, total)
        nothing = np.zeros(len(problem.negatives))
        pull = problem.combine(self._slopes, nothing) - slope_sum * center + product
        level = point.threshold - float(center @ point.coef)
        no_rows = np.zeros(0, dtype=np.intp)
        self._part = PositivePart(
            metric, pull, center, slope_sum - total * level, total, slope_sum, no_rows, np.zeros(0)
        )

    def _metric(self, center: Floats, total: float) -> tuple[Metric, Floats]:
        """I + the weighted covariance of the positives, and that covariance times the coefficients."""
        coef = self._point.coef
        if self._problem.design.direct:
            matrix = _covariance_plus_identity(self._problem, self._weights, center, total)
            return DenseMetric(matrix), matrix @ coef - coef
        directions, values = self._sketch(center)
        tail, extra = float(values[0]), values - values[0]
        metric = LowRankMetric(1.0 + tail, directions, extra)
        return metric, tail * coef + directions @ (extra * (directions.T @ coef))

    def _sketch(self, center: Floats) -> tuple[Floats, Floats]:
        """Leading eigenvectors of the weighted covariance, by two rounds of a random subspace."""
        rows = self._problem.rows(self._problem.positives)
        root = np.sqrt(self._weights)[:, np.newaxis]
        size = min(SKETCH_SIZE, rows.shape[0], rows.shape[1])
        basis = self._rng.standard_normal((rows.shape[1], size))
        for _ in range(2):
            basis = np.linalg.qr(basis)[0]
            inside = root**2 * (rows @ basis - center @ basis)
            basis = rows.T @ inside - np.outer(center, inside.sum(axis=0))
        basis = np.linalg.qr(basis)[0]
        inside = root * (rows @ basis - center @ basis)
        values, vectors = np.linalg.eigh(inside.T @ inside)
        return basis @ vectors, np.maximum(values, 0.0)

    def part(self) -> PositivePart:
        return self._part

    def dual(self, free: Rows, y: Floats, scores: Floats, level: float) -> Floats:
        # The model's slopes go with the model's coefficients; where the loss has no such slope, the nearest.
        moved = (level - self._point.threshold) - (scores - self._point.positive_scores)
        return np.clip(self._slopes + self._weights * moved, 0.0, self._problem.costs)

    def update(self, best: TopPushPoint, latest: TopPushPoint, free: Rows, y: Floats) -> int:
        if best is not self._point:
            self._renew(best)
        return 0


def _weighted_mean(problem: TopPushProblem, weights: Floats, total: float) -> Floats:
    return problem.combine(weights, np.zeros(len(problem.negatives))) / total


def _covariance_plus_identity(problem: TopPushProblem, weights: Floats, mean: Floats, total: float) -> Floats:
    """I + sum_i weights_i (x_i - mean)(x_i - mean)^T over the positives."""
    if problem.design.sparse:
        numbers = np.zeros(problem.design.n_rows)
        numbers[problem.positives] = weights
        matrix = problem.design.gram(numbers) - total * np.outer(mean, mean)
    else:
        # Relative to the mean: a difference of large sums may be far from positive definite.
        counted = np.flatnonzero(weights)
        rows = problem.rows(problem.positives[counted]) - mean
        rows *= np.sqrt(weights[counted])[:, np.newaxis]
        matrix = rows.T @ rows
    matrix.flat[:: len(matrix) + 1] += 1.0
    return matrix


class Negatives:
    """Negatives outside the threshold, in it with their cap, or undecided."""

    def __init__(self, problem: TopPushProblem, scores: Floats, parts: Floats | None = None) -> None:
        self._caps = problem.caps
        self._limit = min(max(50, problem.design.n_features), 500)
        count = len(problem.negatives)
        # The mean of all negatives leaves nothing to decide.
        self._all_in = self._caps is not None and float(self._caps.sum()) <= 1.0 + 1e-12
        self._set = WorkingSet(np.full(count, LOWER, dtype=np.int8))
        if self._caps is None:
            self._set.admit(pick_worst(scores - scores.min() + 1.0, self._limit, distinct=True))
            if parts is not None:
                self._set.admit(np.flatnonzero(parts > 0.0))
        else:
            self._start_with_caps(scores, self._caps)

    def _start_with_caps(self, scores: Floats, caps: Floats) -> None:
        """The rows around the place where the caps of the highest reach one are undecided."""
        if self._all_in:
            self._set.state[:] = UPPER
            return
        order = np.argsort(-scores, kind="stable")
        place = int(np.searchsorted(np.cumsum(caps[order]), 1.0))
        self._limit = max(self._limit, min(place, BAND))
        self._set.state[order[: max(0, place - self._limit)]] = UPPER
        self._set.admit(order[max(0, place - self._limit) : place + self._limit])
        self._make_room(scores)

    @property
    def free(self) -> Rows:
        """Positions of the undecided rows among the negatives."""
        return self._set.free

    @property
    def shares(self) -> Floats:
        """The shares of the decided negatives."""
        if self._caps is None:
            return np.zeros(len(self._set.state))
        return np.where(self._set.state == UPPER, self._caps, 0.0)

    def update(self, scores: Floats, cutoff: float, free: Rows, shares: Floats) -> int:
        """Learn from a round: `shares` are those of the free rows; returns how many decisions were wrong."""
        if self._all_in:
            return 0
        lack = scores - cutoff
        capped = self._caps is not None
        wrong = pick_worst(self._set.wrong(lack), self._limit, distinct=not capped)
        clear = lack[free]
        if self._caps is not None:
            shares = shares / self._caps[free]
            clear = clear / max(0.1 * float(np.abs(clear).mean()), np.finfo(float).tiny)
        # Without mass on the positives the shares say nothing.
        gone = self._set.release(free, shares, clear, may_be_upper=capped) if shares.any() else 0
        self._set.admit(wrong)
        if not len(self._set.free):
            self._set.admit(np.array([np.argmax(scores)]))
        if 4 * gone < len(wrong) == self._limit:
            self._limit = min(2 * self._limit, MOST_NEGATIVES)  # nearly all that came were needed
        if capped:
            self._make_room(scores)
        return len(wrong)

    def _make_room(self, scores: Floats) -> None:
        """Keep some share for the undecided rows, and more caps among them than share."""
        assert self._caps is not None
        state = self._set.state
        while True:
            share = 1.0 - self._caps[state == UPPER].sum()
            if share <= 1e-9:
                upper = self._set.upper
                self._set.admit(upper[np.argsort(scores[upper])[: max(10, len(upper) // 10)]])
            elif self._caps[state == FREE].sum() < 1.5 * share and (state == LOWER).any():
                lower = np.flatnonzero(state == LOWER)
                count = min(max(10, len(self._set.free)), len(lower))
                self._set.admit(lower[np.argsort(-scores[lower])[:count]])
            else:
                return
