"""A first answer to the at-the-top problems with many active rows, by Newton's method on a rounded loss.

Where the threshold is the mean of many negatives, or features are many, the active rows are too many to be
found a few at a time. Newton's method on the loss of `toprank.losses.smoothed_top_push` soon has most of
them, and every step comes with a dual point. With a soft threshold it begins on an eighth of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run, relative_gap
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import Iterate, newton_step, start_at
from toprank.convex.top_push.problem import Seen, TopPushPoint, TopPushProblem, certain

__all__ = ["PATIENT", "WIDEST", "FirstAnswer", "first_answer", "worth_a_start"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
SUBSET = 8
"""The subset has one row in so many."""
SMALL = 8000
"""With no more rows than this there is no subset."""
FEWEST = 500
"""A subset keeps so many rows of each class, if there are."""
WIDEST = 0.5
"""The first width over which corners are rounded."""
SETTLED = 0.3
"""The width shrinks when what Newton's method can still gain is below this share of what rounding costs."""
NARROWEST = 1e-10
"""Narrower ones drown in the rounding of the scores."""
ROUGH = 1e-3
"""The gap of answers on fewer rows."""
LARGE = 2000
"""With no more negatives than this, column generation is fast enough by itself."""


@dataclass(frozen=True)
class _Pace:
    """When to narrow, and when it is the turn of column generation.

    Attributes
    ----------
    narrower : float
        The next width as a part of the last.
    steps : int
        Steps in which the gradient has to halve: else few rows are left to decide, or too many tie.
    enough : float
        Stands in for `SETTLED` when it does not.
    """

    narrower: float
    steps: int
    enough: float


QUICK = _Pace(0.1, 3, SETTLED)
PATIENT = _Pace(0.3, 20, 3.0)
"""For more features than are factorised, where column generation is slow."""


def worth_a_start(problem: TopPushProblem) -> bool:
    """Whether the threshold is soft or features are many, and rows enough that column generation is slow."""
    return (problem.caps is not None or not problem.design.direct) and len(problem.negatives) > LARGE


def first_answer(problem: TopPushProblem, *, tol: float, run: Run) -> FirstAnswer[TopPushPoint]:
    """Descend until the relative gap is at most `tol` or Newton's method gets slow.

    Parameters
    ----------
    problem : TopPushProblem
    tol : float
    run : Run
    """
    answer = FirstAnswer(problem, run)
    if not problem.design.direct:
        # Fewer rows have another maximum. The coefficients, and so the scores, are at most of order C.
        coef, width = np.zeros(problem.design.n_features), WIDEST * max(1.0, float(problem.costs.sum()))
    else:
        coef, width = _rough_answer(problem, max(tol, ROUGH), run.part(silent=True))
    answer.descend(coef, width, tol)
    return answer


def _rough_answer(problem: TopPushProblem, tol: float, run: Run) -> tuple[Floats, float]:
    """Coefficients and width of an answer on fewer rows; zero and the widest when there are few."""
    fewer = _subset(problem) if problem.design.n_rows > SMALL else problem
    if 2 * fewer.design.n_rows > problem.design.n_rows:
        return np.zeros(problem.design.n_features), WIDEST
    answer = FirstAnswer(fewer, run)
    answer.descend(*_rough_answer(fewer, tol, run), tol, certainly=False)
    return answer.coef, answer.width


PointT = TypeVar("PointT", bound=Seen)
SeenT = TypeVar("SeenT", bound=Seen, covariant=True)


class Pushed(Protocol[SeenT]):
    """An at-the-top problem, of one list or of several."""

    @property
    def design(self) -> Design:
        """The rows."""
        ...

    def seen(self, coef: Floats, scores: Floats) -> SeenT:
        """The point with these coefficients and scores."""
        ...

    def zero(self) -> SeenT:
        """The point w = 0."""
        ...

    def rounded(self, width: float, lift: Any) -> Any:
        """The problem with its corners rounded, for Newton's method."""
        ...


