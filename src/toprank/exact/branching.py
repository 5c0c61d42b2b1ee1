"""What the searches over boxes and cells share: open nodes, best first, and threads that search subtrees.

A worker takes the open node with the largest bound, searches its subtree depth first for a while and gives
back what is left of it, so that memory stays small and the bound falls steadily.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.exact.objective import Objective
from toprank.exact.rounding import Scale
from toprank.exact.sharing import Crew, Findings, Sharing

__all__ = ["BranchAndBound"]

Floats = NDArray[np.float64]
MAX_CANDIDATES = 1000
"""Candidates kept until the driver takes them, which it does after every chunk: a bound on memory."""
SECONDS_BETWEEN_LOOKS = 0.05
"""How long a stop asked for from outside may go unheard: half a chunk of the driver's."""
SHORTEST_RUN = 1e-3
"""Seconds; what a thread does without looking at the clock at least."""


class OpenNode(Protocol):
    """A region not yet excluded."""

    @property
    def bound(self) -> int:
        """No direction in it is worth more, in whole-number values."""


class Worker(Protocol):
    """One thread's subtree."""

    @property
    def busy(self) -> bool:
        """Whether a subtree is loaded."""

    @property
    def bound(self) -> int:
        """Largest bound of what is open in it."""

    @property
    def nodes(self) -> int:
        """Nodes looked at so far."""

    def load(self, node: Any) -> None:
        """Begin with a node."""

    def give_back(self) -> tuple[bytes | None, list[Any], bytes]:
        """Stop here: the subtree's name in the log, what is left of it as open nodes, what was done on it."""

    def hurry(self, wanted: bool) -> None:
        """Be done with the node at hand soon, or take all the time it needs; called by another thread."""


class Searched(Protocol):
    """What is searched: the pairs of a problem, or its rows."""

    @property
    def objective(self) -> Objective:
        """What lost pairs cost."""

    def sure_value(self, coef: Floats) -> Fraction:
        """A value that coefficients have at least."""


N = TypeVar("N", bound=OpenNode)
W = TypeVar("W", bound=Worker)


