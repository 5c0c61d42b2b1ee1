"""The stack of boxes of one worker: a level for each split on the way to the box at hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from toprank.exact.boxes._sweep_kernels import JIT, NOTHING

LEVEL, VALUE, NODES, LOGGED, SPARED, FLOOR, FOUND, WORKED = range(8)
LEAF, HANDED, STUCK = 255, 254, 253  # log codes; smaller ones are the axis of a split
ROOT = -1


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
