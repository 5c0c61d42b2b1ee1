"""Good answers fast, at any list length: local search with exact line searches in whitened space.

Along a line the value is a step function of t whose steps are the crossings of pairs; the search takes the
best step, widest in angle, and goes on from its middle. Directions are drawn in the space where the rows have
unit covariance: random ones, single features, towards lost pairs, and edges of the cell of directions with
the same order, which reach slivers that no random line hits. Lists too long to cross all their pairs are
searched near their top, data too wide in random subspaces, and every step is checked on the whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Progress, Run
from toprank.exact.arithmetic.rational import is_sparse
from toprank.exact.climb.arena import Arena, best_on_line, dense, view_of
from toprank.exact.climb.head import LEAST_LEAD, Head, head_of
from toprank.exact.problem import RankingProblem

if TYPE_CHECKING:
    from toprank.exact.climb.priced_search import PricedSearch

__all__ = ["Answer", "LocalSearch", "default_lines", "lines_per_look", "local_search"]

Floats = NDArray[np.float64]

WIDEST = 200
"""Beyond so many features the search goes through random subspaces."""
SUBSPACE = 24
"""Dimension of those subspaces."""
ROUND = 10
"""Lines in a part of the problem between two looks at the whole."""

LOOK_SECONDS = 0.2
"""Between two looks at the clock; fewer where less time is left."""
FARTHEST, MOST_FACTORED = 16.0, 2_000_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The best coefficients found so far.

    Parameters
    ----------
    coef : array
        Coefficients of the scaled features, the largest magnitude 1 (or all zero).
    value : float
        The problem's own value of them.
    """

    coef: Floats
    value: float


@dataclass(slots=True)
class Step:
    """How far to go in one kind of step, and how often it has paid."""

    length: float
    tried: int = 0
    paid: int = 0

    @property
    def rate(self) -> float:
        """Share of steps that improved the answer."""
        return (self.paid + 1) / (self.tried + 2)

    def done(self, better: bool) -> None:
        """Count a step; longer ones next after a success, shorter after a failure."""
        self.tried += 1
        self.paid += better
        self.length = min(1.0, 1.7 * self.length) if better else max(1e-5, 0.8 * self.length)


