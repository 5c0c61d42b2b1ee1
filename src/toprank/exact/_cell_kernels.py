"""Compiled kernels of the cell search: a tiny simplex method, packing, branching, the depth-first walk.

Legend. d features; P units (pairs with equal differences are one unit). A literal is ``2 * unit`` for "the
unit is won" and ``2 * unit + 1`` for "the unit is lost". Money (weights, budgets, bounds, the target) is
whole numbers.

Simplex method (`lp` = rows, lines, ids, basis, vertex): rows read ``rows[:, r] @ point >= lines[RHS, r]``,
those before 2d are the box. A vertex is d tight rows (`basis`); ``vertex[k]``, k < d, is the edge that
loosens basic row k at unit rate and keeps the others tight; ``vertex[d]`` is the point, ``vertex[d + 1]`` the
prices of the last climb.

The other bundles: `facts` = units, columns, gauge (the units' rows, the same by columns, their thresholds);
`prize` = the objective; `tree` = the stack of nodes; `crew` = witnesses; `board` = one node's notes; `store`
= infeasible sets (found[0] is the latest one, found[1] one to branch on), known ones, known ones by size.

Nothing here trusts the simplex method: a set of literals is called infeasible only if its multipliers prove
it by arithmetic with an error bound (`_certify`).
"""

import numpy as np
from numba import njit

# Slots of control.
LEVEL, WORK, LIMIT, NODES, N_ROWS, TOP, N_CLAUSES, HAND = range(8)
OFFERED, N_LOG, NEXT_ID, TARGET, HOPE, TOTAL, ADDITIVE, N_POSITIVES, LOADING = range(8, 17)
CONTROL_SIZE = 17
# Slots of goals: slack within which rows tie, largest violation that refactoring may leave.
TOLERANCE, NO_GAP = range(2)
# Rows of lines, gauge, coins and flags.
RHS, SLACK, RATE, RATIO, HOME = range(5)
LOW, HIGH, EXACT, SIZE, HOLD = range(5)
BUDGET, LEFT, PACKED = range(3)
COVERED, TOGETHER, APART = range(3)
# Columns of clauses: how many literals, how much used lately, where the literals begin.
LENGTH, USE, HEAD = range(3)
# Columns of stack.
PHASE, BRANCHED, FIRST_ID, END_ROWS, NUMBER, CREW_SIZE, CREW_TOP, BASIS = range(8)
# Phases of a node on the stack.
FRESH, FIRST, SECOND, SPENT, WAITING = range(5)
# What became of a node, and why the walk returned.
CLOSED, BRANCH, LEAF, STUCK, OPEN = range(5)
DONE, PAUSE, FITS, JAMMED, DEEP = range(5)
UNDECIDED, WON, LOST = range(3)
# Records of the log.
LOG_ENTER, LOG_LOST, LOG_WIN, LOG_RESET, LOG_PACK, LOG_BRANCH, LOG_CLOSE = range(1, 8)
CLOSED_EMPTY, CLOSED_VALUE, CLOSED_PACKING = range(3)

