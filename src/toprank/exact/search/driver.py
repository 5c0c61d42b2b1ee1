"""The exact search: find the best linear ranker and prove that there is no better one.

The order of work: the perfect order, where one linear program attains it; good answers by local search; then
a branch and bound over directions, chosen by `search.methods`, in short chunks on several threads.
Between chunks the clock, the callback and Ctrl-C are served and the local search goes on. With a price on
non-zero coefficients the supports are branched on as well.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Progress, Run, Status, worker_count
from toprank.exact.certificate import Certificate
from toprank.exact.climb.local_search import LocalSearch, default_lines, lines_per_look, local_search
from toprank.exact.pairs import PairArrays
from toprank.exact.problem import RankingProblem
from toprank.exact.proof import proof_part
from toprank.exact.search.checkpoint import Checkpoint
from toprank.exact.search.methods import (
    Method,
    MethodName,
    attainable_bound,
    choose,
    companion,
    make_method,
    resume_method,
    within_reach,
)
from toprank.exact.search.perfect import perfect_order
from toprank.exact.search.supports import Support, SupportTree
from toprank.exact.search.tandem import Tandem

__all__ = ["search"]

Floats = NDArray[np.float64]
CHUNK_SECONDS = 0.1
SECONDS_BETWEEN_CHECKPOINTS = 60.0
IMPROVEMENT = 1e-10
"""Relative size of the smallest improvement that is looked for."""
MOST_WIDENED = 1_000_000
"""Pairs up to which the answer is moved to the middle of its cell; beyond, the program takes seconds."""
SECONDS_TO_WIDEN = 0.2
"""What that may take when there is no time left."""
SECONDS_PER_ENTRY = 4e-7
"""For each pair and feature, what it takes to prepare a proof."""
SHARE_TO_LOOK = 0.25
"""Share of the time in which a perfect order is looked for."""
LONGEST_HISTORY = 1000
THIN = 2.0**-33
"""The margin, relative to each pair's length, that is claimed where regions are too thin for floats."""


def search(
    problem: RankingProblem,
    run: Run,
    *,
    starts: Sequence[ArrayLike] = (),
    n_jobs: int = 1,
    method: MethodName = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    keep_proof: bool = False,
) -> Certificate:
    """Maximise a ranking problem over all linear scores, with a bound on what any of them can reach.

    Parameters
    ----------
    problem : RankingProblem
    run : Run
        Clock, callback, stop button, random numbers.
    starts : sequence of array-likes
        Coefficients of the original features to begin from.
    n_jobs : int
        Threads; -1 for one per processor.
    method : {"auto", "sweep", "cells"}
        How to search: boxes of directions with one coordinate swept (few features, long lists), or cells
        between hyperplanes with packed infeasible subsystems (more features). "auto" chooses; on problems too
        hard to tell, the other one is called in after ten seconds and they take turns.
    checkpoint : path, optional
        Where to leave the state of an unfinished search. When the file is there already the search goes on
        from it; when the search is finished the file is removed.
    keep_proof : bool
        Whether the certificate should carry the partition that was searched, for `verify` to replay; not
        of a search that was taken up from a checkpoint. The search then runs on one thread.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]], [0, 1, 0], "dcg")
    >>> with Run(rng=0) as run:
    ...     search(problem, run).summary()
    'dcg 1: proved optimal'
    """
    if method not in get_args(MethodName):
        raise ValueError(f"method={method!r} must be one of {', '.join(get_args(MethodName))}.")
    path = None if checkpoint is None else Path(checkpoint)
    # One thread writes one log: what two of them note of shared nodes does not replay in a single order.
    threads = 1 if keep_proof else worker_count(n_jobs)
    return _Search(problem, run, threads, method, path, keep_proof).solve(starts)


