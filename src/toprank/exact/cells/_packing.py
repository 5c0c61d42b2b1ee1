"""Packing: units are fitted into a node one by one, and each set that has no room pays for the bound.

The arrays are explained in `_layout`.
"""

import numpy as np

from toprank.compiled import njit
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
def _pay(clauses, c, state, budget, control, log):
    """Take the smallest budget among the open members of a set from all of them; how much it was."""
    smallest = np.int64(-1)
    for i in range(HEAD, HEAD + clauses[c, LENGTH]):
        u = clauses[c, i] >> 1
        if state[u] == UNDECIDED and (smallest < 0 or budget[LEFT, u] < smallest):
            smallest = budget[LEFT, u]
    if smallest <= 0:
        return 0
    for i in range(HEAD, HEAD + clauses[c, LENGTH]):
        u = clauses[c, i] >> 1
        if state[u] == UNDECIDED:
            budget[LEFT, u] -= smallest
    note_clause(log, control, LOG_PACK, clauses, c)
    return smallest


@njit(**INNER)
def pack_known(sets, state, budget, control, log, bound):
    """Known infeasible sets first, the smallest before the others."""
    clauses, by_size = sets.known, sets.by_size
    for members in range(2, by_size.shape[0]):
        for i in range(1, by_size[members, 0] + 1):
            paid = _pay(clauses, by_size[members, i], state, budget, control, log)
            if paid > 0:
                clauses[by_size[members, i], USE] = 2
                bound -= paid
                if bound < control[TARGET]:
                    return bound
    return bound


@njit(**INNER)
def _drop_spent(walk, region, unit):
    """Pivot packed rows without budget out of the basis and remove them; False when that fails."""
    lp, control, budget = walk.lp, walk.control, walk.room.budgets
    basis, vertex = lp.basis, lp.vertex
    d = basis.size
    for k in range(d):
        slot = basis[k]
        if slot < region or budget[LEFT, lp.ids[slot] >> 1] > 0:
            continue
        price = 0.0
        for j in range(d):
            price += walk.facts.units[unit, j] * vertex[k, j]
        lp.lines[SLACK, slot] = 1e300
        control[WORK] += control[N_ROWS]
        sign = 1.0 if price >= 0.0 else -1.0
        if step(lp, control[N_ROWS], k, sign, walk.goals[TOLERANCE]) < 0:
            return False
        remove_row(lp, control, slot)
    return True


@njit(**INNER)
def _line_up(facts, state, budget, queue, least):
    """Line up the undecided units with enough budget left for `_worst`; their number."""
    columns, thresholds = facts.columns, facts.thresholds
    scan = queue.scan
    d = columns.shape[0]
    n = 0
    for u in range(state.size):
        if state[u] == UNDECIDED and budget[LEFT, u] >= least:
            for j in range(d):
                scan[j, n] = columns[j, u]
            scan[d, n] = thresholds[HOLD, u]
            scan[d + 1, n] = np.sqrt(float(budget[LEFT, u] + 1))
            queue.unit[n] = u
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
def _branch_on(found, u):
    """Leave a unit that could not be settled as the one to branch on."""
    found[1, LENGTH] = 1
    found[1, HEAD] = 2 * u


@njit(**INNER)
def pack(walk, state, bound, region, least):
    """Fit undecided units into the region one by one; each infeasible set found lowers the bound.

    With least = 1 only units with a budget are fitted. With least = 0 all are, nothing is paid and the first
    infeasible set is left in found[1]; so is a unit that could not be settled, for instance because another
    thread has set control[HURRY]: what was paid by then holds.
    """
    facts, lp, control, budget = walk.facts, walk.lp, walk.control, walk.room.budgets
    tolerance = walk.goals[TOLERANCE]
    scan, found = walk.queue.scan, walk.sets.found
    d = lp.basis.size
    n = _line_up(facts, state, budget, walk.queue, least)
    while True:
        i = _worst(scan, n, lp.vertex)
        if i < 0:
            return bound
        u = walk.queue.unit[i]
        if control[HURRY] == 1:
            _branch_on(found, u)
            return bound
        control[WORK] += n // 8
        reached = climb(
            lp, control[N_ROWS], facts.units, u, 1.0, facts.thresholds[LOW, u], tolerance, control
        )
        if reached == 1:
            append_row(facts, lp, control, 2 * u)
            scan[d, i] = -1e300
            continue
        if reached < 0 or not certify(facts, lp, 2 * u, found):
            _branch_on(found, u)
            scan[d, i] = -1e300
            continue
        if least == 0:
            for j in range(found.shape[1]):
                found[1, j] = found[0, j]
            return bound
        if open_members(found, 0, state) <= FEW:
            learn(walk.sets, control)
        bound -= _pay(found, 0, state, budget, control, walk.log)
        if bound < control[TARGET]:
            return bound
        if budget[LEFT, u] == 0:
            scan[d, i] = -1e300
        if not _drop_spent(walk, region, u):
            return bound


@njit(**INNER)
def keep(lp, corner, n, away):
    """Remember the region's vertex before packing (away), or go back to it."""
    lines, basis, vertex = lp.lines, lp.basis, lp.vertex
    source, end = (SLACK, HOME) if away else (HOME, SLACK)
    for r in range(n):
        lines[end, r] = lines[source, r]
    for k in range(basis.size):
        if away:
            corner.basis[k] = basis[k]
        else:
            basis[k] = corner.basis[k]
    for k in range(vertex.shape[0]):
        for j in range(vertex.shape[1]):
            if away:
                corner.vertex[k, j] = vertex[k, j]
            else:
                vertex[k, j] = corner.vertex[k, j]