EPS = 2.0**-52
FEW = 4
"""Infeasible sets with more open members are not kept."""
SHARE = 0.5
"""How far towards the losses of the last packing point the budgets are tangent."""
PUBLIC = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = {**PUBLIC, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# The simplex method may round as it likes: what it claims is checked elsewhere.
FAST = {**INNER, "fastmath": {"nnan", "nsz", "reassoc", "contract", "arcp"}}


# -- the simplex method ---------------------------------------------------------------------------------


@njit(**FAST)
def _combine(rows, n, vertex, k, sign, out, at):
    """Write ``sign * vertex[k] @ rows[:, :n]`` to out[at]; four rows at a time, which saves stores."""
    d = vertex.shape[1]
    j = d % 4
    for r in range(n):
        out[at, r] = 0.0
    for i in range(j):
        e = sign * vertex[k, i]
        for r in range(n):
            out[at, r] += e * rows[i, r]
    while j < d:
        e0, e1 = sign * vertex[k, j], sign * vertex[k, j + 1]
        e2, e3 = sign * vertex[k, j + 2], sign * vertex[k, j + 3]
        for r in range(n):
            out[at, r] += e0 * rows[j, r] + e1 * rows[j + 1, r] + e2 * rows[j + 2, r] + e3 * rows[j + 3, r]
        j += 4


@njit(**FAST)
def _step(rows, lines, n, basis, vertex, k, sign, tolerance):
    """Leave basic row k along its edge to the first row met, and pivot; -1 if there is none."""
    d = basis.size
    norm = 0.0
    for j in range(d):
        norm += abs(vertex[k, j])
    _combine(rows, n, vertex, k, sign, lines, RATE)
    # Dividing first and looking for the smallest afterwards lets both loops run several rows at a time.
    for r in range(n):
        lines[RATIO, r] = lines[RATE, r] / (lines[SLACK, r] + tolerance)
    tightest = 0.0
    for r in range(n):
        tightest = min(tightest, lines[RATIO, r])
    floor = -1e-10 * norm
    enter = -1
    largest = -floor
    for r in range(n):
        if -lines[RATE, r] > largest and -lines[SLACK, r] * tightest <= -lines[RATE, r]:
            largest = -lines[RATE, r]
            enter = r
    if enter < 0:
        return -1
    length = max(lines[SLACK, enter], 0.0) / largest
    for r in range(n):
        lines[SLACK, r] += length * lines[RATE, r]
    for j in range(d):
        vertex[d, j] += length * sign * vertex[k, j]
        vertex[k, j] *= -sign / largest
    for i in range(d):
        if i != k:
            a = 0.0
            for j in range(d):
                a += rows[j, enter] * vertex[i, j]
            for j in range(d):
                vertex[i, j] -= a * vertex[k, j]
    lines[SLACK, enter] = 0.0
    basis[k] = enter
    return enter


@njit(**FAST)
def _climb(lp, n, units, unit, sign, goal, tolerance, control):
    """Raise ``sign * units[unit] @ point`` to the goal: 1 reached, 0 its maximum is below, -1 gave up."""
    rows, lines, _, basis, vertex = lp
    d = basis.size
    for _ in range(400):
        value = 0.0
        for j in range(d):
            value += units[unit, j] * vertex[d, j]
        if sign * value >= goal:
            return 1
        k = -1
        best = 1e-22
        for i in range(d):
            price = 0.0
            norm = 0.0
            for j in range(d):
                price += units[unit, j] * vertex[i, j]
                norm += vertex[i, j] * vertex[i, j]
            price *= sign
            vertex[d + 1, i] = price
            if price > 0.0 and price * price > best * norm:
                best = price * price / norm
                k = i
        if k < 0:
            return 0
        control[WORK] += n + 4 * d
        if _step(rows, lines, n, basis, vertex, k, 1.0, tolerance) < 0:
            return -1
    return -1


@njit(**FAST)
def _refactor(lp, n):
    """Edges, point and slacks from the basis alone; the smallest slack, or -inf for a singular basis."""
    rows, lines, _, basis, vertex = lp
    d = basis.size
    work = np.zeros((d, 2 * d))
    for k in range(d):
        for j in range(d):
            work[k, j] = rows[j, basis[k]]
        work[k, d + k] = 1.0
    for c in range(d):
        best = c
        for i in range(c + 1, d):
            if abs(work[i, c]) > abs(work[best, c]):
                best = i
        if abs(work[best, c]) < 1e-13:
            return -np.inf
        for j in range(2 * d):
            work[c, j], work[best, j] = work[best, j], work[c, j]
        scale = 1.0 / work[c, c]
        for j in range(2 * d):
            work[c, j] *= scale
        for i in range(d):
            a = work[i, c]
            if i != c:
                for j in range(2 * d):
                    work[i, j] -= a * work[c, j]
    for j in range(d):
        vertex[d, j] = 0.0
        for k in range(d):
            vertex[k, j] = work[j, d + k]
            vertex[d, j] += vertex[k, j] * lines[RHS, basis[k]]
    for r in range(n):
        lines[SLACK, r] = -lines[RHS, r]
    for j in range(d):
        for r in range(n):
            lines[SLACK, r] += rows[j, r] * vertex[d, j]
    smallest = 0.0
    for k in range(d):
        lines[SLACK, basis[k]] = 0.0
    for r in range(n):
        smallest = min(smallest, lines[SLACK, r])
    return smallest


@njit(**INNER)
def _append(facts, lp, control, literal):
    """Add the row of a literal to the simplex method; it may be violated."""
    units, _, gauge = facts
    rows, lines, ids, _, vertex = lp
    n = control[N_ROWS]
    d = units.shape[1]
    unit = literal >> 1
    sign = 1.0 - 2.0 * (literal & 1)
    bound = gauge[LOW, unit] if literal & 1 == 0 else -gauge[HIGH, unit]
    value = 0.0
    for j in range(d):
        rows[j, n] = sign * units[unit, j]
        value += rows[j, n] * vertex[d, j]
    lines[RHS, n] = bound
    lines[SLACK, n] = value - bound
    ids[n] = literal
    control[N_ROWS] = n + 1


@njit(**INNER)
def _remove(lp, control, slot):
    """Take a row that is not basic out of the simplex method: the last one moves to its place."""
    rows, lines, ids, basis, _ = lp
    last = control[N_ROWS] - 1
    if slot != last:
        for j in range(basis.size):
            rows[j, slot] = rows[j, last]
            if basis[j] == last:
                basis[j] = slot
        lines[RHS, slot] = lines[RHS, last]
        lines[SLACK, slot] = lines[SLACK, last]
        ids[slot] = ids[last]
    control[N_ROWS] = last


@njit(**INNER)
def _certify(facts, lp, literal, found):
    """Whether the basic literals with a price exclude `literal`, proved; the set goes to found[0].

    With multipliers t_r >= 0: g = row + sum t_r row_r, and g @ w <= sum |g_j| over the box, while every row
    wants g @ w >= rhs + sum t_r rhs_r at the true margin. A contradiction beyond rounding is a proof.
    """
    units, _, gauge = facts
    _, _, ids, basis, vertex = lp
    d = basis.size
    unit = literal >> 1
    sign = 1.0 - 2.0 * (literal & 1)
    wanted = sign * gauge[EXACT, unit]
    mass = gauge[SIZE, unit] + gauge[EXACT, unit]
    largest = 1.0
    for k in range(d):
        largest = max(largest, -vertex[d + 1, k])
    gradient = np.empty(d)
    for j in range(d):
        gradient[j] = sign * units[unit, j]
    count = HEAD
    for k in range(d):
        other = ids[basis[k]]
        t = -vertex[d + 1, k]
        if other < 0 or t <= 1e-11 * largest:
            continue
        v = other >> 1
        s = t if other & 1 == 0 else -t
        for j in range(d):
            gradient[j] += s * units[v, j]
        wanted += s * gauge[EXACT, v]
        mass += t * (gauge[SIZE, v] + gauge[EXACT, v])
        found[0, count] = other
        count += 1
    found[0, count] = literal
    found[0, LENGTH] = count + 1 - HEAD
    reach = 0.0
    for j in range(d):
        reach += abs(gradient[j])
    # At most d + 1 rows: each product, sum and difference of features rounds once.
    return reach + 4.0 * (d + 4) * EPS * mass < wanted


# -- log and clauses ------------------------------------------------------------------------------------


@njit(**INNER)
def _note(log, control, code, value):
    """Write a record of one number to the log, if there is one."""
    if log.size > 0:
        at = control[N_LOG]
        log[at] = code
        log[at + 1] = value
        control[N_LOG] = at + 2


@njit(**INNER)
def _note_clause(log, control, code, clauses, c):
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
def _learn(store, control):
    """Keep the infeasible set found[0] for other nodes; one not used for long goes."""
    found, clauses, _ = store
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
def _members(clauses, c, state):
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
def _propagate(store, state, control, log):
    """Sets with one open member lose it; those with a few go to buckets; CLOSED if one has none left."""
    _, clauses, bucket = store
    widest = bucket.shape[0] - 1
    again = True
    while again:
        again = False
        for b in range(widest + 1):
            bucket[b, 0] = 0
        for c in range(control[N_CLAUSES]):
            members = _members(clauses, c, state)
            if members < 0 or members > widest:
                continue
            if members == 0:
                _note_clause(log, control, LOG_PACK, clauses, c)
                _note(log, control, LOG_CLOSE, CLOSED_EMPTY)
                return CLOSED
            if members == 1:
                _note_clause(log, control, LOG_LOST, clauses, c)
                for i in range(HEAD, HEAD + clauses[c, LENGTH]):
                    if state[clauses[c, i] >> 1] == UNDECIDED:
                        state[clauses[c, i] >> 1] = LOST
                clauses[c, USE] = 2
                again = True
            else:
                bucket[members, 0] += 1
                bucket[members, bucket[members, 0]] = c
    return OPEN


# -- the objective --------------------------------------------------------------------------------------
# prize = pair_start, pairs, query_of, queries, weights, worth, order.
# queries[:, q]: positives, negatives, where their counts are kept in tally[2], where the weights begin.
# weights[0] are the position weights, rounded up; weights[1] lie below them and are convex.


@njit(**INNER)
def _counts(prize, tally, losing):
    """Lost pairs of each positive and won pairs of each negative, given the units that lose."""
    pair_start, pairs, query_of, queries, _, _, _ = prize
    for i in range(tally.shape[1]):
        tally[0, i] = 0
    for k in range(query_of.shape[1]):
        tally[1, k] = queries[0, query_of[1, k]]
    for u in range(losing.size):
        if losing[u] == 1:
            for p in range(pair_start[u], pair_start[u + 1]):
                tally[0, pairs[0, p]] += 1
                tally[1, pairs[1, p]] -= 1
    # Pairs that can never be won are in no unit: they are listed behind the last one.
    for p in range(pair_start[losing.size], pairs.shape[1]):
        tally[0, pairs[0, p]] += 1
        tally[1, pairs[1, p]] -= 1


@njit(**INNER)
def _value(prize, tally, losing, control):
    """Value when exactly the units of `losing` lose: the positives' form, or the sum of the worths.

    The positives' form is sum over j of weight[j + c_(j)]; tally[2] keeps how many have at most c lost pairs.
    """
    _, _, query_of, queries, weights, worth, _ = prize
    value = 0
    if control[ADDITIVE] == 1:
        for u in range(losing.size):
            value += worth[u] * (1 - losing[u])
        return value
    _counts(prize, tally, losing)
    for i in range(tally.shape[1]):
        tally[2, i] = 0
    for i in range(control[N_POSITIVES]):
        tally[2, queries[2, query_of[0, i]] + tally[0, i]] += 1
    for q in range(queries.shape[1]):
        j = 0
        for lost in range(queries[1, q] + 1):
            at = queries[2, q] + lost
            for _ in range(tally[2, at]):
                value += weights[0, queries[4, q] + j + lost]
                j += 1
            tally[2, at] = j
    return value


@njit(**INNER)
def _single_drops(prize, tally, state, coins, control):
    """What losing each undecided unit alone takes off the value just computed, at least."""
    pair_start, pairs, query_of, queries, weights, worth, _ = prize
    for u in range(state.size):
        drop = 0
        if state[u] == UNDECIDED and control[ADDITIVE] == 1:
            drop = worth[u]
        elif state[u] == UNDECIDED:
            for p in range(pair_start[u], pair_start[u + 1]):
                q = query_of[0, pairs[0, p]]
                lost = tally[0, pairs[0, p]]
                at = queries[4, q] + tally[2, queries[2, q] + lost] - 1 + lost
                drop = max(drop, weights[0, at] - weights[0, at + 1])
        coins[LEFT, u] = drop


@njit(**INNER)
def _negatives_form(prize, tally, drop, control, expect, log):
    """Bound from the won counts: total - sum_r weight[r + b_(r)], convex in the counts b.

    The bound is the tangent at the counts `expect`; `drop` is its slope: what each negative pays at least for
    every won pair it loses.
    """
    _, _, query_of, queries, weights, _, order = prize
    here = control[N_LOG] + 2
    if log.size > 0:
        log[here - 2], log[here - 1] = LOG_RESET, 2 * order.size
        control[N_LOG] = here + 2 * order.size
    for i in range(tally.shape[1]):
        tally[2, i] = 0
    for k in range(order.size):
        b = max(0, min(tally[1, k], int(np.floor(min(expect[k], 1e9) + 0.5))))
        tally[0, k] = b
        tally[2, queries[3, query_of[1, k]] + b + 1] += 1
    for q in range(queries.shape[1]):
        for b in range(queries[3, q], queries[3, q] + queries[0, q] + 1):
            tally[2, b + 1] += tally[2, b]
    bound = control[TOTAL]
    for i in range(order.size):
        k = order[i]
        q = query_of[1, k]
        b = tally[0, k]
        rank = tally[2, queries[3, q] + b]
        at = queries[4, q] + rank + b
        tally[2, queries[3, q] + b] += 1
        if log.size > 0:
            log[here + 2 * k], log[here + 2 * k + 1] = b, rank
        if b > 0:
            drop[k] = weights[1, at - 1] - weights[1, at]
        else:
            drop[k] = weights[1, at] - weights[1, at + 1] if tally[1, k] > 0 else 0
        bound -= weights[1, at] - (tally[1, k] - b) * drop[k]
    return bound


@njit(**INNER)
def _budgets(prize, board, state, control, expect, log):
    """Start of the packing bound: the negatives' form, and what each undecided unit costs when lost."""
    flags, _, coins, tally, drop = board
    pair_start, pairs, _, _, _, worth, _ = prize
    additive = control[ADDITIVE] == 1
    for u in range(state.size):
        flags[TOGETHER, u] = state[u] == LOST
    if additive:
        bound = _value(prize, tally, flags[TOGETHER], control)
        _note(log, control, LOG_RESET, 0)
    else:
        _counts(prize, tally, flags[TOGETHER])
        bound = _negatives_form(prize, tally, drop, control, expect, log)
    for u in range(state.size):
        cost = 0
        if state[u] == UNDECIDED and additive:
            cost = worth[u]
        elif state[u] == UNDECIDED:
            for p in range(pair_start[u], pair_start[u + 1]):
                cost += drop[pairs[1, p]]
        coins[BUDGET, u] = cost
        coins[LEFT, u] = cost
    return bound


@njit(**INNER)
def _estimate(facts, prize, board, state, control, expect):
    """Won pairs of each negative to expect: between what may be won and what the last point wins."""
    _, _, gauge = facts
    _, scores, _, tally, _ = board
    pair_start, pairs, _, _, _, _, _ = prize
    if control[ADDITIVE] == 1:
        return
    for k in range(expect.size):
        expect[k] = tally[1, k]
    for u in range(state.size):
        if state[u] == UNDECIDED and scores[u] < gauge[HOLD, u]:
            for p in range(pair_start[u], pair_start[u + 1]):
                expect[pairs[1, p]] -= SHARE


# -- witnesses ------------------------------------------------------------------------------------------


@njit(**FAST)
def _score(columns, vertex, scores):
    """Scores of all units at the current point."""
    d, n = columns.shape
    for u in range(n):
        scores[u] = 0.0
    for j in range(d):
        x = vertex[d, j]
        for u in range(n):
            scores[u] += columns[j, u] * x


@njit(**INNER)
def _witness(facts, lp, crew, stack, board, control, level):
    """Keep who wins at the current point."""
    _, columns, gauge = facts
    masks, roster = crew
    flags, scores, _, _, _ = board
    _score(columns, lp[4], scores)
    top = min(control[TOP], masks.shape[0] - 1)
    control[TOP] = top + 1
    for u in range(scores.size):
        won = scores[u] >= gauge[HOLD, u]
        masks[top, u] = won
        flags[COVERED, u] |= won
    n = stack[level, CREW_SIZE]
    if n == roster.shape[1]:
        n -= 1
        for i in range(n):
            roster[level, i] = roster[level, i + 1]
    roster[level, n] = top
    stack[level, CREW_SIZE] = n + 1


@njit(**INNER)
def _dismiss(crew, stack, level, unit, want):
    """Keep the witnesses that win (want = 1) or lose (0) the unit."""
    masks, roster = crew
    kept = 0
    for i in range(stack[level, CREW_SIZE]):
        w = roster[level, i]
        if masks[w, unit] == want:
            roster[level, kept] = w
            kept += 1
    stack[level, CREW_SIZE] = kept


@njit(**INNER)
def _muster(crew, stack, level, flags):
    """Which units some witness wins."""
    masks, roster = crew
    n = flags.shape[1]
    for u in range(n):
        flags[COVERED, u] = 0
    for i in range(stack[level, CREW_SIZE]):
        w = roster[level, i]
        for u in range(n):
            flags[COVERED, u] |= masks[w, u]


# -- one node -------------------------------------------------------------------------------------------


@njit(**INNER)
def _enforce(facts, lp, store, control, goals, log, literal):
    """Add the row of a literal to the region and move the vertex inside: OPEN, CLOSED or STUCK."""
    lines = lp[1]
    _append(facts, lp, control, literal)
    slot = control[N_ROWS] - 1
    if lines[SLACK, slot] >= 0.0:
        return OPEN
    sign = 1.0 - 2.0 * (literal & 1)
    # Without its own row, which is violated and must not block the way.
    reached = _climb(lp, slot, facts[0], literal >> 1, sign, lines[RHS, slot], goals[TOLERANCE], control)
    if reached == 1:
        control[N_ROWS] = slot
        _append(facts, lp, control, literal)
        return OPEN
    if reached == 0 and _certify(facts, lp, literal, store[0]):
        _note_clause(log, control, LOG_PACK, store[0], 0)
        _note(log, control, LOG_CLOSE, CLOSED_EMPTY)
        if store[0][0, LENGTH] <= FEW + 1:
            _learn(store, control)
        return CLOSED
    return STUCK


@njit(**INNER)
def _test_lost(facts, lp, store, crew, stack, board, state, control, goals, log, level):
    """Maximise every undecided unit that no witness wins: lost, or a new witness. How many were lost."""
    units, _, gauge = facts
    flags = board[0]
    fallen = 0
    for u in range(state.size):
        if state[u] != UNDECIDED or flags[COVERED, u] == 1:
            continue
        reached = _climb(lp, control[N_ROWS], units, u, 1.0, gauge[LOW, u], goals[TOLERANCE], control)
        if reached == 1:
            _witness(facts, lp, crew, stack, board, control, level)
        elif reached == 0 and _certify(facts, lp, 2 * u, store[0]):
            _note_clause(log, control, LOG_LOST, store[0], 0)
            state[u] = LOST
            fallen += 1
    return fallen


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
    _note_clause(log, control, LOG_PACK, clauses, c)
    return smallest


@njit(**INNER)
def _pack_known(store, state, coins, control, log, bound):
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
        if _step(rows, lines, control[N_ROWS], basis, vertex, k, sign, goals[TOLERANCE]) < 0:
            return False
        _remove(lp, control, slot)
    return True


@njit(**INNER)
def _line_up(facts, state, coins, queue, least):
    """Line up the undecided units with enough budget left for `_worst`; their number."""
    _, columns, gauge = facts
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
    _combine(scan, n, vertex, d, 1.0, scan, d + 2)
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
def _pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, least):
    """Fit undecided units into the region one by one; each infeasible set found lowers the bound.

    With least = 1 only units with a budget are fitted. With least = 0 all are, nothing is paid and the first
    infeasible set is left in found[1]; so is a unit that could not be settled.
    """
    vertex = lp[4]
    units, _, gauge = facts
    scan, who = queue
    found = store[0]
    d = vertex.shape[1]
    n = _line_up(facts, state, coins, queue, least)
    while True:
        i = _worst(scan, n, vertex)
        if i < 0:
            return bound
        u = who[i]
        control[WORK] += n // 8
        reached = _climb(lp, control[N_ROWS], units, u, 1.0, gauge[LOW, u], goals[TOLERANCE], control)
        if reached == 1:
            _append(facts, lp, control, 2 * u)
            scan[d, i] = -1e300
            continue
        if reached < 0 or not _certify(facts, lp, 2 * u, found):
            found[1, LENGTH] = 1
            found[1, HEAD] = 2 * u
            scan[d, i] = -1e300
            continue
        if least == 0:
            for j in range(found.shape[1]):
                found[1, j] = found[0, j]
            return bound
        if _members(found, 0, state) <= FEW:
            _learn(store, control)
        bound -= _pay(found, 0, state, coins, control, log)
        if bound < control[TARGET]:
            return bound
        if coins[LEFT, u] == 0:
            scan[d, i] = -1e300
        if not _drop_spent(facts, lp, coins, control, goals, region, u):
            return bound


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
        if state[u] == UNDECIDED and bound - coins[LEFT, u] < control[TARGET]:
            state[u] = WON
            n += 1
            _note(log, control, LOG_WIN, u)
            outcome = _enforce(facts, lp, store, control, goals, log, 2 * u)
            if outcome != OPEN:
                return outcome, n
            _dismiss(crew, stack, level, u, 1)
    if n > 0:
        _muster(crew, stack, level, board[0])
    return OPEN, n


