"""How the arrays of the compiled cell search are laid out, and how its functions are compiled.

Legend. d features; P units (pairs with equal differences are one unit). A literal is ``2 * unit`` for "the
unit is won" and ``2 * unit + 1`` for "the unit is lost". Values (weights, budgets, bounds, the target) are
whole numbers.

Nothing here trusts the simplex method: a set of literals is called infeasible only if its rows are exactly
dependent or, with a margin, if multipliers prove it by arithmetic with an error bound (`certify`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.dependence import Ledger
from toprank.exact.rounding import UNIT

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Slots of control.
LEVEL, WORK, LIMIT, NODES, N_ROWS, TOP, N_CLAUSES, HAND = range(8)
OFFERED, N_LOG, NEXT_ID, TARGET, HOPE, TOTAL, ADDITIVE, N_POSITIVES, LOADING, HURRY = range(8, 18)
CONTROL_SIZE = 18
# Slots of goals: slack within which rows tie, largest violation that refactoring may leave.
TOLERANCE, NO_GAP = range(2)
# Rows of `Simplex.lines`, `Facts.thresholds`, `Room.budgets` and `Room.flags`.
RHS, SLACK, RATE, RATIO, HOME = range(5)
LOW, HIGH, EXACT, SIZE, HOLD = range(5)
COST, LEFT, PACKED = range(3)
COVERED, TOGETHER, APART = range(3)
# Columns of `InfeasibleSets`: how many literals, how much used lately, where the literals begin.
LENGTH, USE, HEAD = range(3)
# Columns of `Tree.stack`.
PHASE, BRANCHED, FIRST_ID, END_ROWS, NUMBER, N_WITNESSES, TOP_WITNESS, BASIS = range(8)
# Phases of a node on the stack.
FRESH, FIRST, SECOND, SPENT, WAITING = range(5)
# What became of a node, and why the walk returned.
CLOSED, BRANCH, LEAF, STUCK, OPEN = range(5)
DONE, PAUSE, FITS, JAMMED, DEEP = range(5)
UNDECIDED, WON, LOST = range(3)
# Records of the log.
LOG_ENTER, LOG_LOST, LOG_WIN, LOG_RESET, LOG_PACK, LOG_BRANCH, LOG_CLOSE, LOG_FROM = range(1, 9)
CLOSED_EMPTY, CLOSED_VALUE, CLOSED_PACKING = range(3)


class Facts(NamedTuple):
    """What stays the same while a node is looked at."""

    units: Floats
    """(P, d): row of each unit."""
    columns: Floats
    """The same by columns."""
    thresholds: Floats
    """(5, P): of each unit; LOW and HIGH for the simplex method, EXACT, the SIZE of its row, HOLD."""
    errors: Floats
    """How far the entries of each row may be off."""
    ledger: Ledger
    """The features themselves: see `toprank.exact.arithmetic.dependence`."""
    scratch: Floats
    """Room to compute in."""


class Objective(NamedTuple):
    """What a set of lost units is worth."""

    pair_start: Whole
    """(P + 1): where the pairs of each unit begin; behind the last unit's are pairs that can never be won."""
    pairs: Whole
    """(2, pairs): positive and negative of each pair."""
    query_of: Whole
    """(2, items): query of each positive and of each negative."""
    queries: Whole
    """(8, queries): positives, negatives, where counts[2] keeps either's, where the weights begin, their
    stride, and the same of the losses."""
    weights: Whole
    """What positives are worth by place and lost pairs, rounded up: see `toprank.statistics.CountTable`."""
    losses: Whole
    """What negatives take off at least, by place and positives above; convex in the latter, and falling from
    one negative to the next."""
    worth: Whole
    """(P): what each unit is worth by itself, where values are sums of pair weights."""
    order: Whole
    """Negatives; ties in the bound are broken so."""


class Simplex(NamedTuple):
    """Rows ``rows[:, r] @ point >= lines[RHS, r]``, those before 2d the box, and a vertex: d tight rows."""

    rows: Floats
    lines: Floats
    """(5, rows): RHS, SLACK, and room for RATE, RATIO and the slack at HOME."""
    ids: Whole
    """Literal of each row; -1 for the box."""
    basis: Whole
    """The tight rows."""
    vertex: Floats
    """(d + 2, d): edges that loosen one basic row at unit rate each, the point, prices of the last climb."""


class Corner(NamedTuple):
    """A vertex kept to go back to."""

    vertex: Floats
    basis: Whole


class InfeasibleSets(NamedTuple):
    """Sets of literals that no point of the box satisfies, a row each: LENGTH, USE, literals from HEAD on."""

    found: NDArray[np.int32]
    """(2, width): the latest one, and one to branch on."""
    known: NDArray[np.int32]
    by_size: NDArray[np.int32]
    """Row m: how many known sets have m open members at this node, then which."""


class Witnesses(NamedTuple):
    """Points of the nodes on the stack, and which units win there."""

    masks: NDArray[np.uint8]
    """(points, P): 1 where the unit wins."""
    of_level: Whole
    """(levels, most): the points that lie in the node of each level."""


class Tree(NamedTuple):
    """The stack of nodes, a row each."""

    stack: Whole
    bounds: Whole
    states: NDArray[np.int8]
    expected: Floats
    """Won pairs of each negative at which the bound is tangent."""


class Room(NamedTuple):
    """Where one node is worked out."""

    flags: NDArray[np.uint8]
    """(3, P): COVERED by a witness; TOGETHER and APART for any use."""
    scores: Floats
    budgets: Whole
    """(3, P): what losing each unit costs at least (COST), what of that is LEFT, what was PACKED."""
    counts: Whole
    """(3, items): lost pairs of positives, won pairs of negatives, and a table of how many have how many."""
    slopes: Whole
    """What each negative pays at least for every won pair it loses."""


class Queue(NamedTuple):
    """Units waiting to be packed: their columns, thresholds, weights and gaps, and which they are."""

    scan: Floats
    unit: Whole


class Walk(NamedTuple):
    """All that the walk over the nodes reads and writes."""

    facts: Facts
    objective: Objective
    lp: Simplex
    corner: Corner
    sets: InfeasibleSets
    witnesses: Witnesses
    tree: Tree
    room: Room
    queue: Queue
    chosen: Whole
    """Units that may be branched on."""
    candidate: Floats
    """A point that may be a better answer."""
    control: Whole
    goals: Floats
    log: Whole


EPS = 2 * UNIT
FEW = 4
"""Infeasible sets with more open members are not kept. Not tuned."""
SHARE = 0.5
"""How far towards the losses of the last packing point the budgets are tangent: half way. Not tuned."""
MOST_STEPS, MOST_ROUNDS = 400, 20
"""Of one climb, and of deciding units at one node: guards against going in circles, not tuned. What is cut
short is tried anew or branched on, never excluded."""
PUBLIC: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = {**PUBLIC, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# The simplex method may round as it likes: what it claims is checked elsewhere.
FAST = {**INNER, "fastmath": {"nnan", "nsz", "reassoc", "contract", "arcp"}}
