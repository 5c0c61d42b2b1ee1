"""The search in slices with a graphics card: it takes all open boxes, the CPU what it hands back.

A launch lasts some hundredths of a second; between two of them the clock, the stop button and points that
were found are served. Boxes too small to split on the card go to the threads of `SliceSearch`, which close
them by linear programs and in whole numbers. Logs, checkpoints and certificates are those of the slices.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.frame import SMALLEST_BOX, SMALLEST_STRICT_BOX, Frame
from toprank.exact.directions.search import Box
from toprank.exact.gpu.device import WORDS, Card, box_type, parameters_of, pending_bytes, shared_bytes
from toprank.exact.pairs import PairArrays
from toprank.exact.slices.search import SliceSearch
from toprank.exact.slices.search import why_not as why_no_slices
from toprank.exact.slices.worker import FEW_SLICES, ROUNDS, SliceWorker, WholeValues

__all__ = ["GpuSearch", "Pool", "why_not"]

SECONDS_A_LAUNCH = 0.05
HUNGRY_FROM = 0.25
"""Share of the warps without work from which all hand over what they have left, to be dealt out anew."""
ASIDE_ROOM, FOUND_ROOM = 1 << 16, 64
LOG_ROOM, LOGGED_AT_A_TIME = 1 << 14, 1 << 12
"""Bytes of the log of a subtree, and subtrees of a launch, where logs are kept."""
PROBED_UP_TO = 96
"""Middles of boxes are looked at where so few pairs are undecided."""
LONGEST_LISTS, SHORTEST_LISTS = 48, 6
"""Times all pairs: room for the lists of a warp, as memory allows."""
THREADS_A_BOX = 4
"""Boxes that are left to the CPU are few, as a rule, and soon closed: more threads take longer to set up."""
LOOKED_AT = 2
"""Points of a launch that are evaluated exactly, which takes a millisecond."""
MOST_DOUBTS = 32
"""Points that were not worth what the card thought, after which it looks for no more."""
NOTHING = -(2**62)
"""Less than any value."""
NEXT, OUT, ASIDE, FOUND, IDLE, STOP = range(6)
NODES, SWEEPS, PAIRS, PROBES, SETTLED, CLOSED = range(6)
REPORT = np.dtype([("highest", "<i8"), ("counters", "<u8", 6), ("control", "<i4", 6)])
"""What a launch says of itself, in one piece: each copy to or from the card is waited for."""
NOTHING_YET = np.array([(NOTHING, (0,) * 6, (0,) * 6)], dtype=REPORT)
SPARE = 4
"""A buffer that is too small is followed by one with a share of room to spare, one in so many."""


def why_not(arrays: PairArrays) -> str | None:
    """What keeps a problem from being searched on a graphics card; None if nothing does."""
    reason = why_no_slices(arrays)
    if reason is None and arrays.objective.by_pairs:
        reason = "pairs that count by themselves are not searched on a graphics card"
    if reason is None and len(arrays.objective.shapes[0]) != 1:
        reason = "there are several queries"
    return reason


class GpuSearch(SliceSearch):
    """A search for directions worth at least `target`, on a graphics card.

    Parameters as for `toprank.exact.directions.search.DirectionSearch`, and

    device : Card or None
        What runs the kernel; None for the graphics card.
    """

    threads_ready: Callable[[float], bool] = staticmethod(lambda seconds: True)
    """Whether the kernels of the threads can be called; waits for their compilation, at most so long."""
    latest: Callable[[], float] = staticmethod(lambda: -math.inf)
    """What an answer must reach by now, whoever found the best one: asked before each launch."""
    _given: Any = None
    _pool: Pool | None = None
    _doubtful = 0

    def __init__(self, arrays: PairArrays, *, device: Any = None, **options: Any) -> None:
        self._given = device
        super().__init__(arrays, **options)

    def _explore(self, deadline: float) -> None:
        """The card until the deadline or until it has nothing left; then the threads with the rest."""
        if self._frame.size < 2 or not (self._heap or self._pool):
            super()._explore(deadline)
            return
        if self._pool is None:
            device = self._given or Card(self._frame.size)
            self._pool = Pool(
                device, self._frame, WholeValues(self._arrays, self._frame), self.log is not None
            )
            self._hand_in()
        while self._pool.length and time.perf_counter() < deadline and not self.should_stop():
            seconds = min(SECONDS_A_LAUNCH, max(deadline - time.perf_counter(), 1e-3))
            probing = self._doubtful < MOST_DOUBTS
            self._raise_target(self.latest())
            for key, codes in self._pool.launch(self._target, seconds, probing):
                self._write(key, codes)
            self._look_at(self._pool.found())
        if self._pool.length == 0:
            for box in self._pool.aside(self._target):
                self._push(box)
            if not self._heap or self.threads_ready(max(deadline - time.perf_counter(), 0.0)):
                super()._explore(deadline)

    def _look_at(self, points: NDArray[np.float64]) -> None:
        """Evaluate what a launch found, best first, up to one that raises the target above the others."""
        before = self._target
        for point in points:
            self._consider(point)
            if self._target > before:
                return
        self._doubtful += len(points) > 0

    def _make_workers(self) -> list[SliceWorker]:
        wanted = self._n_jobs
        self._n_jobs = max(1, min(wanted, THREADS_A_BOX * len(self._heap)))
        try:
            return super()._make_workers()
        finally:
            self._n_jobs = wanted

    def _hand_in(self) -> None:
        """All open boxes to the card."""
        assert self._pool is not None
        self._pool.add([box for _, _, box in self._heap])
        self._heap = []

    def _gather(self) -> None:
        super()._gather()
        if self._pool is not None:
            for box in (*self._pool.take_back(), *self._pool.aside(self._target)):
                self._push(box)

    def open_bounds(self) -> list[int]:
        """Largest bound of what the card and each thread have left."""
        mine = [] if self._pool is None else self._pool.bounds()
        return mine + super().open_bounds()

    @property
    def nodes(self) -> int:
        """Boxes looked at so far."""
        return super().nodes + (0 if self._pool is None else int(self._pool.counters[NODES]))


class Pool:
    """Open boxes on the card, and launches that work on them.

    Parameters
    ----------
    device : Card
        Or whatever runs the kernel.
    frame : Frame
    values : WholeValues
    keep_log : bool
    """

    def __init__(self, device: Any, frame: Frame, values: WholeValues, keep_log: bool) -> None:
        self._device, self._type = device, box_type(frame.size)
        P, r = frame.problem.E.shape
        _, m, n, _, stride = (int(x) for x in values.lists.query[0])
        words = (m + 3) // 4
        self._shared = shared_bytes(r, words, n)
        self._warps = device.warps(self._shared)
        levels = 41 * r + 64
        lists = int(np.clip(device.free // (8 * self._warps * P), SHORTEST_LISTS, LONGEST_LISTS)) * P + 64
        self._arrays = {
            **_on_the_card(device, frame, values),
            "aside": device.empty(ASIDE_ROOM * self._type.itemsize),
            "found": device.empty(FOUND_ROOM * r * 8),
            "worth": device.empty(FOUND_ROOM * 8),
            "lists": device.empty(4 * lists * self._warps),
            "stack": device.empty(pending_bytes(r) * levels * self._warps),
            "log": device.empty(LOG_ROOM * LOGGED_AT_A_TIME if keep_log else 8),
            "log_length": device.empty(4 * LOGGED_AT_A_TIME),
            "report": device.empty(REPORT.itemsize),
        }
        self._addresses = {name: device.address(handle) for name, handle in self._arrays.items()}
        for name, field in (REPORT.fields or {}).items():
            self._addresses[name] = self._addresses["report"] + int(field[1])
        self._settings = {
            "pairs": P, "positives": m, "rivals": n, "words": words, "norms": len(frame.problem.norm),
            "stride": stride, "most": values.lists.most, "aside_room": ASIDE_ROOM, "found_room": FOUND_ROOM,
            "list_room": lists, "levels": levels, "hunger": int(HUNGRY_FROM * self._warps), "rounds": ROUNDS,
            "few": FEW_SLICES, "log_room": LOG_ROOM if keep_log else 0, "margin": frame.margin,
            "smallest": SMALLEST_BOX if frame.margin else SMALLEST_STRICT_BOX,
        }  # fmt: skip
        assert words <= WORDS
        self._boxes, self.length, self.bound = device.empty(8), 0, NOTHING
        self._spare: Any = None
        self._spare_room = self._room = 0
        self._aside: list[NDArray[Any]] = []
        self._found = 0
        self.counters = np.zeros(6, dtype=np.uint64)

    def add(self, boxes: list[Box]) -> None:
        """Put open boxes on the card."""
        r = self._type["low"].shape[0]
        new = np.zeros(len(boxes), dtype=self._type)
        for i, box in enumerate(boxes):
            new[i] = box.place[:r], box.place[r:], box.bound
        self._boxes = self._device.put(np.concatenate([self._read(self._boxes, self.length), new]))
        self.length += len(boxes)
        self._room = self.length
        self.bound = max([self.bound, *(box.bound for box in boxes)])

    def launch(self, target: int, seconds: float, probing: bool) -> list[tuple[bytes, bytes]]:
        """Search for so long; the logs of subtrees, where they are kept."""
        device, arrays, size = self._device, self._arrays, self._type.itemsize
        keep_log = self._settings["log_room"] > 0
        n_in = min(self.length, LOGGED_AT_A_TIME) if keep_log else self.length
        # Each warp hands back one subtree when it stops; where logs are kept, any whose log is full.
        levels = self._settings["levels"] + 2
        room = self.length + levels * (self._warps + (n_in if keep_log else 0))
        out = self._another(room)
        device.fill(arrays["report"], NOTHING_YET)
        given = {
            **self._settings, **self._addresses, "into": device.address(self._boxes),
            "out": device.address(out), "n_in": n_in, "out_room": room, "target": target,
            "nanoseconds": int(seconds * 1e9), "probe_up_to": PROBED_UP_TO if probing else -1,
        }  # fmt: skip
        device.launch(parameters_of(given), self._shared)
        report = device.get(arrays["report"]).view(REPORT)[0]
        control = report["control"]
        taken, handed = min(int(control[NEXT]), n_in), int(control[OUT])
        if handed + self.length - taken > room:
            raise RuntimeError("the graphics card handed back more boxes than there was room for")
        logs = self._logs(taken) if keep_log else []
        if taken < self.length:  # what nobody took stays open
            device.move(out, handed * size, self._boxes, taken * size, self.length * size)
        self.bound = max(int(report["highest"]), self.bound if taken < self.length else NOTHING)
        self._boxes, self._spare = out, self._boxes
        self._room, self._spare_room = self._spare_room, self._room
        self.length = handed + self.length - taken
        self._book(report)
        return logs

    def _another(self, room: int) -> Any:
        """A buffer for so many boxes beside the one they are in, the same again where it is large enough."""
        if self._spare_room < room:
            self._spare = None  # which makes room for the larger one
            self._spare_room = room + room // SPARE
            self._spare = self._device.empty(self._spare_room * self._type.itemsize)
        return self._spare

    def _book(self, report: Any) -> None:
        """What a launch counted, points it found, boxes it left to the CPU."""
        self.counters += report["counters"]
        self._found = min(int(report["control"][FOUND]), FOUND_ROOM)
        aside = min(int(report["control"][ASIDE]), ASIDE_ROOM)
        if aside:
            self._aside.append(self._read(self._arrays["aside"], aside))

    def _logs(self, number: int) -> list[tuple[bytes, bytes]]:
        lengths = self._device.get(self._arrays["log_length"], 4 * number).view(np.int32)
        codes = self._device.get(self._arrays["log"], LOG_ROOM * number).reshape(number, -1)
        places = _places(self._read(self._boxes, number))
        return [
            (place.tobytes(), codes[i, :length].tobytes())
            for i, (place, length) in enumerate(zip(places, lengths, strict=True))
        ]

    def aside(self, target: int) -> list[Box]:
        """Boxes that were left to the CPU and may still reach the target; they are the caller's now."""
        left = [box for part in self._aside for box in _as_boxes(part[part["bound"] >= target])]
        self._aside = []
        return left

    def bounds(self) -> list[int]:
        """Largest bounds of what is here."""
        left = [int(part["bound"].max()) for part in self._aside]
        return left + ([self.bound] if self.length else [])

    def found(self) -> NDArray[np.float64]:
        """The points that the last launch thought worth most."""
        r, number = self._type["low"].shape[0], self._found
        if number == 0:
            return np.empty((0, r))
        points = self._device.get(self._arrays["found"], number * r * 8).view(np.float64).reshape(-1, r)
        worth = self._device.get(self._arrays["worth"], number * 8).view(np.int64)
        return np.asarray(points[np.argsort(-worth, kind="stable")[:LOOKED_AT]])

    def take_back(self) -> list[Box]:
        """All open boxes; the card has none then."""
        boxes = _as_boxes(self._read(self._boxes, self.length))
        self.length, self.bound = 0, NOTHING
        return boxes

    def _read(self, handle: Any, number: int) -> NDArray[Any]:
        return self._device.get(handle, number * self._type.itemsize).view(self._type)


def _on_the_card(device: Any, frame: Frame, values: WholeValues) -> dict[str, Any]:
    """What stays the same for the whole search."""
    problem, (_, m, n, begin, _) = frame.problem, (int(x) for x in values.lists.query[0])
    # Those that fill the last word never stand before anybody.
    base = np.full((m + 3) // 4 * 4, n, dtype=np.uint8)
    base[:m] = values.base[:m]
    return {
        "E": device.put(problem.E.T),
        "error": device.put(problem.error),
        "owner": device.put(problem.owner.astype(np.uint8)),
        "loss": device.put(values.lists.loss[begin:]),
        "norm": device.put(problem.norm),
        "norm_error": device.put(problem.norm_error),
        "base": device.put(base),
        "change": device.put(np.abs(problem.E).sum(axis=0).astype(np.float32)),
    }


def _places(boxes: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([boxes["low"], boxes["high"]], axis=1)


def _as_boxes(boxes: NDArray[Any]) -> list[Box]:
    bounds = boxes["bound"].tolist()
    return [Box(bound, place.copy()) for bound, place in zip(bounds, _places(boxes), strict=True)]