class _Search:
    """One search: the incumbent, the bound, their history, and what is still open."""

    def __init__(
        self,
        problem: RankingProblem,
        run: Run,
        n_jobs: int,
        method: MethodName,
        path: Path | None,
        keep_proof: bool,
    ) -> None:
        self.problem, self.run, self.n_jobs = problem, run, n_jobs
        self.method, self.path, self.keep_proof = method, path, keep_proof
        self.coef = np.zeros(problem.n_features)
        self.value = problem.floor
        self.bound = problem.trivial_bound
        self.nodes = self.spent = 0
        self.used: str = "trivial bound"
        self.history: list[tuple[float, float, float]] = []
        self.seconds_before = 0.0
        self.free = problem.restricted(np.arange(problem.n_features)) if problem.penalty else problem
        self.climber: LocalSearch | None = None
        self.seconds_climbing = 0.0
        self.climbed_best = 0.0
        """Seconds of climbing until the last improvement."""
        self.tree = SupportTree(problem.n_features, problem.penalty, self.bound)
        self.whole: PairArrays | None = None
        self.resumed: Checkpoint | None = None
        self.last_saved = run.seconds
        self.proofs: list[dict[str, Any]] = []
        self.asked = problem
        self.settled = False
        """Whether the problem has a margin because some regions were too thin to decide."""
        self.notes: list[str] = []

    # -- the incumbent and the bound ----------------------------------------------------------

    def offer(self, coef: ArrayLike) -> bool:
        """Take coefficients of the original features if they are better."""
        values = np.asarray(coef, dtype=np.float64)
        value = self.problem.evaluate(values)
        better = value > self.value
        if better:
            self.coef, self.value = values, value
            self.bound = max(self.bound, value)
        return better

    def lower(self, bound: float) -> None:
        """Take a better bound."""
        self.bound = max(self.value, min(self.bound, bound))

    @property
    def target(self) -> float:
        """What an answer must reach to count as better than the incumbent."""
        return self.value + IMPROVEMENT * max(1.0, abs(self.value))

    @property
    def seconds(self) -> float:
        """Of this run and, after a resumption, those before."""
        return self.seconds_before + self.run.seconds

    def report(self, phase: str) -> bool:
        """Tell the callback; False means stop."""
        self.note()
        return self.run.report(Progress(self.value, self.bound, iterations=self.nodes, phase=phase))

    def note(self) -> None:
        """Remember value and bound; a long history is thinned."""
        if not self.history or self.history[-1][1:] != (self.value, self.bound):
            self.history.append((self.seconds, self.value, self.bound))
        if len(self.history) > LONGEST_HISTORY:
            del self.history[1:-1:2]

    def arrays(self, columns: NDArray[np.int64]) -> PairArrays:
        """The pairs on some columns; those on all of them are made once."""
        if len(columns) < self.problem.n_features:
            return self.problem.arrays(columns)
        if self.whole is None:
            self.whole = self.problem.arrays()
        return self.whole

    # -- the phases ---------------------------------------------------------------------------

    def solve(self, starts: Sequence[ArrayLike]) -> Certificate:
        """All phases until proved or stopped."""
        self._resume()
        self.note()
        reachable = within_reach(self.problem)
        proved = reachable and self._look_first()
        proved = proved or self._climb(starts, reachable) or (reachable and self._prove())
        if proved:
            self.lower(max(self.tree.settled, self.target))
            self.note()
            self._remove_checkpoint()
        if reachable and self.problem.n_pairs <= MOST_WIDENED:
            self._widen()
        return self._certificate(proved)

    def _widen(self) -> None:
        """The answer in the middle of its cell: the same pairs won by the widest margin.

        This depends on the pairs won and not on how they were found.
        """
        columns = np.flatnonzero(self.coef)
        if not len(columns) or (self.run.should_stop() and self._seconds_to_begin() > SECONDS_TO_WIDEN):
            return
        left = max(self.run.remaining(), SECONDS_TO_WIDEN)
        arrays = self.arrays(columns)
        won = self.problem.won(self.coef, np.column_stack((arrays.upper, arrays.lower)))
        w = perfect_order(arrays.chosen(won), left) if won.any() else None
        if w is not None:
            wider = self._placed(w / self.problem.scales[columns], columns)
            if self.problem.evaluate(wider) >= self.value:
                self.coef, self.value = wider, self.problem.evaluate(wider)

    def _certificate(self, proved: bool) -> Certificate:
        if self.settled:
            # Thin wins may have come in since: the bound, which does not know them, must not be below.
            reached = replace(self.problem, margin=0.0).evaluate(self.coef)
            proved, self.bound = proved and reached <= self.bound, max(self.bound, reached)
        return Certificate.of(
            self.problem,
            self.coef,
            bound=self.bound,
            status=Status.OPTIMAL if proved else self.run.stopped_by or Status.FINISHED,
            seconds=self.seconds,
            nodes=self.nodes,
            method=self.used,
            history=tuple(self.history),
            notes=tuple(self.notes),
            proof={"parts": self.proofs} if self.proofs and proved else None,
        )

    def _look_first(self) -> bool:
        """What a glance tells: pairs that cannot be won, and whether all the others can be at once."""
        arrays = self.arrays(np.arange(self.problem.n_features))
        # Any coefficient has its price, and none at all wins nothing.
        self.lower(max(self.problem.floor, attainable_bound(arrays) - self.problem.penalty))
        # One or two features are swept as quickly as the program is solved.
        if self.value < self.bound and self.resumed is None and self.problem.n_features > 2:
            w = perfect_order(arrays, SHARE_TO_LOOK * self.run.remaining())
            if w is not None:
                self.offer(self.problem.unscale(w))
                self.used = "perfect order"
        self.report("looking for the perfect order")
        return self.value >= self.bound

    def _climb(self, starts: Sequence[ArrayLike], reachable: bool) -> bool:
        """Good answers by local search: as many as `DirectRanker` would look at, in half the time at most."""
        begin = self.run.seconds
        begins = [self.problem.scale(start) for start in starts] or [np.ones(self.problem.n_features)]
        lines = default_lines(self.problem)
        if reachable:
            # With few features the proof itself is quicker than a thorough climb, which can follow later.
            lines = min(lines, 5 ** min(self.problem.n_features - 1, 10))
        if self.resumed is not None:
            lines, begins = 1, [self.problem.scale(self.coef)]
        part = self.run.part(0.5 if reachable else 1.0, silent=True)
        self.climber = local_search(self.free, begins, part, max_iter=lines)
        dense = self.problem.unscale(self.climber.best.coef)
        self.offer(dense)
        for start in starts:
            self.offer(start)
        if self.problem.penalty and self.resumed is None:
            self._thin_out(dense)
        self.seconds_climbing = self.climbed_best = self.run.seconds - begin
        self.report("climbing")
        return self.value >= self.bound

    def _thin_out(self, coef: Floats) -> None:
        """Where coefficients have a price: leave out one after the other, the least missed first."""
        while np.count_nonzero(coef) > 1 and not self.run.should_stop():
            columns = np.flatnonzero(coef)
            thinner = []
            for place in range(len(columns)):
                thinner.append(self._climb_within(coef, np.delete(columns, place)))
                if self.run.should_stop():
                    return
            coef = max(thinner, key=self.free.evaluate)

    def _climb_within(self, coef: Floats, columns: NDArray[np.int64]) -> Floats:
        """A short climb on some columns."""
        part = self.problem.restricted(columns)
        begin = part.scale(coef[columns])
        found = local_search(part, [begin], self.run.part(0.05, silent=True), n_restarts=1, max_iter=150)
        placed = self._placed(part.unscale(found.best.coef), columns)
        self.offer(placed)
        return placed

    def _climb_on(self) -> None:
        """Go on climbing: a third of the time as long as it pays, a twentieth when it no longer does."""
        if self.climber is None or self.problem.penalty:
            return  # with a price the supports' own searches find what there is
        begin = now = self.run.seconds
        # It pays until as much time as the last improvement took, and a second more, brought nothing new.
        pays = self.climber.lines < default_lines(self.problem)
        pays |= self.seconds_climbing < 2 * self.climbed_best + 1.0
        share, before = 0.5 if pays else 0.05, self.climber.best.value
        while self.seconds_climbing + now - begin <= share * now and now - begin < CHUNK_SECONDS / 2:
            self.climber.work(lines_per_look(self.problem))
            now = self.run.seconds
        self.seconds_climbing += now - begin
        if self.climber.best.value > before:
            self.climbed_best = self.seconds_climbing
            self.offer(self.problem.unscale(self.climber.best.coef))

    # -- the proof ----------------------------------------------------------------------------

    def _prove(self) -> bool:
        """Branch and bound over directions, one support after another where coefficients have a price."""
        new = self.path is not None and not self.path.exists()
        while True:
            self.tree.drop(self.target)
            if not self.tree.waiting:
                return True
            if self.run.remaining() < self._seconds_to_begin():
                self.run.stop(Status.TIME_LIMIT)
            # What is not in the checkpoint file yet goes into it first.
            if self.run.should_stop() and not new:
                return False
            # A search taken up again goes on with the support it was at, which stands last.
            support = self.tree.pop() if self.resumed is None else self.tree.waiting.pop()
            method = self._make(support)
            if not self._search(method, support):
                if not self._settle_for_margin(method, support):
                    self._save(method, support)
                    return False
                continue
            self._close(method, support)
            new = self.path is not None

    def _settle(self, wider: RankingProblem) -> None:
        """Go on with a margin."""
        self.problem, self.whole, self.settled = wider, None, True

    def _settle_for_margin(self, method: Method, support: Support) -> bool:
        """Where regions are too thin for floating point: claim something about all wider ones instead.

        Only where the answer itself is in none of them; otherwise the bound with those regions stands.
        """
        if not method.done:
            return False
        self.notes.append(
            "some regions of directions were too thin to decide in floating point: counting their pairs as"
            f" won, no linear score reaches more than {self.bound:.6g}"
        )
        if self.problem.margin > 0:
            return False
        self._widen()
        wider = replace(self.problem, margin=THIN)
        if wider.evaluate(self.coef) < self.value:
            return False
        self.keep_proof = self.keep_proof and not self.proofs
        self.proofs.clear()
        self._settle(wider)
        self.tree.waiting.append(support)
        return True

    def _seconds_to_begin(self) -> float:
        """What sorting all pairs for a proof takes, and never looks at the clock."""
        return SECONDS_PER_ENTRY * self.problem.n_pairs * self.problem.n_features

    def _close(self, method: Method, support: Support) -> None:
        """Book a searched support; its subsets follow where they could be worth it."""
        best = method.bound - support.price(self.problem.penalty)
        if best <= self.target + 1e-12 * abs(self.target):
            self.tree.settled = max(self.tree.settled, best)
        else:
            self.tree.branch(support, method.bound)
        self.spent = self.nodes
        if self.keep_proof and method.log is not None:
            self.proofs.append(proof_part(self.used, support.columns, method.bound, method.log))

    def _search(self, method: Method, support: Support) -> bool:
        """Search coefficients on some columns; their statistic minus the price is what counts."""
        price = support.price(self.problem.penalty)
        while not method.done:
            method.advance(min(CHUNK_SECONDS, self.run.remaining()), self.target + price)
            self._take(method, support.columns)
            self.used = method.name
            self.nodes = self.spent + method.nodes
            self._climb_on()
            self.lower(max(method.bound - price, self.tree.bound, self.tree.settled))
            if not self.report(self.used) and not method.done:
                return False
            if self.run.seconds - self.last_saved > SECONDS_BETWEEN_CHECKPOINTS:
                self._save(method, support)
        self._take(method, support.columns)
        return method.unresolved < self.target + price

    def _take(self, method: Method, columns: NDArray[np.int64]) -> None:
        """The candidates of a method, which is emptied of them."""
        found, method.candidates = method.candidates, []
        for w in found:
            coef = self._placed(w / self.problem.scales[columns], columns)
            if self.offer(coef) and self.climber is not None:
                self.climber.start(self.problem.scale(coef))

    def _make(self, support: Support) -> Method:
        arrays = self.arrays(support.columns)
        if self.resumed is not None:
            saved, self.resumed = self.resumed, None
            self.used = str(saved.facts["method"])
            resumed = resume_method(self.used, arrays, saved.arrays, self.n_jobs)
            resumed.should_stop = self.run.should_stop
            return resumed
        price = support.price(self.problem.penalty)
        direction = self.problem.scale(self.coef)[support.columns]

        def make(name: MethodName, target: float) -> Method:
            method = make_method(
                name,
                arrays,
                target=target,
                direction=direction if direction.any() else None,
                n_jobs=self.n_jobs,
                keep_log=self.keep_proof,
            )
            method.should_stop = self.run.should_stop
            return method

        self.used = choose(self.method, arrays)
        first, other = make(self.used, self.target + price), companion(self.method, arrays)
        return first if other is None else Tandem(first, partial(make, other))

    def _placed(self, coef: Floats, columns: NDArray[np.int64]) -> Floats:
        """Coefficients of the original features from those of some columns."""
        whole = np.zeros(self.problem.n_features)
        whole[columns] = coef
        return whole

    # -- stopping today, going on tomorrow ----------------------------------------------------

    def _save(self, method: Method, support: Support) -> None:
        """Leave the state of the search in the checkpoint file."""
        self.last_saved = self.run.seconds
        if self.path is None:
            return
        facts = {
            "coef": self.coef.tolist(),
            "bound": self.bound,
            "spent": self.spent,
            "seconds": self.seconds,
            "history": self.history,
            "method": self.used,
            "supports": self.tree.to_plain(support),
            "settled": self.settled,
            "notes": self.notes,
        }
        Checkpoint(self.asked.fingerprint(), facts, method.checkpoint()).save(self.path)

    def _resume(self) -> None:
        """Take over the state left in the checkpoint file, if there is one."""
        if self.path is None or not self.path.exists():
            return
        self.resumed = Checkpoint.load(self.path, self.problem.fingerprint())
        facts = self.resumed.facts
        self.notes = list(facts["notes"])
        if facts["settled"]:
            self._settle(replace(self.problem, margin=THIN))
        self.offer(np.array(facts["coef"], dtype=np.float64))
        self.bound = max(self.value, float(facts["bound"]))
        self.spent = self.nodes = int(facts["spent"])
        self.seconds_before = float(facts["seconds"])
        self.history = [(float(s), float(v), float(b)) for s, v, b in facts["history"]]
        self.tree.restore(facts["supports"])
        self.keep_proof = False  # what was searched before is not in the file

    def _remove_checkpoint(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
