"""Compiled steps on the rows of a box: ranges of their scores, which of them can matter, thresholds.

The scores of a row over a box lie within ``score -+ reach``, less the score of a point all rows are compared
with, `centre`: what is common to all rows changes no order, and the nearer the point the narrower the ranges.
Every range is widened by what rounding can have done to it (`Rows.doubt`).

Rows that cannot matter: let at least `depth` rows, or `counts` negatives, be strictly above row x all over
the box. At any direction of it a positive at or below x then has as many above it, and neither it nor any
behind it is worth more than the floor. So x itself is worth nothing if it is a positive, and takes nothing
from anyone if it is a negative. The rows above x are kept, since their ranges begin above where that of x
ends: whoever is worth nothing on the whole list is so on the rows that are kept, and the value is the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit

JIT: dict[str, Any] = {"cache": True, "nogil": True}
SAMPLE = 63
"""Rows near the threshold whose middle all others are compared with."""
MOST_LOOKED_AT = 1024
"""Groups, about, that are looked at to find these, and other places that any numbers would do for."""
COARSE = 0.5
"""A group is parted where its own size is more than this share of what a part of the box does to its scores:
by random descents, five scores of census took half as long as with 1, though the estimates are rough."""
CENTRE_DOUBT = 2.0**-47
"""Rounding by the point that rows are compared with, relative to its size: 64 units."""
CUTS = 4
"""Halvings of a box at a time, along the axes on which rows change most: four vectors of parts. Not tuned."""
PARTS = 1 << CUTS
FINE, COARSER = 768, 256
"""Buckets from where the first places end to where their first eighth ends, and beyond; a quarter of them
would take a seventh less time to count in, and tell less."""
BUCKETS = FINE + COARSER


class Rows(NamedTuple):
    """What stays the same for the whole search: a tree of groups of rows, the root first."""

    Z: NDArray[np.float64]
    """(groups, r): the middle of each group, in the coordinates of the search, ..."""
    extent: NDArray[np.float64]
    """... and how far from it its rows are at most; zero where they are equal."""
    doubt: NDArray[np.float64]
    """How far a row's score, or an end of its range, may be off by rounding."""
    child: NDArray[np.int32]
    """The first of the two parts of each group, the other being the next one; 0 where its rows are equal."""
    ups: NDArray[np.int64]
    """Positives in each group, ..."""
    lows: NDArray[np.int64]
    """... and negatives."""
    table: NDArray[np.int64]
    """What the j-th best positive with c negatives at or above is worth above the floor, in whole numbers:
    ``table[stride * j + c]`` for j < places and c < counts, otherwise nothing."""
    sums: NDArray[np.int64]
    """Of the first entries of the table, for each number of them."""
    stride: int
    places: int
    counts: int
    depth: int
    """Nothing either where j + c is not below this."""


