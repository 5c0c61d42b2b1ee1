"""Compiled sweep of a box in slices: between which of them it may reach the target.

One coordinate of the box is cut into SLICES. A pair can be won only in the slices on one side of some point,
so it adds one to a table of differences [slice][positive] where it is lost first and takes one back where
it is no more; sums of the rows give the lost pairs of every positive in every slice, as bytes. Nothing is
sorted, nothing depends on a branch, and the loops over pairs and positives are made for vector registers.

Leads are float32: `slices._pack_kernels` says why that is enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

JIT: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
STEP: dict[str, Any] = {**JIT, "inline": "always"}
SUMS: dict[str, Any] = {**JIT, "fastmath": {"reassoc", "nsz"}}
"""For sums whose order does not matter: they only guide the search."""
PRODUCTS: dict[str, Any] = {**JIT, "fastmath": {"contract"}}
"""For products that are added at once: one rounding instead of two."""
SLICES, GROUP, GROUPS = 32, 4, 8
"""Slices of a sweep, and how many of them are tried together first."""
SMALL = np.float32(1e-37)
BEYOND = np.float32(33.0)
UPWARD = np.float32(1.000004)
"""More than the rounding of a quotient of two rounded products."""
NONE, ALL, ONE, ZERO = np.float32(0.0), np.float32(32.0), np.float32(1.0), np.float32(0.0)


class Lists(NamedTuple):
    """How counts of lost pairs make a value: see `Problem` for weights in whole numbers."""

    query: NDArray[np.int64]
    """Of each query: first positive, behind the last one, rivals, where its losses begin, their stride."""
    loss: NDArray[np.int64]
    """What a negative takes off by its place and the positives above it: never below zero. Of position
    weights it is the weight of the negative's own position, less the last one."""
    most: int
    """The value from which these are taken off."""


class Slices(NamedTuple):
    """One worker's scratch for a sweep."""

    centre: NDArray[np.float32]
    """Lead of each pair at the middle of the box, ..."""
    radius: NDArray[np.float32]
    """... how far it changes over the box, rounding added, ..."""
    undecided: NDArray[np.float32]
    """... and 1 where that leaves it open whether it is won."""
    begin: NDArray[np.uint8]
    end: NDArray[np.uint8]
    """From which slice, and up to which, each pair is lost."""
    table: NDArray[np.uint8]
    """(SLICES + 1, positives): lost pairs, first as differences from slice to slice, ..."""
    words: NDArray[np.uint64]
    """... and the same bytes, eight in a word."""
    least: NDArray[np.uint8]
    """(SLICES / GROUP, positives): the least of each group of slices."""
    number: NDArray[np.int32]
    """How many positives have lost so many pairs."""
    numbers: NDArray[np.int32]
    before: NDArray[np.int64]
    value: NDArray[np.int64]
    """The same for each group of slices, where its next negative stands and what it may be worth."""
    cost: NDArray[np.int64]
    """(SLICES + 1,): what is lost in each slice where pairs count by themselves."""


def fresh_slices(pairs: int, width: int) -> Slices:
    """Scratch for packs of so many pairs, and tables so wide."""
    table = np.zeros((SLICES + 1, width), np.uint8)
    return Slices(
        centre=np.zeros(pairs, np.float32),
        radius=np.zeros(pairs, np.float32),
        undecided=np.zeros(pairs, np.float32),
        begin=np.zeros(pairs, np.uint8),
        end=np.zeros(pairs, np.uint8),
        table=table,
        words=table.view(np.uint64),
        least=np.zeros((GROUPS, width), np.uint8),
        number=np.zeros(256, np.int32),
        numbers=np.zeros((256, GROUPS), np.int32),
        before=np.zeros(GROUPS, np.int64),
        value=np.zeros(GROUPS, np.int64),
        cost=np.zeros(SLICES + 1, np.int64),
    )


