"""Sets of literals that no point of the box satisfies, and the log in which deductions are written down.

The arrays are explained in `_layout`.
"""

from toprank.compiled import njit
from toprank.exact.cells._layout import (
    CLOSED,
    CLOSED_EMPTY,
    HAND,
    HEAD,
    INNER,
    LENGTH,
    LOG_CLOSE,
    LOG_LOST,
    LOG_PACK,
    LOST,
    N_CLAUSES,
    N_LOG,
    OPEN,
    UNDECIDED,
    USE,
)


@njit(**INNER)
def note(log, control, code, value):
    """Write a record of one number to the log, if there is one."""
    if log.size > 0:
        at = control[N_LOG]
        log[at] = code
        log[at + 1] = value
        control[N_LOG] = at + 2


@njit(**INNER)
def note_clause(log, control, code, clauses, c):
    """Write a record with the literals of clause c to the log, if there is one."""
    if log.size > 0:
        at = control[N_LOG]
        count = clauses[c, LENGTH]
        log[at] = code
        log[at + 1] = count
        for i in range(count):
            log[at + 2 + i] = clauses[c, HEAD + i]
        control[N_LOG] = at + 2 + count


@njit(**INNER)
def learn(sets, control):
    """Keep the infeasible set found[0] for other nodes; one not used for long goes."""
    found, clauses = sets.found, sets.known
    cap = clauses.shape[0]
    if control[N_CLAUSES] < cap:
        hand = control[N_CLAUSES]
        control[N_CLAUSES] += 1
    else:
        hand = control[HAND]
        while clauses[hand, USE] > 0:
            clauses[hand, USE] -= 1
            hand = (hand + 1) % cap
        control[HAND] = (hand + 1) % cap
    for i in range(clauses.shape[1]):
        clauses[hand, i] = found[0, i]
    clauses[hand, USE] = 1


@njit(**INNER)
def open_members(clauses, c, state):
    """How many members of an infeasible set are open; -1 when it says nothing at this node.

    It counts when none of its won-literals is lost and all of its lost-literals are.
    """
    members = 0
    for i in range(HEAD, HEAD + clauses[c, LENGTH]):
        literal = clauses[c, i]
        s = state[literal >> 1]
        if literal & 1 == 0:
            if s == LOST:
                return -1
            members += s == UNDECIDED
        elif s != LOST:
            return -1
    return members


@njit(**INNER)
def propagate(sets, state, control, log):
    """Sets with one open member lose it; those with a few are listed by size; CLOSED if one has none left."""
    clauses, by_size = sets.known, sets.by_size
    widest = by_size.shape[0] - 1
    again = True
    while again:
        again = False
        for b in range(widest + 1):
            by_size[b, 0] = 0
        for c in range(control[N_CLAUSES]):
            members = open_members(clauses, c, state)
            if members < 0 or members > widest:
                continue
            if members == 0:
                note_clause(log, control, LOG_PACK, clauses, c)
                note(log, control, LOG_CLOSE, CLOSED_EMPTY)
                return CLOSED
            if members == 1:
                note_clause(log, control, LOG_LOST, clauses, c)
                for i in range(HEAD, HEAD + clauses[c, LENGTH]):
                    if state[clauses[c, i] >> 1] == UNDECIDED:
                        state[clauses[c, i] >> 1] = LOST
                clauses[c, USE] = 2
                again = True
            else:
                by_size[members, 0] += 1
                by_size[members, by_size[members, 0]] = c
    return OPEN
