"""One thread's share of a search over boxes: its subtree, searched by compiled kernels in short runs."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BOXES_ASIDE", "LARGEST_CLOSE", "LOG_BYTES", "Box", "SubtreeWorker"]

Floats = NDArray[np.float64]
LARGEST_CLOSE = 512
"""Boxes too small to split are closed with so many pairs: what the programs' tables have room for."""
BOXES_ASIDE, LOG_BYTES = 256, 1 << 16
"""Room for boxes put aside and for the log of one run, which pauses when it is full."""
CHUNK_SECONDS = 0.03
"""A run returns after about so long: the driver looks at the clock every 0.1 s."""
FIRST_SPEED = 1e7
"""Pairs a second until that is measured, after the first run. Not tuned."""


class Box(NamedTuple):
    """An open box, and no direction in it worth more than `bound`."""

    bound: int
    """In whole-number values."""
    place: Floats
    """Where it is, as the search writes it."""


class SubtreeWorker(ABC):
    """Searches one subtree of boxes at a time, in short runs.

    Parameters
    ----------
    stack : module
        The kernels of a stack of boxes: `hand_over`, `open_bound`, the places of its running numbers.
    work : NamedTuple
        The stack itself: arrays `regs`, `log`, `spare`, `spare_info`, `point` and what else the kernels use.
    width : int
        Numbers that say where a box is.
    levels : int
        Of the stack.
    """

    LEAF: ClassVar[bytes] = b"\xff"
    HANDED: ClassVar[bytes] = b"\xfe"

    def __init__(self, stack: Any, work: Any, width: int, levels: int) -> None:
        from toprank.exact.directions._counting import NOTHING

        self._stack, self._work, self._width, self._levels = stack, work, width, levels
        work.regs[stack.FLOOR] = NOTHING
        self._speed = FIRST_SPEED
        self._log: list[bytes] = []
        self._key: bytes | None = None
        self.busy = False
        self.spent = 0

    @abstractmethod
    def _begin(self, node: Box) -> bytes:
        """Put a box on the empty stack; its name in the log."""

    @abstractmethod
    def _go_on(self, target: int, max_work: int) -> bool:
        """Search for at most so many pairs; whether anything is left."""

    def load(self, node: Box) -> None:
        """Begin with one box."""
        self._log, self.spent, self.busy = [], 0, True
        self._key = self._begin(node)

    def run(self, target: int, max_seconds: float, max_work: int) -> Floats | None:
        """Search for a moment; a point that may reach the target, if one was found.

        How long a moment is never changes what is searched next, only `max_work` does.
        """
        regs, stack = self._work.regs, self._stack
        regs[stack.FLOOR] = max(regs[stack.FLOOR], target - 1)
        started = time.perf_counter()
        chunk = min(int(self._speed * min(CHUNK_SECONDS, max_seconds)) + 1, max_work)
        self.busy = self._go_on(target, chunk)
        seconds = time.perf_counter() - started
        self.spent += int(regs[stack.WORKED])
        if regs[stack.WORKED] >= chunk > 0.1 * self._speed * CHUNK_SECONDS:
            self._speed = min(max(chunk / seconds, 0.5 * self._speed), 2.0 * self._speed)
        if self._work.log.size:
            self._log.append(self._work.log[: regs[stack.LOGGED]].tobytes())
            regs[stack.LOGGED] = 0
        if regs[stack.FOUND] == 0:
            return None
        regs[stack.FOUND] = 0
        return np.asarray(self._work.point[1].copy())

    def hurry(self, wanted: bool) -> None:  # noqa: B027 (there is nothing to hurry)
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
            nodes, bounds = self._room()
            number = self._hand_over(nodes, bounds)
            opened = [Box(int(bounds[i]), nodes[i].copy()) for i in range(number)]
        key, log = self._key, b"".join(self._log) + self.HANDED * len(opened)
        self._key, self.busy = None, False
        return key, opened, log

    def rehearse(self) -> None:
        """Have the kernel compiled that empties a stack, where there is nothing on it to lose."""
        if not self.busy:
            self._hand_over(*self._room())

    def _room(self) -> tuple[Floats, NDArray[np.int64]]:
        """For two boxes a level, and where one has a child for each end of each axis, for all of these."""
        number = 2 * self._levels + self._width**2
        return np.zeros((number, self._width)), np.zeros(number, np.int64)

    @abstractmethod
    def _hand_over(self, nodes: Floats, bounds: NDArray[np.int64]) -> int:
        """Empty the stack into these arrays; how many boxes that makes."""

    @property
    def bound(self) -> int:
        """Largest bound of what is left of the subtree."""
        return int(self._stack.open_bound(self._work))

    @property
    def nodes(self) -> int:
        """Boxes looked at so far."""
        return int(self._work.regs[self._stack.NODES])
