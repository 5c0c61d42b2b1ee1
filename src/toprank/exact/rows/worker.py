"""One thread's share of a search by rows: a handful of boxes around the best one, taken apart one by one."""

from __future__ import annotations

import heapq
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.exact.rows.frame import RowFrame

__all__ = ["NOTHING", "RowBox", "RowWorker"]

Floats = NDArray[np.float64]
WORTH_A_LOOK, LOOK_EVERY, MEMORY = 0.5, 64, 0.1
"""Pairs are looked at while that closes more than this share of boxes, of the last ten or so, and otherwise
once in so many, to see whether it does by now. Towards the end of a proof (four scores of census) it closes
nine boxes of ten, on the way there one of ten, and takes longer than cutting them. Not tuned."""
MOST_CARRIED = 32768
"""Groups that a box carries at most, to bound memory; beyond, it carries those of the one it was cut from,
which its parts must then part again: with 4,096, five scores of census took twice as long."""
NOTHING = -(2**62)
"""Below every value, of losses too, which are negative."""
RUN_SECONDS = 0.03
"""A run returns after about so long: the driver looks at the clock every 0.1 s."""


class RowBox(NamedTuple):
    """An open box, and no direction in it worth more than `bound`."""

    bound: int
    """In whole-number values."""
    place: Floats
    """Lower and upper ends of its coordinates."""
    groups: NDArray[np.uint16] | NDArray[np.int32]
    """Groups of rows among which all are that can matter in it, as `differences` has them."""


def differences(groups: NDArray[np.int32]) -> NDArray[np.uint16] | NDArray[np.int32]:
    """Numbers of groups in order, each less the one before: half the memory where they are close enough.

    Most memory of a search is in them. ``np.cumsum`` has the numbers again.
    """
    ordered = np.sort(groups)
    steps = np.concatenate((ordered[:1], ordered[1:] - ordered[:-1]))
    return steps.astype(np.uint16) if steps.max(initial=0) < 2**16 else steps


class RowWorker:
    """Looks at boxes, the one with the largest bound first.

    Parameters
    ----------
    frame : RowFrame
    floor : int
        Value when every pair is lost, which the kernels count from.

    Attributes
    ----------
    nodes : int
        Boxes looked at so far.
    found : list of arrays
        Middles of boxes that may reach the target, to be taken away.
    stuck : list of RowBox
        Boxes too small to halve, likewise.
    """

    def __init__(self, frame: RowFrame, floor: int) -> None:
        from toprank.exact.rows import _part_kernels
        from toprank.exact.rows._row_kernels import fresh_work

        self._apart, self._rows, self._floor = _part_kernels.take_apart, frame.rows, floor
        leaves = (len(frame.rows.Z) + 1) // 2
        self._work = fresh_work(leaves, frame.size, frame.rows.counts)
        self._hurry = np.zeros(1, dtype=np.int64)
        self._heap: list[tuple[int, int, RowBox]] = []
        self._serial = 0
        self._best = NOTHING
        self._success = 1.0
        self.nodes = 0
        self.found: list[Floats] = []
        self.stuck: list[RowBox] = []

    @property
    def busy(self) -> bool:
        """Whether any boxes are loaded."""
        return bool(self._heap)

    @property
    def bound(self) -> int:
        """Largest bound of them."""
        return -self._heap[0][0] if self._heap else NOTHING

    def load(self, node: RowBox) -> None:
        """Begin with one box."""
        self._push(node)

    def hurry(self, wanted: bool) -> None:
        """Be done with the box at hand soon, or take all the time it needs."""
        self._hurry[0] = wanted

    def expect(self, value: int) -> None:
        """Report middles that are worth more than this from now on."""
        self._best = value

    def give_back(self) -> tuple[bytes | None, list[RowBox], bytes]:
        """Stop here: nothing for the log, and the boxes that are left."""
        opened = [box for _, _, box in self._heap]
        self._heap = []
        return None, opened, b""

    def run(self, target: int, seconds: float, least: int) -> None:
        """Look at boxes for a moment, as long as there are some with bounds of at least `least`."""
        deadline = time.perf_counter() + min(seconds, RUN_SECONDS)
        while self._heap and -self._heap[0][0] >= least and not self._hurry[0]:
            box = heapq.heappop(self._heap)[2]
            if box.bound >= target:
                self._take_apart(box, target)
            if time.perf_counter() > deadline:
                break

    def _take_apart(self, box: RowBox, target: int) -> None:
        """Cut one box into parts, bound them and keep those that may reach the target."""
        r = len(box.place) // 2
        low, high = box.place[:r], box.place[r:]
        groups = np.cumsum(box.groups, dtype=np.int32)
        best, closely = self._best - self._floor, self._closely()
        parts, kept, middle, bound = self._apart(
            self._rows, self._work, groups, low, high, target - self._floor, best, closely, self._hurry
        )
        self.nodes += max(int(parts), 1)
        if bound > -2:
            self._success += MEMORY * ((parts == 0) - self._success)
        if bound >= 0:
            box = box._replace(bound=min(box.bound, int(bound) + self._floor))
        if int(middle) > best:
            self._best = int(middle) + self._floor
            self.found.append(0.5 * (low + high))
        if parts == 1:
            self.stuck.append(box)
        elif parts > 1:
            self._keep_parts(box, target, int(parts), int(kept))

    def _closely(self) -> bool:
        """Whether to look at pairs: where that has closed boxes often enough, and now and then to see."""
        return self._success > WORTH_A_LOOK or self.nodes // 16 % LOOK_EVERY == 0

    def _keep_parts(self, box: RowBox, target: int, parts: int, kept: int) -> None:
        """The parts of a box that may reach the target, as boxes."""
        work = self._work
        groups = differences(work.carried[:kept]) if kept <= MOST_CARRIED else box.groups
        bounds = np.minimum(work.bounds[:parts] + self._floor, box.bound)
        for p in np.flatnonzero(bounds >= target).tolist():
            place = np.concatenate((work.mids[:, p] - work.part, work.mids[:, p] + work.part))
            self._push(RowBox(int(bounds[p]), place, groups))

    def _push(self, box: RowBox) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (-box.bound, self._serial, box))

    def rehearse(self) -> Any:
        """Nothing is compiled that a search does not call at once."""
