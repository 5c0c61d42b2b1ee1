"""Compiled searches of one or two coordinates: a face is one sweep, the plane one walk around."""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit
from toprank.exact.boxes._sweep_kernels import sweep
from toprank.exact.directions._counting import JIT, NOTHING, fresh_tally, lose, regain


@njit(**JIT)
def sweep_face(problem, fixed, sign, k, low, high, margin, safe, target, value, at, who, ends, out):
    """Two coordinates: largest value for u_fixed = sign, low <= u_k <= high; NOTHING below the target.

    With `safe` a pair counts as won only where it surely is, otherwise wherever it may be. The ends of the
    interval are multiples of 1/4, so that multiplying by them hardly rounds. out[0] is the place, out[1] the
    number of pairs that change sides; when there is no room for them nothing else is done.
    """
    E, error = problem.E, problem.error
    tally = fresh_tally(problem, problem.count.copy(), problem.at_most.copy())
    events = np.int64(0)  # a constant would be a type of its own
    out[0] = 0.5 * (low + high)
    for p in range(E.shape[0]):
        top = sign * E[p, fixed] - margin + (-error[p] if safe else error[p])
        one, other = top + low * E[p, k], top + high * E[p, k]
        if max(one, other) < 0.0:
            value = lose(p, tally, value)
        elif min(one, other) < 0.0:
            if events < at.shape[1]:
                at[0, events] = -top / E[p, k]
                who[0, events] = p if E[p, k] > 0.0 else -1 - p
            events += 1
    out[1] = events
    if events == 0:
        return value if value >= target else NOTHING
    if events > at.shape[1]:
        return NOTHING
    best, _ = sweep(value, target, True, events, low, high, at, who, ends, tally, out)
    return best


@njit(**JIT)
def walk_sectors(problem, events, ends, value):
    """Two coordinates without a margin: the largest value of any sector, and after which set of events.

    Going around once, event p < P is the direction from which pair p is won, event p + P from which it is
    lost; events up to ends[g] happen at one direction, on which a pair is not won.
    """
    tally = fresh_tally(problem, problem.count.copy(), problem.at_most.copy())
    P = len(events) // 2
    place = np.empty(2 * P, np.int64)
    for e in range(2 * P):
        place[events[e]] = e
    for p in range(P):
        if place[p] < place[p + P]:  # won later on, so not at the start
            value = lose(p, tally, value)
    best = NOTHING
    found = 0
    first = 0
    for g in range(len(ends)):
        for e in range(first, ends[g]):
            if events[e] >= P:
                value = lose(events[e] - P, tally, value)
        for e in range(first, ends[g]):
            if events[e] < P:
                value = regain(events[e], tally, value)
        first = ends[g]
        if value > best:
            best = value
            found = g
    return best, found