@njit(**PRODUCTS)
def measure(rows, at, n, start, doubt, move, half, centre, radius):
    """Leads at the middle of a box and their changes over it, two axes at a time.

    The rows of a pack lie one behind the other from `at` on, n pairs long each.
    """
    for q in range(n):
        centre[q] = start[q]
        radius[q] = doubt[q]
    for j in range(0, move.size, 2):
        a, b = rows[at + j * n : at + (j + 1) * n], rows[at + (j + 1) * n : at + (j + 2) * n]
        u, v, g, h = move[j], move[j + 1], half[j], half[j + 1]
        for q in range(n):
            centre[q] += a[q] * u + b[q] * v
            radius[q] += abs(a[q]) * g + abs(b[q]) * h


@njit(**JIT)
def limits(n, centre, radius, slack, row, width, begin, end):
    """From which slice up to which each pair is lost, cut along the axis of `row`."""
    for q in range(n):
        e = row[q]
        top = centre[q] + radius[q] + slack
        # Slices, from the end that favours the pair, in which it can be won.
        y = min(top / max(abs(e) * width, SMALL) * UPWARD, BEYOND)
        can = min(np.floor(y) + ONE, ALL) if top >= ZERO else NONE
        begin[q] = np.uint8(can if e < ZERO else NONE)
        end[q] = np.uint8(ALL if e < ZERO else ALL - can)


@njit(**JIT)
def open_pairs(n, centre, radius, slack, most, undecided):
    """Mark the pairs that may be won and may be lost in the box."""
    for q in range(n):
        c, s = centre[q], radius[q]
        undecided[q] = ONE if (c + s + slack >= ZERO) and (c - s < most) else ZERO


@njit(**SUMS)
def change(n, undecided, row):
    """How much the undecided pairs change along the axis of `row`, in all."""
    total = ZERO
    for q in range(n):
        total += undecided[q] * abs(row[q])
    return total


@njit(**SUMS)
def number_of(n, undecided):
    """How many pairs are undecided."""
    total = ZERO
    for q in range(n):
        total += undecided[q]
    return int(total)


@njit(**JIT)
def clear(words):
    """All zero."""
    flat = words.ravel()
    for i in range(flat.size):
        flat[i] = 0


@njit(**JIT)
def mark(n, begin, end, owner, words):
    """Enter pairs into the table of differences, of which a word holds eight positives.

    What a difference below zero borrows from its neighbours is given back when the rows are added up.
    """
    flat = words.ravel()
    width = np.uint32(words.shape[1])
    for q in range(n):
        o = np.uint32(owner[q])
        one = np.uint64(1) << np.uint64((o & np.uint32(7)) * np.uint32(8))
        o >>= np.uint32(3)
        flat[np.uint32(begin[q]) * width + o] += one
        flat[np.uint32(end[q]) * width + o] -= one


@njit(**JIT)
def add_up(words, base):
    """Counts of every slice from differences and the counts that hold in all of them."""
    for i in range(base.size):
        count = base[i]
        for s in range(SLICES):
            count += words[s, i]
            words[s, i] = count


