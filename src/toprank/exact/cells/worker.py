"""One thread of the cell search: a subtree of nodes, searched depth first by the compiled kernels."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.cells import _layout as layout
from toprank.exact.cells.units import Units

__all__ = ["CellWorker", "Node"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
LEVELS = 400
"""Depth of the stack; deeper nodes are handed back. Not tuned."""
MOST_WITNESSES = 128
"""Points kept for each node. Not tuned."""
KNOWN_SETS = 1024
"""Infeasible sets kept for other nodes; every node looks through all of them. Not tuned."""
WIDEST = 4
"""Known sets with more open members are not packed; those are not kept either (`_layout.FEW`)."""
SHORTLIST = 12
"""Units whose two children are estimated before branching. Not tuned."""
MASK_BYTES = 16_000_000
"""Memory for witnesses, a byte for each unit: bounds what a thread takes where there are many units."""
SLICE_SECONDS = 0.02
"""A walk returns after about so long, to hand out nodes and to look at the clock, which the driver does
every 0.1 s."""
FIRST_PACE = 1e7
"""Steps a second until it is measured, after the first slice. Not tuned."""
IDS_PER_WORKER = 2**40
"""No worker looks at so many nodes; nor are there more than 2**23 workers, or errands."""
SMALLEST_TOLERANCE = 1e-14
"""Slack within which rows tie, at least: some fifty roundings of numbers near one."""
LEAST = -(2**62)
"""Less than any value."""
NO_LITERALS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Node:
    """An open region: the rows of these literals, and no answer in it worth more than `bound`.

    Parameters
    ----------
    bound : int
        In whole-number values.
    number : int
        Name of the node in the log.
    literals : array
        ``2 * unit`` for a won unit, ``2 * unit + 1`` for a lost one.
    tries : int
        How often the simplex method failed on it.
    """

    bound: int
    number: int
    literals: Whole
    tries: int = 0


class CellWorker:
    """A subtree being searched, and all the arrays that takes.

    Parameters
    ----------
    units : Units
        The problem.
    rank : int
        Number of the worker, so that node numbers differ between workers.
    keep_log : bool
        Whether every deduction is written down.
    """

    def __init__(self, units: Units, rank: int, keep_log: bool) -> None:
        from toprank.exact.cells._kernels import explore

        self._explore, self._units = explore, units
        self._walk = self._arrays(rank, keep_log)
        self._notes: list[bytes] = []
        self._root: Node | None = None
        self._pace = FIRST_PACE
        self.seconds = 0.0

    def _arrays(self, rank: int, keep_log: bool) -> layout.Walk:
        """All that the walk reads and writes."""
        units = self._units
        P, d = units.rows.shape
        levels, width = min(LEVELS, P + 3), layout.HEAD + d + 1
        points = int(np.clip(MASK_BYTES // max(P, 1), 2 * MOST_WITNESSES, 20 * LEVELS))
        return layout.Walk(
            facts=units.facts(),
            objective=units.objective,
            lp=self._simplex_arrays(P, d),
            corner=layout.Corner(np.zeros((d + 2, d)), np.zeros(d, dtype=np.int64)),
            sets=layout.InfeasibleSets(
                np.zeros((2, width), dtype=np.int32),
                np.zeros((KNOWN_SETS, width), dtype=np.int32),
                np.zeros((WIDEST + 1, KNOWN_SETS + 1), dtype=np.int32),
            ),
            witnesses=layout.Witnesses(
                np.zeros((points, P), dtype=np.uint8), np.zeros((levels, MOST_WITNESSES), dtype=np.int64)
            ),
            tree=self._tree_arrays(levels, P, d),
            room=self._room_arrays(P),
            queue=layout.Queue(np.zeros((d + 3, P)), np.zeros(P, dtype=np.int64)),
            chosen=np.zeros(SHORTLIST, dtype=np.int64),
            candidate=np.zeros(d),
            control=self._fresh_control(rank),
            goals=np.zeros(2),
            log=np.zeros(max(2**20, 8 * P * (d + 4)) if keep_log else 0, dtype=np.int64),
        )

    def _simplex_arrays(self, P: int, d: int) -> layout.Simplex:
        """Rows of the box, a little wider than one by different amounts, and room for all units."""
        room = 2 * d + P + 2
        rows, lines = np.zeros((d, room)), np.zeros((5, room))
        rows[:, :d], rows[:, d : 2 * d] = np.eye(d), -np.eye(d)
        lines[layout.RHS, : 2 * d] = -1 - 1e-3 * np.random.default_rng(1).random(2 * d)
        ids = np.full(room, -1, dtype=np.int64)
        return layout.Simplex(rows, lines, ids, np.zeros(d, dtype=np.int64), np.zeros((d + 2, d)))

    def _tree_arrays(self, levels: int, P: int, d: int) -> layout.Tree:
        """An empty stack."""
        return layout.Tree(
            stack=np.zeros((levels, layout.BASIS + d), dtype=np.int64),
            bounds=np.zeros(levels, dtype=np.int64),
            states=np.zeros((levels, P), dtype=np.int8),
            expected=np.zeros((levels, len(self._units.objective.order))),
        )

    def _room_arrays(self, P: int) -> layout.Room:
        """Where one node is worked out."""
        n_negatives, queries = len(self._units.objective.order), self._units.objective.queries
        table = int((queries[0] + queries[1] + 4).sum()) + self._units.n_positives + n_negatives + 1
        return layout.Room(
            flags=np.zeros((3, P), dtype=np.uint8),
            scores=np.zeros(P),
            budgets=np.zeros((3, P), dtype=np.int64),
            counts=np.zeros((3, table), dtype=np.int64),
            slopes=np.zeros(n_negatives, dtype=np.int64),
        )

    def _fresh_control(self, rank: int) -> Whole:
        control = np.zeros(layout.CONTROL_SIZE, dtype=np.int64)
        control[layout.LEVEL] = -1
        control[layout.TARGET] = control[layout.HOPE] = LEAST  # values may be below zero
        control[layout.NEXT_ID] = _first_number(rank)
        control[layout.TOTAL] = self._units.total
        control[layout.ADDITIVE] = self._units.additive
        control[layout.N_POSITIVES] = self._units.n_positives
        return control

    def number_from(self, rank: int) -> None:
        """Name nodes as the worker of this rank does, from the first one."""
        self._walk.control[layout.NEXT_ID] = _first_number(rank)

    # -- looking --------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> int:
        """Nodes bounded so far."""
        return int(self._walk.control[layout.NODES])

    @property
    def busy(self) -> bool:
        """Whether a subtree is loaded."""
        return self._root is not None

    @property
    def level(self) -> int:
        """Depth of the node at the top of the stack."""
        return int(self._walk.control[layout.LEVEL])

    @property
    def bound(self) -> int:
        """Largest bound of what is open in the subtree."""
        return max((node.bound for node in self.open_nodes()), default=LEAST)

    def open_nodes(self) -> list[Node]:
        """What is left of the subtree; a node that waits for help is not in it."""
        stack = self._walk.tree.stack
        if self._root is None:
            return []
        nodes = []
        for level in range(self.level + 1):
            phase = stack[level, layout.PHASE]
            if phase == layout.FRESH and level == 0:
                nodes.append(self._root)
            elif phase == layout.FRESH:
                nodes.append(self._child(level - 1, int(stack[level - 1, layout.PHASE]) - layout.SECOND))
            elif phase == layout.FIRST:
                nodes += [self._child(level, 0), self._child(level, 1)]
            elif phase == layout.SECOND:
                nodes.append(self._child(level, 1))
        return nodes

    def _child(self, level: int, side: int) -> Node:
        stack = self._walk.tree.stack
        rows = self._rows(int(stack[level, layout.END_ROWS]))
        literal = 2 * stack[level, layout.BRANCHED] + side
        number = int(stack[level, layout.FIRST_ID]) + side
        return Node(int(self._walk.tree.bounds[level]), number, np.append(rows, literal), self._tries)

    def waiting(self) -> tuple[Node, NDArray[np.int8]]:
        """The node that needs help, and the states of its units."""
        tree, level = self._walk.tree, self.level
        bound, states = int(tree.bounds[level]), tree.states[level].copy()
        if level == 0 and self._root is not None:
            return replace(self._root, bound=bound), states
        rows = self._rows(int(self._walk.control[layout.N_ROWS])).copy()
        return Node(bound, int(tree.stack[level, layout.NUMBER]), rows, self._tries), states

    def _rows(self, end: int) -> Whole:
        """Literals of the rows of a region."""
        return self._walk.lp.ids[2 * self._walk.lp.basis.size : end]

    @property
    def _tries(self) -> int:
        """A part of a region that took several tries is no wider."""
        return 0 if self._root is None else self._root.tries

    # -- working --------------------------------------------------------------------------------------------

    def load(self, node: Node) -> None:
        """Take up a subtree; the next run begins with it."""
        stack, bounds, control = self._walk.tree.stack, self._walk.tree.bounds, self._walk.control
        self._root, self.seconds = node, 0.0
        stack[0, layout.PHASE], stack[0, layout.NUMBER] = layout.FRESH, node.number
        bounds[0] = node.bound
        control[layout.LEVEL], control[layout.LOADING] = 0, 1
        self._walk = self._walk._replace(facts=self._units.facts(node.tries))
        slack = self._units.slack(node.tries)
        self._walk.goals[:] = (
            max(1e-5 * slack, SMALLEST_TOLERANCE),
            max(1e-4 * slack, 10 * SMALLEST_TOLERANCE),
        )
        # What was deduced above the node is forgotten but for its rows: the replay must begin with no more.
        literals = node.literals.tolist()
        self._note(layout.LOG_ENTER, node.number, layout.LOG_FROM, len(literals), *literals)

    def run(self, target: int, seconds: float) -> int:
        """Search on for a short while; why the walk returned."""
        control = self._walk.control
        control[layout.TARGET] = max(int(control[layout.TARGET]), target)
        work = control[layout.WORK]
        control[layout.LIMIT] = work + int(self._pace * min(seconds, SLICE_SECONDS)) + 1
        begin = time.perf_counter()
        reason = self._explore(self._walk, NO_LITERALS if self._root is None else self._root.literals)
        spent = time.perf_counter() - begin
        self.seconds += spent
        if control[layout.WORK] - work > 10_000:
            self._pace = 0.5 * self._pace + 0.5 * (control[layout.WORK] - work) / max(spent, 1e-6)
        self._flush()
        return int(reason)

    def hurry(self, wanted: bool) -> None:
        """Have the node at hand, which can take long, bounded by what is known already; from any thread."""
        self._walk.control[layout.HURRY] = wanted

    def candidate(self) -> Floats | None:
        """The point handed out by the last run, once."""
        if self._walk.control[layout.OFFERED] == 0:
            return None
        self._walk.control[layout.OFFERED] = 0
        return self._walk.candidate.copy()

    def branch(self, unit: int) -> None:
        """Help for the waiting node: go on with this unit won and lost."""
        stack, level = self._walk.tree.stack, self.level
        stack[level, layout.BRANCHED] = unit
        stack[level, layout.PHASE] = layout.FIRST
        self._note(layout.LOG_BRANCH, unit)
        self._note(layout.LOG_BRANCH, int(stack[level, layout.FIRST_ID]))

    def close(self, units: NDArray[Any]) -> None:
        """Help for the waiting node: these units, all decided as won, cannot be won together."""
        literals = (2 * units).tolist()
        self._note(layout.LOG_PACK, len(literals), *literals, layout.LOG_CLOSE, layout.CLOSED_EMPTY)
        self.drop()

    def drop(self) -> None:
        """The waiting node is settled: off the stack with it."""
        self._walk.control[layout.LEVEL] -= 1

    def give_back(self) -> tuple[bytes | None, list[Node], bytes]:
        """Forget the subtree: its name in the log, what is left of it as open nodes, what was done on it."""
        key = None if self._root is None else self._root.number.to_bytes(8, "little")
        opened, self._root = self.open_nodes(), None
        self._walk.control[layout.LEVEL] = -1
        self._flush()
        log, self._notes = b"".join(self._notes), []
        return key, opened, log

    # -- the log --------------------------------------------------------------------------------------------

    def _note(self, *numbers: int) -> None:
        if self._walk.log.size:
            self._flush()
            self._notes.append(np.array(numbers, dtype="<i8").tobytes())

    def _flush(self) -> None:
        used = int(self._walk.control[layout.N_LOG])
        if used:
            self._notes.append(self._walk.log[:used].astype("<i8").tobytes())
            self._walk.control[layout.N_LOG] = 0


def _first_number(rank: int) -> int:
    """Of the nodes that the worker of this rank names."""
    return 1 + rank * IDS_PER_WORKER
