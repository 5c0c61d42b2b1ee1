"""The exact search: find the best linear ranker and prove that there is no better one.

The order of work: the perfect order, where one linear program attains it; good answers by local search
(`search.climbing`); a branch and bound over directions (`search.methods`), and supports, in short chunks.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import STILL_COMPILING, Progress, Run, Status, worker_count
from toprank.exact.certificate import Certificate
from toprank.exact.problem import RankingProblem
from toprank.exact.proof import proof_part
from toprank.exact.search.account import Account, Options
from toprank.exact.search.checkpoint import Checkpoint, CheckpointError
from toprank.exact.search.choice import advice, checked, choose, companion, within_reach, without_pairs
from toprank.exact.search.climbing import Climbing
from toprank.exact.search.compiling import kernels_there, names_for
from toprank.exact.search.errands import Assignment, Recruit
from toprank.exact.search.incumbent import Incumbent, placed
from toprank.exact.search.methods import METHODS, Method, hand_over, make_method, resume_method
from toprank.exact.search.supports import Support, SupportTree
from toprank.exact.search.tandem import Tandem
from toprank.exact.sharing import CrewLost
from toprank.exact.widest import perfect_order

__all__ = ["search"]

CHUNK_SECONDS = 0.1
SECONDS_BETWEEN_CHECKPOINTS = 60.0
MOST_WIDENED = 1_000_000
"""Pairs up to which the answer is moved to the middle of its cell; beyond, the program takes seconds."""
SECONDS_TO_WIDEN = 0.2
"""What that may take when there is no time left."""
SECONDS_PER_ENTRY = 4e-7
"""For each pair and feature, what it takes to prepare a proof."""
SHARE_TO_LOOK = 0.25
"""Share of the time in which a perfect order is looked for."""
THIN = 2.0**-33
"""The margin, relative to each pair's length, that is claimed where regions are too thin for floats."""


