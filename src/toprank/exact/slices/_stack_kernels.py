"""Compiled stack of boxes of a search in slices: their ends, their plans, and how they are handed over.

A node is a box ``low <= u <= high`` on a face of the cube and the pack its pairs are in
(`slices._pack_kernels`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.directions._counting import NOTHING
from toprank.exact.slices._pack_kernels import Packs, downward, lead_over, start_pack
from toprank.exact.slices._slice_kernels import JIT, SLICES, Slices

LEVEL, NODES, LOGGED, SPARED, FLOOR, FOUND, WORKED, SWEEPS, VISITS = range(9)
SHRUNK, SWEPT = 64, 128  # log codes: see `slices.replay`
LEAF, HANDED, STUCK, STAR = 255, 254, 253, 252
PUZZLE = 1
"""Kind of a box put aside that is too small to split: perhaps it has a centre."""
ROOT, NOWHERE = -1, -2


class Work(NamedTuple):
    """One worker's stack, a row for each level, and its scratch."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """Ends of each box."""
    plan: NDArray[np.int64]
    """Axis of the split (or ROOT, STAR), children looked at, bound, pack, undecided pairs, their leads."""
    total: NDArray[np.float64]
    """How much the undecided pairs change along each axis, for a unit of it."""
    axes: NDArray[np.int64]
    """Those of the face that is being searched, ..."""
    places: NDArray[np.int64]
    """... and of each axis which of them it is."""
    mid: NDArray[np.float64]
    half: NDArray[np.float64]
    """Middle and half width of the box at hand."""
    across: NDArray[np.float64]
    leads: NDArray[np.float64]
    """Column by column the norm's rows, and room for their leads over a box."""
    chosen: NDArray[np.uint32]
    regs: NDArray[np.int64]
    """Running numbers: LEVEL, NODES, ..."""
    point: NDArray[np.float64]
    """A point that is looked at, and one that was found."""
    log: NDArray[np.uint8]
    spare: NDArray[np.float64]
    spare_info: NDArray[np.int64]
    """Boxes put aside; their bounds, and why."""
    ids: NDArray[np.int32]
    count: NDArray[np.int32]
    at_most: NDArray[np.int32]
    counts: NDArray[np.uint8]
    rows: NDArray[np.float64]
    wide: NDArray[np.float64]
    flags: NDArray[np.int64]
    lp: NDArray[np.float64]
    """Scratch of `_conflict_kernels`, and counts as it reads them."""
    space: NDArray[np.float64]
    """Scratch of `_star_kernels`."""
    slices: Slices
    packs: Packs


@njit(**JIT)
def middle(low, high, level, mid, half):
    """Middle and half width of the box of a level, the latter never too small but for rounding."""
    for j in range(mid.size):
        below, above = low[level, j], high[level, j]
        mid[j] = 0.5 * (below + above)
        half[j] = max(above - mid[j], mid[j] - below)


@njit(**JIT)
def norm_range(mid, half, norm, norm_error):
    """Bounds of max_i |norm_i . u| over a box; only the lower one is safe."""
    least = 0.0
    most = 0.0
    for i in range(norm.shape[0]):
        c, s = lead_over(norm[i], mid, half)
        least = max(least, abs(c) - s - norm_error[i])
        most = max(most, abs(c) + s)
    return least, most


@njit(**JIT)
def norm_bounds(mid, half, across, norm_error, leads):
    """The same as `norm_range`, all rows of the norm at a time."""
    m = np.uint64(norm_error.size)
    for i in range(m):
        leads[i] = 0.0
        leads[m + i] = 0.0
    at = np.uint64(0)
    for j in range(mid.size):
        a, h = mid[j], half[j]
        for i in range(m):
            leads[i] += across[at + i] * a
        for i in range(m):
            leads[m + i] += abs(across[at + i]) * h
        at += m
    least = 0.0
    most = 0.0
    for i in range(m):
        c, s = abs(leads[i]), leads[m + i]
        least = max(least, c - s - norm_error[i])
        most = max(most, c + s)
    return least, most


@njit(**JIT)
def widest(total, level, half, smallest, k):
    """Axis along which the undecided pairs change most, -1 if none; the swept one only when far ahead."""
    axis = -1
    most = 0.0
    for j in range(half.size):
        size = total[level, j] * half[j]
        if j == k:
            size /= SLICES
        if size > most and half[j] > smallest:
            axis = j
            most = size
    return axis


