"""The depth-first walk of the cell search over its nodes; `explore` is the one entry from Python.

The arrays are explained in `_cell_layout`.
"""

from numba import njit

from toprank.exact.cells._clauses import note
from toprank.exact.cells._layout import (
    BASIS,
    BRANCH,
    BRANCHED,
    CLOSED,
    COVERED,
    CREW_SIZE,
    CREW_TOP,
    DEEP,
    DONE,
    END_ROWS,
    FIRST,
    FIRST_ID,
    FITS,
    FRESH,
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
    UNDECIDED,
    WAITING,
    WON,
    WORK,
)
from toprank.exact.cells._nodes import enforce, process
from toprank.exact.cells._simplex import append_row, refactor
from toprank.exact.cells._witnesses import dismiss, muster


@njit(**INNER)
def _load(facts, lp, store, tree, board, control, goals, log, literals):
    """Put one open node on the empty stack: its literals are the rows of the region."""
    stack, _, states, expects = tree
    basis = lp[3]
    d = basis.size
    control[LEVEL] = 0
    control[TOP] = 0
    control[N_ROWS] = 2 * d
    stack[0, PHASE] = FRESH
    stack[0, CREW_SIZE] = 0
    for u in range(states.shape[1]):
        states[0, u] = UNDECIDED
        board[0][COVERED, u] = 0
    for k in range(expects.shape[1]):
        expects[0, k] = 1e9
    for i in range(literals.size):
        states[0, literals[i] >> 1] = WON if literals[i] & 1 == 0 else LOST
    for j in range(d):
        basis[j] = j
    refactor(lp, 2 * d)
    for i in range(literals.size):
        outcome = enforce(facts, lp, store, control, goals, log, literals[i])
        if outcome != OPEN:
            return outcome
    return OPEN


@njit(**INNER)
def _descend(facts, lp, store, crew, tree, board, control, goals, log, level, side):
    """Enter a child: its parent's rows, vertex, states and witnesses, and one literal more."""
    stack, bounds, states, expects = tree
    basis = lp[3]
    child = level + 1
    unit = stack[level, BRANCHED]
    control[LEVEL] = child
    control[TOP] = stack[level, CREW_TOP]
    control[N_ROWS] = stack[level, END_ROWS]
    stack[child, PHASE] = FRESH
    stack[child, NUMBER] = stack[level, FIRST_ID] + side
    stack[child, CREW_SIZE] = stack[level, CREW_SIZE]
    bounds[child] = bounds[level]
    for u in range(states.shape[1]):
        states[child, u] = states[level, u]
    states[child, unit] = WON if side == 0 else LOST
    for k in range(expects.shape[1]):
        expects[child, k] = expects[level, k]
    for i in range(stack[level, CREW_SIZE]):
        crew[1][child, i] = crew[1][level, i]
    for j in range(basis.size):
        basis[j] = stack[level, BASIS + j]
    note(log, control, LOG_ENTER, stack[child, NUMBER])
    if refactor(lp, control[N_ROWS]) < -goals[NO_GAP]:
        append_row(facts, lp, control, 2 * unit + side)
        return STUCK
    outcome = enforce(facts, lp, store, control, goals, log, 2 * unit + side)
    if outcome == OPEN:
        dismiss(crew, stack, child, unit, 1 - side)
        muster(crew, stack, child, board[0])
    return outcome


@njit(**INNER)
def _remember(lp, stack, control, level):
    """What the children of a node start from."""
    stack[level, END_ROWS] = control[N_ROWS]
    stack[level, CREW_TOP] = control[TOP]
    for j in range(lp[3].size):
        stack[level, BASIS + j] = lp[3][j]
    stack[level, FIRST_ID] = control[NEXT_ID]
    control[NEXT_ID] += 2


@njit(**PUBLIC)
def explore(
    facts, prize, lp, home, store, crew, tree, board, queue, chosen, candidate, control, goals, log, literals
):
    """Walk depth first until DONE, PAUSE (enough work, or a candidate), or a node needs help.

    FITS: all undecided units hold at one point; JAMMED: the simplex method failed; DEEP: the stack is full.
    With control[LOADING] the node of `literals` is put on the empty stack first.
    """
    stack, bounds, _, _ = tree
    if control[LOADING] == 1:
        control[LOADING] = 0
        outcome = _load(facts, lp, store, tree, board, control, goals, log, literals)
        if outcome == CLOSED:
            control[LEVEL] = -1
        elif outcome == STUCK:
            stack[0, PHASE] = WAITING
            return JAMMED
    while control[LEVEL] >= 0:
        level = control[LEVEL]
        phase = stack[level, PHASE]
        outcome = OPEN
        if bounds[level] < control[TARGET] or phase == SPENT:
            control[LEVEL] = level - 1
            continue
        if phase == FRESH:
            if control[WORK] >= control[LIMIT] or control[OFFERED] == 1 or 2 * control[N_LOG] > log.size:
                return PAUSE
            control[NODES] += 1
            outcome = process(
                facts,
                prize,
                lp,
                home,
                store,
                crew,
                tree,
                board,
                queue,
                chosen,
                candidate,
                control,
                goals,
                log,
                level,
            )
            if outcome in (BRANCH, LEAF):
                _remember(lp, stack, control, level)
            if outcome == BRANCH:
                stack[level, PHASE] = FIRST
                note(log, control, LOG_BRANCH, stack[level, BRANCHED])
                note(log, control, LOG_BRANCH, stack[level, FIRST_ID])
        else:
            if level + 2 >= stack.shape[0]:
                return DEEP
            stack[level, PHASE] = phase + 1
            outcome = _descend(facts, lp, store, crew, tree, board, control, goals, log, level, phase - FIRST)
            level += 1
        if outcome == CLOSED:
            control[LEVEL] = level - 1
        elif outcome in (LEAF, STUCK):
            stack[level, PHASE] = WAITING
            return FITS if outcome == LEAF else JAMMED
    return DONE
