"""Compiled bounds of a box of directions: pairs lost all over it, by ranges of rows, then pair by pair.

A positive loses a pair for good where the negative's range begins above the end of its own, or where the
largest lead over the box, which the two rows' difference gives and the ranges only bound, is below zero.
Counting no others as lost gives a value that no direction of the box exceeds: what positives are worth never
increases with the pairs they lose. Equal rows are one row: its positives lose to its negatives everywhere.
"""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit
from toprank.exact.rows._row_kernels import JIT

HURRY_EVERY = 64
"""Positives between two looks at whether to be done soon."""
PAIRS_PER_ROW = 100
"""Pairs are looked at one by one where no more than so many for each row are in doubt."""


@njit(**JIT)
def worth(rows, number):
    """Value above the floor when so many positives have lost so many pairs each."""
    total, j = 0, 0
    for c in range(rows.counts):
        for _ in range(min(number[c], rows.places - j)):
            total += rows.table[rows.stride * j + c]
            j += 1
    return total


@njit(**JIT)
def tally(rows, work, size):
    """The value of the counts in `work.lost`."""
    work.number[:] = 0
    for a in range(size):
        work.number[min(work.lost[a], rows.counts)] += rows.ups[work.ids[a]]
    return worth(rows, work.number)


@njit(**JIT)
def sort_rivals(rows, work, size, keys):
    """Negatives among the kept rows, the highest key first; how many rows that is."""
    found = 0
    for a in range(size):
        if rows.lows[work.ids[a]] > 0:
            work.values[found] = -keys[a]
            work.weights[found] = a
            found += 1
    order = np.argsort(work.values[:found])
    work.rival_sum[0] = 0
    for b in range(found):
        a = work.weights[order[b]]
        work.rivals[b] = a
        work.rival_low[b] = keys[a]
        work.rival_sum[b + 1] = work.rival_sum[b] + rows.lows[work.ids[a]]
    return found


@njit(**JIT)
def from_on(keys, size, key):
    """How many of the keys, the highest first, are not below one."""
    begin, end = 0, size
    while begin < end:
        middle = (begin + end) // 2
        if keys[middle] >= key:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(**JIT)
def count_by_ranges(rows, work, size, found):
    """Pairs lost by the ranges of the rows alone, into `work.lost`."""
    for a in range(size):
        i = work.ids[a]
        if rows.ups[i] > 0:
            work.first[a] = from_on(work.rival_low, found, work.high[a])
            work.lost[a] = work.rival_sum[work.first[a]] + (rows.lows[i] if rows.child[i] == 0 else 0)
        else:
            work.lost[a] = rows.counts


@njit(**JIT)
def widest_range(work, found):
    """No rival's range is wider."""
    widest = 0.0
    for b in range(found):
        widest = max(widest, work.high[work.rivals[b]] - work.rival_low[b])
    return widest * (1 + 1e-9)


@njit(**JIT)
def pairs_in_doubt(rows, work, size, found, widest):
    """About how many pairs the ranges leave undecided."""
    total = 0
    for a in range(size):
        if work.lost[a] < rows.counts:
            total += from_on(work.rival_low, found, work.low[a] - widest) - work.first[a]
    return total


@njit(**JIT)
def pull_by_rows(rows, work, size):
    """Along each axis, how much the rows change."""
    work.pull[:] = 0.0
    for a in range(size):
        for j in range(work.mid.size):
            work.pull[j] += abs(rows.Z[work.ids[a], j] - work.centre[j])


@njit(**JIT)
def count_by_pairs(rows, work, size, found, hurry):
    """Pairs lost by the largest lead of each, added to `work.lost`; False when there was no time for all.

    Also, along each axis, how much the undecided pairs change: `work.pull`.
    """
    work.pull[:] = 0.0
    widest = widest_range(work, found)
    if pairs_in_doubt(rows, work, size, found, widest) > PAIRS_PER_ROW * size:
        return False
    for a in range(size):
        if a % HURRY_EVERY == 0 and hurry[0] != 0:
            return False
        if work.lost[a] < rows.counts:
            compare_with_rivals(rows, work, a, found, widest)
    return True


@njit(**JIT)
def compare_with_rivals(rows, work, a, found, widest):
    """Look at the pairs of one group of positives with the rivals whose ranges overlap its own."""
    r = work.mid.size
    i, doubt = work.ids[a], rows.doubt[work.ids[a]]
    for b in range(work.first[a], found):
        if work.rival_low[b] + widest < work.low[a]:
            break  # neither this one nor any after it reaches up to this positive
        other = work.rivals[b]
        if work.high[other] < work.low[a] or other == a:
            continue
        k = work.ids[other]
        lead, reach = 0.0, doubt + rows.doubt[k] + work.spread[a] + work.spread[other]
        for j in range(r):
            gap = rows.Z[i, j] - rows.Z[k, j]
            lead += gap * work.mid[j]
            reach += (abs(gap) + rows.extent[i, j] + rows.extent[k, j]) * work.half[j]
        if lead + reach < 0:
            work.lost[a] += rows.lows[k]
            if work.lost[a] >= rows.counts:
                break
        elif lead <= reach:
            for j in range(r):
                work.pull[j] += abs(rows.Z[i, j] - rows.Z[k, j])


@njit(**JIT)
def value_at_middle(rows, work, size):
    """What the middle of the box is worth at least, but for rounding: to find answers by, not to prove."""
    for a in range(size):
        work.high[a] = work.score[a] + work.spread[a]
    found = sort_rivals(rows, work, size, work.high)
    for a in range(size):
        work.lost[a] = rows.counts
        if rows.ups[work.ids[a]] > 0:
            work.lost[a] = work.rival_sum[from_on(work.rival_low, found, work.score[a] - work.spread[a])]
    return tally(rows, work, size)
