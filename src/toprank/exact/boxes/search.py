"""Exact search over boxes of directions, bounded by sweeping one coordinate: best for few features.

All directions w are covered by the faces of a cube in the coordinates of `directions.frame`. On each box
of a face one coordinate is swept exactly: every pair can be won only on one side of some point of it, so
sorting these points and counting gives the largest value any direction of the box could have. Boxes that
cannot reach the target are dropped, small ones are closed by finding pairs that cannot be won together, the
rest are halved.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.boxes.plane import best_sector, sweep_face
from toprank.exact.directions.frame import SMALLEST_BOX, SMALLEST_STRICT_BOX, Frame, build_frame
from toprank.exact.directions.search import (
    BOXES_ASIDE,
    LARGEST_CLOSE,
    LOG_BYTES,
    Box,
    DirectionSearch,
    SubtreeWorker,
)
from toprank.exact.pairs import PairArrays
from toprank.exact.sharing import Crew

__all__ = ["BoxSearch", "BoxWorker"]

Floats = NDArray[np.float64]
CLOSE_SIZE, CLOSE_TRIES = 40, 12
"""Boxes with so few undecided pairs are closed by linear programs, so many at most. Not tuned."""
BUCKETS = 4096
"""Into which events are sorted, two each: beyond 8192 events buckets get longer. Not tuned."""


class BoxWorker(SubtreeWorker):
    """Searches one subtree of boxes at a time, in short runs.

    Parameters
    ----------
    frame : Frame
        The problem.
    keep_log : bool
        Whether to write down every split.
    """

    def __init__(self, frame: Frame, keep_log: bool) -> None:
        from toprank.exact.boxes import _search_kernels as kernels
        from toprank.exact.boxes import _sweep_kernels as stack

        self._kernels, self._frame = kernels, frame
        P, r = frame.problem.E.shape
        levels = 41 * r + 64
        room = max(2 * P, min(64 * P, 1 << 21)) + 64
        work = stack.Work(
            ids=np.empty(room, np.int32),
            centre=np.empty(room),
            radius=np.empty(room),
            lost=np.empty(P + 1, np.int32),
            span=np.zeros((levels, 4), np.int64),
            mid=np.zeros((levels, r)),
            half=np.zeros((levels, r)),
            times=np.zeros((levels, 2)),
            plan=np.zeros((levels, 3), np.int64),
            at=np.empty((2, P + 1)),
            who=np.empty((2, P + 1), np.int32),
            count=np.empty_like(frame.problem.count),
            at_most=np.empty_like(frame.problem.at_most),
            regs=np.zeros(8, np.int64),
            point=np.zeros((2, r)),
            log=np.zeros(LOG_BYTES if keep_log else 0, np.uint8),
            spare=np.zeros((BOXES_ASIDE, 2 * r + 2)),
            spare_info=np.zeros((BOXES_ASIDE, 2), np.int64),
            rows=np.zeros((min(LARGEST_CLOSE, P) + 1, r + 1)),
            wide=np.zeros((min(LARGEST_CLOSE, P) + r + 7, r + 1)),
            flags=np.zeros((5, 8 * LARGEST_CLOSE), np.int64),
            lp=np.zeros((r + 6, r + 1)),
            ends=np.zeros(BUCKETS + 1, np.int64),
        )
        smallest = SMALLEST_BOX if frame.margin else SMALLEST_STRICT_BOX
        self._rules = kernels.Rules(frame.margin, CLOSE_SIZE, CLOSE_TRIES, smallest)
        self._swept = 0
        super().__init__(stack, work, 2 * r + 2, levels)

    def _begin(self, node: Box) -> bytes:
        place, frame = node.place, self._frame
        self._swept = frame.swept(place)
        self._stack.load(frame.problem, self._work, place, self._swept, frame.value, node.bound)
        return place[: 2 * frame.size].tobytes()

    def _go_on(self, target: int, max_work: int) -> bool:
        code = self._kernels.search(
            self._frame.problem, self._work, self._rules, self._swept, target, max_work
        )
        return bool(code == self._kernels.PAUSED)

    def _hand_over(self, nodes: Floats, bounds: NDArray[np.int64]) -> int:
        return int(self._stack.hand_over(self._work, self._swept, nodes, bounds))


class BoxSearch(DirectionSearch[BoxWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters as for `toprank.exact.directions.search.DirectionSearch`.

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

    @staticmethod
    def _build(arrays: PairArrays, **options: Any) -> Frame:
        return build_frame(arrays, **options)

    def _roots(self) -> list[Floats]:
        return self._frame.roots()

    def _name(self, place: Floats) -> bytes:
        return place[: 2 * self._frame.size].tobytes()

    def share(self, crew: Crew) -> None:
        """From now on leave the searching to others, unless it is done in no time here."""
        if not self._frame.exact_norm:
            super().share(crew)

    def _explore(self, deadline: float) -> None:
        if self._frame.exact_norm:
            self._explore_faces(deadline)
        else:
            super()._explore(deadline)

    def _make_workers(self) -> list[BoxWorker]:
        return [BoxWorker(self._frame, self.log is not None) for _ in range(self._n_jobs)]

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