@njit(**INNER)
def _offer(facts, lp, prize, board, control, candidate):
    """Hand the current point out when it may be worth more than anything offered so far."""
    flags, scores, _, tally, _ = board
    _, _, gauge = facts
    for u in range(scores.size):
        flags[TOGETHER, u] = scores[u] < gauge[HOLD, u]
    value = _value(prize, tally, flags[TOGETHER], control)
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
        if _propagate(store, state, control, log) == CLOSED:
            return CLOSED
        fallen = _test_lost(facts, lp, store, crew, stack, board, state, control, goals, log, level)
        for u in range(state.size):
            flags[TOGETHER, u] = state[u] == LOST
        value = _value(prize, tally, flags[TOGETHER], control)
        bounds[level] = min(bounds[level], value)
        if value < control[TARGET]:
            _note(log, control, LOG_CLOSE, CLOSED_VALUE)
            return CLOSED
        _single_drops(prize, tally, state, coins, control)
        outcome, n = _win(facts, lp, store, crew, stack, board, state, control, goals, log, level, value)
        if outcome != OPEN:
            return outcome
        if n == 0:
            if fallen > 0:
                return _propagate(store, state, control, log)
            return OPEN


@njit(**INNER)
def _keep(lp, home, n, away):
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


@njit(**INNER)
def _process(
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
        bound = _budgets(prize, board, state, control, expects[level], log)
        bound = _pack_known(store, state, coins, control, log, bound)
        region = control[N_ROWS]
        _keep(lp, home, region, True)
        found[1, LENGTH] = 0
        if bound >= control[TARGET]:
            bound = _pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, 1)
        bounds[level] = min(bounds[level], bound)
        if bound < control[TARGET]:
            _note(log, control, LOG_CLOSE, CLOSED_PACKING)
            return CLOSED
        unit = _choose(crew, stack, board, state, level, chosen)
        if unit < 0 and found[1, LENGTH] == 0:
            # Nothing was packed. Do all undecided units fit, those without budget too?
            control[N_ROWS] = region
            _keep(lp, home, region, False)
            bound = _pack(facts, lp, store, state, coins, queue, control, goals, log, bound, region, 0)
        _score(facts[1], vertex, board[1])
        _estimate(facts, prize, board, state, control, expects[level])
        _offer(facts, lp, prize, board, control, candidate)
        control[N_ROWS] = region
        _keep(lp, home, region, False)
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


# -- the walk -------------------------------------------------------------------------------------------


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
    _refactor(lp, 2 * d)
    _note(log, control, LOG_ENTER, stack[0, NUMBER])
    for i in range(literals.size):
        outcome = _enforce(facts, lp, store, control, goals, log, literals[i])
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
    _note(log, control, LOG_ENTER, stack[child, NUMBER])
    if _refactor(lp, control[N_ROWS]) < -goals[NO_GAP]:
        _append(facts, lp, control, 2 * unit + side)
        return STUCK
    outcome = _enforce(facts, lp, store, control, goals, log, 2 * unit + side)
    if outcome == OPEN:
        _dismiss(crew, stack, child, unit, 1 - side)
        _muster(crew, stack, child, board[0])
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
            outcome = _process(
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
                _note(log, control, LOG_BRANCH, stack[level, BRANCHED])
                _note(log, control, LOG_BRANCH, stack[level, FIRST_ID])
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
