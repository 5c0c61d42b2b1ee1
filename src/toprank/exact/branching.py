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

from toprank.exact.pairs import PairArrays
from toprank.exact.rounding import Scale

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


N = TypeVar("N", bound=OpenNode)
W = TypeVar("W", bound=Worker)


class BranchAndBound(ABC, Generic[N, W]):
    """A search for directions worth at least a target, advanced in small steps.

    Parameters
    ----------
    arrays : PairArrays
        The problem: pair p is won at w, ``|w_j| <= 1``, when ``differences[p] @ w >= margin``.
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
        arrays: PairArrays,
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
        self._idle = 0
        self._nodes = 0
        self._target = 0
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

    # -- the outside --------------------------------------------------------------------------

    def advance(self, max_seconds: float = 0.1, target: float | None = None) -> None:
        """Go on for about `max_seconds`; a higher `target` excludes more."""
        if target is not None:
            self._raise_target(target)
        self._explore(time.perf_counter() + max_seconds)
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

    # -- the inside ---------------------------------------------------------------------------

    def _explore(self, deadline: float) -> None:
        """All threads until the deadline."""
        if not self._workers and self._heap:
            self._workers = self._make_workers()
        if not self._workers:
            return
        for worker in self._workers:
            worker.hurry(False)
        with ThreadPoolExecutor(len(self._workers)) as pool:
            futures = [pool.submit(self._work, worker, deadline) for worker in self._workers]
            # A single node of a large problem takes seconds, which the user may not have.
            while wait(futures, timeout=SECONDS_BETWEEN_LOOKS).not_done:
                if self.should_stop():
                    for worker in self._workers:
                        worker.hurry(True)
            for future in futures:
                future.result()

    def _work(self, worker: W, deadline: float) -> None:
        """What one thread does: take the best node, search it for a while, give back the rest, and again."""
        waiting = False
        while time.perf_counter() < deadline:
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
        return [bound for bound, worker in zip(bounds, self._workers, strict=True) if worker.busy]

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
            self._next()
        bounds += [node.bound for node in self._stuck]
        self.bound = min(self.bound, self._scale.value(max([self._target, *bounds])))

    def _note(self, coef: Floats) -> Fraction:
        """Remember a candidate; what it is worth at least."""
        self.candidates = [*self.candidates[-MAX_CANDIDATES:], coef]
        return self._arrays.sure_value(coef)