class FirstAnswer(Generic[PointT]):
    """Newton steps on ever narrower rounding.

    Parameters
    ----------
    problem : Pushed
    run : Run
    pace : _Pace, optional
    max_steps : int, optional

    Attributes
    ----------
    coef : array
        The last coefficients.
    width : float
        The last width.
    parts : array
        The last shares of the negatives in the threshold, as parts of their caps.
    best : TopPushPoint
        The best point on the way, perhaps w = 0.
    bound : float
        The largest lower bound on the optimum.
    steps : int
        Newton steps so far.
    """

    def __init__(
        self,
        problem: Pushed[PointT],
        run: Run,
        *,
        pace: _Pace | None = None,
        max_steps: int | None = None,
    ) -> None:
        self._problem, self._run = problem, run
        # The mean part is not known yet: near one with few features, near zero with many.
        self._first_lift = 1.0 if problem.design.direct else 0.0
        self._pace = pace or (QUICK if problem.design.direct else PATIENT)
        self._max_steps = max_steps
        self.best: PointT = problem.zero()
        self.bound = 0.0
        self.steps = 0

    def descend(self, coef: Floats, width: float, tol: float, *, certainly: bool = True) -> None:
        """Descend from given coefficients; with `certainly`, not content with a rough gap around w = 0."""
        posed = self._problem.rounded(width, self._first_lift)
        now, pace = start_at(posed, coef), self._pace
        left: list[float] = []
        while True:
            self.coef, self.width, self.parts = now.coef, width, now.point.parts
            newton, rounding = self._record(now)
            goal = certain(self.best, tol) if certainly else tol
            if relative_gap(self.best.value, self.bound) <= goal or not self._goes_on():
                return
            left.append(newton)
            slow = len(left) > pace.steps and left[-1] > 0.5 * left[-1 - pace.steps]
            if newton < (pace.enough if slow else SETTLED) * rounding and width > NARROWEST:
                width *= pace.narrower
                posed = self._problem.rounded(width, now.point.mean_part)
                now, left = _narrower(posed, now, pace.narrower), []
            elif slow or width <= NARROWEST:
                return
            following = newton_step(posed, now)
            if following is None:
                return
            now = following
            self.steps += 1

    def _goes_on(self) -> bool:
        if self._max_steps is not None and self.steps >= self._max_steps:
            return False
        return self._run.report(Progress(self.best.value, self.bound, phase="first answer"))

    def _record(self, now: Iterate[Any]) -> tuple[float, float]:
        """Keep the best point and bound; returns Newton's and the rounding's part of the gap here."""
        point = self._problem.seen(now.coef, now.scores)
        if point.value < self.best.value:
            self.best = point
        force = now.gradient - now.coef
        bound = now.point.dual - 0.5 * float(force @ force)
        self.bound = max(self.bound, bound)
        newton = 0.5 * float(now.gradient @ now.gradient)
        return newton, point.value - bound - newton


def _narrower(posed: Any, now: Iterate[Any], part: float) -> Iterate[Any]:
    """The iterate with a new width, `part` of the last: the best of three guesses.

    The same coefficients; smaller ones in the same proportion, for where w = 0 is optimal they shrink with
    the width; and those that keep between its ends what is.
    """
    guesses = [start_at(posed, now.coef, now.scores), start_at(posed, part * now.coef, part * now.scores)]
    if now.point.between.any():
        continued = posed.loss.continued(now.scores, now.point)
        ahead = newton_step(posed, start_at(posed, now.coef, now.scores, continued))
        guesses += [] if ahead is None else [ahead]
    return min(guesses, key=lambda iterate: iterate.value)


def _subset(problem: TopPushProblem) -> TopPushProblem:
    """One row in eight of each class, more where that would be few; the share that the caps allow stays."""
    up, down = (
        np.arange(0, count, max(1, min(SUBSET, count // FEWEST)))
        for count in (len(problem.positives), len(problem.negatives))
    )
    rows = np.concatenate([problem.positives[up], problem.negatives[down]])
    costs, caps = problem.costs[up], problem.caps
    if caps is not None:
        caps = caps[down] * (caps.sum() / caps[down].sum())
    return TopPushProblem(
        problem.design.take(rows),
        np.arange(len(up)),
        np.arange(len(up), len(rows)),
        costs * (problem.costs.sum() / costs.sum()),
        problem.negative_weight[down],
        caps,
        problem.surrogate,
    )
