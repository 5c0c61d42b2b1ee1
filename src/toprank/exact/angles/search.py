"""Exact search with one or two features on lists of any length: intervals of directions, and no pairs listed.

With two features a direction is an angle, and in an interval of less than half a turn a pair changes sides
once at most: what is lost at both ends is lost all along. Two orders of the rows, one at each end, count that
for every positive in time n log n, whatever the number of pairs. Intervals that may reach the target are
divided; where few pairs change sides they are listed, brought into exact order and walked through.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.exact.angles.listed import AngleRows
from toprank.exact.angles.worker import AngleWorker, Interval, faces_of, roots
from toprank.exact.branching import BranchAndBound
from toprank.exact.sharing import Crew

__all__ = ["AngleSearch"]

Floats = NDArray[np.float64]
MOST_KEPT = 20_000_000
"""Rows in all orders that waiting intervals keep, 200 MB with the places of their items; beyond that, orders
are made anew."""


class AngleSearch(BranchAndBound[Interval, AngleWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters
    ----------
    listed : AngleRows
    target : float
        Smallest value that counts as an improvement; everything worth less is excluded.
    direction : (d,) array, optional
        Not needed.
    step : float, optional
        When the search itself finds an answer of value v it goes on looking for v + step.
    n_jobs : int
        Number of threads.
    keep_log : bool
        Must be False: there is no replay of such a search.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.angles.listed import angle_rows
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(300, 2)), np.arange(300) % 3 == 0
    >>> found = AngleSearch(angle_rows(RankingProblem.from_labels(X, y, "auc")))
    >>> while not found.done:
    ...     found.advance()
    >>> round(found.bound, 4)
    0.6124
    """

    name = "angles"

    def __init__(
        self,
        listed: AngleRows,
        *,
        target: float = -math.inf,
        direction: Floats | None = None,
        step: float | None = None,
        n_jobs: int = 1,
        keep_log: bool = False,
    ) -> None:
        if keep_log:
            raise ValueError("a search by angles keeps no log: there is no replay of it.")
        self._start(listed, step, n_jobs)
        most = listed.scale.up(listed.objective.size)
        for place in roots():
            self._push(Interval(most, place, None))
        self._raise_target(target)
        self._settle()

    def _start(self, listed: AngleRows, step: float | None, n_jobs: int) -> None:
        super().__init__(listed, listed.scale, step=step, n_jobs=n_jobs, log=None)
        self._listed = listed
        self._target = listed.scale.up(listed.objective.floor + Fraction(self._step))

    def share(self, crew: Crew) -> None:
        """Let others go: it is done in no time here."""
        crew.dismiss()

    # -- the search ---------------------------------------------------------------------------

    def _make_workers(self) -> list[AngleWorker]:
        faces = faces_of(self._listed)
        return [AngleWorker(self._listed, faces) for _ in range(self._n_jobs)]

    def _run(self, worker: AngleWorker, seconds: float) -> None:
        worker.run(self._target, seconds)

    def _after(self, worker: AngleWorker, result: None) -> bool:
        """Book what a run brought: answers, and what no floats reach; whether the rest should come back."""
        found, worker.found = worker.found, []
        for coef, left in found:
            value = self._note(coef[: self._listed.problem.n_features])
            self._raise_target(value + Fraction(self._step))
            if left is not None and left.bound >= self._target:
                self._stuck.append(left)
        return True

    def _push(self, node: Interval) -> None:
        """Let an interval wait, with the orders at its ends as long as there are not too many."""
        if (len(self._heap) + 1) * len(self._listed.rows) > MOST_KEPT:
            node = node._replace(stands=None)
        super()._push(node)

    # -- stopping and going on ----------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open intervals, their bounds, target."""
        self._gather()
        stuck = {f"stuck_{name}": array for name, array in self.pack(self._stuck).items()}
        return {"target": self._target, "nodes": self.nodes, **self.pack(self.open_nodes()), **stuck}

    @classmethod
    def resume(
        cls, listed: AngleRows, saved: dict[str, Any], *, step: float | None = None, n_jobs: int = 1
    ) -> Self:
        """The search a checkpoint of the same problem was taken from."""
        search = cls.from_plan(listed, {"step": step}, n_jobs=n_jobs)
        search._target = int(saved["target"])
        search._nodes = int(saved["nodes"])
        search.take_back(search.unpack(saved))
        search._stuck = search.unpack({name: saved[f"stuck_{name}"] for name in ("places", "bounds")})
        search._settle()
        return search

    def plan(self) -> dict[str, Any]:
        """What a user chose."""
        return {"step": self._step}

    @classmethod
    def from_plan(cls, listed: AngleRows, plan: dict[str, Any], *, n_jobs: int = 1) -> Self:
        """The search that a plan of the same problem was made of, without nodes."""
        search = cls.__new__(cls)
        search._start(listed, plan["step"], n_jobs)
        return search

    def pack(self, nodes: list[Interval]) -> dict[str, Any]:
        """Intervals as arrays: where they are, and their bounds; the orders at their ends are made anew."""
        places = np.array([node.place for node in nodes]).reshape(len(nodes), 3)
        return {"places": places, "bounds": np.array([node.bound for node in nodes], dtype=np.int64)}

    def unpack(self, packed: dict[str, Any]) -> list[Interval]:
        """The intervals that `pack` made arrays of."""
        both = zip(packed["bounds"], packed["places"], strict=True)
        return [Interval(int(bound), np.asarray(place), None) for bound, place in both]
