"""Compiled sweep of one coordinate, and the stack of boxes; `directions._counting` counts lost pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.directions._counting import JIT, NOTHING, STEP, lose, regain

LEVEL, VALUE, NODES, LOGGED, SPARED, FLOOR, FOUND, WORKED = range(8)
LEAF, HANDED, STUCK = 255, 254, 253  # log codes; smaller ones are the axis of a split
ROOT = -1


@njit(**STEP)
def win_from(who, first, last, tally, value):
    """Regain the pairs of some events that are won from their time on."""
    for q in range(first, last):
        if who[q] >= 0:
            value = regain(who[q], tally, value)
    return value


@njit(**STEP)
def lose_after(who, first, last, tally, value):
    """Lose the pairs of some events that are won until their time."""
    for q in range(first, last):
        if who[q] < 0:
            value = lose(-1 - who[q], tally, value)
    return value


@njit(**JIT)
def sort_events(at, who, first, last):
    """Shell sort of events by time; an insertion sort when there are few."""
    gap = 1
    while gap < (last - first) // 8:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(first + gap, last):
            x = at[i]
            e = who[i]
            j = i - gap
            while j >= first and at[j] > x:
                at[j + gap] = at[j]
                who[j + gap] = who[j]
                j -= gap
            at[j + gap] = x
            who[j + gap] = e
        gap //= 3


@njit(**JIT)
def bucket_of(x, low, scale, buckets):
    """Number of the bucket of time x: never decreasing in x."""
    b = int((x - low) * scale)
    return min(max(b, 0), buckets - 1)


@njit(**JIT)
def spread_events(n, at, who, low, high, ends):
    """Counting sort of events at[0, :n] into buckets of time in at[1]; ends[b] = where bucket b ends."""
    buckets = min(n // 2 + 1, ends.size - 1)
    scale = buckets / (high - low) if high > low else 0.0
    ends[: buckets + 1] = 0
    for q in range(n):
        ends[bucket_of(at[0, q], low, scale, buckets) + 1] += 1
    for b in range(buckets):
        ends[b + 1] += ends[b]
    for q in range(n):
        b = bucket_of(at[0, q], low, scale, buckets)
        v = ends[b]
        ends[b] = v + 1
        at[1, v] = at[0, q]
        who[1, v] = who[0, q]
    return buckets


@njit(**JIT)
def sweep(value, target, climb, n, low, high, at, who, ends, tally, out):
    """Largest value on the way from t = low to t = high, and where it reaches the target.

    In one piece: its eight running numbers stay in registers.

    Events: pair who >= 0 is won from its time on, pair -1 - who until its time (both ends belong to the won
    side, so at equal times wins come first). Buckets of time whose optimistic value is below the target are
    passed over unsorted. With `climb` the target follows the best value found. Returns the best value (or
    NOTHING) and the value with every pair won again; out = time of the best, first and last time at target.
    """
    buckets = spread_events(n, at, who, low, high, ends)
    times, events = at[1], who[1]
    for q in range(n):
        if events[q] >= 0:
            value = lose(events[q], tally, value)
    best = NOTHING
    best_at = low
    enter = high + 1.0
    leave = low - 1.0
    above = value >= target
    waiting = above  # the stretch of the best value has not ended yet
    if above:
        best = value
        enter = low
        if climb:
            target = value + 1
    first = 0
    for b in range(buckets):
        last = ends[b]
        if first == last:
            continue
        optimist = win_from(events, first, last, tally, value)
        if optimist < target and not above:
            if waiting:
                best_at = 0.5 * (best_at + times[first:last].min())
                waiting = False
            value = lose_after(events, first, last, tally, optimist)
            first = last
            continue
        for q in range(first, last):
            if events[q] >= 0:
                optimist = lose(events[q], tally, optimist)
        sort_events(times, events, first, last)
        while first < last:
            now = times[first]
            if waiting:
                best_at = 0.5 * (best_at + now)
                waiting = False
            stop = first
            while stop < last and times[stop] == now:
                if events[stop] >= 0:
                    value = regain(events[stop], tally, value)
                stop += 1
            if value >= target:
                if not above:
                    above = True
                    enter = min(enter, now)
                if value > best:
                    best = value
                    best_at = now
                    waiting = True
                    if climb:
                        target = value + 1
            for q in range(first, stop):
                if events[q] < 0:
                    value = lose(-1 - events[q], tally, value)
                    waiting = waiting and value >= best
            if above and value < target:
                above = False
                leave = now
            first = stop
    if above:
        leave = high
    if waiting:
        best_at = 0.5 * (best_at + high)
    for q in range(n):
        if events[q] < 0:
            value = regain(-1 - events[q], tally, value)
    out[0] = best_at
    out[1] = max(enter, low)
    out[2] = min(leave, high)
    return best, value


class Work(NamedTuple):
    """One worker's stack, a row for each level, and its scratch."""

    ids: NDArray[np.int32]
    """Lists of undecided pairs, one behind the other, ..."""
    centre: NDArray[np.float64]
    """... the lead of each at the middle of its box, without the swept coordinate, ..."""
    radius: NDArray[np.float64]
    """... and how far that changes over the box."""
    lost: NDArray[np.int32]
    """Lists of lost pairs."""
    span: NDArray[np.int64]
    """Where the lists of each level begin and end: undecided, lost."""
    mid: NDArray[np.float64]
    half: NDArray[np.float64]
    """Middle and half width of each box."""
    times: NDArray[np.float64]
    """Range of the swept coordinate."""
    plan: NDArray[np.int64]
    """Axis of the split, children looked at, bound."""
    at: NDArray[np.float64]
    who: NDArray[np.int32]
    """Events of a sweep: when, and which pair; as they come and sorted."""
    count: NDArray[np.int32]
    at_most: NDArray[np.int32]
    """Counts of lost pairs: see `_sweep_kernels`."""
    regs: NDArray[np.int64]
    """Running numbers: LEVEL, VALUE, NODES, ..."""
    point: NDArray[np.float64]
    """A point that is looked at, and one that was found."""
    log: NDArray[np.uint8]
    spare: NDArray[np.float64]
    spare_info: NDArray[np.int64]
    """Boxes put aside; their bounds, and why."""
    rows: NDArray[np.float64]
    wide: NDArray[np.float64]
    flags: NDArray[np.int64]
    lp: NDArray[np.float64]
    """Scratch of `_conflict_kernels`."""
    ends: NDArray[np.int64]
    """Where each bucket of events ends."""