@njit(**JIT)
def steepest(total, level, half, axes):
    """Place among the axes of the one along which the undecided pairs change most."""
    place = 0
    most = -1.0
    for j in range(axes.size):
        size = total[level, axes[j]] * half[axes[j]]
        if size > most:
            most = size
            place = j
    return place


@njit(**JIT)
def load(problem, work, place, base, value, bound, every):
    """Start a worker on one open box: all pairs undecided, level 0."""
    r = problem.E.shape[1]
    work.low[0] = place[:r]
    work.high[0] = place[r:]
    middle(work.low, work.high, 0, work.mid, work.half)
    # A box may have lost its extent along an axis; some axis still has none on the face itself.
    face = -1
    for j in range(r):
        if work.half[j] == 0.0 and abs(work.low[0, j]) == 1.0:
            face = j
    n = 0
    for j in range(r):
        work.places[j] = n if j != face else 0
        if j != face:
            work.axes[n] = j
            n += 1
    work.packs.base[: base.size] = base
    work.packs.value[0] = value
    begin = np.int64(0)  # a constant would be a type of its own
    start_pack(
        problem, work.packs, begin, begin, begin, np.inf, np.inf, every, work.mid, work.half, work.axes
    )
    work.regs[LEVEL] = 0
    work.plan[0, 0] = ROOT
    work.plan[0, 1] = 0
    work.plan[0, 2] = bound
    work.plan[0, 3] = 0
    work.plan[0, 4] = every.size
    work.plan[0, 5] = 0
    for j in range(r):
        work.total[0, j] = np.abs(problem.E[:, j]).sum()


@njit(**JIT)
def children(plan, level, r):
    """How many children a level has: of a star one for each end of each axis."""
    axis = plan[level, 0]
    return 1 if axis == ROOT else (2 * r if axis == STAR else 2)


@njit(**JIT)
def step_down(low, high, plan, level):
    """Box of the next child of a level into the one below; along which axis they differ.

    NOWHERE if there is none at this place.
    """
    for j in range(low.shape[1]):
        low[level + 1, j] = low[level, j]
        high[level + 1, j] = high[level, j]
    axis = plan[level, 0]
    child = plan[level, 1]
    if axis == STAR:
        axis = child // 2
        if low[level, axis] == high[level, axis]:
            return NOWHERE
        if child % 2 == 0:
            high[level + 1, axis] = low[level, axis]
        else:
            low[level + 1, axis] = high[level, axis]
    elif axis != ROOT:
        cut = 0.5 * (low[level, axis] + high[level, axis])
        if child == 0:
            high[level + 1, axis] = cut
        else:
            low[level + 1, axis] = cut
    return max(axis, 0)


@njit(**JIT)
def step_along(low, high, level, axis, mid, half):
    """How far the middle of the box at hand is from that of a level, and how much less its half width is."""
    below, above = low[level, axis], high[level, axis]
    middle = 0.5 * (below + above)
    return np.float32(mid[axis] - middle), downward(max(above - middle, middle - below) - half[axis])


@njit(**JIT)
def hand_over(work, nodes, bounds):
    """Give back all that is left of a worker's subtree as open boxes; how many."""
    r = work.low.shape[1]
    n = 0
    level = work.regs[LEVEL]
    while level >= 0:
        while work.plan[level, 1] < children(work.plan, level, r):
            if step_down(work.low, work.high, work.plan, level) != NOWHERE:
                nodes[n, :r] = work.low[level + 1]
                nodes[n, r:] = work.high[level + 1]
                bounds[n] = work.plan[level, 2]
                n += 1
            work.plan[level, 1] += 1
        level -= 1
    return n


@njit(**JIT)
def spare_node(work, level, bound, kind):
    """Put the box of a level aside."""
    r = work.low.shape[1]
    n = work.regs[SPARED]
    work.spare[n, :r] = work.low[level]
    work.spare[n, r:] = work.high[level]
    work.spare_info[n, 0] = bound
    work.spare_info[n, 1] = kind
    work.regs[SPARED] = n + 1


@njit(**JIT)
def open_bound(work):
    """Largest bound of what is left of a worker's subtree."""
    bound = NOTHING
    for level in range(work.regs[LEVEL] + 1):
        if work.plan[level, 1] < children(work.plan, level, work.low.shape[1]):
            bound = max(bound, work.plan[level, 2])
    return bound
