"""Local search where every coefficient that is not zero has its price: through sets of columns.

On a set of columns the price is the same for all coefficients, so the lines of `local_search` find the best
order there. It looks at single columns first, then goes down a path of sets, from the start to a single
column, leaving out the one that is missed least; then it adds, drops and exchanges columns of the best set so
far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.climb.local_search import Answer, LocalSearch
from toprank.exact.problem import RankingProblem

__all__ = ["PricedSearch"]

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
LINES_A_VISIT = 60
"""Most lines on one set of columns, before another is looked at."""
MOST_ENTRIES, BEST_SINGLES = 1_000_000, 3
"""Entries of columns that are looked at by themselves, and the best of these that are judged exactly."""
SHORT_PATH = 16
"""From more columns than this the path leaves out several at a time, those that move the scores least."""


class PricedSearch:
    """A search through sets of columns, with the same calls as `LocalSearch`.

    Parameters
    ----------
    problem : RankingProblem
        With a penalty.
    rng : numpy Generator
        The same generator state and the same calls give the same answer.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> problem = RankingProblem.from_labels(X, [0, 1, 1], "auc", penalty=0.1)
    >>> search = PricedSearch(problem, np.random.default_rng(0))
    >>> search.start([1.0, 1.0])
    >>> search.advance(200)
    >>> search.best.coef, search.best.value
    (array([1., 0.]), 0.9)
    """

    def __init__(self, problem: RankingProblem, rng: np.random.Generator) -> None:
        self._problem, self._rng = problem, rng
        self._free = LocalSearch(problem.restricted(np.arange(problem.n_features)), rng)
        self._spread = _spread_of(problem)
        self._queue: list[tuple[Columns, Floats, Callable[[Answer], None]]] = []
        self._path: _Path | None = None
        self._now: _Visit | None = None
        self._looked = False
        self.lines = 0
        self.stalled = 0
        self.hurried = False
        self.best = Answer(np.zeros(problem.n_features), problem.floor)

    @property
    def rank(self) -> int:
        """Number of independent directions in which rows differ; zero when all rows are equal."""
        return self._free.rank

    @property
    def value(self) -> float:
        """Value of the best answer, prices paid."""
        return self.best.value

    @property
    def patience(self) -> int:
        """Lines in vain after which a climb is over: some for each set next to the present one."""
        return 20 * (1 + min(self._problem.n_features, 20))

    # -- moving -------------------------------------------------------------------------------

    def start(self, coef: ArrayLike) -> None:
        """Continue from these coefficients of the scaled features, and down the path from there."""
        begin = np.array(coef, dtype=np.float64)
        if not begin.any():
            begin = self._rng.standard_normal(len(begin))
        self.stalled, self._now, self._path = 0, None, None
        self._queue = [] if self._looked else self._single_columns()
        self._looked = True
        self._queue.append((np.flatnonzero(begin), begin, self._begin_path))

    def perturb(self) -> None:
        """Continue from the best answer with a few columns more or less, at random."""
        coef = self.best.coef.copy()
        some = self._rng.choice(len(coef), size=min(len(coef), int(self._rng.integers(1, 4))), replace=False)
        coef[some] = np.where(coef[some] != 0.0, 0.0, self._rng.standard_normal(len(some)))
        self.start(coef)

    def advance(self, lines: int, patience: int = 10**9) -> None:
        """Search along so many lines, fewer when `patience` lines in a row bring nothing."""
        last = self.lines + lines
        while self.lines < last and self.stalled < patience and self.rank > 0:
            if self._now is None:
                self._now = self._next_visit()
            self._go_on(self._now, last - self.lines)

    def lines_within(self, seconds: float) -> int:
        """Lines that so many seconds are enough for, as far as the last ones tell; at least one."""
        return (self._free if self._now is None else self._now.search).lines_within(seconds)

    def work(self, lines: int) -> None:
        """Search along so many lines, from a perturbed best answer when the present climb is over."""
        if self.stalled >= self.patience or not self._looked:
            self.perturb()
        self.advance(lines, self.patience)
        self.keep()

    def keep(self) -> None:
        """Remember the present answer if it is the best, by the problem's own count."""
        if self._now is not None:
            self._judge(self._now)

    # -- sets of columns ----------------------------------------------------------------------

    def _next_visit(self) -> _Visit:
        """The next set to look at: of the queue, of the path, or next to the best."""
        if self._path is not None and self._path.at_its_end and not self._queue:
            self._path = None
        if self._queue:
            columns, coef, then = self._queue.pop(0)
        elif self._path is not None:
            columns, coef, then = self._path.next_set(), self._path.coef, self._path.seen
        else:
            columns, coef, then = self._beside_the_best(), self.best.coef, _nothing
        whole = len(columns) == len(coef)
        search = self._free if whole else LocalSearch(self._problem.restricted(columns), self._rng)
        search.start(coef[columns])
        return _Visit(columns, search, then)

    def _go_on(self, visit: _Visit, lines: int) -> None:
        """Some lines on the present set; what it is worth when that is done."""
        search, before = visit.search, visit.search.lines
        search.advance(min(lines, visit.left), search.patience)
        used = max(1, search.lines - before)
        visit.left -= used
        self.lines += used
        self.stalled += used if self._path is None and not self._queue else 0
        if visit.left <= 0 or search.stalled >= search.patience or search.rank == 0:
            self._now = None
            visit.then(self._judge(visit))

    def _judge(self, visit: _Visit) -> Answer:
        """The best answer on a set of columns so far, prices paid."""
        visit.search.keep()
        whole = np.zeros(self._problem.n_features)
        whole[visit.columns] = visit.search.best.coef
        value = self._problem.evaluate(self._problem.unscale(whole)) if whole.any() else self._problem.floor
        answer = Answer(whole, value)
        if value > self.best.value:
            self.best, self.stalled = answer, 0
        return answer

    def _begin_path(self, answer: Answer) -> None:
        self._path = _Path(answer, self._spread)

    def _single_columns(self) -> list[tuple[Columns, Floats, Callable[[Answer], None]]]:
        """The best columns by themselves, in either direction: one price, and nothing to search for."""
        rows, columns = self._problem.X.shape[0], np.arange(self._problem.n_features)
        most = max(1, MOST_ENTRIES // max(rows, 1))
        if len(columns) > most:
            columns = np.sort(self._rng.choice(columns, most, replace=False))
        worth = [max(self._free.value_at(one, sign) for sign in (1.0, -1.0)) for one in columns.tolist()]
        chosen = columns[np.argsort(worth, kind="stable")[-BEST_SINGLES:]]
        return [(np.array([one]), np.ones(self._problem.n_features), _nothing) for one in chosen]

    def _beside_the_best(self) -> Columns:
        """A column more, one less, or one for another; any where there is none yet."""
        coef = self.best.coef
        inside, outside = np.flatnonzero(coef), np.flatnonzero(coef == 0.0)
        kind, columns = self._rng.integers(3), inside
        if kind != 0 and len(inside) > (kind == 1):
            columns = np.delete(columns, self._rng.integers(len(columns)))
        if kind != 1 and len(outside):
            columns = np.append(columns, self._rng.choice(outside))
        return np.sort(columns) if len(columns) else np.array([self._rng.integers(len(coef))])


@dataclass(slots=True)
class _Visit:
    """A climb on some columns, the lines it may still take, and who is told of its answer."""

    columns: Columns
    search: LocalSearch
    then: Callable[[Answer], None]
    left: int = LINES_A_VISIT


def _nothing(answer: Answer) -> None:
    """Nobody waits for the answer."""


class _Path:
    """From a set of columns down to one: at each step every column is left out once, the best taken."""

    def __init__(self, answer: Answer, spread: Floats) -> None:
        self._spread = spread
        self._step_from(answer)

    def _step_from(self, answer: Answer) -> None:
        self.coef = answer.coef
        columns = np.flatnonzero(answer.coef)
        self.at_its_end = len(columns) <= 1
        least_first = columns[np.argsort(np.abs(answer.coef[columns]) * self._spread[columns], kind="stable")]
        self._found: list[Answer] = []
        self._sets = [columns[columns != one] for one in least_first]
        if len(columns) > SHORT_PATH:
            self._sets = [np.sort(least_first[len(columns) // 4 :])]

    def next_set(self) -> Columns:
        """The columns to look at next."""
        return np.asarray(self._sets[len(self._found)])

    def seen(self, answer: Answer) -> None:
        """What they are worth; after the last the path goes on from the best."""
        self._found.append(answer)
        if len(self._found) == len(self._sets):
            self._step_from(max(self._found, key=lambda found: found.value))


def _spread_of(problem: RankingProblem) -> Floats:
    """How far the scaled columns spread."""
    rows: Any = problem.centred
    squares = rows.multiply(rows) if hasattr(rows, "multiply") else rows**2
    return np.sqrt(np.asarray(squares.mean(axis=0)).ravel())
