"""What a node is worth at most, in whole numbers: counts, drops, budgets of the units.

The arrays are explained in `_cell_layout`.
"""

import numpy as np
from numba import njit

from toprank.exact.cells._clauses import note
from toprank.exact.cells._layout import (
    ADDITIVE,
    BUDGET,
    HOLD,
    INNER,
    LEFT,
    LOG_RESET,
    LOST,
    N_LOG,
    N_POSITIVES,
    SHARE,
    TOGETHER,
    TOTAL,
    UNDECIDED,
)

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
def best_value(prize, tally, losing, control):
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
def single_drops(prize, tally, state, coins, control):
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
def budgets(prize, board, state, control, expect, log):
    """Start of the packing bound: the negatives' form, and what each undecided unit costs when lost."""
    flags, _, coins, tally, drop = board
    pair_start, pairs, _, _, _, worth, _ = prize
    additive = control[ADDITIVE] == 1
    for u in range(state.size):
        flags[TOGETHER, u] = state[u] == LOST
    if additive:
        bound = best_value(prize, tally, flags[TOGETHER], control)
        note(log, control, LOG_RESET, 0)
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
def estimate(facts, prize, board, state, control, expect):
    """Won pairs of each negative to expect: between what may be won and what the last point wins."""
    gauge = facts[2]
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
