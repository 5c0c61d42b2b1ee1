"""One thread's share of the search over boxes: its arrays and its calls of the compiled kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.frame import SMALLEST_BOX, SMALLEST_STRICT_BOX, Frame
from toprank.exact.directions.search import BOXES_ASIDE, LARGEST_CLOSE, LOG_BYTES, Box, SubtreeWorker

__all__ = ["BoxWorker", "sweep_face"]

Floats = NDArray[np.float64]
CLOSE_SIZE, CLOSE_TRIES = 40, 12
"""Boxes with so few undecided pairs are closed by linear programs, so many at most. Not tuned."""
BUCKETS = 4096
"""Into which events are sorted, two each: beyond 8192 events buckets get longer. Not tuned."""
MANY_PAIRS = 1_000_000
"""With more, a face is swept in pieces: the events of all of them at once would take much memory."""


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


def sweep_face(frame: Frame, node: Floats, target: int, *, safe: bool) -> tuple[int, Floats]:
    """Largest value on one face when the coordinates are one or two coefficients, and where it is.

    With `safe`, pairs in doubt count as lost; otherwise as won.
    """
    from toprank.exact.boxes import _plane_kernels as kernels
    from toprank.exact.directions._counting import NOTHING

    P, r = frame.problem.E.shape
    k = frame.swept(node)
    fixed = 1 - k
    best, point, out = NOTHING, np.zeros(r), np.zeros(3)
    point[fixed] = node[fixed]
    pieces = 8 if P > MANY_PAIRS else 1
    work = _face_work(P // pieces + 1)
    for low, high in pairwise(np.linspace(-1.0, 1.0, pieces + 1).tolist()):
        place = (frame.problem, fixed, node[fixed], k, low, high, frame.margin, safe)
        found = kernels.sweep_face(*place, max(target, best), frame.value, *work, out)
        if out[1] > work[0].shape[1]:  # more pairs change sides here than there was room for
            work = _face_work(int(out[1]))
            found = kernels.sweep_face(*place, max(target, best), frame.value, *work, out)
        if found > best:
            best, point[k] = found, out[0]
    return int(best), point


def _face_work(room: int) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Arrays for sorting so many events."""
    return np.empty((2, room)), np.empty((2, room), np.int32), np.zeros(min(1 << 20, room // 2 + 2), np.int64)
