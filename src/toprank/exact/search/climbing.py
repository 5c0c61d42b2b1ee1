"""Who climbs how long: good answers by local search before the proof, and beside it as long as that pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Run
from toprank.exact.climb.local_search import LocalSearch, default_lines, lines_per_look, local_search
from toprank.exact.search.incumbent import Incumbent, placed

__all__ = ["Climbing"]

Floats = NDArray[np.float64]
SECONDS_AT_A_TIME = 0.05
"""What is climbed between two chunks of the proof."""
SHARE_WHILE_IT_PAYS, SHARE_AFTERWARDS = 0.5, 0.05
"""Of all time so far, what climbing may have taken."""
SECONDS_OF_PATIENCE = 1.0
LINES_TO_THIN_OUT = 150


class Climbing:
    """The time spent on local search, and what it brought.

    Parameters
    ----------
    incumbent : Incumbent
        What is found is offered to it.
    run : Run
        Clock and random numbers.

    Attributes
    ----------
    seconds, seconds_to_best : float
        Of climbing in all, and until the last improvement.
    """

    def __init__(self, incumbent: Incumbent, run: Run) -> None:
        problem = incumbent.problem
        self._incumbent, self._run = incumbent, run
        self._free = problem.restricted(np.arange(problem.n_features)) if problem.penalty else problem
        self._climber: LocalSearch | None = None
        self.seconds = self.seconds_to_best = 0.0

    def begin(self, starts: Sequence[ArrayLike], share: float, most_lines: int | None = None) -> None:
        """Climb from each start, at as many lines as `DirectRanker` would look at, or fewer.

        Parameters
        ----------
        starts : sequence of array-likes
            Coefficients of the original features.
        share : float
            Of the remaining time, what this may take.
        most_lines : int, optional
        """
        begin, problem = self._run.seconds, self._incumbent.problem
        lines = default_lines(problem)
        dense = self._climb(starts, share, lines if most_lines is None else min(lines, most_lines))
        if problem.penalty:
            self._thin_out(dense)
        self.seconds = self.seconds_to_best = self._run.seconds - begin

    def begin_again(self, starts: Sequence[ArrayLike]) -> None:
        """Take up a search that was left: its answer is there, and the climber only needs a place."""
        self._climb([self._incumbent.coef, *starts], 0.5, 1)

    def _climb(self, starts: Sequence[ArrayLike], share: float, lines: int) -> Floats:
        problem = self._incumbent.problem
        begins = [problem.scale(start) for start in starts] or [np.ones(problem.n_features)]
        self._climber = local_search(self._free, begins, self._run.part(share, silent=True), max_iter=lines)
        found = problem.unscale(self._climber.best.coef)
        for coef in (found, *starts):
            self._incumbent.offer(coef)
        return found

    def take_up(self, coef: Floats) -> None:
        """Go on from coefficients that someone else found."""
        if self._climber is not None:
            self._climber.start(self._incumbent.problem.scale(coef))

    def go_on(self) -> None:
        """Climb a little: a third of the time as long as it pays, a twentieth when it no longer does."""
        problem = self._incumbent.problem
        if self._climber is None or problem.penalty or self._run.should_stop():
            return  # with a price the supports' own searches find what there is
        begin = now = self._run.seconds
        share, before = SHARE_WHILE_IT_PAYS if self._pays else SHARE_AFTERWARDS, self._climber.best.value
        while self.seconds + now - begin <= share * now and now - begin < SECONDS_AT_A_TIME:
            within = self._climber.lines_within(self._run.remaining())
            self._climber.work(min(lines_per_look(problem), within))
            now = self._run.seconds
        self.seconds += now - begin
        if self._climber.best.value > before:
            self.seconds_to_best = self.seconds
            self._incumbent.offer(problem.unscale(self._climber.best.coef))

    @property
    def _pays(self) -> bool:
        """Until as much time as the last improvement took, and a second more, brought nothing new."""
        assert self._climber is not None
        few = self._climber.lines < default_lines(self._incumbent.problem)
        return few or self.seconds < 2 * self.seconds_to_best + SECONDS_OF_PATIENCE

    # -- where coefficients have a price --------------------------------------------------------

    def _thin_out(self, coef: Floats) -> None:
        """Leave out one coefficient after the other, the least missed first."""
        while np.count_nonzero(coef) > 1 and not self._run.should_stop():
            columns = np.flatnonzero(coef)
            thinner = []
            for place in range(len(columns)):
                thinner.append(self._climb_within(coef, np.delete(columns, place)))
                if self._run.should_stop():
                    return
            coef = max(thinner, key=self._free.evaluate)

    def _climb_within(self, coef: Floats, columns: NDArray[np.int64]) -> Floats:
        """A short climb on some columns."""
        part = self._incumbent.problem.restricted(columns)
        run = self._run.part(0.05, silent=True)
        found = local_search(part, [part.scale(coef[columns])], run, n_restarts=1, max_iter=LINES_TO_THIN_OUT)
        whole = placed(part.unscale(found.best.coef), columns, len(coef))
        self._incumbent.offer(whole)
        return whole
