"""One thread's share of a search over angles: a handful of intervals, the largest bound first."""

from __future__ import annotations

import heapq
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.exact.angles.listed import AngleRows
from toprank.exact.angles.orders import FACES, Face, direction, direction_between
from toprank.exact.angles.walk import Stand, best_between, stand_at

__all__ = ["AngleWorker", "Found", "Interval", "faces_of", "roots"]

Floats = NDArray[np.float64]
EDGE = 1.0123456789
"""Faces go a little beyond their corners, at which rows of whole numbers tie."""
SPLIT = 0.4876543210
"""Where an interval is divided: near its middle, but not where rows of whole numbers tie."""
SHORTEST = 2.0**-20
"""Intervals this short are walked through however many pairs change sides there: all of them do so at the
same few directions, as a rule. Not tuned."""
WALKED_PER_ITEM, WALKED = 4, 2_000
"""Pairs that change sides, for each item and beside, up to which an interval is walked through: lists of
3,000 to 30,000 rows take the least time with two to eight for each item."""
RUN_SECONDS, LOOKS = 0.03, 8
"""A run returns after about so long, and so many intervals, and gives back what is left: the driver looks at
the clock every 0.1 s, and the interval with the largest bound is never far. Not tuned."""


class Interval(NamedTuple):
    """An open interval of directions, and none in it worth more than `bound`."""

    bound: int
    """In whole-number values."""
    place: Floats
    """Face, and the two ends on it."""
    stands: tuple[Stand, Stand] | None
    """Just after the first end and just before the last, if they were kept."""


class Found(NamedTuple):
    """Coefficients that may be better than what was known."""

    coef: Floats
    left: Interval | None
    """What is worth so much, where nothing else is left of it."""


def faces_of(listed: AngleRows) -> list[Face]:
    """The rows as all faces see them."""
    return [Face(listed.rows, turns) for turns in range(FACES)]


def roots() -> list[Floats]:
    """Intervals that cover all directions."""
    return [np.array([turns, -EDGE, EDGE]) for turns in range(FACES)]


class AngleWorker:
    """Looks at intervals, the one with the largest bound first.

    Parameters
    ----------
    listed : AngleRows
    faces : list of Face

    Attributes
    ----------
    nodes : int
        Intervals looked at so far.
    found : list of Found
        To be taken away.
    """

    def __init__(self, listed: AngleRows, faces: list[Face]) -> None:
        from toprank.exact.angles._angle_kernels import bound_between

        self._bound_between, self._listed, self._faces = bound_between, listed, faces
        items = len(listed.upper) + len(listed.lower)
        self._few = WALKED_PER_ITEM * items + WALKED
        self._heap: list[tuple[int, int, Interval]] = []
        self._serial = 0
        self._hurry = self._looking = False
        self.nodes = 0
        self.found: list[Found] = []

    @property
    def busy(self) -> bool:
        """Whether any intervals are loaded, or one is being looked at: parts of it may come."""
        return self._looking or bool(self._heap)

    @property
    def bound(self) -> int:
        """Largest bound of them."""
        return -self._heap[0][0] if self._heap else -1

    def load(self, node: Interval) -> None:
        """Begin with one interval."""
        self._push(node)

    def hurry(self, wanted: bool) -> None:
        """Be done with the interval at hand soon, or take all the time it needs."""
        self._hurry = wanted

    def give_back(self) -> tuple[bytes | None, list[Interval], bytes]:
        """Stop here: nothing for the log, and the intervals that are left."""
        opened, self._heap = [interval for _, _, interval in self._heap], []
        return None, opened, b""

    def rehearse(self) -> Any:
        """Nothing is compiled that a search does not call at once."""

    def run(self, target: int, seconds: float) -> None:
        """Look at intervals for a moment, or until something is found."""
        deadline, last = time.perf_counter() + min(seconds, RUN_SECONDS), self.nodes + LOOKS
        while self._heap and self.nodes < last and not self._hurry and not self.found:
            self._looking = True
            interval = heapq.heappop(self._heap)[2]
            if interval.bound >= target:
                self._divide(interval, target)
            self._looking = False
            if time.perf_counter() > deadline:
                break

    def _divide(self, interval: Interval, target: int) -> None:
        """Bound both parts of an interval; walk through what is short, keep what may reach the target."""
        turns, low, high = int(interval.place[0]), float(interval.place[1]), float(interval.place[2])
        face, middle = self._faces[turns], low + SPLIT * (high - low)
        first, last = interval.stands or (self._stands(face, low)[1], self._stands(face, high)[0])
        before, after = self._stands(face, middle)
        if before is after and before.value >= target:
            self.found.append(Found(direction(turns, 1.0, middle), None))
        for ends, stands in (((low, middle), (first, before)), ((middle, high), (after, last))):
            self._look(Interval(interval.bound, np.array([turns, *ends]), stands), target)

    def _look(self, interval: Interval, target: int) -> None:
        """Bound an interval, and walk through it where it is short."""
        assert interval.stands is not None
        first, last = interval.stands
        turns, low, high = int(interval.place[0]), float(interval.place[1]), float(interval.place[2])
        above, crossings = self._bound_between(
            first.order, first.above, last.above, last.place, self._listed.lists
        )
        self.nodes += 1
        bound = min(interval.bound, int(above))
        if bound < target:
            return
        if crossings > self._few and high - low > SHORTEST:
            self._push(interval._replace(bound=bound))
            return
        face = self._faces[turns]
        best, sector = best_between(self._listed, face, (low, high), first, last, int(crossings))
        if best >= target:
            left = interval._replace(bound=best, stands=None)
            self.found.append(Found(direction_between(turns, *sector), left))

    def _stands(self, face: Face, t: float) -> tuple[Stand, Stand]:
        before, after = face.orders(t)
        found = stand_at(self._listed, before)
        return found, (found if after is before else stand_at(self._listed, after))

    def _push(self, interval: Interval) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (-interval.bound, self._serial, interval))
