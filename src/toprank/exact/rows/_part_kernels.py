"""Compiled bounds of all parts of a box at once: rows are measured once, and counted in buckets, not sorted.

A box is cut into `PARTS` equal parts. A row's range has the same width in all of them, and its scores at
their middles are one small matrix product; the ends of the ranges fall into buckets of a map that never
decreases, so that a negative in a higher bucket than a positive is above it. Pairs within a bucket count as
won. Cutting a box into many parts costs little more than looking at one, which bounds by pairs never make up
for.
"""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit
from toprank.exact.rows._bound_kernels import (
    count_by_pairs,
    count_by_ranges,
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

FEW_GROUPS = 4096
"""Up to so many groups in a box its middle and its pairs are looked at."""
HEAD = 8
"""Buckets are fine up to where so small a share of the first places begins."""
SMALLEST_WIDTH = 2.0**-36
"""Boxes are not halved along an axis on which they are this small: rounding must stay well below it."""


@njit(**JIT)
def choose_cuts(work):
    """How often to halve each axis, into `work.cuts`, and the parts' half widths; how many parts that makes.

    Each time it is the axis along which scores change most, by `work.pull`.
    """
    work.cuts[:] = 0
    work.part[:] = work.half
    parts = 1
    for _ in range(CUTS):
        best, most = -1, -1.0
        for j in range(work.mid.size):
            if 2 * work.part[j] > SMALLEST_WIDTH and work.pull[j] * work.part[j] > most:
                best, most = j, work.pull[j] * work.part[j]
        if best < 0:
            break
        work.cuts[best] += 1
        work.part[best] *= 0.5
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
            work.mids[j, p] = low[j] + (2 * step + 1) * work.part[j]


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
def make_finer(rows, work, size):
    """Part the groups whose own size matters beside that of a part of the box; how many are kept then.

    Those that can matter nowhere in the box are dropped on the way, and, since finer groups tell better where
    the rows that matter end, once more at the end.
    """
    r, doubt, least = work.mid.size, blur(work), work.least[0]
    mid, half, part, centre, ids = work.mid, work.half, work.part, work.centre, work.ids
    a = 0
    while a < size:
        i = ids[a]
        score, wide, reach, spread, more = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(r):
            gap, size_of = rows.Z[i, j] - centre[j], rows.extent[i, j]
            score += gap * mid[j]
            wide += abs(gap) * half[j]
            reach += abs(gap) * part[j]
            spread += size_of * abs(mid[j])
            more += size_of * half[j]
        whole = wide + spread + more + rows.doubt[i] + doubt
        if score + whole < least:
            size -= 1
            ids[a] = ids[size]
        elif rows.child[i] > 0 and spread + more > COARSE * reach:
            ids[a], ids[size] = rows.child[i], rows.child[i] + 1
            size += 1
        else:
            work.score[a], work.spread[a] = score, spread
            work.low[a], work.high[a] = score - whole, score + whole
            a += 1
    return keep_rows(rows, work, size)


@njit(**JIT)
def count_parts(rows, work, size):
    """Ends of ranges by bucket: the upper ones of positives, the lower ones of negatives, for each part.

    The buckets are what `bucket` says, for all parts at once; one long function, since calls for each row
    would take longer than what they do.
    """
    r, doubt, far, half, part = work.mid.size, blur(work), work.far, work.half, work.part
    centre = work.centre
    base, knee, fine, coarse = work.map[0], work.map[1], work.map[2], work.map[3]
    scores, spots, mids, up_count, low_count = (
        work.scores,
        work.spots,
        work.mids,
        work.up_count,
        work.low_count,
    )
    up_count[:] = 0
    low_count[:] = 0
    for a in range(size):
        i = work.ids[a]
        reach, inner = rows.doubt[i] + doubt, 0.0
        for p in range(PARTS):
            scores[p] = 0.0
        for j in range(r):
            gap = rows.Z[i, j] - centre[j]
            reach += abs(gap) * part[j] + rows.extent[i, j] * far[j]
            inner += abs(gap) * (half[j] - part[j])
            for p in range(PARTS):
                scores[p] += gap * mids[j, p]
        up, low = np.int32(rows.ups[i]), np.int32(rows.lows[i])
        if up > 0:
            for p in range(PARTS):
                end = scores[p] + reach
                first = np.int32(min(max((end - base) * fine, 0.0), float(FINE)))
                spots[p] = first + np.int32(min(max((end - knee) * coarse, 0.0), COARSER - 1.0))
            for p in range(PARTS):
                up_count[p, spots[p]] += up
        if low > 0 and work.score[a] + inner - reach > base:  # otherwise in the lowest bucket of every part
            for p in range(PARTS):
                end = scores[p] - reach
                first = np.int32(min(max((end - base) * fine, 0.0), float(FINE)))
                spots[p] = first + np.int32(min(max((end - knee) * coarse, 0.0), COARSER - 1.0))
            for p in range(PARTS):
                low_count[p, spots[p]] += low


@njit(**JIT)
def worth_of_part(rows, ups, lows):
    """Value above the floor when a positive loses to the negatives in higher buckets only."""
    total, j, c = 0, 0, 0
    by_place = rows.stride == 1
    for b in range(BUCKETS - 1, -1, -1):
        more = min(np.int64(ups[b]), rows.places - j)
        if by_place:
            total += rows.sums[j + c + more] - rows.sums[j + c]
            j += more
        else:
            for _ in range(more):
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
def pull_by_ends(rows, work, size):
    """Along each axis, how much the rows change whose ranges decide the bound, into `work.pull`.

    Those are the positives that get highest, as many as can be worth something, and the negatives that get as
    high: the first are to end lower and the others to begin higher.
    """
    chosen = 0
    for a in range(size):
        if rows.ups[work.ids[a]] > 0:
            work.values[chosen], work.weights[chosen] = work.high[a], rows.ups[work.ids[a]]
            chosen += 1
    least = select(work.values, work.weights, chosen, rows.places)
    ups, lows = 0, 0
    r = work.mid.size
    apart = np.zeros((2, r))
    for a in range(size):
        if work.high[a] >= least:
            i = work.ids[a]
            ups += rows.ups[i]
            lows += rows.lows[i]
            for j in range(r):
                gap = abs(rows.Z[i, j] - work.centre[j])
                apart[0, j] += rows.ups[i] * gap
                apart[1, j] += rows.lows[i] * gap
    for j in range(r):
        work.pull[j] = apart[0, j] / max(ups, 1) + apart[1, j] / max(lows, 1)


@njit(**JIT)
def gather(rows, work, ids, low, high):
    """The rows that can matter in a box, in the groups given, and their ranges; how many."""
    work.ids[: ids.size] = ids
    set_middle(work, low, high)
    for j in range(low.size):
        work.far[j] = max(abs(low[j]), abs(high[j]))
    place_centre(rows, work, ids.size)
    measure_all(rows, work, ids.size)
    return keep_rows(rows, work, ids.size)


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
    """Bound the parts of a box, into `work.bounds`: (parts, groups to carry, the middle's value, its bound).

    The groups are in `work.carried`. The value is not worked out where it is no more than `best`. The bound
    of the box itself is that of its pairs, where they are looked at `closely`: -1 where they were too many,
    -2 where they were not looked at. No parts are left where nothing in the box reaches the target.
    """
    size = gather(rows, work, ids, low, high)
    pull_by_ends(rows, work, size)
    choose_cuts(work)
    carried, bound, middle, most = size, -2, 0, 0
    work.carried[:size] = work.ids[:size]
    size = make_finer(rows, work, size)
    pull_by_ends(rows, work, size)  # which finer groups tell better
    parts = choose_cuts(work)
    place_parts(work, low, parts)
    set_buckets(rows, work, size)
    count_parts(rows, work, size)
    for p in range(parts):
        work.bounds[p] = worth_of_part(rows, work.up_count[p], work.low_count[p])
        most = max(most, work.bounds[p])
    if most < target and parts > 1:
        return 0, 0, 0, bound
    work.carried[:size] = work.ids[:size]
    carried = size
    if size <= FEW_GROUPS:
        if hope_at_middle(rows, work, size) > best:
            middle = value_at_middle(rows, work, size)
            measure_all(rows, work, size)
        if closely:
            bound = look_closer(rows, work, size, hurry)
            if 0 <= bound < target:
                return 0, 0, middle, bound
    return parts, carried, middle, bound