@njit(**JIT)
def load(problem, work, node, k, value, bound):
    """Start a worker on one open node: all pairs undecided, level 0."""
    P, r = problem.E.shape
    work.count[:] = problem.count
    work.at_most[:] = problem.at_most
    work.regs[LEVEL] = 0
    work.regs[VALUE] = value
    work.plan[0, 0] = ROOT
    work.plan[0, 1] = 0
    work.plan[0, 2] = bound
    work.times[0, 0] = node[2 * r]
    work.times[0, 1] = node[2 * r + 1]
    for j in range(r):
        work.mid[0, j] = node[j]
        work.half[0, j] = node[r + j]
    for p in range(P):
        c = 0.0
        s = 0.0
        for j in range(r):
            if j != k:
                c += problem.E[p, j] * node[j]
                s += abs(problem.E[p, j]) * node[r + j]
        work.ids[p] = p
        work.centre[p] = c
        work.radius[p] = s
    work.span[0, 0] = 0
    work.span[0, 1] = P
    work.span[0, 2] = 0
    work.span[0, 3] = 0


@njit(**JIT)
def step_down(work, level, k, low, high):
    """Box of the next child of `level` into level + 1; the part of [low, high] in it."""
    axis = work.plan[level, 0]
    below = level + 1
    for j in range(work.mid.shape[1]):
        work.mid[below, j] = work.mid[level, j]
        work.half[below, j] = work.half[level, j]
    if axis != ROOT:
        h = 0.5 * work.half[level, axis]
        work.half[below, axis] = h
        work.mid[below, axis] += h if work.plan[level, 1] == 1 else -h
        if axis == k:
            low = max(low, work.mid[below, k] - h)
            high = min(high, work.mid[below, k] + h)
    return low, high


@njit(**JIT)
def hand_over(work, k, nodes, bounds):
    """Give back all that is left of a worker's subtree as open nodes; how many."""
    r = work.mid.shape[1]
    n = 0
    level = work.regs[LEVEL]
    while level >= 0:
        children = 1 if work.plan[level, 0] == ROOT else 2
        while work.plan[level, 1] < children:
            low, high = step_down(work, level, k, work.times[level, 0], work.times[level, 1])
            nodes[n, :r] = work.mid[level + 1]
            nodes[n, r : 2 * r] = work.half[level + 1]
            nodes[n, 2 * r] = low
            nodes[n, 2 * r + 1] = high
            bounds[n] = work.plan[level, 2]
            n += 1
            work.plan[level, 1] += 1
        level -= 1
    return n


@njit(**JIT)
def spare_node(work, level, low, high, bound, kind):
    """Put the box of a level aside."""
    r = work.mid.shape[1]
    n = work.regs[SPARED]
    work.spare[n, :r] = work.mid[level]
    work.spare[n, r : 2 * r] = work.half[level]
    work.spare[n, 2 * r] = low
    work.spare[n, 2 * r + 1] = high
    work.spare_info[n, 0] = bound
    work.spare_info[n, 1] = kind
    work.regs[SPARED] = n + 1


@njit(**JIT)
def open_bound(work):
    """Largest bound of what is left of a worker's subtree."""
    bound = NOTHING
    for level in range(work.regs[LEVEL] + 1):
        if work.plan[level, 1] < (1 if work.plan[level, 0] == ROOT else 2):
            bound = max(bound, work.plan[level, 2])
    return bound
