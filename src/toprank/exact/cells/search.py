"""Exact search over cells between hyperplanes, bounded by packed infeasible subsystems: for more features.

Every pair cuts the directions in two: won on one side, lost on the other. A node of the search has decided
some pairs; small linear programs tell which others can no longer be won there. Of the pairs still open not
all can be won together: each set of them that has no common direction loses a member, which costs at least
the cheapest one. Such sets, packed so that no pair pays more than its loss is worth, lower the bound until
the node cannot reach the target, or tell on which pair to branch.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.exact.branching import BranchAndBound
from toprank.exact.cells import _layout as layout
from toprank.exact.cells.middle import clash, middle
from toprank.exact.cells.units import Units, build_units
from toprank.exact.cells.worker import CellWorker, Node
from toprank.exact.pairs import PairArrays
from toprank.exact.sharing import Findings

__all__ = ["CellSearch"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
SUBTREE_SECONDS = 0.25
"""A worker gives the rest of its subtree back after this long, so that the best node is always next.
Not tuned."""
SECONDS_TO_SHARE = 0.01
"""Before it shares its subtree with a thread that has nothing to do. Not tuned."""
MOST_OPEN = 20_000
"""With so many open nodes waiting, workers finish their subtrees instead: a bound on memory."""
MOST_TRIES = 4
"""A node on which the simplex method fails more often stays open for good: one try for each of
`units.EPSILONS`."""
NODES_BLURRED = 200
"""Nodes after which a search without a margin gives up where rounding has told many equal units apart. Not
tuned: enough for a small problem to be finished all the same."""
MANY_FAILURES, LARGE_SHARE = 60, 0.02
"""So many failures, and so large a share of the nodes, end a search without a margin. Not tuned."""

UNITS = b"units"
"""Key of the list of units in the log."""


class CellSearch(BranchAndBound[Node, CellWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters
    ----------
    arrays : PairArrays
        The problem: pair p is won at w when ``differences[p] @ w > 0`` or, with a margin and ``|w_j| <= 1``,
        when it is at least that.
    target : float
        Smallest value that counts as an improvement; everything worth less is excluded.
    direction : (d,) array, optional
        Coefficients of the best answer so far; the search is a little faster with them.
    step : float, optional
        When the search itself finds an answer of value v it goes on looking for v + step; by default 2**-40
        of the sum of all weights.
    n_jobs : int
        Number of threads.
    keep_log : bool
        Whether to write down every deduction, for `toprank.exact.cells.replay`.

    Notes
    -----
    Without a margin every exclusion is exact. Features that were rounded after some linear formula, such as
    standardised whole numbers, have directions in which pairs that would tie are told apart by rounding
    errors only; floats cannot decide there. What is undecided stays open: see `unresolved`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> problem = RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "auc")
    >>> search = CellSearch(problem.arrays())
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    >>> round(best, 3), search.bound - best < 1e-9
    (0.685, True)
    """

    name = "cells"

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
        self._start(arrays, direction, step, n_jobs, keep_log)
        if self._units.size:
            self._push(Node(self._units.ceiling, 0, np.empty(0, dtype=np.int64)))
        self._raise_target(target)
        self._settle()

    def _start(
        self, arrays: PairArrays, direction: Floats | None, step: float | None, n_jobs: int, keep_log: bool
    ) -> None:
        units: Units = build_units(arrays, direction)
        log = {UNITS: units.unit_of.astype("<i8").tobytes()} if keep_log else None
        super().__init__(arrays, units.scale, step=step, n_jobs=n_jobs, log=log)
        self._units, self._direction = units, direction
        self._failures = self._errand = 0
        self._target = units.floor + units.scale.up(self._step)

    # -- stopping and going on ----------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """All that `resume` needs to go on later: open nodes, their bounds, the target."""
        self._gather()
        opened = self.open_nodes()
        packed = self.pack([*opened, *self._stuck])
        del packed["numbers"]  # names in the log, which is not kept either
        return {"target": self._target, "nodes": self.nodes, "open": len(opened), **packed}

    @classmethod
    def resume(
        cls, arrays: PairArrays, saved: dict[str, Any], *, step: float | None = None, n_jobs: int = 1
    ) -> Self:
        """The search a checkpoint of the same problem was taken from."""
        plan = {"direction": None, "step": step, "keep_log": False}
        search = cls.from_plan(arrays, plan, n_jobs=n_jobs)
        search._target, search._nodes = int(saved["target"]), int(saved["nodes"])
        nodes = search.unpack({**saved, "numbers": np.zeros(len(saved["bounds"]), dtype=np.int64)})
        search.take_back(nodes[: int(saved["open"])])
        search._stuck = nodes[int(saved["open"]) :]
        search._settle()
        return search

    # -- taking part in a search that others began --------------------------------------------

    def plan(self) -> dict[str, Any]:
        """The answer it began with, and what a user chose."""
        return {"direction": self._direction, "step": self._step, "keep_log": self.log is not None}

    @classmethod
    def from_plan(cls, arrays: PairArrays, plan: dict[str, Any], *, n_jobs: int = 1) -> Self:
        """The search that a plan of the same problem was made of, without nodes."""
        search = cls.__new__(cls)
        search._start(arrays, plan["direction"], plan["step"], n_jobs, plan["keep_log"])
        return search

    def pack(self, nodes: list[Node]) -> dict[str, Any]:
        """Nodes as arrays, their literals one behind the other."""
        facts = [(node.bound, node.number, node.tries, len(node.literals)) for node in nodes]
        names = ("bounds", "numbers", "tries", "lengths")
        columns = np.array(facts, dtype=np.int64).reshape(len(nodes), len(names)).T.copy()
        literals = np.concatenate([np.empty(0, dtype=np.int64), *(node.literals for node in nodes)])
        return {**dict(zip(names, columns, strict=True)), "literals": literals}

    def unpack(self, packed: dict[str, Any]) -> list[Node]:
        """The nodes that `pack` made arrays of."""
        lengths = np.asarray(packed["lengths"], dtype=np.int64)
        rows = np.split(np.asarray(packed["literals"], dtype=np.int64), np.cumsum(lengths)[:-1])
        facts = (packed[name].tolist() for name in ("bounds", "numbers", "tries"))
        return [
            Node(bound, number, row.copy(), tries)
            for bound, number, tries, row in zip(*facts, rows[: len(lengths)], strict=True)
        ]

    def take_over(self, packed: dict[str, Any], target: int, serial: int) -> None:
        """Run an errand; the names of its nodes in the log are no other errand's."""
        self._failures, self._errand = 0, serial
        for worker in self._workers:
            worker.number_from(serial)
        super().take_over(packed, target, serial)

    def findings(self, nodes_before: int, seconds: float) -> Findings:
        """End an errand: what came of it."""
        return replace(super().findings(nodes_before, seconds), failures=self._failures)

    def welcome(self, findings: Findings) -> None:
        """Book what came of an errand."""
        self._failures += findings.failures
        super().welcome(findings)

    # -- the search ---------------------------------------------------------------------------

    def _make_workers(self) -> list[CellWorker]:
        ranks = range(self._errand, self._errand + self._n_jobs)
        return [CellWorker(self._units, rank, self.log is not None) for rank in ranks]

    def _run(self, worker: CellWorker, seconds: float) -> int:
        return worker.run(self._target, seconds)

    def _write(self, key: bytes, log: bytes) -> None:
        """Keep the log of a subtree, behind that of earlier tries."""
        if self.log is not None:
            self.log[key] = self.log.get(key, b"") + log

    def _after(self, worker: CellWorker, result: int) -> bool:
        """Book what a worker's run brought: a candidate, a node that needs help, a subtree to give back."""
        point = worker.candidate()
        if point is not None:
            self._improve(point)
        if result == layout.FITS:
            self._help(worker)
        elif result == layout.JAMMED:
            node, _ = worker.waiting()
            worker.drop()
            self._fail(node)
        roomy = len(self._heap) < MOST_OPEN
        overdue = worker.seconds > SUBTREE_SECONDS and roomy
        wanted = self._idle > 0 and worker.seconds > SECONDS_TO_SHARE
        return result in (layout.DONE, layout.DEEP) or overdue or wanted

    def _hopeless(self) -> bool:
        if self._units.margin > 0:
            return False
        blurred = self.nodes > NODES_BLURRED and self._units.blurred
        return blurred or self._failures > max(MANY_FAILURES, LARGE_SHARE * self.nodes)

    def _fail(self, node: Node) -> None:
        """The simplex method failed on a node: again from scratch, rows in reverse, until it is given up."""
        self._failures += 1
        if node.tries < MOST_TRIES:
            self._push(Node(node.bound, node.number, node.literals[::-1].copy(), node.tries + 1))
        else:
            self._stuck.append(node)

    def _help(self, worker: CellWorker) -> None:
        """All units of a node but the lost hold at one point, nearly: a new answer, or a reason to branch."""
        node, states = worker.waiting()
        held = np.flatnonzero(states != layout.LOST)
        w, multipliers = middle(self._units.rows[held])
        self._consider(w)
        found = self.clashing(held, multipliers)
        if node.bound < self._target:
            worker.drop()
        elif found is None:
            self._stuck.append(node)
            worker.drop()
        else:
            opened = held[found][states[held[found]] == layout.UNDECIDED]
            if len(opened):
                worker.branch(int(opened[0]))
            else:
                worker.close(held[found])

    def clashing(self, units: Places, multipliers: Floats) -> Places | None:
        """Which of the units provably cannot all win, the largest multiplier first, or None."""
        if self._units.margin > 0:
            return clash(self._units.rows[units], multipliers, self._units.thresholds[0][layout.EXACT][units])
        from toprank.exact.arithmetic._kernels import dependent

        used = np.flatnonzero(multipliers > 1e-9 * multipliers.max(initial=0.0))
        chosen = used[np.argsort(-multipliers[used], kind="stable")]
        shown = dependent(self._units.rows, *self._units.exact, units[chosen], np.ones(len(used)), len(used))
        return chosen if shown else None

    def rehearse(self) -> None:
        """Call what else is needed only where rounding leaves a node open."""
        super().rehearse()
        self.clashing(np.arange(2), np.ones(2))

    def _improve(self, point: Floats) -> None:
        """A candidate from the simplex method lies on the edge of its cell: consider it and the middle."""
        self._consider(point)
        scores = self._units.rows @ point
        held = self._units.rows[scores >= 0.99 * self._units.thresholds[-1][layout.LOW]]
        if len(held):
            self._consider(middle(held)[0])

    def _consider(self, point: Floats) -> None:
        """Note a candidate; go on from its value if that is better."""
        coef = self._units.basis @ point
        size = np.abs(coef).max(initial=0.0)
        if size == 0.0:
            return
        value = self._note(coef / size)
        if self._units.scale.up(value) >= self._target:
            self._raise_target(value + Fraction(self._step))