@njit(**JIT)
def least_of(table, least):
    """The least count of each positive in each group of slices."""
    for g in range(SLICES // GROUP):
        a, b, c, d = table[GROUP * g], table[GROUP * g + 1], table[GROUP * g + 2], table[GROUP * g + 3]
        row = least[g]
        for i in range(row.size):
            row[i] = min(min(a[i], b[i]), min(c[i], d[i]))


@njit(**JIT)
def reaches(counts, number, lists, target):
    """Whether counts of lost pairs may be worth the target; the negatives' positions are not."""
    value = lists.most - target
    loss = lists.loss
    for query in range(lists.query.shape[0]):
        rivals = lists.query[query, 2]
        for c in range(rivals + 1):
            number[c] = 0
        for i in range(lists.query[query, 0], lists.query[query, 1]):
            number[counts[i]] += 1
        before = np.uint64(lists.query[query, 3])
        stride = np.uint64(lists.query[query, 4])
        for c in range(rivals):
            before += np.uint64(number[c])
            value -= loss[before + stride * np.uint64(c)]
            if value < 0:
                return False
    return True


@njit(**JIT)
def worth(counts, number, lists):
    """What counts of lost pairs are worth."""
    value = lists.most
    for query in range(lists.query.shape[0]):
        rivals = lists.query[query, 2]
        number[: rivals + 1] = 0
        for i in range(lists.query[query, 0], lists.query[query, 1]):
            number[counts[i]] += 1
        before = lists.query[query, 3]
        stride = lists.query[query, 4]
        for c in range(rivals):
            before += number[c]
            value -= lists.loss[before + stride * c]
    return value


@njit(**JIT)
def groups_reach(least, numbers, before, value, lists, target):
    """Whether each group of slices may reach the target: its value is not below zero. All at once."""
    loss = lists.loss
    for g in range(GROUPS):
        value[g] = lists.most - target
    for query in range(lists.query.shape[0]):
        rivals = lists.query[query, 2]
        for c in range(rivals + 1):
            for g in range(GROUPS):
                numbers[c, g] = 0
        for i in range(lists.query[query, 0], lists.query[query, 1]):
            for g in range(GROUPS):
                numbers[least[g, i], g] += 1
        for g in range(GROUPS):
            before[g] = lists.query[query, 3]
        stride = np.uint64(lists.query[query, 4])
        for c in range(rivals):
            for g in range(GROUPS):
                before[g] += numbers[c, g]
                value[g] -= loss[np.uint64(before[g]) + stride * np.uint64(c)]


@njit(**JIT)
def range_of_slices(table, value, number, lists, target):
    """First and last slice that may reach the target; SLICES and -1 if none."""
    first = SLICES
    for g in range(GROUPS):
        if first == SLICES and value[g] >= 0:
            for s in range(GROUP * g, GROUP * g + GROUP):
                if reaches(table[s], number, lists, target):
                    first = s
                    break
    for g in range(GROUPS - 1, -1, -1):
        if value[g] >= 0:
            for s in range(GROUP * g + GROUP - 1, GROUP * g - 1, -1):
                if s == first or reaches(table[s], number, lists, target):
                    return first, s
    return first, -1


@njit(**JIT)
def range_of_pairs(n, ids, gain, begin, end, cost, value, target):
    """First and last slice that may reach the target where pairs count by themselves."""
    cost[:] = 0
    for q in range(n):
        cost[begin[q]] += gain[ids[q]]
        cost[end[q]] -= gain[ids[q]]
    first = SLICES
    last = -1
    for s in range(SLICES):
        value -= cost[s]
        if value >= target:
            first = min(first, s)
            last = s
    return first, last


@njit(**STEP)
def range_of_lists(n, owner, base, lists, scratch, target):
    """First and last slice that may reach the target."""
    clear(scratch.words)
    mark(n, scratch.begin, scratch.end, owner, scratch.words)
    add_up(scratch.words, base)
    least_of(scratch.table, scratch.least)
    groups_reach(scratch.least, scratch.numbers, scratch.before, scratch.value, lists, target)
    return range_of_slices(scratch.table, scratch.value, scratch.number, lists, target)


# -- one point ----------------------------------------------------------------------------------------


@njit(**JIT)
def count_lost(n, centre, need, owner, base, counts):
    """Pairs of each positive that are lost at the middle of the box."""
    for i in range(counts.size):
        counts[i] = base[i]
    for q in range(n):
        counts[owner[q]] += centre[q] < need


@njit(**JIT)
def gains_lost(n, centre, need, ids, gain, value):
    """The value there where pairs count by themselves."""
    for q in range(n):
        if centre[q] < need:
            value -= gain[ids[q]]
    return value
