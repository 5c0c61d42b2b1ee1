"""What searches over boxes of directions have in common: coordinates, candidates, log, checkpoints."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.exact.branching import MAX_CANDIDATES, BranchAndBound
from toprank.exact.directions.frame import Frame
from toprank.exact.directions.subtree import Box, SubtreeWorker
from toprank.exact.pairs import PairArrays

__all__ = ["DirectionSearch"]

Floats = NDArray[np.float64]
SUBTREE_WORK = 20_000_000
"""A worker gives the rest of its subtree back after so many pairs: the best box is never far away.
Counted and not timed, so that one thread does the same every time. Not tuned."""
MOST_STUCK = 64
"""So many boxes that rounding leaves open are enough to end a search without a margin. Not tuned."""
BASIS = b"basis"
"""Key of the coordinates in the log."""
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
