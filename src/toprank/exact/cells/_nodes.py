"""One node of the cell search: what is lost or must be won there, its bound, and where to branch.

The arrays are explained in `_layout`.
"""

import numpy as np

from toprank.compiled import njit
from toprank.exact.cells._clauses import learn, note, note_clause, propagate
from toprank.exact.cells._layout import (
    APART,
    BRANCH,
    BRANCHED,
    CLOSED,
    CLOSED_EMPTY,
    CLOSED_PACKING,
    CLOSED_VALUE,
    COST,
    COVERED,
    FEW,
    HEAD,
    HOLD,
    HOPE,
    HURRY,
    INNER,
    LEAF,
    LEFT,
    LENGTH,
    LOG_CLOSE,
    LOG_LOST,
    LOG_PACK,
    LOG_WIN,
    LOST,
    LOW,
    MOST_ROUNDS,
    N_ROWS,
    N_WITNESSES,
    OFFERED,
    OPEN,
    PACKED,
    RHS,
    SLACK,
    STUCK,
    TARGET,
    TOGETHER,
    TOLERANCE,
    UNDECIDED,
    WON,
)
from toprank.exact.cells._objective import best_value, budgets, estimate, single_drops
from toprank.exact.cells._packing import keep, pack, pack_known
from toprank.exact.cells._simplex import append_row, certify, climb
from toprank.exact.cells._witnesses import cover, keep_witnesses, score, witness


@njit(**INNER)
def enforce(walk, literal):
    """Add the row of a literal to the region and move the vertex inside: OPEN, CLOSED or STUCK."""
    facts, lp, sets, control, log = walk.facts, walk.lp, walk.sets, walk.control, walk.log
    append_row(facts, lp, control, literal)
    slot = control[N_ROWS] - 1
    if lp.lines[SLACK, slot] >= 0.0:
        return OPEN
    sign = 1.0 - 2.0 * (literal & 1)
    # Without its own row, which is violated and must not block the way.
    goal, tolerance = lp.lines[RHS, slot], walk.goals[TOLERANCE]
    reached = climb(lp, slot, facts.units, literal >> 1, sign, goal, tolerance, control)
    if reached == 1:
        control[N_ROWS] = slot
        append_row(facts, lp, control, literal)
        return OPEN
    if reached == 0 and certify(facts, lp, literal, sets.found):
        note_clause(log, control, LOG_PACK, sets.found, 0)
        note(log, control, LOG_CLOSE, CLOSED_EMPTY)
        if sets.found[0, LENGTH] <= FEW + 1:
            learn(sets, control)
        return CLOSED
    return STUCK


@njit(**INNER)
def _test_lost(walk, state, level):
    """Maximise every undecided unit that no witness wins: lost, or a new witness. How many were lost."""
    facts, lp, control, found = walk.facts, walk.lp, walk.control, walk.sets.found
    tolerance = walk.goals[TOLERANCE]
    fallen = 0
    for u in range(state.size):
        if state[u] != UNDECIDED or walk.room.flags[COVERED, u] == 1:
            continue
        if control[HURRY] == 1:
            return fallen
        goal = facts.thresholds[LOW, u]
        reached = climb(lp, control[N_ROWS], facts.units, u, 1.0, goal, tolerance, control)
        if reached == 1:
            witness(walk, level)
        elif reached == 0 and certify(facts, lp, 2 * u, found):
            note_clause(walk.log, control, LOG_LOST, found, 0)
            state[u] = LOST
            fallen += 1
    return fallen


@njit(**INNER)
def _shortlist(state, budget, chosen):
    """Undecided units with most packed budget, best first; their number."""
    size = 0
    for u in range(state.size):
        packed = budget[COST, u] - budget[LEFT, u] if state[u] == UNDECIDED else 0
        budget[PACKED, u] = packed
        if packed <= 0 or (size == chosen.size and packed <= budget[PACKED, chosen[size - 1]]):
            continue
        at = min(size, chosen.size - 1)
        while at > 0 and budget[PACKED, chosen[at - 1]] < packed:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = u
        size = min(size + 1, chosen.size)
    return size


@njit(**INNER)
def _choose(walk, state, level):
    """The unit to branch on: large estimated bound drops on both sides; -1 if nothing was packed.

    A unit is taken to fall in a child when no witness there wins it.
    """
    masks, of_level = walk.witnesses.masks, walk.witnesses.of_level
    flags, budget, chosen = walk.room.flags, walk.room.budgets, walk.chosen
    best = -1
    best_score = -1.0
    for i in range(_shortlist(state, budget, chosen)):
        u = chosen[i]
        for v in range(state.size):
            flags[TOGETHER, v] = 0
            flags[APART, v] = 0
        for c in range(walk.tree.stack[level, N_WITNESSES]):
            w = of_level[level, c]
            side = TOGETHER if masks[w, u] == 1 else APART
            for v in range(state.size):
                flags[side, v] |= masks[w, v]
        base = 0.1 * budget[PACKED, u]
        won = base
        lost = base + budget[LEFT, u] + 0.5 * budget[PACKED, u]
        for v in range(state.size):
            if state[v] == UNDECIDED and v != u:
                loss = budget[LEFT, v] + 0.5 * budget[PACKED, v]
                won += loss * (1 - flags[TOGETHER, v])
                lost += loss * (1 - flags[APART, v])
        if won * lost > best_score:
            best_score = won * lost
            best = u
    return best


