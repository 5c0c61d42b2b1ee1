"""The at-the-top rankers on several lists: every query has a threshold of its own.

    min over w   1/2 |w|^2 + sum over queries q and their positives i of  c_i loss(t_q - w.x_i),

t_q the threshold of the negatives of query q and the c_i of a query adding up to C / queries, so that each
query counts the same. A few rows at a time, as in `column_generation`, would have to be found for every
query; Newton's method on the rounded losses (`start`) has them all at once, and its width shrinks until value
and dual value meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run, Status, relative_gap
from toprank.convex.algebra.design import Design
from toprank.convex.top_push.column_generation import TopPushSolution
from toprank.convex.top_push.problem import certain
from toprank.convex.top_push.start import PATIENT, WIDEST, FirstAnswer
from toprank.losses.smoothed_lists import SmoothedLists, SmoothedListsPoint
from toprank.losses.smoothed_top_push import SmoothedTopPush
from toprank.losses.top_push import Surrogate, Threshold, threshold

__all__ = ["PushList", "QueryPushPoint", "QueryPushProblem", "solve_by_query"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class PushList:
    """One query: who of its rows, counted from zero, is positive; costs and caps.

    Parameters
    ----------
    positives, negatives : arrays of row numbers within the query
    costs : array
        c_i > 0 of each positive.
    negative_weight : array
    caps : array or None
        The largest share of each negative in the threshold; None for the highest negative.
    """

    positives: Rows
    negatives: Rows
    costs: Floats
    negative_weight: Floats
    caps: Floats | None

    def value(self, scores: Floats, surrogate: Surrogate) -> float:
        """The losses of its positives."""
        level = threshold(scores[self.negatives], self.caps)[0]
        return float(self.costs @ surrogate.value(level - scores[self.positives]))

    def ahead(self) -> Floats:
        """For each row what it has to do with the difference of the class means, times the costs."""
        numbers = np.zeros(len(self.positives) + len(self.negatives))
        numbers[self.positives] = self.costs
        numbers[self.negatives] = -self.costs.sum() * self.negative_weight / self.negative_weight.sum()
        return numbers


@dataclass(frozen=True)
class QueryPushPoint:
    """Coefficients and the objective there."""

    coef: Floats
    value: float


@dataclass(frozen=True)
class QueryPushProblem:
    """Rows sorted by query, and the lists they make.

    Build it with `QueryPushProblem.from_labels`.

    Parameters
    ----------
    design : Design
    lists : tuple of PushList
    start : array of shape (n_lists + 1,)
        Where the rows of each list begin, and where the last ends.
    surrogate : Surrogate
    """

    design: Design
    lists: tuple[PushList, ...]
    start: Rows
    surrogate: Surrogate

    @classmethod
    def from_labels(
        cls,
        X: Any,
        y: NDArray[Any],
        query: Ints,
        weight: Floats,
        *,
        C: float,
        surrogate: Surrogate,
        rule: Threshold,
    ) -> QueryPushProblem:
        """The problem of labelled rows: y is 1 for positives, 0 for negatives; all weights are positive.

        Every query has rows of both classes.
        """
        order = np.argsort(query, kind="stable")
        y, weight, query = y[order], weight[order], query[order]
        start = np.append(np.flatnonzero(np.diff(query, prepend=query[0] - 1)), len(query))
        lists = []
        for begin, end in pairwise(start):
            positives = np.flatnonzero(y[begin:end] == 1)
            negatives = np.flatnonzero(y[begin:end] == 0)
            up, down = weight[begin:end][positives], weight[begin:end][negatives]
            costs = C / (len(start) - 1) * up / up.sum()
            lists.append(PushList(positives, negatives, costs, down, rule.caps(down)))
        number = np.repeat(np.arange(len(lists)), np.diff(start))
        return cls(Design(X[order], number), tuple(lists), start, surrogate)

    def seen(self, coef: Floats, scores: Floats) -> QueryPushPoint:
        """The point with these coefficients and scores."""
        parts = (scores[begin:end] for begin, end in pairwise(self.start))
        loss = sum(one.value(part, self.surrogate) for one, part in zip(self.lists, parts, strict=True))
        return QueryPushPoint(coef, 0.5 * float(coef @ coef) + loss)

    def zero(self) -> QueryPushPoint:
        """The point w = 0, where all are tied."""
        return self.seen(np.zeros(self.design.n_features), np.zeros(self.design.n_rows))

    def mean_difference(self) -> Floats:
        """From the means of the negatives to those of the positives of their query, averaged."""
        total = sum(float(one.costs.sum()) for one in self.lists)
        return self.design.combine(np.concatenate([one.ahead() for one in self.lists])) / total

    def rounded(self, width: float, lift: float | Floats) -> RoundedLists:
        """The problem with its corners rounded."""
        lifts = np.broadcast_to(lift, len(self.lists))
        rounded = (
            SmoothedTopPush(
                one.positives, one.negatives, one.costs, one.caps, self.surrogate, width, float(own)
            )
            for one, own in zip(self.lists, lifts, strict=True)
        )
        return RoundedLists(self.design, SmoothedLists(tuple(rounded), self.start))


@dataclass(frozen=True)
class RoundedLists:
    """The rounded problem as `toprank.convex.algebra.newton` wants it."""

    design: Design
    loss: SmoothedLists
    C: float = 1.0

    def at(self, scores: Floats) -> SmoothedListsPoint:
        return self.loss.at(scores)

    def _sums(self, numbers: Floats) -> Floats:
        return self.design.combine_lists(numbers, self.loss.start)

    def hessian(self, point: SmoothedListsPoint) -> Floats:
        """X^T (Hessian with respect to the scores) X: one Gram matrix, three corrections of rank one each."""
        matrix = self.design.gram(point.gathered(lambda p: p.spread(p.curvatures, p.stiffness)))
        ahead = self._sums(point.gathered(lambda p: p.spread(p.curvatures, 0.0 * p.parts)))
        level = self._sums(point.gathered(lambda p: p.spread(0.0 * p.slopes, p.shares)))
        inside = self._sums(point.gathered(lambda p: p.spread(0.0 * p.slopes, p.stiffness)))
        bent = np.array([p.curvatures.sum() for p in point.points])[:, np.newaxis]
        stiff = np.array([p.stiffness.sum() for p in point.points])[:, np.newaxis]
        cross = ahead.T @ level
        matrix -= cross
        matrix -= cross.T
        matrix += level.T @ (bent * level)
        matrix -= inside.T @ (inside / np.where(stiff > 0.0, stiff, 1.0))
        return matrix


def solve_by_query(
    problem: QueryPushProblem, *, tol: float, run: Run, max_iter: int = 1000, start: Floats | None = None
) -> TopPushSolution:
    """Minimise to a relative duality gap of `tol`.

    Parameters
    ----------
    problem : QueryPushProblem
    tol : float
    run : Run
    max_iter : int
        Most Newton steps.
    start : array, optional
        Coefficients to start from.
    """
    answer = FirstAnswer(problem, run, pace=PATIENT, max_steps=max_iter)
    coef = problem.mean_difference() if start is None else start
    answer.descend(coef, WIDEST, tol)
    status = run.stopped_by or Status.FINISHED
    if relative_gap(answer.best.value, answer.bound) <= certain(answer.best, tol):
        status = Status.OPTIMAL
    elif run.stopped_by is None and answer.steps >= max_iter:
        status = Status.ITERATION_LIMIT
    return TopPushSolution(answer.best, min(answer.bound, answer.best.value), status, answer.steps)
