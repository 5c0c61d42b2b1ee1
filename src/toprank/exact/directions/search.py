"""What searches over boxes of directions have in common: the search and its threads.

The search keeps coordinates, candidates, log and checkpoints; a thread searches one subtree of boxes at a
time, by compiled kernels in short runs.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.exact.branching import MAX_CANDIDATES, BranchAndBound
from toprank.exact.directions.frame import Frame
from toprank.exact.pairs import PairArrays

__all__ = ["BOXES_ASIDE", "LARGEST_CLOSE", "LOG_BYTES", "Box", "DirectionSearch", "SubtreeWorker"]

Floats = NDArray[np.float64]
SUBTREE_WORK = 20_000_000
"""A worker gives the rest of its subtree back after so many pairs: the best box is never far away.
Counted and not timed, so that one thread does the same every time. Not tuned."""
MOST_STUCK = 64
"""So many boxes that rounding leaves open are enough to end a search without a margin. Not tuned."""
BASIS = b"basis"
"""Key of the coordinates in the log."""
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


W = TypeVar("W", bound=SubtreeWorker)


class DirectionSearch(BranchAndBound[Box, W], Generic[W]):
    """A search for directions worth at least `target`, advanced in small steps.

    A subclass says how it builds its coordinates and its first boxes, how a box is named in the log, and
    makes the workers.

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
        Whether to write down every split, for the replay.
    """

    _arrays: PairArrays

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
        frame = self._build(arrays, direction=direction, reduce=not keep_log)
        self._start(arrays, frame, step, n_jobs, {BASIS: frame.basis.tobytes()} if keep_log else None)
        for place in self._roots():
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

    # -- what each search does its own way ----------------------------------------------------

    @staticmethod
    @abstractmethod
    def _build(arrays: PairArrays, **options: Any) -> Frame:
        """The coordinates of the search: see `build_frame`."""

    @abstractmethod
    def _roots(self) -> list[Floats]:
        """Where the first boxes are, which cover all directions."""

    @abstractmethod
    def _name(self, place: Floats) -> bytes:
        """How the log calls a box."""

    # -- stopping and going on ----------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open boxes, their bounds, coordinates, target."""
        self._gather()
        stuck = {f"stuck_{name}": array for name, array in self.pack(self._stuck).items()}
        opened = self.pack(self.open_nodes())
        coordinates = {"basis": self._frame.basis, "noise": self._frame.noise}
        return {**coordinates, "target": self._target, "nodes": self.nodes, **opened, **stuck}

    @classmethod
    def resume(
        cls, arrays: PairArrays, saved: dict[str, Any], *, step: float | None = None, n_jobs: int = 1
    ) -> Self:
        """The search a checkpoint of the same problem was taken from."""
        coordinates = {"basis": saved["basis"], "noise": saved["noise"]}
        search = cls.from_plan(arrays, {**coordinates, "step": step, "keep_log": False}, n_jobs=n_jobs)
        search._target = int(saved["target"])
        search._nodes = int(saved["nodes"])
        search.take_back(search.unpack(saved))
        search._stuck = search.unpack({name: saved[f"stuck_{name}"] for name in ("boxes", "bounds")})
        search._settle()
        return search

    # -- taking part in a search that others began --------------------------------------------

    def plan(self) -> dict[str, Any]:
        """Coordinates, and what a user chose."""
        coordinates = {"basis": self._frame.basis, "noise": self._frame.noise}
        return {**coordinates, "step": self._step, "keep_log": self.log is not None}

    @classmethod
    def from_plan(cls, arrays: PairArrays, plan: dict[str, Any], *, n_jobs: int = 1) -> Self:
        """The search that a plan of the same problem was made of, without nodes."""
        search = cls.__new__(cls)
        given = (np.asarray(plan["basis"], dtype=np.float64), float(plan["noise"]))
        log: dict[bytes, bytes] | None = {} if plan["keep_log"] else None
        search._start(arrays, cls._build(arrays, given=given), plan["step"], n_jobs, log)
        return search

    def pack(self, nodes: list[Box]) -> dict[str, Any]:
        """Boxes as arrays: where they are, and their bounds."""
        places = np.array([box.place for box in nodes]).reshape(len(nodes), -1 if nodes else 0)
        return {"boxes": places, "bounds": np.array([box.bound for box in nodes], dtype=np.int64)}

    def unpack(self, packed: dict[str, Any]) -> list[Box]:
        """The boxes that `pack` made arrays of."""
        both = zip(packed["bounds"], packed["boxes"], strict=True)
        return [Box(int(bound), np.asarray(place)) for bound, place in both]

    def rehearse(self) -> None:
        """Call what is asked for only where threads are cut off in the middle of a subtree."""
        super().rehearse()
        for worker in self._workers:
            worker.rehearse()

    # -- the search ---------------------------------------------------------------------------

    def _run(self, worker: W, seconds: float) -> Floats | None:
        return worker.run(self._target, seconds, SUBTREE_WORK - worker.spent)

    def _after(self, worker: W, result: Floats | None) -> bool:
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
            self.log[self._name(box.place)] = SubtreeWorker.LEAF

    def _consider(self, point: Floats, worker: W | None = None) -> None:
        """Note a candidate; go on from its value if it surely reaches the target."""
        value = self._note(self._frame.coefficients(point))
        if value * Fraction(2) ** self._frame.scale.exponent >= self._target - 1:
            self._raise_target(value + Fraction(self._step))
            for other in self._workers:
                other.expect(self._target)
        elif worker is not None and self._doubts < MAX_CANDIDATES:
            self._doubts += 1
            worker.expect(self._target)