class Work(NamedTuple):
    """The scratch of one worker, with room for all rows."""

    score: NDArray[np.float64]
    """By place in the list of groups looked at: the score at the middle of the box, ..."""
    spread: NDArray[np.float64]
    """... how far its rows' scores are from that there, ..."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """... and the ends of the range over the box."""
    values: NDArray[np.float64]
    weights: NDArray[np.int64]
    """To select from."""
    ids: NDArray[np.int32]
    """Groups that are looked at."""
    rivals: NDArray[np.int64]
    """Places of kept negatives, the highest `low` first, ..."""
    rival_low: NDArray[np.float64]
    rival_sum: NDArray[np.int64]
    """... those ends, and the number of negatives up to each."""
    lost: NDArray[np.int64]
    """By place: pairs that a positive loses all over the box."""
    first: NDArray[np.int64]
    """By place: the first rival that is not surely above."""
    number: NDArray[np.int64]
    """Positives by lost pairs."""
    mid: NDArray[np.float64]
    half: NDArray[np.float64]
    centre: NDArray[np.float64]
    pull: NDArray[np.float64]
    """How much undecided pairs change along each axis."""
    least: NDArray[np.float64]
    """Where the rows that matter end, as far as `keep_rows` last told."""
    cuts: NDArray[np.int64]
    """How often each axis is halved, ..."""
    part: NDArray[np.float64]
    """... the half widths of the parts that makes, ..."""
    mids: NDArray[np.float64]
    """... their middles, a column each, ..."""
    far: NDArray[np.float64]
    """... and how far from zero each coordinate gets in the box."""
    map: NDArray[np.float64]
    """Two scores that buckets begin at, and buckets for each unit from there on."""
    gap: NDArray[np.float64]
    """Of one row, how far it is from the centre, ..."""
    scores: NDArray[np.float64]
    """... its scores at the middles of the parts, ..."""
    spots: NDArray[np.int32]
    """... and the buckets that its range ends in."""
    up_count: NDArray[np.int32]
    low_count: NDArray[np.int32]
    """By part and bucket: positives whose range ends there, negatives whose range begins there."""
    bounds: NDArray[np.int64]
    """Of the parts, ..."""
    carried: NDArray[np.int32]
    """... and groups for them to begin with."""


@njit(**JIT)
def fresh_work(n, r, counts, parts=PARTS, buckets=BUCKETS):
    """Room for all rows one by one."""
    return Work(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int64),
        np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(counts + 1, np.int64), np.empty(r),
        np.empty(r), np.empty(r), np.empty(r), np.full(1, -np.inf), np.zeros(r, np.int64),
        np.zeros(r), np.zeros((r, parts)), np.empty(r), np.empty(4), np.empty(r), np.empty(parts),
        np.zeros(parts, np.int32),
        np.zeros((parts, buckets), np.int32), np.zeros((parts, buckets), np.int32), np.zeros(parts, np.int64),
        np.empty(n, np.int32),
    )  # fmt: skip


@njit(**JIT)
def select(values, weights, size, wanted):
    """The largest v such that weights of at least `wanted` are at values from v on; minus infinity if none.

    Both arrays are reordered.
    """
    begin, end, above = 0, size, 0
    best = -np.inf
    while begin < end:
        a, b, c = values[begin], values[(begin + end) // 2], values[end - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        # Larger ones to the front, equal ones in the middle.
        front, place, back, heavier, equal = begin, begin, end, 0, 0
        while place < back:
            v, w = values[place], weights[place]
            if v > pivot:
                values[place], weights[place] = values[front], weights[front]
                values[front], weights[front] = v, w
                heavier += w
                front += 1
                place += 1
            elif v < pivot:
                back -= 1
                values[place], weights[place] = values[back], weights[back]
                values[back], weights[back] = v, w
            else:
                equal += w
                place += 1
        if above + heavier >= wanted:
            end = front
        elif above + heavier + equal >= wanted:
            return pivot
        else:
            above += heavier + equal
            begin = back
    return best


@njit(**JIT)
def threshold(rows, work, size, keys, wanted, negatives_only):
    """Where the best `wanted` rows, or negatives, end when sorted by a key; minus infinity if too few."""
    chosen = 0
    for a in range(size):
        i = work.ids[a]
        weight = rows.lows[i] if negatives_only else rows.ups[i] + rows.lows[i]
        if weight > 0:
            work.values[chosen] = keys[a]
            work.weights[chosen] = weight
            chosen += 1
    return select(work.values, work.weights, chosen, wanted)


@njit(**JIT)
def set_middle(work, low, high):
    """Middle and half widths of a box; both are exact, since its ends are multiples of a power of two."""
    for j in range(low.size):
        work.mid[j] = 0.5 * (low[j] + high[j])
        work.half[j] = 0.5 * (high[j] - low[j])


@njit(**JIT)
def place_centre(rows, work, size):
    """A point amid the rows whose scores at the middle are near the threshold; any point would be valid."""
    r = rows.Z.shape[1]
    step = max(1, size // MOST_LOOKED_AT)
    number = 0
    for a in range(0, size, step):
        i, score = work.ids[a], 0.0
        for j in range(r):
            score += rows.Z[i, j] * work.mid[j]
        work.score[number] = work.values[number] = score
        work.weights[number] = rows.ups[i] + rows.lows[i]
        number += 1
    top = select(work.values, work.weights, number, max(1, rows.depth // 2 // step))
    bottom = select(work.values, work.weights, number, max(1, (rows.depth + rows.depth // 2) // step))
    near = 0
    for a in range(number):
        near += bottom <= work.score[a] <= top
    skip, seen, taken = max(1, near // SAMPLE), 0, 0
    sample = np.empty((r, SAMPLE + 1))
    for a in range(number):
        if bottom <= work.score[a] <= top:
            if seen % skip == 0 and taken <= SAMPLE:
                sample[:, taken] = rows.Z[work.ids[a * step]]
                taken += 1
            seen += 1
    for j in range(r):
        work.centre[j] = np.sort(sample[j, :taken])[taken // 2] if taken > 0 else 0.0


@njit(**JIT)
def blur(work):
    """What rounding by the centre can do to a range."""
    return CENTRE_DOUBT * np.abs(work.centre).sum()


@njit(**JIT)
def measure(rows, work, a, doubt):
    """The range over the box of the group at a place, rounding added.

    With z in ``Z -+ extent`` and u in ``mid -+ half``, z u is within ``Z mid`` -+ ``|Z| half`` for the box,
    and ``extent (|mid| + half)`` more for the group.
    """
    i = work.ids[a]
    score, reach, spread, more = 0.0, 0.0, 0.0, 0.0
    for j in range(work.mid.size):
        gap = rows.Z[i, j] - work.centre[j]
        score += gap * work.mid[j]
        reach += abs(gap) * work.half[j]
        spread += rows.extent[i, j] * abs(work.mid[j])
        more += rows.extent[i, j] * work.half[j]
    work.score[a], work.spread[a] = score, spread
    whole = reach + spread + more + rows.doubt[i] + doubt
    work.low[a], work.high[a] = score - whole, score + whole


@njit(**JIT)
def measure_all(rows, work, size):
    """Ranges of all groups."""
    doubt = blur(work)
    for a in range(size):
        measure(rows, work, a, doubt)


@njit(**JIT)
def keep_rows(rows, work, size):
    """Drop the groups whose rows cannot matter anywhere in the box (see above); how many are kept."""
    least = threshold(rows, work, size, work.low, rows.depth, False)
    if rows.counts < rows.depth:
        least = max(least, threshold(rows, work, size, work.low, rows.counts, True))
    work.least[0] = least
    kept = 0
    for a in range(size):
        if work.high[a] >= least:
            work.ids[kept] = work.ids[a]
            work.score[kept], work.spread[kept] = work.score[a], work.spread[a]
            work.low[kept], work.high[kept] = work.low[a], work.high[a]
            kept += 1
    return kept
