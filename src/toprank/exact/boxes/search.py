"""Exact search over boxes of directions, bounded by sweeping one coordinate: best for few features.

All directions w are covered by the faces of a cube in the coordinates of `boxes.frame`. On each box
of a face one coordinate is swept exactly: every pair can be won only on one side of some point of it, so
sorting these points and counting gives the largest value any direction of the box could have. Boxes that
cannot reach the target are dropped, small ones are closed by finding pairs that cannot be won together, the
rest are halved.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.exact.boxes.frame import Frame, build_frame
from toprank.exact.boxes.plane import best_sector
from toprank.exact.boxes.worker import Box, BoxWorker, sweep_face
from toprank.exact.branching import MAX_CANDIDATES, BranchAndBound
from toprank.exact.pairs import PairArrays

__all__ = ["BoxSearch"]

Floats = NDArray[np.float64]
SUBTREE_WORK = 20_000_000
"""A worker gives the rest of its subtree back after so many pairs: the best box is never far away.
Counted and not timed, so that one thread does the same every time. Not tuned."""
MOST_STUCK = 64
"""So many boxes that rounding leaves open are enough to end a search without a margin. Not tuned."""
BASIS = b"basis"
"""Key of the coordinates in the log."""


class BoxSearch(BranchAndBound[Box, BoxWorker]):
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
        Whether to write down every split, for `toprank.exact.boxes.replay`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> problem = RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "auc")
    >>> search = BoxSearch(problem.arrays())
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    >>> round(best, 3), search.bound - best < 1e-9
    (0.685, True)
    """

    name = "boxes"

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
        for place in self._frame.roots():
            self._push(Box(self._frame.value, place))
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
        super().__init__(arrays, frame.scale, step=step, n_jobs=n_jobs, log=log)
        self._frame = frame
        self._doubts = 0
        self._target = frame.scale.up(frame.floor + Fraction(self._step))

    # -- stopping and going on ----------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open boxes, their bounds, coordinates, target."""
        self._gather()
        width = 2 * self._frame.size + 2
        opened = [box for _, _, box in self._heap]
        return {
            "basis": self._frame.basis,
            "noise": self._frame.noise,
            "target": self._target,
            "nodes": self.nodes,
            "boxes": np.array([box.place for box in opened]).reshape(-1, width),
            "bounds": np.array([box.bound for box in opened], dtype=np.int64),
            "stuck_boxes": np.array([box.place for box in self._stuck]).reshape(-1, width),
            "stuck_bounds": np.array([box.bound for box in self._stuck], dtype=np.int64),
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
        for box in _boxes(saved["bounds"], saved["boxes"]):
            search._push(box)
        search._stuck = _boxes(saved["stuck_bounds"], saved["stuck_boxes"])
        search._settle()
        return search

    # -- the search ---------------------------------------------------------------------------

    def _explore(self, deadline: float) -> None:
        if self._frame.exact_norm:
            self._explore_faces(deadline)
        else:
            super()._explore(deadline)

    def _make_workers(self) -> list[BoxWorker]:
        return [BoxWorker(self._frame, self.log is not None) for _ in range(self._n_jobs)]

    def _run(self, worker: BoxWorker, seconds: float) -> Floats | None:
        return worker.run(self._target, seconds, SUBTREE_WORK - worker.spent)

    def _after(self, worker: BoxWorker, result: Floats | None) -> bool:
        """Book what a worker's run brought: boxes put aside, a candidate, a finished or overlong subtree."""
        spilled, stuck = worker.put_aside()
        for box in spilled:
            self._push(box)
        self._stuck += stuck
        if result is not None:
            self._consider(result, worker)
        return not worker.busy or worker.spent >= SUBTREE_WORK or self._idle > 0

    def _hopeless(self) -> bool:
        if self._frame.margin > 0 or len(self._stuck) < MOST_STUCK:
            return False
        self._stuck = [box for box in self._stuck if box.bound >= self._target]
        return len(self._stuck) >= MOST_STUCK

    def _drop(self, node: Box) -> None:
        self._close(node)

    def _close(self, box: Box) -> None:
        """Write down that a box was not split."""
        if self.log is not None:
            self.log[box.place[: 2 * self._frame.size].tobytes()] = BoxWorker.LEAF

    def _consider(self, point: Floats, worker: BoxWorker | None = None) -> None:
        """Note a candidate; go on from its value if it surely reaches the target."""
        value = self._note(self._frame.coefficients(point))
        if value * Fraction(2) ** self._frame.scale.exponent >= self._target - 1:
            self._raise_target(value + Fraction(self._step))
            for other in self._workers:
                other.expect(self._target)
        elif worker is not None and self._doubts < MAX_CANDIDATES:
            self._doubts += 1
            worker.expect(self._target)

    def _explore_faces(self, deadline: float) -> None:
        """One or two coefficients: each face of the box is one sweep; without a margin, all are."""
        if self._frame.margin == 0:
            self._explore_plane()
            return
        while time.perf_counter() < deadline:
            face = self._next()
            if face is None:
                return
            self._close(face)
            bound, point = sweep_face(self._frame, face.place, self._target, safe=False)
            self._nodes += 1
            if bound >= self._target:
                self._consider(point)
            if bound >= self._target:  # in doubt: settle for the best that is sure
                self._consider(sweep_face(self._frame, face.place, self._target, safe=True)[1])
            if bound >= self._target:
                self._stuck.append(Box(bound, face.place))

    def _explore_plane(self) -> None:
        """Two coordinates without a margin: the best of all sectors, exactly."""
        faces = [box for _, _, box in self._heap]
        self._heap = []
        if not faces:
            return
        for face in faces:
            self._close(face)
        bound, point = best_sector(self._frame)
        self._nodes += 1
        if bound >= self._target:
            # Whether floats can tell or not: what is offered is counted exactly.
            self._consider(point)
            self._stuck.append(Box(bound, faces[0].place))


def _boxes(bounds: NDArray[np.int64], places: Floats) -> list[Box]:
    """Open boxes as they were saved."""
    return [Box(int(bound), np.asarray(place)) for bound, place in zip(bounds, places, strict=True)]
