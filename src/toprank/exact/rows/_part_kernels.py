"""Compiled bounds of all parts of a box at once: rows are measured once, and counted in buckets, not sorted.

A box is cut into `PARTS` equal parts. A row's range has the same width in all of them, and its scores at
their middles are one small matrix product; the ends of the ranges fall into buckets of a map that never
decreases, so that a negative in a higher bucket than a positive is above it. Pairs within a bucket count as
won. Cutting a box into many parts costs little more than looking at one, which bounds by pairs never make up
for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from toprank.exact.rows._bound_kernels import (
    count_by_pairs,
    count_by_ranges,
    pull_by_rows,
    sort_rivals,
    tally,
    value_at_middle,
)
from toprank.exact.rows._row_kernels import (
    BUCKETS,
    COARSE,
    COARSER,
    CUTS,
    FINE,
    JIT,
    MOST_LOOKED_AT,
    PARTS,
    blur,
    keep_rows,
    measure_all,
    place_centre,
    select,
    set_middle,
)

HEAD = 8
SMALLEST_WIDTH = 2.0**-36
"""Boxes are not halved along an axis on which they are this small: rounding must stay well below it."""


@njit(**JIT)
def choose_cuts(work, low, high):
    """How often to halve each axis, into `work.cuts`, and the parts' half widths; how many parts that makes.

    Each time it is the axis along which scores change most, by `work.pull`.
    """
    set_middle(work, low, high)
    work.cuts[:] = 0
    parts = 1
    for _ in range(CUTS):
        best, most = -1, -1.0
        for j in range(low.size):
            if 2 * work.half[j] > SMALLEST_WIDTH and work.pull[j] * work.half[j] > most:
                best, most = j, work.pull[j] * work.half[j]
        if best < 0:
            break
        work.cuts[best] += 1
        work.half[best] *= 0.5
        parts *= 2
    return parts


@njit(**JIT)
def place_parts(work, low, parts):
    """Middles of the parts, which are exact: all ends are multiples of a power of two."""
    for p in range(parts):
        rest = p
        for j in range(low.size):
            step = rest & ((1 << work.cuts[j]) - 1)
            rest >>= work.cuts[j]
            work.mids[j, p] = low[j] + (2 * step + 1) * work.half[j]


@njit(**JIT)
def refine_for_parts(rows, work, size):
    """Part the groups whose own size matters beside that of a part of the box; how many there are then."""
    a = 0
    while a < size:
        i = work.ids[a]
        if rows.child[i] > 0:
            reach, own = 0.0, 0.0
            for j in range(work.mid.size):
                reach += abs(rows.Z[i, j] - work.centre[j]) * work.half[j]
                own += rows.extent[i, j] * work.far[j]
            if own > COARSE * reach:
                work.ids[a], work.ids[size] = rows.child[i], rows.child[i] + 1
                size += 1
                continue
        a += 1
    return size


@njit(**JIT)
def set_buckets(rows, work, size):
    """Where buckets begin and how fine they are, into `work.map`: any numbers would be valid."""
    step, number = max(1, size // MOST_LOOKED_AT), 0
    for a in range(0, size, step):
        work.values[number] = work.score[a]
        work.weights[number] = rows.ups[work.ids[a]] + rows.lows[work.ids[a]]
        number += 1
    knee = select(work.values, work.weights, number, max(1, rows.depth // HEAD // step))
    base, top = np.inf, -np.inf
    for a in range(size):
        base, top = min(base, work.low[a]), max(top, work.high[a])
    base = max(base, work.least[0])
    knee = max(base, knee)
    work.map[0], work.map[2] = base, FINE / max(knee - base, 1e-290)
    work.map[1], work.map[3] = knee, COARSER / max(top - knee, 1e-290)


@njit(**JIT)
def bucket(work, end):
    """The bucket of a score; never decreases with it, in floating point either: each step is monotone."""
    fine = np.int32(min(max((end - work.map[0]) * work.map[2], 0.0), float(FINE)))
    return fine + np.int32(min(max((end - work.map[1]) * work.map[3], 0.0), COARSER - 1.0))


@njit(**JIT)
def count_parts(rows, work, size):
    """Ends of ranges by bucket: the upper ones of positives, the lower ones of negatives, for each part."""
    r, doubt = work.mid.size, blur(work)
    base, knee, fine, coarse = work.map[0], work.map[1], work.map[2], work.map[3]
    work.up_count[:] = 0
    work.low_count[:] = 0
    for a in range(size):
        i = work.ids[a]
        reach = rows.doubt[i] + doubt
        for p in range(PARTS):
            work.scores[p] = 0.0
        for j in range(r):
            gap = rows.Z[i, j] - work.centre[j]
            reach += abs(gap) * work.half[j] + rows.extent[i, j] * work.far[j]
            for p in range(PARTS):
                work.scores[p] += gap * work.mids[j, p]
        up, low = np.int32(rows.ups[i]), np.int32(rows.lows[i])
        if up > 0:
            for p in range(PARTS):  # as `bucket` does, written out so that it is done for all parts at once
                end = work.scores[p] + reach
                first = np.int32(min(max((end - base) * fine, 0.0), float(FINE)))
                work.spots[p] = first + np.int32(min(max((end - knee) * coarse, 0.0), COARSER - 1.0))
            for p in range(PARTS):
                work.up_count[p, work.spots[p]] += up
        if low > 0:
            for p in range(PARTS):
                end = work.scores[p] - reach
                first = np.int32(min(max((end - base) * fine, 0.0), float(FINE)))
                work.spots[p] = first + np.int32(min(max((end - knee) * coarse, 0.0), COARSER - 1.0))
            for p in range(PARTS):
                work.low_count[p, work.spots[p]] += low


@njit(**JIT)
def worth_of_part(rows, ups, lows):
    """Value above the floor when a positive loses to the negatives in higher buckets only."""
    total, j, c = 0, 0, 0
    for b in range(BUCKETS - 1, -1, -1):
        for _ in range(min(np.int64(ups[b]), rows.places - j)):
            total += rows.table[rows.stride * j + c]
            j += 1
        c += lows[b]
        if c >= rows.counts or j >= rows.places or j + c >= rows.depth:
            break
    return total


@njit(**JIT)
def hope_at_middle(rows, work, size):
    """What the middle of the box is worth at most, but for rounding: whether to look at it more closely."""
    ups, lows = work.up_count[0], work.low_count[0]
    ups[:] = 0
    lows[:] = 0
    for a in range(size):
        i = work.ids[a]
        if rows.ups[i] > 0:
            ups[bucket(work, work.score[a] + work.spread[a])] += np.int32(rows.ups[i])
        if rows.lows[i] > 0:
            lows[bucket(work, work.score[a] - work.spread[a])] += np.int32(rows.lows[i])
    return worth_of_part(rows, ups, lows)


@njit(**JIT)
def gather(rows, work, ids, low, high):
    """The rows that can matter in a box, in groups as fine as its parts are, and their ranges; how many."""
    work.ids[: ids.size] = ids
    set_middle(work, low, high)
    place_centre(rows, work, ids.size)
    measure_all(rows, work, ids.size)
    size = keep_rows(rows, work, ids.size)
    pull_by_rows(rows, work, size)
    choose_cuts(work, low, high)
    for j in range(low.size):
        work.far[j] = max(abs(low[j]), abs(high[j]))
    size = refine_for_parts(rows, work, size)
    set_middle(work, low, high)
    measure_all(rows, work, size)
    return keep_rows(rows, work, size)


@njit(**JIT)
def look_closer(rows, work, size, hurry):
    """A bound of the whole box, pair by pair; -1 where too many pairs are in doubt, or there is no time."""
    found = sort_rivals(rows, work, size, work.low)
    count_by_ranges(rows, work, size, found)
    if not count_by_pairs(rows, work, size, found, hurry):
        return -1
    return tally(rows, work, size)


@njit(**JIT)
def take_apart(rows, work, ids, low, high, target, best, closely, hurry):
    """Bound the parts of a box, into `work.bounds`: (parts, groups kept, the middle's value, its bound).

    The groups are in `work.ids`. The value is not worked out where it is no more than `best`; the bound of
    the box itself only where pairs are to be looked at `closely`, and otherwise -1. Where it is below the
    target there are no parts.
    """
    size = gather(rows, work, ids, low, high)
    bound, middle = -1, 0
    if closely:
        bound = look_closer(rows, work, size, hurry)
        if 0 <= bound < target:
            return 0, size, middle, bound
    if bound < 0:
        pull_by_rows(rows, work, size)
    set_buckets(rows, work, size)
    if hope_at_middle(rows, work, size) > best:
        middle = value_at_middle(rows, work, size)
    parts = choose_cuts(work, low, high)
    place_parts(work, low, parts)
    count_parts(rows, work, size)
    for p in range(parts):
        work.bounds[p] = worth_of_part(rows, work.up_count[p], work.low_count[p])
    return parts, size, middle, bound
