"""What a node is worth at most, in whole numbers: counts, drops, budgets of the units.

The arrays are explained in `_layout`.
"""

import numpy as np

from toprank.compiled import njit
from toprank.exact.cells._clauses import note
from toprank.exact.cells._layout import (
    ADDITIVE,
    COST,
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


@njit(**INNER)
def _count(objective, counts, losing):
    """Lost pairs of each positive and won pairs of each negative, given the units that lose."""
    pair_start, pairs = objective.pair_start, objective.pairs
    query_of, queries = objective.query_of, objective.queries
    for i in range(counts.shape[1]):
        counts[0, i] = 0
    for k in range(query_of.shape[1]):
        counts[1, k] = queries[0, query_of[1, k]]
    for u in range(losing.size):
        if losing[u] == 1:
            for p in range(pair_start[u], pair_start[u + 1]):
                counts[0, pairs[0, p]] += 1
                counts[1, pairs[1, p]] -= 1
    # Pairs that can never be won are in no unit: they are listed behind the last one.
    for p in range(pair_start[losing.size], pairs.shape[1]):
        counts[0, pairs[0, p]] += 1
        counts[1, pairs[1, p]] -= 1


@njit(**INNER)
def best_value(objective, counts, losing, control):
    """Value when exactly the units of `losing` lose: the positives' form, or the sum of the worths.

    The positives' form is sum over j of g(j, c_(j)); counts[2] keeps how many have lost at most c.
    """
    query_of, queries, weights = objective.query_of, objective.queries, objective.weights
    value = 0
    if control[ADDITIVE] == 1:
        value = control[TOTAL]
        for u in range(losing.size):
            value += objective.worth[u] * (1 - losing[u])
        return value
    _count(objective, counts, losing)
    for i in range(counts.shape[1]):
        counts[2, i] = 0
    for i in range(control[N_POSITIVES]):
        counts[2, queries[2, query_of[0, i]] + counts[0, i]] += 1
    for q in range(queries.shape[1]):
        j = 0
        for lost in range(queries[1, q] + 1):
            at = queries[2, q] + lost
            for _ in range(counts[2, at]):
                value += weights[queries[4, q] + queries[5, q] * j + lost]
                j += 1
            counts[2, at] = j
    return value


@njit(**INNER)
def single_drops(objective, counts, state, budget, control):
    """What losing each undecided unit alone takes off the value just computed, at least."""
    pair_start, pairs, query_of = objective.pair_start, objective.pairs, objective.query_of
    queries, weights = objective.queries, objective.weights
    for u in range(state.size):
        drop = 0
        if state[u] == UNDECIDED and control[ADDITIVE] == 1:
            drop = objective.worth[u]
        elif state[u] == UNDECIDED:
            for p in range(pair_start[u], pair_start[u + 1]):
                q = query_of[0, pairs[0, p]]
                lost = counts[0, pairs[0, p]]
                last = counts[2, queries[2, q] + lost] - 1
                at = queries[4, q] + queries[5, q] * last + lost
                drop = max(drop, weights[at] - weights[at + 1])
        budget[LEFT, u] = drop


@njit(**INNER)
def _negatives_form(objective, room, control, expected, log):
    """Bound from the won counts: total - sum_r loss[r, b_(r)], convex in the counts b.

    The bound is the tangent at the counts `expected`; its `slopes` are what each negative pays at least for
    every won pair it loses.
    """
    query_of, queries, losses, order = (
        objective.query_of,
        objective.queries,
        objective.losses,
        objective.order,
    )
    counts, slopes = room.counts, room.slopes
    here = control[N_LOG] + 2
    if log.size > 0:
        log[here - 2], log[here - 1] = LOG_RESET, 2 * order.size
        control[N_LOG] = here + 2 * order.size
    for i in range(counts.shape[1]):
        counts[2, i] = 0
    for k in range(order.size):
        b = max(0, min(counts[1, k], int(np.floor(min(expected[k], 1e9) + 0.5))))
        counts[0, k] = b
        counts[2, queries[3, query_of[1, k]] + b + 1] += 1
    for q in range(queries.shape[1]):
        for b in range(queries[3, q], queries[3, q] + queries[0, q] + 1):
            counts[2, b + 1] += counts[2, b]
    bound = control[TOTAL]
    for i in range(order.size):
        k = order[i]
        q = query_of[1, k]
        b = counts[0, k]
        rank = counts[2, queries[3, q] + b]
        at = queries[6, q] + queries[7, q] * rank + b
        counts[2, queries[3, q] + b] += 1
        if log.size > 0:
            log[here + 2 * k], log[here + 2 * k + 1] = b, rank
        if b > 0:
            slopes[k] = losses[at - 1] - losses[at]
        else:
            slopes[k] = losses[at] - losses[at + 1] if counts[1, k] > 0 else 0
        bound -= losses[at] - (counts[1, k] - b) * slopes[k]
    return bound


@njit(**INNER)
def budgets(objective, room, state, control, expected, log):
    """Start of the packing bound: the negatives' form, and what each undecided unit costs when lost."""
    flags, budget = room.flags, room.budgets
    pair_start, pairs = objective.pair_start, objective.pairs
    additive = control[ADDITIVE] == 1
    for u in range(state.size):
        flags[TOGETHER, u] = state[u] == LOST
    if additive:
        bound = best_value(objective, room.counts, flags[TOGETHER], control)
        note(log, control, LOG_RESET, 0)
    else:
        _count(objective, room.counts, flags[TOGETHER])
        bound = _negatives_form(objective, room, control, expected, log)
    for u in range(state.size):
        cost = 0
        if state[u] == UNDECIDED and additive:
            cost = objective.worth[u]
        elif state[u] == UNDECIDED:
            for p in range(pair_start[u], pair_start[u + 1]):
                cost += room.slopes[pairs[1, p]]
        budget[COST, u] = cost
        budget[LEFT, u] = cost
    return bound


@njit(**INNER)
def estimate(walk, state, expected):
    """Won pairs of each negative to expect: between what may be won and what the last point wins."""
    thresholds, scores = walk.facts.thresholds, walk.room.scores
    pair_start, pairs = walk.objective.pair_start, walk.objective.pairs
    if walk.control[ADDITIVE] == 1:
        return
    for k in range(expected.size):
        expected[k] = walk.room.counts[1, k]
    for u in range(state.size):
        if state[u] == UNDECIDED and scores[u] < thresholds[HOLD, u]:
            for p in range(pair_start[u], pair_start[u + 1]):
                expected[pairs[1, p]] -= SHARE
