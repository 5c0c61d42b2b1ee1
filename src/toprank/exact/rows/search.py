"""Exact search on a long list of which only the top counts: boxes of directions that carry rows, not pairs.

All directions are covered by the faces of a cube in the coordinates of `rows.frame`. A box carries the
rows that can still matter in it, in groups (`_row_kernels`). It is cut into sixteen parts along the axes on
which rows change most, and all of them are bounded at once, by counting the pairs that the ranges of rows
show to be lost all over a part (`_part_kernels`); where that closes boxes, pairs are looked at one by one
first (`_bound_kernels`). Memory is linear in the rows; the open box with the largest bound comes first, so
that the bound falls steadily.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.exact.branching import BranchAndBound
from toprank.exact.rows.frame import RowFrame, row_frame
from toprank.exact.rows.listed import ListRows
from toprank.exact.rows.worker import NOTHING, RowBox, RowWorker

__all__ = ["RowSearch"]

Floats = NDArray[np.float64]
MANY_OPEN = 1_000_000
"""With so many open boxes, workers stay with theirs, so that memory does not grow without end; the bound
hardly falls from then on. An open box takes about 1 KB with the groups it carries."""
MOST_STUCK = 64
"""So many boxes that rounding leaves open are enough to end a search."""


class RowSearch(BranchAndBound[RowBox, RowWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters
    ----------
    listed : ListRows
    target : float
        Smallest value that counts as an improvement; everything worth less is excluded.
    direction : (d,) array, optional
        Coefficients of the best answer so far; the search is faster with them.
    step : float, optional
        When the search itself finds an answer of value v it goes on looking for v + step.
    n_jobs : int
        Number of threads.
    keep_log : bool
        Must be False: there is no replay of such a search yet.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.rows.listed import list_rows
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(300, 2)), np.arange(300) % 3 == 0
    >>> found = RowSearch(list_rows(RankingProblem.from_labels(X, y, "dcg@5")))
    >>> while not found.done:
    ...     found.advance()
    >>> round(found.bound, 3)
    2.518
    """

    name = "rows"

    def __init__(
        self,
        listed: ListRows,
        *,
        target: float = -math.inf,
        direction: Floats | None = None,
        step: float | None = None,
        n_jobs: int = 1,
        keep_log: bool = False,
    ) -> None:
        if keep_log:
            raise ValueError("a search by rows keeps no log: there is no replay of it yet.")
        self._start(listed, row_frame(listed, direction), step, n_jobs)
        for place in self._frame.roots():
            self._push(RowBox(listed.gains.floor + listed.gains.most, place, self._whole))
        self._raise_target(target)
        self._settle()

    def _start(self, listed: ListRows, frame: RowFrame, step: float | None, n_jobs: int) -> None:
        super().__init__(listed, listed.scale, step=step, n_jobs=n_jobs, log=None)
        self._listed, self._frame = listed, frame
        self._whole = np.zeros(1, dtype=np.int32)
        self._target = listed.scale.up(listed.objective.floor + Fraction(self._step))

    # -- the search ---------------------------------------------------------------------------

    def _make_workers(self) -> list[RowWorker]:
        gains = self._listed.gains
        workers = [RowWorker(self._frame, gains.floor) for _ in range(self._n_jobs)]
        for worker in workers:
            worker.expect(self._target - 1)
        return workers

    def _run(self, worker: RowWorker, seconds: float) -> None:
        worker.run(self._target, seconds, self._next_bound())

    def _next_bound(self) -> int:
        """Workers stay with boxes that are as good as the best that waits; where many wait, with any."""
        with self._lock:
            return self._heap_top()

    def _heap_top(self) -> int:
        return -self._heap[0][0] if 0 < len(self._heap) < MANY_OPEN else NOTHING

    def _after(self, worker: RowWorker, result: None) -> bool:
        """Book what a run brought: answers, boxes too small to halve; whether the rest should come back."""
        self._stuck += worker.stuck
        worker.stuck = []
        found, worker.found = worker.found, []
        for point in found:
            self._consider(point)
        return not worker.busy or self._idle > 0 or worker.bound < self._heap_top()

    def _consider(self, point: Floats) -> None:
        """Note a candidate, and go on from its value."""
        value = self._note(self._frame.coefficients(point))
        self._raise_target(value + Fraction(self._step))
        for worker in self._workers:
            worker.expect(self._target - 1)

    def _hopeless(self) -> bool:
        if len(self._stuck) < MOST_STUCK:
            return False
        self._stuck = [box for box in self._stuck if box.bound >= self._target]
        return len(self._stuck) >= MOST_STUCK

    # -- stopping and going on ----------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open boxes, their bounds, coordinates, target."""
        self._gather()
        stuck = {f"stuck_{name}": array for name, array in self.pack(self._stuck).items()}
        opened = self.pack(self.open_nodes())
        return {
            "basis": self._frame.basis,
            "target": self._target,
            "nodes": self.nodes,
            **opened,
            **stuck,
        }

    @classmethod
    def resume(
        cls, listed: ListRows, saved: dict[str, Any], *, step: float | None = None, n_jobs: int = 1
    ) -> Self:
        """The search a checkpoint of the same problem was taken from."""
        search = cls.from_plan(listed, {"basis": saved["basis"], "step": step}, n_jobs=n_jobs)
        search._target = int(saved["target"])
        search._nodes = int(saved["nodes"])
        search.take_back(search.unpack(saved))
        search._stuck = search.unpack({name: saved[f"stuck_{name}"] for name in ("boxes", "bounds")})
        search._settle()
        return search

    def plan(self) -> dict[str, Any]:
        """Coordinates, and what a user chose."""
        return {"basis": self._frame.basis, "step": self._step}

    @classmethod
    def from_plan(cls, listed: ListRows, plan: dict[str, Any], *, n_jobs: int = 1) -> Self:
        """The search that a plan of the same problem was made of, without nodes."""
        search = cls.__new__(cls)
        basis = np.asarray(plan["basis"], dtype=np.float64)
        search._start(listed, row_frame(listed, basis=basis), plan["step"], n_jobs)
        return search

    def pack(self, nodes: list[RowBox]) -> dict[str, Any]:
        """Boxes as arrays: where they are, and their bounds; their rows are found again."""
        places = np.array([box.place for box in nodes]).reshape(len(nodes), -1 if nodes else 0)
        return {"boxes": places, "bounds": np.array([box.bound for box in nodes], dtype=np.int64)}

    def unpack(self, packed: dict[str, Any]) -> list[RowBox]:
        """The boxes that `pack` made arrays of."""
        both = zip(packed["bounds"], packed["boxes"], strict=True)
        return [RowBox(int(bound), np.asarray(place), self._whole) for bound, place in both]