class BranchAndBound(ABC, Generic[N, W]):
    """A search for directions worth at least a target, advanced in small steps.

    Parameters
    ----------
    arrays : PairArrays or ListRows
        The problem.
    scale : Scale
        Between values and whole numbers.
    step : float, optional
        When the search itself finds an answer of value v it goes on looking for v + step; by default 2**-40
        of the sum of all weights.
    n_jobs : int
        Number of threads.
    log : dict or None
        Where to write down what was searched, if anywhere: for every subtree, by its root, a record.

    Attributes
    ----------
    bound : float
        No direction not yet excluded is worth more; never rises. When nothing is left it is the target at
        most: every direction is worth less.
    done : bool
        Whether there is nothing left to do.
    candidates : list of arrays
        Coefficients found on the way, largest one 1, that may be better than what was known.
    should_stop : callable
        Asked now and then while `advance` works: whether to be done as soon as that can be.
    """

    def __init__(
        self,
        arrays: Searched,
        scale: Scale,
        *,
        step: float | None,
        n_jobs: int,
        log: dict[bytes, bytes] | None,
    ) -> None:
        self._arrays, self._scale, self._n_jobs = arrays, scale, n_jobs
        self._step = arrays.objective.size * 2.0**-40 if step is None else step
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, N]] = []
        self._serial = 0
        self._stuck: list[N] = []
        self._workers: list[W] = []
        self._sharing: Sharing[N] | None = None
        self._idle = 0
        self._nodes = 0
        self._target = 0
        self._leaving = False
        self.log = log
        self.candidates: list[Floats] = []
        self.bound = math.inf
        self.done = False
        self.should_stop: Callable[[], bool] = lambda: False

    # -- what each search does its own way ----------------------------------------------------

    @abstractmethod
    def _make_workers(self) -> list[W]:
        """One for each thread."""

    @abstractmethod
    def _run(self, worker: W, seconds: float) -> Any:
        """Let a worker search for at most so long; called without the lock."""

    @abstractmethod
    def _after(self, worker: W, result: Any) -> bool:
        """Book what a run brought, with the lock held; whether the rest of the subtree should come back."""

    def _hopeless(self) -> bool:
        """Whether rounding leaves too much open; then what is left is not searched."""
        return False

    def _write(self, key: bytes, log: bytes) -> None:
        """Keep the log of a subtree."""
        if self.log is not None:
            self.log[key] = log

    def _drop(self, node: N) -> None:
        """A node that cannot reach the target is let go of."""

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """Plain values that, with the problem, make the same search elsewhere; its nodes are not in it."""

    @abstractmethod
    def pack(self, nodes: list[N]) -> dict[str, Any]:
        """Nodes as plain arrays."""

    @abstractmethod
    def unpack(self, packed: dict[str, Any]) -> list[N]:
        """The nodes that `pack` made arrays of."""

    # -- the outside --------------------------------------------------------------------------

    def advance(self, max_seconds: float = 0.1, target: float | None = None) -> None:
        """Go on for about `max_seconds`; a higher `target` excludes more."""
        if target is not None:
            self._raise_target(target)
        deadline = time.perf_counter() + max_seconds
        if self._sharing is None:
            self._explore(deadline)
        else:
            self._sharing.explore(self, deadline)
        self._settle()

    @property
    def nodes(self) -> int:
        """Nodes looked at so far."""
        return self._nodes + sum(worker.nodes for worker in self._workers)

    @property
    def unresolved(self) -> float:
        """Largest bound of nodes that rounding leaves open; minus infinity when there are none."""
        worst = max((node.bound for node in self._stuck if node.bound >= self._target), default=None)
        return -math.inf if worst is None else self._scale.value(worst)

    # -- others who take part -----------------------------------------------------------------

    def share(self, crew: Crew) -> None:
        """From now on leave the searching to others."""
        self._sharing = Sharing(crew)

    def dismiss(self) -> None:
        """Have nothing searched by others any more."""
        if self._sharing is not None:
            self.take_back(self._sharing.dismiss())

    @property
    def waiting(self) -> int:
        """Number of open nodes that nobody searches."""
        return len(self._heap)

    @property
    def whole_target(self) -> int:
        """What better answers must reach, in whole-number values."""
        return self._target

    def hand_out(self, number: int) -> list[N]:
        """So many open nodes at most, the best first; they are no longer the search's."""
        nodes: list[N] = []
        while len(nodes) < number and (node := self._next()) is not None:
            nodes.append(node)
        return nodes

    def take_back(self, nodes: list[N]) -> None:
        """Open nodes that nobody searched."""
        for node in nodes:
            self._push(node)

    def welcome(self, findings: Findings) -> None:
        """Book what came of an errand."""
        self.take_back(self.unpack(findings.opened))
        self._stuck += self.unpack(findings.stuck)
        self._nodes += findings.nodes
        self._target = max(self._target, findings.target)
        self.candidates = [*self.candidates, *findings.candidates][-MAX_CANDIDATES:]
        for key, log in findings.log.items():
            self._write(key, log)
        self._give_up_if_hopeless()

    def take_over(self, packed: dict[str, Any], target: int, serial: int) -> None:
        """Run an errand: forget all nodes and go on with these; `serial` tells errands apart."""
        self._heap, self._stuck, self.candidates = [], [], []
        if self.log is not None:
            self.log = {}
        self.take_back(self.unpack(packed))
        self.bound = math.inf
        self.aim(target)
        self._settle()

    def aim(self, target: int) -> None:
        """Leave out what cannot reach a target in whole-number values."""
        self._target = max(self._target, target)

    def findings(self, nodes_before: int, seconds: float) -> Findings:
        """End an errand: what came of it."""
        self._gather()
        return Findings(
            opened=self.pack(self.open_nodes()),
            stuck=self.pack(self._stuck),
            candidates=self.candidates,
            target=self._target,
            nodes=self.nodes - nodes_before,
            log={} if self.log is None else self.log,
            seconds=seconds,
        )

    # -- the inside ---------------------------------------------------------------------------

    def _explore(self, deadline: float) -> None:
        """All threads until the deadline."""
        if not self._workers and self._heap:
            self._workers = self._make_workers()
        if not self._workers:
            return
        self._leaving = False
        for worker in self._workers:
            worker.hurry(False)
        with ThreadPoolExecutor(len(self._workers)) as pool:
            futures = [pool.submit(self._work, worker, deadline) for worker in self._workers]
            # A single node of a large problem takes seconds, which the user may not have.
            while wait(futures, timeout=SECONDS_BETWEEN_LOOKS).not_done:
                if self.should_stop():
                    self._leaving = True
                    for worker in self._workers:
                        worker.hurry(True)
            for future in futures:
                future.result()

    def _work(self, worker: W, deadline: float) -> None:
        """What one thread does: take the best node, search it for a while, give back the rest, and again."""
        waiting = False
        while time.perf_counter() < deadline and not self._leaving:
            if not worker.busy:
                with self._lock:
                    node = self._next()
                    self._idle += (node is None) - waiting
                    waiting = node is None
                    others = any(other.busy for other in self._workers)
                    if node is not None:
                        worker.load(node)
                if node is None:
                    if not others:
                        break
                    time.sleep(0.001)
                    continue
            result = self._run(worker, max(deadline - time.perf_counter(), SHORTEST_RUN))
            with self._lock:
                self._book(worker, result)
        if waiting:
            with self._lock:
                self._idle -= 1

    def _book(self, worker: W, result: Any) -> None:
        """What a run brought: open nodes, and all of a subtree that is done, overdue or beyond floats."""
        over = self._after(worker, result)
        if over or self._hopeless():
            self._take(worker)
        self._give_up_if_hopeless()

    def _give_up_if_hopeless(self) -> None:
        if self._hopeless():
            self._stuck += [node for _, _, node in self._heap]
            self._heap = []

    def _take(self, worker: W) -> None:
        """Take back what is left of a worker's subtree."""
        key, opened, log = worker.give_back()
        for node in opened:
            self._push(node)
        if key is not None:
            self._write(key, log)

    def _push(self, node: N) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (-node.bound, self._serial, node))

    def _next(self) -> N | None:
        """The open node with the largest bound, if that reaches the target."""
        while self._heap:
            node = heapq.heappop(self._heap)[2]
            if node.bound >= self._target:
                return node
            self._drop(node)
        return None

    def open_bounds(self) -> list[int]:
        """Largest bound of what is left of each subtree that is being searched."""
        bounds = [worker.bound for worker in self._workers]
        elsewhere = [] if self._sharing is None else [node.bound for node in self._sharing.away]
        return [bound for bound, one in zip(bounds, self._workers, strict=True) if one.busy] + elsewhere

    def open_nodes(self) -> list[N]:
        """All nodes that wait or that others have."""
        return [node for _, _, node in self._heap] + ([] if self._sharing is None else self._sharing.away)

    def rehearse(self) -> None:
        """Call what is asked for only where threads are cut off in the middle of a subtree."""
        self.open_bounds()

    def _gather(self) -> None:
        """Take back what is left of all subtrees."""
        for worker in self._workers:
            self._take(worker)

    def _raise_target(self, target: float | Fraction) -> None:
        if target > -math.inf:
            self._target = max(self._target, self._scale.up(target))

    def _settle(self) -> None:
        """Bring bound and done up to date."""
        bounds = [-self._heap[0][0]] if self._heap else []
        bounds += self.open_bounds()
        self.done = not any(bound >= self._target for bound in bounds)
        if self.done:  # what is left cannot reach the target: write that down and let go of it
            self._gather()
            self.dismiss()
            self._next()
        bounds += [node.bound for node in self._stuck]
        self.bound = min(self.bound, self._scale.value(max([self._target, *bounds])))

    def _note(self, coef: Floats) -> Fraction:
        """Remember a candidate; what it is worth at least."""
        self.candidates = [*self.candidates[-MAX_CANDIDATES:], coef]
        return self._arrays.sure_value(coef)
