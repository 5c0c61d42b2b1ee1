"""Exact search over boxes of directions, bounded by sweeping one coordinate: best for few features.

All directions w are covered by the faces of a cube in the coordinates of `toprank.exact.frame`. On each box
of a face one coordinate is swept exactly: every pair can be won only on one side of some point of it, so
sorting these points and counting gives the largest value any direction of the box could have. Boxes that
cannot reach the target are dropped, small ones are closed by finding pairs that cannot be won together, the
rest are halved.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.exact.box_worker import BoxWorker, sweep_face
from toprank.exact.frame import Frame, build_frame
from toprank.exact.pairs import PairArrays

__all__ = ["SweepSearch", "sure_value"]

Floats = NDArray[np.float64]
SUBTREE_WORK = 20_000_000
"""A worker gives the rest of its subtree back after so many pairs: the best box is never far away."""
BASIS = b"basis"
"""Key of the coordinates in the log."""
MAX_CANDIDATES = 1000


def sure_value(arrays: PairArrays, coef: Floats) -> Fraction:
    """A value these coefficients have at least: pairs whose rounding is in doubt count as lost.

    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", scales=[1.0])
    >>> float(sure_value(problem.arrays(), np.array([1.0])))
    1.0
    """
    won = arrays.surely_won(coef)
    if arrays.pair_weight is not None:
        return sum(map(Fraction, arrays.pair_weight[won].tolist()), start=Fraction(0))
    lost = np.bincount(arrays.positive[~won], minlength=len(arrays.positive_query))
    order = np.lexsort((lost, arrays.positive_query))
    query = arrays.positive_query[order]
    place = np.arange(len(query)) - np.searchsorted(query, query)
    terms = arrays.weights[arrays.weight_start[query] + place + lost[order]]
    return sum(map(Fraction, terms.tolist()), start=Fraction(0))


class SweepSearch:
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters
    ----------
    arrays : PairArrays
        The problem: pair p is won at w, ``|w_j| <= 1``, when ``differences[p] @ w >= margin``.
    target : float
        Smallest value that counts as an improvement; everything worth less is excluded. At least what losing
        every pair is worth, plus `step`.
    direction : (d,) array, optional
        Coefficients of the best answer so far; the search is faster with them.
    step : float, optional
        When the search itself finds an answer of value v it goes on looking for v + step; by default
        2**-40 of the sum of all weights.
    n_jobs : int
        Number of threads.
    keep_log : bool
        Whether to write down every split, for `toprank.exact.replay`.

    Attributes
    ----------
    bound : float
        No direction not yet excluded is worth more; never rises. When nothing is left it is the target:
        every direction is worth less.
    nodes : int
        Boxes looked at.
    done : bool
        Whether there is nothing left to do.
    unresolved : float
        Largest bound of boxes too small to split further; minus infinity when there are none, as usual.
    candidates : list of arrays
        Coefficients found on the way, largest one 1, that may be better than what was known.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> problem = RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "auc")
    >>> search = SweepSearch(problem.arrays())
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    >>> round(best, 3), search.bound - best < 1e-9
    (0.685, True)
    """

    def __init__(
        self,
        arrays: PairArrays,
        *,
        target: float = -math.inf,
        direction: Floats | None = None,
        step: float | None = None,
        n_jobs: int = 1,
        keep_log: bool = False,
    ) -> None:
        frame = build_frame(arrays, direction, reduce=not keep_log)
        self._start(arrays, frame, step, n_jobs, {BASIS: frame.basis.tobytes()} if keep_log else None)
        for node in self._frame.roots():
            self._push(self._frame.value, node)
        self._raise_target(target)
        self._settle()

    def _start(
        self,
        arrays: PairArrays,
        frame: Frame,
        step: float | None,
        n_jobs: int,
        log: dict[bytes, bytes] | None,
    ) -> None:
        self._arrays, self._frame, self._n_jobs = arrays, frame, n_jobs
        weights = arrays.weights if arrays.pair_weight is None else arrays.pair_weight
        self._step = float(np.abs(weights).sum()) * 2.0**-40 if step is None else step
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, Floats]] = []
        self._serial = 0
        self._stuck: list[tuple[int, Floats]] = []
        self._workers: list[BoxWorker] = []
        self._hungry = 0
        self._doubts = 0
        self._target = frame.scale.up(frame.floor + Fraction(self._step))
        self._nodes = 0
        self.log = log
        self.candidates: list[Floats] = []
        self.bound = math.inf
        self.done = False

    # -- the outside -----------------------------------------------------------------------------

    def advance(self, max_seconds: float = 0.1, target: float | None = None) -> None:
        """Go on for about `max_seconds`; a higher `target` excludes more."""
        if target is not None:
            self._raise_target(target)
        if not self._workers and not self._frame.exact_norm:
            self._workers = [BoxWorker(self._frame, self.log is not None) for _ in range(self._n_jobs)]
        deadline = time.perf_counter() + max_seconds
        if self._frame.exact_norm:
            self._advance_faces(deadline)
        elif self._n_jobs == 1:
            self._work(self._workers[0], deadline)
        else:
            with ThreadPoolExecutor(self._n_jobs) as pool:
                for future in [pool.submit(self._work, worker, deadline) for worker in self._workers]:
                    future.result()
        self._settle()

    @property
    def nodes(self) -> int:
        """Boxes looked at."""
        return self._nodes + sum(worker.nodes for worker in self._workers)

    @property
    def unresolved(self) -> float:
        """Largest bound of boxes too small to split; minus infinity when there are none."""
        worst = max((bound for bound, _ in self._stuck if bound >= self._target), default=None)
        return -math.inf if worst is None else self._frame.scale.value(worst)

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open boxes, their bounds, coordinates, target."""
        self._gather()
        width = 2 * self._frame.size + 2
        open_nodes = [(-bound, node) for bound, _, node in self._heap]
        return {
            "basis": self._frame.basis,
            "noise": self._frame.noise,
            "target": self._target,
            "nodes": self.nodes,
            "boxes": np.array([node for _, node in open_nodes]).reshape(-1, width),
            "bounds": np.array([bound for bound, _ in open_nodes], dtype=np.int64),
            "stuck_boxes": np.array([node for _, node in self._stuck]).reshape(-1, width),
            "stuck_bounds": np.array([bound for bound, _ in self._stuck], dtype=np.int64),
        }

    @classmethod
    def resume(
        cls, arrays: PairArrays, saved: dict[str, Any], *, step: float | None = None, n_jobs: int = 1
    ) -> Self:
        """The search a checkpoint of the same problem was taken from."""
        search = cls.__new__(cls)
        given = (np.asarray(saved["basis"], dtype=np.float64), float(saved["noise"]))
        search._start(arrays, build_frame(arrays, given=given), step, n_jobs, None)
        search._target = int(saved["target"])
        search._nodes = int(saved["nodes"])
        for bound, node in zip(saved["bounds"], saved["boxes"], strict=True):
            search._push(int(bound), np.asarray(node))
        search._stuck = [
            (int(b), np.asarray(node))
            for b, node in zip(saved["stuck_bounds"], saved["stuck_boxes"], strict=True)
        ]
        search._settle()
        return search

    # -- the inside ------------------------------------------------------------------------------

    def _push(self, bound: int, node: Floats) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (-bound, self._serial, node))

    def _raise_target(self, target: float | Fraction) -> None:
        if target > -math.inf:
            self._target = max(self._target, self._frame.scale.up(target))

    def _settle(self) -> None:
        """Bring bound and done up to date."""
        bounds = [-self._heap[0][0]] if self._heap else []
        bounds += [worker.bound for worker in self._workers if worker.busy]
        self.done = not any(bound >= self._target for bound in bounds)
        if self.done:  # what is left cannot reach the target: note that and let go of it
            self._gather()
            self._next()
        bounds += [bound for bound, _ in self._stuck]
        self.bound = min(self.bound, self._frame.scale.value(max([self._target, *bounds])))

    def _gather(self) -> None:
        for worker in self._workers:
            self._take(worker)

    def _take(self, worker: BoxWorker) -> None:
        """Take back what is left of a worker's subtree."""
        key, opened, log = worker.give_back()
        for bound, node in opened:
            self._push(bound, node)
        if self.log is not None and key is not None:
            self.log[key] = log

    def _next(self) -> tuple[int, Floats] | None:
        """The open box with the largest bound, if that reaches the target."""
        while self._heap:
            bound, _, node = heapq.heappop(self._heap)
            if -bound >= self._target:
                return -bound, node
            if self.log is not None:
                self.log[node[: 2 * self._frame.size].tobytes()] = BoxWorker.LEAF
        return None

    def _work(self, worker: BoxWorker, deadline: float) -> None:
        """What one thread does: take the best box, search it for a while, give back the rest, and again."""
        waiting = False
        while time.perf_counter() < deadline:
            if not worker.busy:
                with self._lock:
                    item = self._next()
                    self._hungry += (item is None) - waiting
                    waiting = item is None
                    others = any(other.busy for other in self._workers)
                if item is None:
                    if not others:
                        break
                    time.sleep(0.001)
                    continue
                worker.load(*item)
            seconds = max(deadline - time.perf_counter(), 1e-3)
            found = worker.run(self._target, seconds, SUBTREE_WORK - worker.spent)
            with self._lock:
                self._digest(worker, found)
        if waiting:
            with self._lock:
                self._hungry -= 1

    def _digest(self, worker: BoxWorker, found: Floats | None) -> None:
        """Book what a worker's run brought: boxes put aside, a candidate, a finished or overlong subtree."""
        spilled, stuck = worker.put_aside()
        for bound, node in spilled:
            self._push(bound, node)
        self._stuck += stuck
        if found is not None:
            self._consider(found, worker)
        if not worker.busy or worker.spent >= SUBTREE_WORK or self._hungry:
            self._take(worker)

    def _consider(self, point: Floats, worker: BoxWorker | None = None) -> None:
        """Note a candidate; go on from its value if it surely reaches the target."""
        coef = self._frame.coefficients(point)
        self.candidates = [*self.candidates[-MAX_CANDIDATES:], coef]
        value = sure_value(self._arrays, coef)
        if value * Fraction(2) ** self._frame.scale.exponent >= self._target - 1:
            self._raise_target(value + Fraction(self._step))
            for other in self._workers:
                other.expect(self._target)
        elif worker is not None and self._doubts < MAX_CANDIDATES:
            self._doubts += 1
            worker.expect(self._target)

    def _advance_faces(self, deadline: float) -> None:
        """One or two coefficients: each face of the box is one sweep."""
        while time.perf_counter() < deadline:
            item = self._next()
            if item is None:
                return
            node = item[1]
            if self.log is not None:
                self.log[node[: 2 * self._frame.size].tobytes()] = BoxWorker.LEAF
            bound, point = sweep_face(self._frame, node, self._target, safe=False)
            self._nodes += 1
            if bound >= self._target:
                self._consider(point)
            if bound >= self._target:  # in doubt: settle for the best that is sure
                self._consider(sweep_face(self._frame, node, self._target, safe=True)[1])
            if bound >= self._target:
                self._stuck.append((bound, node))