def search(
    problem: RankingProblem,
    run: Run,
    *,
    starts: Sequence[ArrayLike] = (),
    n_jobs: int = 1,
    method: str = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    keep_proof: bool = False,
    recruit: Recruit | None = None,
    device: str = "cpu",
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
    method : {"auto", "boxes", "cells", "slices", "rows", "angles"}
        How to search: boxes of directions (few features), cells between hyperplanes (more), boxes cut into
        slices (short lists), boxes that carry rows (one long list, the first places count), angles (two
        features, long lists). "auto" chooses; where it cannot tell, two methods take turns.
    checkpoint : path, optional
        Where to leave the state of an unfinished search. When the file is there already the search goes on
        from it; when the search is finished the file is removed.
    keep_proof : bool
        Whether the certificate should carry the partition that was searched, for `verify` to replay; not
        of a search that was taken up from a checkpoint.
    recruit : callable, optional
        Finds others to search the open nodes, in the place of threads: given an `Assignment`, a `Crew`.
        Where they are lost for good the best answer so far is returned, and the end of `run` raises.
    device : {"cpu", "gpu", "auto"}
        A graphics card searches in slices, one list; "auto" takes it where it is there and pays.

    Examples
    --------
    >>> from toprank.exact import maximise
    >>> problem = RankingProblem.from_labels([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]], [0, 1, 0], "dcg")
    >>> maximise(problem, Run(rng=0)).summary()
    'dcg 1: proved optimal'
    """
    path, shared = None if checkpoint is None else Path(checkpoint), recruit is not None
    how = checked(problem, method, device, shared=shared, keep_proof=keep_proof)
    options = Options(worker_count(n_jobs), how[0], path, keep_proof, recruit, how[1])
    return _Driver(problem, run, options).solve(starts)


class _Driver:
    """One search: an incumbent, a climbing budget, and methods that prove, one support after another."""

    def __init__(self, problem: RankingProblem, run: Run, options: Options) -> None:
        self.asked, self.run, self.options = problem, run, options
        self.on_card = options.device == "gpu"  # then the processor is free to climb all the while
        self.incumbent = Incumbent(problem)
        self.account = Account(options.keep_proof)
        self.tree = SupportTree(problem.n_features, problem.penalty, self.incumbent.bound)
        self.climbing = Climbing(self.incumbent, run)
        self.unlisted = without_pairs(problem, options.method, keep_proof=options.keep_proof)
        self.resumed = self._resume()
        self.last_saved = run.seconds

    @property
    def problem(self) -> RankingProblem:
        """The one asked for, or with a margin where the search settled for one."""
        return self.incumbent.problem

    @property
    def seconds(self) -> float:
        """Of this run and, after a resumption, those before."""
        return self.account.seconds_before + self.run.seconds

    def report(self, phase: str) -> bool:
        """Tell the callback; False means stop."""
        best = self.incumbent
        best.note(self.seconds)
        return self.run.report(Progress(best.value, best.bound, iterations=self.account.nodes, phase=phase))

    # -- the phases ---------------------------------------------------------------------------

    def solve(self, starts: Sequence[ArrayLike]) -> Certificate:
        """All phases until proved or stopped."""
        best = self.incumbent
        best.note(self.seconds)
        reachable = (listable := within_reach(self.problem)) or self.unlisted is not None
        proved = listable and self.unlisted is None and self._look_first()
        proved = proved or self._climb(starts, reachable) or (reachable and self._prove())
        if proved:
            best.lower(max(self.tree.settled, best.target))
            best.note(self.seconds)
            if not self.account.settled and self.account.used != "perfect order":
                self.climbing.settle()
            if self.options.path is not None:
                self.options.path.unlink(missing_ok=True)
        if listable and self.problem.n_pairs <= MOST_WIDENED:
            self._widen()
        return self._certificate(proved)

    def _look_first(self) -> bool:
        """What a glance tells: pairs that cannot be won, and whether all the others can be at once."""
        problem, best, arrays = self.problem, self.incumbent, self.problem.arrays()
        # Any coefficient has its price, and none at all wins nothing.
        best.lower(max(problem.floor, arrays.attainable_value() - problem.penalty))
        # One or two features are swept as quickly as the program is solved.
        if not best.closed and self.resumed is None and problem.n_features > 2:
            w = perfect_order(arrays.differences, arrays.margin, SHARE_TO_LOOK * self.run.remaining())
            if w is not None:
                best.offer(problem.unscale(w), widest=True)
                self.account.used = "perfect order"
        self.report("looking for the perfect order")
        return best.closed

    def _climb(self, starts: Sequence[ArrayLike], reachable: bool) -> bool:
        """Good answers by local search, in a part of the time where a proof follows."""
        if self.resumed is not None:
            self.climbing.begin_again(starts)
        elif reachable:
            # With few features the proof itself is quicker than a thorough climb, which can follow later.
            lines, share = 5 ** min(self.problem.n_features - 1, 10), 0.2 if self.unlisted else 0.5
            self.climbing.begin(starts, share, lines, short=self.on_card)
        else:
            self.climbing.begin(starts, 1.0)
        self.report("climbing")
        return self.incumbent.closed

    def _widen(self) -> None:
        """The answer in the middle of its cell, if there is time for that."""
        if not self.run.should_stop() or self._seconds_to_begin() <= SECONDS_TO_WIDEN:
            self.incumbent.widen(max(self.run.remaining(), SECONDS_TO_WIDEN))

    def _certificate(self, proved: bool) -> Certificate:
        best, account = self.incumbent, self.account
        if not proved and self.run.stopped_by is Status.TIME_LIMIT:
            account.notes += advice(self.asked)
        if account.settled:
            # Thin wins may have come in since: the bound, which does not know them, must not be below.
            reached = self.asked.evaluate(best.coef)
            proved, best.bound = proved and reached <= best.bound, max(best.bound, reached)
        return Certificate.of(
            self.problem,
            best.coef,
            bound=best.bound,
            status=Status.OPTIMAL if proved else self.run.stopped_by or Status.FINISHED,
            seconds=self.seconds,
            nodes=account.nodes,
            method=account.used,
            history=tuple(best.history),
            notes=tuple(account.notes),
            proof={"parts": account.parts} if account.parts and proved else None,
        )

    # -- the proof ----------------------------------------------------------------------------

    def _prove(self) -> bool:
        """Branch and bound over directions, one support after another where coefficients have a price."""
        path = self.options.path
        new = path is not None and not path.exists()
        if not self._await_kernels():
            return False
        while True:
            self.tree.drop(self.incumbent.target)
            if self.incumbent.closed or not self.tree.waiting:
                return True
            if self.run.remaining() < self._seconds_to_begin():
                self.run.stop(Status.TIME_LIMIT)
            # What is not in the checkpoint file yet goes into it first.
            if self.run.should_stop() and not new:
                return False
            # A search taken up again goes on with the support it was at, which stands last.
            support = self.tree.pop() if self.resumed is None else self.tree.waiting.pop()
            with self.climbing.beside(self.on_card, self.options.n_jobs):
                searched = self._search(method := self._make(support), support)
            if searched:
                self._close(method, support)
                new = path is not None
            elif not self._settle_for_margin(method, support):
                self._save(method, support)
                return False

    def _await_kernels(self) -> bool:
        """Climb on while the proof's kernels are being compiled; False when told to stop before they are."""
        resumed = None if self.resumed is None else str(self.resumed.facts["method"])
        names = names_for(self.problem, resumed or self.options.method)
        best, names = self.incumbent, [] if self.on_card else names  # threads come in rarely
        while not best.closed and not kernels_there(names, min(CHUNK_SECONDS, self.run.remaining())):
            self.climbing.go_on(waiting=True)
            if not self.report("climbing; the proof is being compiled"):
                self.account.notes.append(STILL_COMPILING)
                return False
        return True

    def _seconds_to_begin(self) -> float:
        """What sorting all pairs, or rows, for a proof takes, and never looks at the clock."""
        number = 10 * self.problem.X.shape[0] if self.unlisted else self.problem.n_pairs
        return SECONDS_PER_ENTRY * number * self.problem.n_features

    def _make(self, support: Support) -> Method:
        """The method for a support, or the one that a checkpoint was taken from."""
        problem, account = self.problem, self.account
        asked = self.unlisted or self.options.method
        if self.resumed is not None:
            saved, self.resumed = self.resumed, None
            account.used = str(saved.facts["method"])
            arrays = hand_over(account.used, problem, support.columns)
            resumed = resume_method(account.used, arrays, saved.arrays, self.options.n_jobs)
            return self._manned(resumed, support)
        scaled, keep = problem.scale(self.incumbent.coef)[support.columns], account.keep_proof
        direction, arrays = scaled if scaled.any() else None, hand_over(asked, problem, support.columns)

        def make(name: str, target: float) -> Method:
            method = make_method(
                name, arrays, target=target, direction=direction, n_jobs=self.options.n_jobs, keep_log=keep,
                device=self.options.device,
            )  # fmt: skip
            if self.on_card:
                method.threads_ready = partial(kernels_there, [name])  # type: ignore[attr-defined]
                method.latest = lambda: self.climbing.collect() + price  # type: ignore[attr-defined]
            return self._manned(method, support)

        account.used, price = choose(asked, arrays), support.price(problem.penalty)
        first = make(account.used, self.incumbent.target + price)
        if (other := companion(asked, arrays)) is None:
            return first
        return Tandem(first, partial(make, other[0]), partial(kernels_there, [other[0]]), other[1])

    def _manned(self, method: Method, support: Support) -> Method:
        """A method that hears the stop button, its nodes searched by those who were recruited, if any."""
        method.should_stop = self.run.should_stop
        if self.options.recruit is not None:
            # A copy of the problem: without what it has worked out, which would travel too.
            problem, columns = replace(self.problem), np.asarray(support.columns)
            assignment = Assignment(uuid4().hex, problem, columns, method.name, method.plan())
            method.share(self.options.recruit(assignment))
        return method

    def _search(self, method: Method, support: Support) -> bool:
        """Search the coefficients on some columns; False when stopped, or when those who search are lost."""
        try:
            return self._search_on(method, support)
        except CrewLost as lost:
            self.account.notes.append(str(lost))
            where = "" if self.options.path is None else f" Fit again to go on from {self.options.path}."
            self.run.fail(CrewLost(f"{lost}; the best answer so far was kept, with its bound.{where}"))
            return False
        finally:
            method.dismiss()

    def _search_on(self, method: Method, support: Support) -> bool:
        """Search coefficients on some columns; their statistic minus the price is what counts."""
        best, account, price = self.incumbent, self.account, support.price(self.problem.penalty)
        while not method.done:
            work = partial(method.advance, min(CHUNK_SECONDS, self.run.remaining()), best.target + price)
            self.climbing.along(work, at_once=self.options.n_jobs > 1)
            self._take(method, support.columns)
            account.used, account.nodes = method.name, account.spent + method.nodes
            best.lower(max(method.bound - price, self.tree.bound, self.tree.settled))
            if not self.report(account.used) and not method.done:
                return False
            if self.run.seconds - self.last_saved > SECONDS_BETWEEN_CHECKPOINTS:
                self._save(method, support)
        self._take(method, support.columns)
        return method.unresolved < best.target + price

    def _take(self, method: Method, columns: NDArray[np.int64]) -> None:
        """The candidates of a method, which is emptied of them."""
        found, method.candidates = method.candidates, []
        for w in found:
            coef = placed(w / self.problem.scales[columns], columns, self.problem.n_features)
            if self.incumbent.offer(coef):
                self.climbing.take_up(coef)

    def _close(self, method: Method, support: Support) -> None:
        """Book a searched support; its subsets follow where they could be worth it."""
        target, account = self.incumbent.target, self.account
        best = method.bound - support.price(self.problem.penalty)
        if best <= target + 1e-12 * abs(target):
            self.tree.settled = max(self.tree.settled, best)
        else:
            self.tree.branch(support, method.bound)
        account.spent = account.nodes
        if account.keep_proof and method.log is not None:
            account.parts.append(proof_part(account.used, support.columns, method.bound, method.log))

    def _settle_for_margin(self, method: Method, support: Support) -> bool:
        """Where regions are too thin for floating point: claim something about all wider ones instead.

        Only where the answer itself is in none of them; otherwise the bound with those regions stands.
        """
        if not method.done:
            return False
        best, account = self.incumbent, self.account
        account.notes.append(
            "some regions of directions were too thin to decide in floating point: counting their pairs as"
            f" won, no linear score reaches more than {best.bound:.6g}"
        )
        if self.problem.margin > 0 or self.unlisted == self.options.method or not within_reach(self.problem):
            return False
        self._widen()
        wider = replace(self.problem, margin=THIN)
        if wider.evaluate(best.coef) < best.value:
            return False
        account.keep_proof = account.keep_proof and not account.parts
        account.parts.clear()
        best.problem, account.settled, self.unlisted = wider, True, None
        self.tree.waiting.append(support)
        return True

    # -- stopping today, going on tomorrow ----------------------------------------------------

    def _save(self, method: Method, support: Support) -> None:
        """Leave the state of the search in the checkpoint file."""
        self.last_saved = self.run.seconds
        if self.options.path is None:
            return
        facts = {
            **self.incumbent.to_plain(),
            "spent": self.account.spent,
            "seconds": self.seconds,
            "method": self.account.used,
            "supports": self.tree.to_plain(support),
            "settled": self.account.settled,
            "notes": self.account.notes,
        }
        Checkpoint(self.asked.fingerprint(), facts, method.checkpoint()).save(self.options.path)

    def _resume(self) -> Checkpoint | None:
        """Take over the state left in the checkpoint file, if there is one."""
        path, account = self.options.path, self.account
        if path is None or not path.exists():
            return None
        saved = Checkpoint.load(path, self.asked.fingerprint())
        facts = saved.facts
        if facts["method"] not in METHODS:
            raise CheckpointError(
                f"{path} was left by the method {facts['method']!r}, which is not known here."
            )
        account.notes, account.settled = list(facts["notes"]), bool(facts["settled"])
        if account.settled:
            self.incumbent.problem, self.unlisted = replace(self.asked, margin=THIN), None
        self.incumbent.restore(facts)
        account.spent = account.nodes = int(facts["spent"])
        account.seconds_before = float(facts["seconds"])
        account.keep_proof = False  # what was searched before is not in the file
        self.tree.restore(facts["supports"])
        return saved
