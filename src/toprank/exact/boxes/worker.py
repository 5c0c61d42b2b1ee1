"""One thread's share of the search over boxes: its arrays and its calls of the compiled kernels."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.exact.boxes.frame import SMALLEST_BOX, SMALLEST_STRICT_BOX, Frame

__all__ = ["Box", "BoxWorker", "sweep_face"]

Floats = NDArray[np.float64]
CLOSE_SIZE, CLOSE_TRIES = 40, 12
"""Boxes with so few undecided pairs are closed by linear programs, so many at most. Not tuned."""
LARGEST_CLOSE = 512
"""Boxes too small to split are closed with so many: what the programs' tables have room for."""
SPARE, LOG_BYTES = 256, 1 << 16
"""Room for boxes put aside and for the log of one run, which pauses when it is full."""
BUCKETS = 4096
"""Into which events are sorted, two each: beyond 8192 events buckets get longer. Not tuned."""
CHUNK_SECONDS = 0.03
"""A run returns after about so long: the driver looks at the clock every 0.1 s."""
FIRST_SPEED = 1e7
"""Pairs a second until that is measured, after the first run. Not tuned."""
MANY_PAIRS = 1_000_000
"""With more, a face is swept in pieces: the events of all of them at once would take much memory."""


class Box(NamedTuple):
    """An open box, and no direction in it worth more than `bound`."""

    bound: int
    """In whole-number values."""
    place: Floats
    """Where it is, as `toprank.exact.boxes.frame` writes it."""


class BoxWorker:
    """Searches one subtree of boxes at a time, in short runs.

    Parameters
    ----------
    frame : Frame
        The problem.
    keep_log : bool
        Whether to write down every split.
    """

    LEAF: ClassVar[bytes] = b"\xff"
    HANDED: ClassVar[bytes] = b"\xfe"

    def __init__(self, frame: Frame, keep_log: bool) -> None:
        from toprank.exact.boxes import _search_kernels as kernels
        from toprank.exact.boxes import _sweep_kernels as stack
        from toprank.exact.boxes._sweep_kernels import NOTHING

        self._kernels, self._stack, self._frame = kernels, stack, frame
        P, r = frame.problem.E.shape
        levels = 41 * r + 64
        room = max(2 * P, min(64 * P, 1 << 21)) + 64
        self._work = stack.Work(
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
            spare=np.zeros((SPARE, 2 * r + 2)),
            spare_info=np.zeros((SPARE, 2), np.int64),
            rows=np.zeros((min(LARGEST_CLOSE, P) + 1, r + 1)),
            wide=np.zeros((min(LARGEST_CLOSE, P) + r + 7, r + 1)),
            flags=np.zeros((5, 8 * LARGEST_CLOSE), np.int64),
            lp=np.zeros((r + 6, r + 1)),
            ends=np.zeros(BUCKETS + 1, np.int64),
        )
        smallest = SMALLEST_BOX if frame.margin else SMALLEST_STRICT_BOX
        self._rules = kernels.Rules(frame.margin, CLOSE_SIZE, CLOSE_TRIES, smallest)
        self._work.regs[stack.FLOOR] = NOTHING
        self._speed = FIRST_SPEED
        self._log: list[bytes] = []
        self._key: bytes | None = None
        self._swept = 0
        self.busy = False
        self.spent = 0

    def load(self, node: Box) -> None:
        """Begin with one box."""
        place, frame = node.place, self._frame
        self._key = place[: 2 * frame.size].tobytes()
        self._log, self.spent, self.busy = [], 0, True
        self._swept = frame.swept(place)
        self._stack.load(frame.problem, self._work, place, self._swept, frame.value, node.bound)

    def run(self, target: int, max_seconds: float, max_work: int) -> Floats | None:
        """Search for a moment; a point that may reach the target, if one was found.

        How long a moment is never changes what is searched next, only `max_work` does.
        """
        regs, stack = self._work.regs, self._stack
        regs[stack.FLOOR] = max(regs[stack.FLOOR], target - 1)
        started = time.perf_counter()
        chunk = min(int(self._speed * min(CHUNK_SECONDS, max_seconds)) + 1, max_work)
        code = self._kernels.search(
            self._frame.problem,
            self._work,
            self._rules,
            self._swept,
            target,
            chunk,
        )
        seconds = time.perf_counter() - started
        self.spent += int(regs[stack.WORKED])
        self.busy = code == self._kernels.PAUSED
        if regs[stack.WORKED] >= chunk > 0.1 * self._speed * CHUNK_SECONDS:
            self._speed = min(max(chunk / seconds, 0.5 * self._speed), 2.0 * self._speed)
        if self._work.log.size:
            self._log.append(self._work.log[: regs[stack.LOGGED]].tobytes())
            regs[stack.LOGGED] = 0
        if regs[stack.FOUND] == 0:
            return None
        regs[stack.FOUND] = 0
        return self._work.point[1].copy()

    def hurry(self, wanted: bool) -> None:
        """Nothing: a box never takes long."""

    def expect(self, target: int) -> None:
        """Report any point that reaches the target from now on."""
        self._work.regs[self._stack.FLOOR] = target - 1

    def put_aside(self) -> tuple[list[Box], list[Box]]:
        """Boxes the last run put aside: for want of room, and because they are too small to split."""
        regs, info = self._work.regs, self._work.spare_info
        number = int(regs[self._stack.SPARED])
        regs[self._stack.SPARED] = 0
        aside = [(int(info[i, 1]), Box(int(info[i, 0]), self._work.spare[i].copy())) for i in range(number)]
        handed = [box for kind, box in aside if kind == self._stack.HANDED]
        return handed, [box for kind, box in aside if kind == self._stack.STUCK]

    def give_back(self) -> tuple[bytes | None, list[Box], bytes]:
        """Stop here: the box begun with, what is left of it as open boxes, and the log of what was done."""
        opened: list[Box] = []
        if self.busy:
            levels, r = self._work.mid.shape
            nodes, bounds = np.zeros((2 * levels, 2 * r + 2)), np.zeros(2 * levels, np.int64)
            number = self._stack.hand_over(self._work, self._swept, nodes, bounds)
            opened = [Box(int(bounds[i]), nodes[i].copy()) for i in range(number)]
        key, log = self._key, b"".join(self._log) + self.HANDED * len(opened)
        self._key, self.busy = None, False
        return key, opened, log

    @property
    def bound(self) -> int:
        """Largest bound of what is left of the subtree."""
        return int(self._stack.open_bound(self._work))

    @property
    def nodes(self) -> int:
        """Boxes looked at so far."""
        return int(self._work.regs[self._stack.NODES])


def sweep_face(frame: Frame, node: Floats, target: int, *, safe: bool) -> tuple[int, Floats]:
    """Largest value on one face when the coordinates are one or two coefficients, and where it is.

    With `safe`, pairs in doubt count as lost; otherwise as won.
    """
    from toprank.exact.boxes import _plane_kernels as kernels
    from toprank.exact.boxes._sweep_kernels import NOTHING

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
