"""One node of the cell search: what is lost or must be won there, its bound, and where to branch.

The arrays are explained in `_cell_layout`.
"""

from numba import njit

from toprank.exact.cells._clauses import learn, note, note_clause, propagate
from toprank.exact.cells._layout import (
    APART,
    BRANCH,
    BRANCHED,
    BUDGET,
    CLOSED,
    CLOSED_EMPTY,
    CLOSED_PACKING,
    CLOSED_VALUE,
    COVERED,
    CREW_SIZE,
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
    N_ROWS,
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
from toprank.exact.cells._witnesses import dismiss, muster, score, witness


@njit(**INNER)
def enforce(facts, lp, store, control, goals, log, literal):
    """Add the row of a literal to the region and move the vertex inside: OPEN, CLOSED or STUCK."""
    lines = lp[1]
    append_row(facts, lp, control, literal)
    slot = control[N_ROWS] - 1
    if lines[SLACK, slot] >= 0.0:
        return OPEN
    sign = 1.0 - 2.0 * (literal & 1)
    # Without its own row, which is violated and must not block the way.
    reached = climb(lp, slot, facts[0], literal >> 1, sign, lines[RHS, slot], goals[TOLERANCE], control)
    if reached == 1:
        control[N_ROWS] = slot
        append_row(facts, lp, control, literal)
        return OPEN
    if reached == 0 and certify(facts, lp, literal, store[0]):
        note_clause(log, control, LOG_PACK, store[0], 0)
        note(log, control, LOG_CLOSE, CLOSED_EMPTY)
        if store[0][0, LENGTH] <= FEW + 1:
            learn(store, control)
        return CLOSED
    return STUCK


@njit(**INNER)
def _test_lost(facts, lp, store, crew, stack, board, state, control, goals, log, level):
    """Maximise every undecided unit that no witness wins: lost, or a new witness. How many were lost."""
    units, gauge = facts[0], facts[2]
    flags = board[0]
    fallen = 0
    for u in range(state.size):
        if state[u] != UNDECIDED or flags[COVERED, u] == 1:
            continue
        if control[HURRY] == 1:
            return fallen
        reached = climb(lp, control[N_ROWS], units, u, 1.0, gauge[LOW, u], goals[TOLERANCE], control)
        if reached == 1:
            witness(facts, lp, crew, stack, board, control, level)
        elif reached == 0 and certify(facts, lp, 2 * u, store[0]):
            note_clause(log, control, LOG_LOST, store[0], 0)
            state[u] = LOST
            fallen += 1
    return fallen


@njit(**INNER)
def _shortlist(state, coins, chosen):
    """Undecided units with most packed budget, best first; their number."""
    size = 0
    for u in range(state.size):
        packed = coins[BUDGET, u] - coins[LEFT, u] if state[u] == UNDECIDED else 0
        coins[PACKED, u] = packed
        if packed <= 0 or (size == chosen.size and packed <= coins[PACKED, chosen[size - 1]]):
            continue
        at = min(size, chosen.size - 1)
        while at > 0 and coins[PACKED, chosen[at - 1]] < packed:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = u
        size = min(size + 1, chosen.size)
    return size


@njit(**INNER)
def _choose(crew, stack, board, state, level, chosen):
    """The unit to branch on: large estimated bound drops on both sides; -1 if nothing was packed.

    A unit is taken to fall in a child when no witness there wins it.
    """
    masks, roster = crew
    flags, _, coins, _, _ = board
    best = -1
    best_score = -1.0
    for i in range(_shortlist(state, coins, chosen)):
        u = chosen[i]
        for v in range(state.size):
            flags[TOGETHER, v] = 0
            flags[APART, v] = 0
        for c in range(stack[level, CREW_SIZE]):
            w = roster[level, c]
            side = TOGETHER if masks[w, u] == 1 else APART
            for v in range(state.size):
                flags[side, v] |= masks[w, v]
        base = 0.1 * coins[PACKED, u]
        won = base
        lost = base + coins[LEFT, u] + 0.5 * coins[PACKED, u]
        for v in range(state.size):
            if state[v] == UNDECIDED and v != u:
                loss = coins[LEFT, v] + 0.5 * coins[PACKED, v]
                won += loss * (1 - flags[TOGETHER, v])
                lost += loss * (1 - flags[APART, v])
        if won * lost > best_score:
            best_score = won * lost
            best = u
    return best


@njit(**INNER)
def _win(facts, lp, store, crew, stack, board, state, control, goals, log, level, bound):
    """Units whose loss (coins[LEFT]) brings the bound below the target must win; the outcome, how many."""
    coins = board[2]
    n = 0
    for u in range(state.size):
        if control[HURRY] == 1:
            break
        if state[u] == UNDECIDED and bound - coins[LEFT, u] < control[TARGET]:
            state[u] = WON
            n += 1
            note(log, control, LOG_WIN, u)
            outcome = enforce(facts, lp, store, control, goals, log, 2 * u)
            if outcome != OPEN:
                return outcome, n
            dismiss(crew, stack, level, u, 1)
    if n > 0:
        muster(crew, stack, level, board[0])
    return OPEN, n


@njit(**INNER)
def _offer(facts, lp, prize, board, control, candidate):
    """Hand the current point out when it may be worth more than anything offered so far."""
    flags, scores, _, tally, _ = board
    gauge = facts[2]
    for u in range(scores.size):
        flags[TOGETHER, u] = scores[u] < gauge[HOLD, u]
    value = best_value(prize, tally, flags[TOGETHER], control)
    if value >= max(control[TARGET], control[HOPE]):
        for j in range(candidate.size):
            candidate[j] = lp[4][candidate.size, j]
        control[OFFERED] = 1
        control[HOPE] = value + 1


@njit(**INNER)
def _decide(facts, prize, lp, store, crew, stack, board, state, control, goals, log, level, bounds):
    """Lost units, the value bound and units that must win, until nothing changes: CLOSED, STUCK or OPEN."""
    flags, _, coins, tally, _ = board
    while True:
        if propagate(store, state, control, log) == CLOSED:
            return CLOSED
        fallen = _test_lost(facts, lp, store, crew, stack, board, state, control, goals, log, level)
        for u in range(state.size):
            flags[TOGETHER, u] = state[u] == LOST
        value = best_value(prize, tally, flags[TOGETHER], control)
        bounds[level] = min(bounds[level], value)
        if value < control[TARGET]:
            note(log, control, LOG_CLOSE, CLOSED_VALUE)
            return CLOSED
        single_drops(prize, tally, state, coins, control)
        outcome, n = _win(facts, lp, store, crew, stack, board, state, control, goals, log, level, value)
        if outcome != OPEN:
            return outcome
        if n == 0:
            if fallen > 0:
                return propagate(store, state, control, log)
            return OPEN


@njit(**INNER)
def process(
    facts, prize, lp, home, store, crew, tree, board, queue, chosen, candidate, control, goals, log, level
):
    """Bound one node: CLOSED, BRANCH, LEAF (everything fits) or STUCK."""
    stack, bounds, states, expects = tree
    vertex = lp[4]
    state = states[level]
    coins = board[2]
    found = store[0]
    rounds = 0
    while True:
        rounds += 1
        outcome = _decide(
            facts, prize, lp, store, crew, stack, board, state, control, goals, log, level, bounds
        )
        if outcome != OPEN:
            return outcome
        bound = budgets(prize, board, state, control, expects[level], log)
        bound = pack_known(store, state, coins, control, log, bound)
        region = control[N_ROWS]
        keep(lp, home, region, True)
        found[1, LENGTH] = 0
        if bound >= control[TARGET]:
            bound = pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, 1)
        bounds[level] = min(bounds[level], bound)
        if bound < control[TARGET]:
            note(log, control, LOG_CLOSE, CLOSED_PACKING)
            return CLOSED
        unit = _choose(crew, stack, board, state, level, chosen)
        if unit < 0 and found[1, LENGTH] == 0:
            # Nothing was packed. Do all undecided units fit, those without budget too?
            control[N_ROWS] = region
            keep(lp, home, region, False)
            bound = pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, 0)
        score(facts[1], vertex, board[1])
        estimate(facts, prize, board, state, control, expects[level])
        _offer(facts, lp, prize, board, control, candidate)
        control[N_ROWS] = region
        keep(lp, home, region, False)
        if rounds < 20:
            outcome, n = _win(facts, lp, store, crew, stack, board, state, control, goals, log, level, bound)
            if outcome != OPEN:
                return outcome
            if n > 0:
                continue
        for i in range(HEAD, HEAD + found[1, LENGTH]):
            if unit < 0 and state[found[1, i] >> 1] == UNDECIDED:
                unit = found[1, i] >> 1
        stack[level, BRANCHED] = unit
        return LEAF if unit < 0 else BRANCH