@njit(**INNER)
def _win(walk, state, level, bound):
    """Units whose loss (budgets[LEFT]) brings the bound below the target must win; the outcome, how many."""
    budget, control, stack = walk.room.budgets, walk.control, walk.tree.stack
    n = 0
    for u in range(state.size):
        if control[HURRY] == 1:
            break
        if state[u] == UNDECIDED and bound - budget[LEFT, u] < control[TARGET]:
            state[u] = WON
            n += 1
            note(walk.log, control, LOG_WIN, u)
            outcome = enforce(walk, 2 * u)
            if outcome != OPEN:
                return outcome, n
            keep_witnesses(walk.witnesses, stack, level, u, 1)
    if n > 0:
        cover(walk.witnesses, stack, level, walk.room.flags)
    return OPEN, n


@njit(**INNER)
def _offer(walk):
    """Hand the current point out when it may be worth more than anything offered so far."""
    flags, scores, control, candidate = walk.room.flags, walk.room.scores, walk.control, walk.candidate
    thresholds = walk.facts.thresholds
    for u in range(scores.size):
        flags[TOGETHER, u] = scores[u] < thresholds[HOLD, u]
    value = best_value(walk.objective, walk.room.counts, flags[TOGETHER], control)
    if value >= max(control[TARGET], control[HOPE]):
        for j in range(candidate.size):
            candidate[j] = walk.lp.vertex[candidate.size, j]
        control[OFFERED] = 1
        control[HOPE] = value + 1


@njit(**INNER)
def _decide(walk, state, level):
    """Lost units, the value bound and units that must win, until nothing changes: CLOSED, STUCK or OPEN."""
    objective, sets, room, control, log = walk.objective, walk.sets, walk.room, walk.control, walk.log
    flags, counts, bounds = room.flags, room.counts, walk.tree.bounds
    while True:
        if propagate(sets, state, control, log) == CLOSED:
            return CLOSED
        fallen = _test_lost(walk, state, level)
        for u in range(state.size):
            flags[TOGETHER, u] = state[u] == LOST
        value = best_value(objective, counts, flags[TOGETHER], control)
        bounds[level] = min(bounds[level], value)
        if value < control[TARGET]:
            note(log, control, LOG_CLOSE, CLOSED_VALUE)
            return CLOSED
        single_drops(objective, counts, state, room.budgets, control)
        outcome, n = _win(walk, state, level, value)
        if outcome != OPEN:
            return outcome
        if n == 0:
            if fallen > 0:
                return propagate(sets, state, control, log)
            return OPEN


@njit(**INNER)
def _bound(walk, state, level, region):
    """Budgets of the undecided units, and the bound that packing them leaves."""
    control, sets = walk.control, walk.sets
    bound = budgets(walk.objective, walk.room, state, control, walk.tree.expected[level], walk.log)
    bound = pack_known(sets, state, walk.room.budgets, control, walk.log, bound)
    keep(walk.lp, walk.corner, region, True)
    sets.found[1, LENGTH] = 0
    if bound >= control[TARGET]:
        bound = pack(
            walk, state, bound, region, np.int64(1)
        )  # not 0: a type of its own to Numba, which would compile what is called with it twice
    walk.tree.bounds[level] = min(walk.tree.bounds[level], bound)
    return bound


@njit(**INNER)
def _branching_unit(sets, state, unit):
    """The unit chosen or, where nothing was packed, an undecided one of the set to branch on; -1 if none."""
    found = sets.found
    for i in range(HEAD, HEAD + found[1, LENGTH]):
        if unit < 0 and state[found[1, i] >> 1] == UNDECIDED:
            unit = found[1, i] >> 1
    return unit


@njit(**INNER)
def process(walk, level):
    """Bound one node: CLOSED, BRANCH, LEAF (everything fits) or STUCK."""
    lp, control = walk.lp, walk.control
    state = walk.tree.states[level]
    rounds = 0
    while True:
        rounds += 1
        outcome = _decide(walk, state, level)
        if outcome != OPEN:
            return outcome
        region = control[N_ROWS]
        bound = _bound(walk, state, level, region)
        if bound < control[TARGET]:
            note(walk.log, control, LOG_CLOSE, CLOSED_PACKING)
            return CLOSED
        unit = _choose(walk, state, level)
        if unit < 0 and walk.sets.found[1, LENGTH] == 0:
            # Nothing was packed. Do all undecided units fit, those without budget too?
            control[N_ROWS] = region
            keep(lp, walk.corner, region, False)
            bound = pack(walk, state, bound, region, np.int64(0))
        score(walk.facts.columns, lp.vertex, walk.room.scores)
        estimate(walk, state, walk.tree.expected[level])
        _offer(walk)
        control[N_ROWS] = region
        keep(lp, walk.corner, region, False)
        if rounds < MOST_ROUNDS:
            outcome, n = _win(walk, state, level, bound)
            if outcome != OPEN:
                return outcome
            if n > 0:
                continue
        unit = _branching_unit(walk.sets, state, unit)
        walk.tree.stack[level, BRANCHED] = unit
        return LEAF if unit < 0 else BRANCH
