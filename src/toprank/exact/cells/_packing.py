"""Packing: units are fitted into a node one by one, and each set that has no room pays for the bound.

The arrays are explained in `_cell_layout`.
"""

import numpy as np
from numba import njit

from toprank.exact.cells._clauses import learn, note_clause, open_members
from toprank.exact.cells._layout import (
    FAST,
    FEW,
    HEAD,
    HOLD,
    HOME,
    HURRY,
    INNER,
    LEFT,
    LENGTH,
    LOG_PACK,
    LOW,
    N_ROWS,
    SLACK,
    TARGET,
    TOLERANCE,
    UNDECIDED,
    USE,
    WORK,
)
from toprank.exact.cells._simplex import append_row, certify, climb, combine, remove_row, step


@njit(**INNER)
def _pay(clauses, c, state, coins, control, log):
    """Take the smallest budget among the open members of a set from all of them; how much it was."""
    smallest = np.int64(-1)
    for i in range(HEAD, HEAD + clauses[c, LENGTH]):
        u = clauses[c, i] >> 1
        if state[u] == UNDECIDED and (smallest < 0 or coins[LEFT, u] < smallest):
            smallest = coins[LEFT, u]
    if smallest <= 0:
        return 0
    for i in range(HEAD, HEAD + clauses[c, LENGTH]):
        u = clauses[c, i] >> 1
        if state[u] == UNDECIDED:
            coins[LEFT, u] -= smallest
    note_clause(log, control, LOG_PACK, clauses, c)
    return smallest


@njit(**INNER)
def pack_known(store, state, coins, control, log, bound):
    """Known infeasible sets first, the smallest before the others."""
    _, clauses, bucket = store
    for members in range(2, bucket.shape[0]):
        for i in range(1, bucket[members, 0] + 1):
            paid = _pay(clauses, bucket[members, i], state, coins, control, log)
            if paid > 0:
                clauses[bucket[members, i], USE] = 2
                bound -= paid
                if bound < control[TARGET]:
                    return bound
    return bound


@njit(**INNER)
def _drop_spent(facts, lp, coins, control, goals, region, unit):
    """Pivot packed rows without budget out of the basis and remove them; False when that fails."""
    rows, lines, ids, basis, vertex = lp
    d = basis.size
    for k in range(d):
        slot = basis[k]
        if slot < region or coins[LEFT, ids[slot] >> 1] > 0:
            continue
        price = 0.0
        for j in range(d):
            price += facts[0][unit, j] * vertex[k, j]
        lines[SLACK, slot] = 1e300
        control[WORK] += control[N_ROWS]
        sign = 1.0 if price >= 0.0 else -1.0
        if step(rows, lines, control[N_ROWS], basis, vertex, k, sign, goals[TOLERANCE]) < 0:
            return False
        remove_row(lp, control, slot)
    return True


@njit(**INNER)
def _line_up(facts, state, coins, queue, least):
    """Line up the undecided units with enough budget left for `_worst`; their number."""
    columns, gauge = facts[1], facts[2]
    scan, who = queue
    d = columns.shape[0]
    n = 0
    for u in range(state.size):
        if state[u] == UNDECIDED and coins[LEFT, u] >= least:
            for j in range(d):
                scan[j, n] = columns[j, u]
            scan[d, n] = gauge[HOLD, u]
            scan[d + 1, n] = np.sqrt(float(coins[LEFT, u] + 1))
            who[n] = u
            n += 1
    return n


@njit(**FAST)
def _worst(scan, n, vertex):
    """The unit in line that is violated most at the current point, dear ones first; -1 if all hold."""
    d = vertex.shape[1]
    combine(scan, n, vertex, d, 1.0, scan, d + 2)
    most = 0.0
    for i in range(n):
        gap = (scan[d, i] - scan[d + 2, i]) * scan[d + 1, i]
        scan[d + 2, i] = gap
        most = gap if gap > most else most
    if most > 0.0:
        for i in range(n):
            if scan[d + 2, i] == most:
                return i
    return -1


@njit(**INNER)
def pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, least):
    """Fit undecided units into the region one by one; each infeasible set found lowers the bound.

    With least = 1 only units with a budget are fitted. With least = 0 all are, nothing is paid and the first
    infeasible set is left in found[1]; so is a unit that could not be settled, for instance because another
    thread has set control[HURRY]: what was paid by then holds.
    """
    vertex = lp[4]
    units, gauge = facts[0], facts[2]
    scan, who = queue
    found = store[0]
    d = vertex.shape[1]
    n = _line_up(facts, state, coins, queue, least)
    while True:
        i = _worst(scan, n, vertex)
        if i < 0:
            return bound
        u = who[i]
        if control[HURRY] == 1:
            found[1, LENGTH] = 1
            found[1, HEAD] = 2 * u
            return bound
        control[WORK] += n // 8
        reached = climb(lp, control[N_ROWS], units, u, 1.0, gauge[LOW, u], goals[TOLERANCE], control)
        if reached == 1:
            append_row(facts, lp, control, 2 * u)
            scan[d, i] = -1e300
            continue
        if reached < 0 or not certify(facts, lp, 2 * u, found):
            found[1, LENGTH] = 1
            found[1, HEAD] = 2 * u
            scan[d, i] = -1e300
            continue
        if least == 0:
            for j in range(found.shape[1]):
                found[1, j] = found[0, j]
            return bound
        if open_members(found, 0, state) <= FEW:
            learn(store, control)
        bound -= _pay(found, 0, state, coins, control, log)
        if bound < control[TARGET]:
            return bound
        if coins[LEFT, u] == 0:
            scan[d, i] = -1e300
        if not _drop_spent(facts, lp, coins, control, goals, region, u):
            return bound


@njit(**INNER)
def keep(lp, home, n, away):
    """Remember the region's vertex before packing (away), or go back to it."""
    _, lines, _, basis, vertex = lp
    corner, corner_basis = home
    source, end = (SLACK, HOME) if away else (HOME, SLACK)
    for r in range(n):
        lines[end, r] = lines[source, r]
    for k in range(basis.size):
        if away:
            corner_basis[k] = basis[k]
        else:
            basis[k] = corner_basis[k]
    for k in range(vertex.shape[0]):
        for j in range(vertex.shape[1]):
            if away:
                corner[k, j] = vertex[k, j]
            else:
                vertex[k, j] = corner[k, j]
