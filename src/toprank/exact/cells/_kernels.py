"""The depth-first walk of the cell search over its nodes; `explore` is the one entry from Python.

The arrays are explained in `_layout`.
"""

from toprank.compiled import njit
from toprank.exact.cells._clauses import note
from toprank.exact.cells._layout import (
    BASIS,
    BRANCH,
    BRANCHED,
    CLOSED,
    COVERED,
    DEEP,
    DONE,
    END_ROWS,
    FIRST,
    FIRST_ID,
    FITS,
    FRESH,
    HURRY,
    INNER,
    JAMMED,
    LEAF,
    LEVEL,
    LIMIT,
    LOADING,
    LOG_BRANCH,
    LOG_ENTER,
    LOST,
    N_LOG,
    N_ROWS,
    N_WITNESSES,
    NEXT_ID,
    NO_GAP,
    NODES,
    NUMBER,
    OFFERED,
    OPEN,
    PAUSE,
    PHASE,
    PUBLIC,
    SPENT,
    STUCK,
    TARGET,
    TOP,
    TOP_WITNESS,
    UNDECIDED,
    WAITING,
    WON,
    WORK,
)
from toprank.exact.cells._nodes import enforce, process
from toprank.exact.cells._simplex import append_row, refactor
from toprank.exact.cells._witnesses import cover, keep_witnesses


@njit(**INNER)
def _load(walk, literals):
    """Put one open node on the empty stack: its literals are the rows of the region."""
    control, states, expected = walk.control, walk.tree.states, walk.tree.expected
    basis = walk.lp.basis
    d = basis.size
    control[LEVEL] = 0
    control[TOP] = 0
    control[N_ROWS] = 2 * d
    walk.tree.stack[0, PHASE] = FRESH
    walk.tree.stack[0, N_WITNESSES] = 0
    for u in range(states.shape[1]):
        states[0, u] = UNDECIDED
        walk.room.flags[COVERED, u] = 0
    for k in range(expected.shape[1]):
        expected[0, k] = 1e9
    for i in range(literals.size):
        states[0, literals[i] >> 1] = WON if literals[i] & 1 == 0 else LOST
    for j in range(d):
        basis[j] = j
    refactor(walk.lp, 2 * d)
    for i in range(literals.size):
        outcome = enforce(walk, literals[i])
        if outcome != OPEN:
            return outcome
    return OPEN


@njit(**INNER)
def _inherit(walk, level, side):
    """A child begins with its parent's rows, states, witnesses and vertex, and one unit decided."""
    control, witnesses = walk.control, walk.witnesses
    stack, bounds, states, expected = walk.tree
    child = level + 1
    control[LEVEL] = child
    control[TOP] = stack[level, TOP_WITNESS]
    control[N_ROWS] = stack[level, END_ROWS]
    stack[child, PHASE] = FRESH
    stack[child, NUMBER] = stack[level, FIRST_ID] + side
    stack[child, N_WITNESSES] = stack[level, N_WITNESSES]
    bounds[child] = bounds[level]
    for u in range(states.shape[1]):
        states[child, u] = states[level, u]
    states[child, stack[level, BRANCHED]] = WON if side == 0 else LOST
    for k in range(expected.shape[1]):
        expected[child, k] = expected[level, k]
    for i in range(stack[level, N_WITNESSES]):
        witnesses.of_level[child, i] = witnesses.of_level[level, i]
    for j in range(walk.lp.basis.size):
        walk.lp.basis[j] = stack[level, BASIS + j]


@njit(**INNER)
def _descend(walk, level, side):
    """Enter a child: the region of its parent and one literal more."""
    stack, control = walk.tree.stack, walk.control
    child = level + 1
    unit = stack[level, BRANCHED]
    _inherit(walk, level, side)
    note(walk.log, control, LOG_ENTER, stack[child, NUMBER])
    if refactor(walk.lp, control[N_ROWS]) < -walk.goals[NO_GAP]:
        append_row(walk.facts, walk.lp, control, 2 * unit + side)
        return STUCK
    outcome = enforce(walk, 2 * unit + side)
    if outcome == OPEN:
        keep_witnesses(walk.witnesses, stack, child, unit, 1 - side)
        cover(walk.witnesses, stack, child, walk.room.flags)
    return outcome


@njit(**INNER)
def _remember(lp, stack, control, level):
    """What the children of a node start from."""
    stack[level, END_ROWS] = control[N_ROWS]
    stack[level, TOP_WITNESS] = control[TOP]
    for j in range(lp.basis.size):
        stack[level, BASIS + j] = lp.basis[j]
    stack[level, FIRST_ID] = control[NEXT_ID]
    control[NEXT_ID] += 2


@njit(**INNER)
def _look(walk, level):
    """Bound a fresh node and, where it stays open, get it ready for its children; the outcome."""
    stack, control, log = walk.tree.stack, walk.control, walk.log
    control[NODES] += 1
    outcome = process(walk, level)
    if outcome in (BRANCH, LEAF):
        _remember(walk.lp, stack, control, level)
    if outcome == BRANCH:
        stack[level, PHASE] = FIRST
        note(log, control, LOG_BRANCH, stack[level, BRANCHED])
        note(log, control, LOG_BRANCH, stack[level, FIRST_ID])
    return outcome


@njit(**PUBLIC)
def explore(walk, literals):
    """Walk depth first until DONE, PAUSE (enough work, a hurried node, or a candidate), or a node needs help.

    FITS: all undecided units hold at one point; JAMMED: the simplex method failed; DEEP: the stack is full.
    With control[LOADING] the node of `literals` is put on the empty stack first.
    """
    stack, bounds, control, log = walk.tree.stack, walk.tree.bounds, walk.control, walk.log
    before = control[NODES]
    if control[LOADING] == 1:
        control[LOADING] = 0
        outcome = _load(walk, literals)
        if outcome == CLOSED:
            control[LEVEL] = -1
        elif outcome == STUCK:
            stack[0, PHASE] = WAITING
            return JAMMED
    while control[LEVEL] >= 0:
        level = control[LEVEL]
        phase = stack[level, PHASE]
        if bounds[level] < control[TARGET] or phase == SPENT:
            control[LEVEL] = level - 1
            continue
        if phase == FRESH:
            enough = control[WORK] >= control[LIMIT] or (control[HURRY] == 1 and control[NODES] > before)
            if enough or control[OFFERED] == 1 or 2 * control[N_LOG] > log.size:
                return PAUSE
            outcome = _look(walk, level)
        else:
            if level + 2 >= stack.shape[0]:
                return DEEP
            stack[level, PHASE] = phase + 1
            outcome = _descend(walk, level, phase - FIRST)
            level += 1
        if outcome == CLOSED:
            control[LEVEL] = level - 1
        elif outcome in (LEAF, STUCK):
            stack[level, PHASE] = WAITING
            return FITS if outcome == LEAF else JAMMED
    return DONE
