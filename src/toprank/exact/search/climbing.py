"""Who climbs how long: good answers by local search before the proof, and beside it as long as that pays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from threading import Event

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Run
from toprank.exact.climb.local_search import LocalSearch, default_lines, lines_per_look, local_search
from toprank.exact.climb.priced_search import PricedSearch
from toprank.exact.search.incumbent import Incumbent

__all__ = ["Climbing"]

Floats = NDArray[np.float64]
SECONDS_AT_A_TIME = 0.05
"""What is climbed between two chunks of the proof."""
SHARE_WHILE_IT_PAYS, SHARE_AFTERWARDS = 0.5, 0.05
"""Of all time so far, what climbing may have taken."""
SHARE_AT_FIRST, SECONDS_AT_FIRST = 0.2, 10.0
"""The same up to so many seconds: most proofs take no longer, and no thread proves while another climbs."""
SECONDS_OF_PATIENCE = 1.0
LINES_TO_SETTLE = 300
"""Most lines of the climb that decides between equal answers; where so many are short work."""
SHORT_CLIMB, FEWEST_LINES = 1_000_000, 50
"""Pairs times lines of the first climb where another goes on beside the proof: a tenth of a second or less.
With axes made of what it finds there are up to a quarter more boxes than with the best (Pima, K = 50)."""
SECONDS_A_STRETCH = 0.01
"""Of a climb beside the proof, between two looks at whether that is over."""
MOST_CLIMBERS, SECONDS_ALONE = 3, 0.1
"""Who climb beside a proof at most, and after how long the others join the first, each from its best answer
with random numbers of its own. On UIS, K = 100, four find with 600 lines each what one does with 1,200."""


@dataclass(frozen=True, slots=True)
class _First:
    """The first climb, as it would be without a clock: where it begins, its random numbers, its lines."""

    starts: list[Floats]
    rng: np.random.Generator
    lines: int
    most: int
    """Lines that may be climbed again to decide between equal answers."""


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
        self._incumbent, self._run = incumbent, run
        self._climber: LocalSearch | PricedSearch | None = None
        self._first: _First | None = None
        self._steady = -np.inf
        self._said_all = False
        self._apart = False
        self._handed: deque[Floats] = deque(maxlen=1)
        self._team: list[LocalSearch | PricedSearch] = []
        self._collected: object = None
        self.seconds = self.seconds_to_best = 0.0

    def begin(
        self, starts: Sequence[ArrayLike], share: float, most_lines: int | None = None, *, short: bool = False
    ) -> None:
        """Climb from each start, at as many lines as `DirectRanker` would look at, or fewer.

        Parameters
        ----------
        starts : sequence of array-likes
            Coefficients of the original features.
        share : float
            Of the remaining time, what this may take.
        most_lines : int, optional
        short : bool
            Whether the proof had better begin soon, since more is climbed beside it: see `beside`.
        """
        begin, problem = self._run.seconds, self._incumbent.problem
        lines = default_lines(problem)
        self._climb(starts, share, lines if most_lines is None else min(lines, most_lines), short)
        self.seconds = self.seconds_to_best = self._run.seconds - begin

    def begin_again(self, starts: Sequence[ArrayLike]) -> None:
        """Take up a search that was left: its answer is there, and the climber only needs a place."""
        self._climb([self._incumbent.coef, *starts], 0.5, 1)

    def _climb(self, starts: Sequence[ArrayLike], share: float, lines: int, short: bool = False) -> None:
        problem = self._incumbent.problem
        most = min(LINES_TO_SETTLE, 6 * lines_per_look(problem))
        if short:
            lines = most = min(lines, most, max(SHORT_CLIMB // max(problem.n_pairs, 1), FEWEST_LINES))
        begins = [problem.scale(start) for start in starts] or [np.ones(problem.n_features)]
        part = self._run.part(share, silent=True)
        self._first = _First(begins, deepcopy(part.rng), lines, most)
        self._climber = local_search(problem, begins, part, max_iter=lines)
        found = problem.unscale(self._climber.best.coef)
        for coef in (found, *starts):
            self._incumbent.offer(coef)
        if part.stopped_by is None and not self._climber.hurried:
            self._steady = self._incumbent.value
            self._said_all = lines == most <= self._climber.lines

    def settle(self) -> None:
        """Of several best answers, the one that does not depend on how fast the machine is.

        The value is proved. The first climb, had it been without a clock, would have come to some answer of
        that value, and a longer one to some other: that one is taken, whoever was the first to find any.
        """
        best, problem, first = self._incumbent, self._incumbent.problem, self._first
        if first is None or self._said_all or self._steady >= best.value:
            return  # nothing that the clock had a say in, or nothing that another climb as long would find
        at_a_time, most = lines_per_look(problem), first.most
        if self._run.should_stop() and most < LINES_TO_SETTLE:
            return
        timeless = Run(rng=deepcopy(first.rng))
        found = local_search(
            problem, first.starts, timeless, max_iter=min(first.lines, most), until=best.value
        )
        while found.best.value < best.value and found.lines < most and found.rank:
            found.work(at_a_time)
        if found.best.value >= best.value:
            best.replace(problem.unscale(found.best.coef))

    def take_up(self, coef: Floats) -> None:
        """Go on from coefficients that someone else found."""
        if self._climber is not None:
            self._handed.append(self._incumbent.problem.scale(coef))
            if not self._apart:
                self._climber.start(self._handed.pop())

    def go_on(self, *, waiting: bool = False) -> None:
        """Climb a little: half of the time as long as it pays, a twentieth when it no longer does.

        In the first seconds a fifth, unless the proof is waiting for something else.
        """
        problem = self._incumbent.problem
        if self._climber is None or self._run.should_stop():
            return
        begin = now = self._run.seconds
        paying = SHARE_AT_FIRST if begin < SECONDS_AT_FIRST and not waiting else SHARE_WHILE_IT_PAYS
        share, before = paying if self._pays else SHARE_AFTERWARDS, self._climber.best.value
        while self.seconds + now - begin <= share * now and now - begin < SECONDS_AT_A_TIME:
            within = self._climber.lines_within(self._run.remaining())
            self._climber.work(min(lines_per_look(problem), within))
            now = self._run.seconds
        self.seconds += now - begin
        if self._climber.best.value > before:
            self.seconds_to_best = self.seconds
            self._incumbent.offer(problem.unscale(self._climber.best.coef))

    def along(self, work: Callable[[], None], *, at_once: bool) -> None:
        """Do some of the proof and climb a little, one after the other or at once.

        Parameters
        ----------
        work : callable
            Does some of the proof.
        at_once : bool
            Climb in a thread of its own: with several threads none has to wait for the climb.
        """
        if self._apart or not at_once:
            work()
            if self._apart:
                self.collect()
            else:
                self.go_on()
            return
        with ThreadPoolExecutor(1) as pool:
            climbed = pool.submit(self.go_on)
            work()
            climbed.result()

    # -- beside a proof that leaves the processor free, as on a graphics card -------------------------

    @contextmanager
    def beside(self, wanted: bool, processors: int = 1) -> Iterator[None]:
        """Climb in threads of its own while the caller proves, and not a moment longer."""
        if not wanted or self._climber is None:
            yield
            return
        over, self._apart, self._team = Event(), True, [self._climber]
        others = min(MOST_CLIMBERS, processors // 2) - 1
        with ThreadPoolExecutor(1 + max(others, 0)) as pool:
            climbed = [pool.submit(self._climb_until, over, self._climber)]
            climbed += [pool.submit(self._join, over, rng) for rng in self._run.rng.spawn(max(others, 0))]
            try:
                yield
            finally:
                over.set()
                wait(climbed)
                self._apart = False
            for one in climbed:
                one.result()
        self.collect()
        self._team = []

    def collect(self) -> float:
        """Offer what the climb beside the proof has found, by the thread that proves, as all offers are.

        Returns
        -------
        float
            What an answer must reach now to count as better.
        """
        best = max((climber.best for climber in self._team), key=lambda answer: answer.value, default=None)
        if best is not None and best is not self._collected:
            self._collected = best
            self._incumbent.offer(self._incumbent.problem.unscale(best.coef))
        return self._incumbent.target

    def _join(self, over: Event, rng: np.random.Generator) -> None:
        """Climb, too, in a proof that takes its time."""
        if over.wait(SECONDS_ALONE):
            return
        climber = local_search(
            self._incumbent.problem, [self._team[0].best.coef], Run(rng=rng), n_restarts=0, max_iter=1
        )
        self._team.append(climber)
        self._climb_until(over, climber)

    def _climb_until(self, over: Event, climber: LocalSearch | PricedSearch) -> None:
        """Climb by stretches, all the time as long as it pays; the incumbent is left alone."""
        first, before = climber is self._climber, climber.best
        at_most = lines_per_look(self._incumbent.problem)
        while not over.is_set() and not self._run.should_stop() and climber.rank:
            begin = self._run.seconds
            if first and self._handed:
                climber.start(self._handed.pop())
            if not self._pays and (not first or self.seconds > SHARE_AFTERWARDS * begin):
                over.wait(SECONDS_A_STRETCH)
                continue
            climber.work(min(at_most, climber.lines_within(SECONDS_A_STRETCH)))
            if first:  # seconds of the clock, not of each thread
                self.seconds += self._run.seconds - begin
            if climber.best is not before:
                before, self.seconds_to_best = climber.best, self.seconds

    @property
    def _pays(self) -> bool:
        """Until as much time as the last improvement took, and a second more, brought nothing new."""
        assert self._climber is not None
        few = self._climber.lines < default_lines(self._incumbent.problem)
        return few or self.seconds < 2 * self.seconds_to_best + SECONDS_OF_PATIENCE