class LocalSearch:
    """A search that can be advanced line by line, from any start, keeping the best answer.

    Parameters
    ----------
    problem : RankingProblem
    rng : numpy Generator
        Source of directions; the same generator state and the same calls give the same answer.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1], "auc")
    >>> search = LocalSearch(problem, np.random.default_rng(0))
    >>> search.start([0.0, -1.0])
    >>> search.advance(20)
    >>> search.keep()
    >>> search.best.value
    1.0
    """

    def __init__(self, problem: RankingProblem, rng: np.random.Generator) -> None:
        self._problem = problem
        self._rng = rng
        self._view = view_of(problem)
        self._rows: Any = problem.centred
        self._factors = _whitening(self._rows) if problem.n_features <= WIDEST else None
        self._arena = self._whole_arena()
        self._steps = {"climb": Step(0.3), "line": Step(0.3)}
        self._coef = np.zeros(problem.n_features)
        self._value = -np.inf
        # Seconds a line; until the first is measured rather too many, for a machine that is slow or busy.
        self._pace = 2 * LOOK_SECONDS / lines_per_look(problem)
        self.lines = 0
        self.stalled = 0
        self.hurried = False
        self.best = Answer(self._coef, problem.floor)

    def _whole_arena(self) -> Arena | None:
        """One arena for the whole search where the problem is small enough."""
        if self._factors is None or not self._view.whole or self.rank == 0:
            return None
        picked = self._view.pick(None, self._rng)
        basis, axes = self._factors
        return Arena(picked, dense(self._rows[picked.rows]) @ basis, basis, axes)

    @property
    def rank(self) -> int:
        """Number of independent directions in which rows differ; zero when all rows are equal."""
        return SUBSPACE if self._factors is None else int(self._factors[0].shape[1])

    @property
    def value(self) -> float:
        """Value of the best answer or, where it is better, the present one as the search counts it."""
        return max(self.best.value, self._value)

    # -- moving -------------------------------------------------------------------------------

    def start(self, coef: ArrayLike) -> None:
        """Continue from these coefficients of the scaled features."""
        self._coef = _largest_one(np.array(coef, dtype=np.float64))
        if not self._coef.any():
            self._coef = _largest_one(self._random())
        # No line through an answer reaches its opposite, which is all there is to try with one feature.
        self._value, reverse = self._value_of(self._coef), self._value_of(-self._coef)
        if reverse > self._value:
            self._coef, self._value = -self._coef, reverse
        self.stalled = 0

    def perturb(self) -> None:
        """Continue from the best answer, pushed in a random direction by a random amount."""
        size = np.exp(self._rng.uniform(np.log(0.05), np.log(2.0)))
        self.start(self._unit(self.best.coef) + size * self._unit(self._random()))

    def advance(self, lines: int, patience: int = 10**9) -> None:
        """Search along so many lines, fewer when `patience` lines in a row bring nothing."""
        begin, first, last = time.perf_counter(), self.lines, self.lines + lines
        while self.lines < last and self.stalled < patience and self.rank > 0:
            if self._arena is not None:
                self._climb_whole(self._arena, last - self.lines, patience)
            elif self._choose() == "climb":
                self._climb_part()
            else:
                self._search_line()
        if self.lines > first:
            self._pace = (time.perf_counter() - begin) / (self.lines - first)

    def lines_within(self, seconds: float) -> int:
        """Lines that so many seconds are enough for, as far as the last ones tell; at least one."""
        return max(1, int(min(seconds / max(self._pace, 1e-9), 1e9)))

    def work(self, lines: int) -> None:
        """Search along so many lines, from a perturbed best answer when the present climb is over."""
        if self.stalled >= self.patience or self._value == -np.inf:
            self.perturb()
        self.advance(lines, self.patience)
        self.keep()

    @property
    def patience(self) -> int:
        """Lines in vain after which a climb is over."""
        return 10 + 2 * min(self.rank, 30)

    def keep(self) -> None:
        """Remember the current answer if it is the best, by the problem's own count."""
        if self._value <= self.best.value:
            return
        value = self._problem.evaluate(self._problem.unscale(self._coef))
        if value > self.best.value:
            self.best = Answer(self._coef.copy(), value)

    def _climb_whole(self, arena: Arena, lines: int, patience: int) -> None:
        v = self._coef @ arena.axes
        if not v.any():  # no pair feels these coefficients
            v = self._random() @ arena.axes
        margin = self._problem.margin
        v, self._value, used, self.stalled = arena.climb(
            v, margin, np.inf, self._rng, lines, self.stalled, patience
        )
        self._coef = _largest_one(arena.basis @ v)
        self.lines += used

    # -- problems too long or too wide to look at as a whole ----------------------------------

    def _choose(self) -> str:
        """The kind of step that has paid more often, with a chance for the other."""
        odds = self._steps["climb"].rate / (self._steps["climb"].rate + self._steps["line"].rate)
        return "climb" if self._rng.random() < odds else "line"

    def _climb_part(self) -> None:
        """Climb where it matters most, then see on the whole how far to go that way."""
        self._count()
        arena = self._part_arena()
        begin = np.asarray(np.linalg.lstsq(arena.basis, self._coef, rcond=None)[0], dtype=np.float64)
        if not begin.any():
            return
        step = self._steps["climb"]
        end, *_ = arena.climb(begin, self._problem.margin, step.length, self._rng, ROUND, 0, ROUND)
        target = arena.basis @ (end / np.linalg.norm(end))
        origin = arena.basis @ (begin / np.linalg.norm(begin))
        step.done(self._try([origin + t * (target - origin) for t in (1.0, 0.5, 0.2)]))

    def _search_line(self) -> None:
        """Two points of the whole along a random line; then all crossings near the top around the better."""
        self._count()
        step = self._steps["line"]
        origin, direction = self._unit(self._coef), self._unit(self._random())
        better = self._try([origin + step.length * direction, origin - step.length * direction])
        step.done(better)
        origin = self._unit(self._coef)
        picked = self._view.pick(np.asarray(self._rows @ origin), self._rng)
        least = max(self._problem.margin, LEAST_LEAD) * float(np.abs(origin).max())
        t = best_on_line(picked, self._rows, origin, direction, least, step.length)
        self._try([origin + t * direction])

    def _count(self) -> None:
        self.lines += 1
        self.stalled += 1

    def _try(self, candidates: list[Floats]) -> bool:
        """Go to the best candidate if it is better than the present answer."""
        coefs = [_largest_one(candidate) for candidate in candidates]
        values = [self._value_of(coef) for coef in coefs]
        best = int(np.argmax(values))
        better = values[best] > self._value + 1e-11 * abs(self._value)
        if better:
            self._coef, self._value, self.stalled = coefs[best], values[best], 0
        return better

    # -- spaces -------------------------------------------------------------------------------

    def _part_arena(self) -> Arena | Head:
        """The head, pairs near the top or a sample; for wide data, a random subspace through the answer."""
        scores = np.asarray(self._rows @ self._coef)
        if self._factors is not None and (head := head_of(self._view, scores, self._rows, self._factors[0])):
            return head
        picked = self._view.pick(scores, self._rng)
        if self._factors is not None:
            basis, axes = self._factors
            return Arena(picked, dense(self._rows[picked.rows]) @ basis, basis, axes)
        directions = np.column_stack([self._coef, *(self._random() for _ in range(SUBSPACE - 1))])
        projected = np.asarray(self._rows @ directions)
        inner, axes = _whitening(projected - projected.mean(axis=0))
        return Arena(picked, projected[picked.rows] @ inner, directions @ inner, axes)

    def _random(self) -> Floats:
        """A random direction, every feature's part in it as its spread allows."""
        if self._factors is not None:
            basis = self._factors[0]
            return np.asarray(basis @ self._rng.standard_normal(basis.shape[1]))
        # Wide data: a handful of features, so that sparse rows have a chance to agree.
        direction = np.zeros(self._problem.n_features)
        some = self._rng.integers(len(direction), size=max(1, len(direction) // 50))
        direction[some] = self._rng.standard_normal(len(some))
        return direction

    def _unit(self, direction: Floats) -> Floats:
        """The direction brought to unit spread of its scores."""
        if self._factors is not None:
            spread = float(np.linalg.norm(direction @ self._factors[1]))
        else:
            spread = float(np.std(self._rows @ direction))
        return direction / spread if spread > 0 else direction

    def value_at(self, column: int, sign: float) -> float:
        """Value of one column by itself, as the search counts it."""
        scores = self._rows[:, [column]]
        scores = sign * np.asarray(scores.toarray() if is_sparse(scores) else scores).ravel()
        return self._view.value(scores, max(self._problem.margin, LEAST_LEAD))

    def _value_of(self, coef: Floats) -> float:
        return self._view.value(np.asarray(self._rows @ coef), max(self._problem.margin, LEAST_LEAD))


def local_search(
    problem: RankingProblem,
    starts: Iterable[ArrayLike],
    run: Run,
    *,
    n_restarts: int = 100,
    max_iter: int | None = None,
    until: float = math.inf,
) -> LocalSearch | PricedSearch:
    """Climb from each start, then from perturbed best answers; the work is counted, not timed.

    Parameters
    ----------
    problem : RankingProblem
        Where it has a penalty, the price of every coefficient that is not zero counts.
    starts : iterable of arrays
        Coefficients of the scaled features to begin from.
    run : Run
        Clock, random numbers and callback.
    n_restarts : int
        Climbs from perturbed answers after those from the starts.
    max_iter : int, optional
        Lines in all; by default as many as some seconds allow on a list of this length.
    until : float
        A value that is enough.

    Returns
    -------
    LocalSearch or PricedSearch
        With `best`, `lines`, and `hurried`: whether the clock had a say in what was looked at.
        `run.stopped_by` says whether it, or the user, cut it short.
    """
    search = _search_of(problem, run.rng)
    budget = default_lines(problem) if max_iter is None else max_iter
    enough = min(problem.trivial_bound, until)
    queue = [np.asarray(start, dtype=np.float64) for start in starts]
    for climb in range(len(queue) + n_restarts if search.rank else 0):
        if climb < len(queue):
            search.start(queue[climb])
        else:
            search.perturb()
        _climb(search, run, budget, problem)
        if search.lines >= budget or run.should_stop() or search.best.value >= enough:
            break
    return search


def _search_of(problem: RankingProblem, rng: np.random.Generator) -> LocalSearch | PricedSearch:
    from toprank.exact.climb.priced_search import PricedSearch  # which is made of the search here

    return PricedSearch(problem, rng) if problem.penalty else LocalSearch(problem, rng)


def _climb(search: LocalSearch | PricedSearch, run: Run, budget: int, problem: RankingProblem) -> None:
    """Lines from the present answer until nothing has improved for a while; the best is kept."""
    chunk = lines_per_look(problem)
    while search.stalled < search.patience and search.lines < budget:
        wanted, within = min(chunk, budget - search.lines), search.lines_within(run.remaining())
        # Lines are drawn as many at a time as are looked at: fewer make others.
        search.hurried = search.hurried or within < wanted
        search.advance(min(wanted, within), search.patience)
        progress = Progress(search.value, problem.trivial_bound, iterations=search.lines, phase="climbing")
        if not run.report(progress) or search.value >= problem.trivial_bound:
            break
    search.keep()


def lines_per_look(problem: RankingProblem) -> int:
    """Lines that take well under `LOOK_SECONDS`."""
    columns = min(problem.n_features, WIDEST)
    return int(np.clip(2e6 / (problem.n_pairs * (1 + columns / 16)), 1, 50))


def default_lines(problem: RankingProblem) -> int:
    """How many lines when nobody says: thousands for short lists, tens for millions of rows."""
    rows, columns = problem.X.shape
    if problem.n_pairs <= 250_000:
        return int(np.clip(1.5e7 / (problem.n_pairs + 50 * columns), 300, 5000))
    return int(np.clip(2e8 / (rows * (8 + columns)), 30, 1000))


def _whitening(rows: Any) -> tuple[Floats, Floats]:
    """Basis and axes: coefficients are ``basis @ v``, coordinates ``coef @ axes``, scores have variance 1.

    Values far out are brought nearer first: one of them must not set the measure for all others.
    """
    n, d = rows.shape
    if not is_sparse(rows) and n * d * d <= MOST_FACTORED:
        near = np.clip(rows, -FARTHEST, FARTHEST)
        near = near - near.mean(axis=0)
        _, sizes, vectors = np.linalg.svd(
            np.linalg.qr(near, mode="r") if n > d else near, full_matrices=False
        )
        kept = sizes > 1e-12 * max(float(sizes[0]), 1e-145)
        spread, vectors = sizes[kept] / np.sqrt(n), vectors[kept].T
    else:
        mean = np.asarray(rows.mean(axis=0)).ravel()
        eigenvalues, vectors = np.linalg.eigh(dense(rows.T @ rows) / n - np.outer(mean, mean))
        kept = eigenvalues > 1e-12 * max(float(eigenvalues[-1]), 1e-290)
        spread, vectors = np.sqrt(eigenvalues[kept]), vectors[:, kept]
    return np.ascontiguousarray(vectors / spread), np.ascontiguousarray(vectors * spread)


def _largest_one(coef: Floats) -> Floats:
    largest = np.abs(coef).max(initial=0.0)
    return np.asarray(coef / largest) if largest > 0 else coef
