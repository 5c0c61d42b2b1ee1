"""Compiled sweep of a box in slices: between which of them it may reach the target.

One coordinate of the box is cut into SLICES. A pair can be won only in the slices on one side of some point:
a table has 32 bytes for each such point, 1 where the pair is lost, and they are added to those of its
positive, all at once. That makes the lost pairs of every positive in every slice. How many positives have
lost at most so many pairs is counted in all slices together (`slices._vector_kernels`), and what that is
worth is looked up: for each four slices by the largest of their numbers, then for single ones where that is
not enough. Nothing is sorted, nothing depends on a branch.

Leads are float32: `slices._pack_kernels` says why that is enough. Kernels take whole arrays and where to
begin in them: parts of arrays cost more than the loops over them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.slices._vector_kernels import LANES, ROWS, add_bytes, count_up_to, fill_bytes

JIT: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
STEP: dict[str, Any] = {**JIT, "inline": "always"}
SUMS: dict[str, Any] = {**JIT, "fastmath": {"reassoc", "nsz"}}
"""For sums whose order does not matter: they only guide the search."""
PRODUCTS: dict[str, Any] = {**JIT, "fastmath": {"contract"}}
"""For products that are added at once: one rounding instead of two."""
SLICES, GROUP = LANES, 4
"""Slices of a sweep, and how many of them are tried together first."""
SMALL = np.float32(1e-37)
BEYOND = np.float32(33.0)
UPWARD = np.float32(1.000004)
"""More than the rounding of a quotient of two rounded products."""
NONE, ALL, ONE, ZERO = np.float32(0.0), np.float32(32.0), np.float32(1.0), np.float32(0.0)
MORE, ROUNDED = np.float32(1.0 + 2.0**-20), np.float32(2.0**-22)
"""Cover the rounding of a step to a smaller box: see `slices._pack_kernels`."""
LINE = 64
"""Bytes of a line of the cache, or a part of one."""
RISING = np.float32(SLICES + 1)
"""Code of a pair: in how many slices it can be won; so much more where these are the last ones."""


def aligned(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros that begin with a line of the cache: a vector that lies in two of them takes twice as long."""
    wanted = size * np.dtype(dtype).itemsize
    room = np.zeros(wanted + LINE, np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + wanted].view(dtype)


def _lost_by_code() -> NDArray[np.uint8]:
    """The slices in which a pair is lost, 32 bytes for each code."""
    can, slice_ = np.arange(SLICES + 1)[:, None], np.arange(SLICES)
    falling, rising = slice_ >= can, slice_ < SLICES - can
    lost = aligned(2 * (SLICES + 1) * SLICES, np.uint8)
    lost[:] = np.vstack([falling, rising]).ravel()
    return lost


LOST = _lost_by_code()


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
    code: NDArray[np.uint8]
    """In which slices each pair can be won."""
    counts: NDArray[np.uint8]
    """Lost pairs of each positive: a row of 32 slices for each."""
    single: NDArray[np.uint8]
    """How many positives have lost at most so many pairs: a row of 32 slices for each number, ..."""
    group: NDArray[np.uint8]
    """... and the largest of each four slices."""
    number: NDArray[np.int32]
    """How many positives have lost so many pairs."""
    cost: NDArray[np.int64]
    """(SLICES + 1,): what is lost in each slice where pairs count by themselves."""
    lost: NDArray[np.uint8]
    """LOST, which compiled in would not be aligned."""


def fresh_slices(pairs: int, width: int, rows: int) -> Slices:
    """Scratch for packs of so many pairs, so many positives, and numbers of lost pairs."""
    return Slices(
        centre=aligned(pairs, np.float32),
        radius=aligned(pairs, np.float32),
        undecided=aligned(pairs, np.float32),
        code=aligned(pairs, np.uint8),
        counts=aligned(width * SLICES, np.uint8),
        single=aligned((rows + ROWS) * SLICES, np.uint8),
        group=aligned((rows + ROWS) * SLICES, np.uint8),
        number=np.zeros(256, np.int32),
        cost=np.zeros(SLICES + 1, np.int64),
        lost=LOST,
    )


# -- pairs --------------------------------------------------------------------------------------------


@njit(**PRODUCTS)
def step_from(n, lead, start, reach, rows, at, move, less, centre, radius):
    """Leads over a smaller box, from those kept at a place: see `slices._pack_kernels`.

    The box differs along the axis whose row begins at `at`: its middle by `move`, its half width by `less`.
    """
    lead, at, n = np.uint64(lead), np.uint64(at), np.uint64(n)
    for q in range(n):
        e = rows[at + q]
        c = start[lead + q] + e * move
        centre[q] = c
        radius[q] = (reach[lead + q] * MORE + abs(c) * ROUNDED) - abs(e) * less


@njit(**PRODUCTS)
def step_on(n, rows, at, move, less, centre, radius):
    """The same from the leads at hand, which are written over."""
    at, n = np.uint64(at), np.uint64(n)
    for q in range(n):
        e = rows[at + q]
        c = centre[q] + e * move
        centre[q] = c
        radius[q] = (radius[q] * MORE + abs(c) * ROUNDED) - abs(e) * less


@njit(**JIT)
def keep_leads(n, centre, radius, lead, start, reach):
    """Write the leads at hand to a place from which steps can begin."""
    lead = np.uint64(lead)
    for q in range(np.uint64(n)):
        start[lead + q] = centre[q]
        reach[lead + q] = radius[q]


@njit(**JIT)
def limits(n, centre, radius, slack, rows, at, width, code):
    """In which slices each pair can be won, cut along the axis whose row begins at `at`."""
    at, n = np.uint64(at), np.uint64(n)
    for q in range(n):
        e = rows[at + q]
        top = centre[q] + radius[q] + slack
        # Slices, from the end that favours the pair, in which it can be won.
        y = min(top / max(abs(e) * width, SMALL) * UPWARD, BEYOND)
        can = min(np.floor(y) + ONE, ALL) if top >= ZERO else NONE
        code[q] = np.uint8(can if e < ZERO else can + RISING)


@njit(**SUMS)
def open_pairs(n, centre, radius, slack, most, undecided):
    """Mark the pairs that may be won and may be lost in the box; how many."""
    total = ZERO
    for q in range(n):
        c, s = centre[q], radius[q]
        is_open = ONE if (c + s + slack >= ZERO) and (c - s < most) else ZERO
        undecided[q] = is_open
        total += is_open
    return int(total)


@njit(**SUMS)
def change(n, undecided, rows, at):
    """How much the undecided pairs change along the axis whose row begins at `at`, in all."""
    at, n = np.uint64(at), np.uint64(n)
    total = ZERO
    for q in range(n):
        total += undecided[q] * abs(rows[at + q])
    return total


# -- lists --------------------------------------------------------------------------------------------


@njit(**JIT)
def count_slices(n, code, owner, at, base, base_at, positives, lost, counts):
    """Lost pairs of every positive in every slice."""
    width = np.uint64(SLICES)
    at, n, base_at = np.uint64(at), np.uint64(n), np.uint64(base_at)
    for i in range(np.uint64(positives)):
        fill_bytes(counts, i * width, base[base_at + i])
    for q in range(n):
        add_bytes(counts, np.uint64(owner[at + q]) * width, lost, np.uint64(code[q]) * width)


@njit(**JIT)
def count_positives(query, counts, single, group):
    """How many positives of each query have lost at most so many pairs, in slices and in groups of them."""
    row = 0
    for which in range(query.shape[0]):
        rivals = query[which, 2]
        for c in range(0, rivals, ROWS):
            count_up_to(counts, query[which, 0], query[which, 1], c, single, group, (row + c) * SLICES)
        row += rivals


@njit(**JIT)
def has_room(query, loss, room, numbers, place):
    """Whether anything is left of the room when all negatives took their share in the slice at a place."""
    at = np.uint64(place)
    for which in range(query.shape[0]):
        begin = np.uint64(query[which, 3])
        stride = np.uint64(query[which, 4])
        for _ in range(query[which, 2]):
            room -= loss[begin + np.uint64(numbers[at])]
            if room < 0:
                return False
            begin += stride
            at += np.uint64(SLICES)
    return room >= 0


@njit(**JIT)
def groups_with_room(query, loss, room, group):
    """The same of each group of slices, as bits: all eight together, so that no look-up waits for another."""
    at = np.uint64(0)
    a = b = c = d = e = f = g = h = room
    for which in range(query.shape[0]):
        begin = np.uint64(query[which, 3])
        stride = np.uint64(query[which, 4])
        for _ in range(query[which, 2]):
            a -= loss[begin + np.uint64(group[at])]
            b -= loss[begin + np.uint64(group[at + np.uint64(4)])]
            c -= loss[begin + np.uint64(group[at + np.uint64(8)])]
            d -= loss[begin + np.uint64(group[at + np.uint64(12)])]
            e -= loss[begin + np.uint64(group[at + np.uint64(16)])]
            f -= loss[begin + np.uint64(group[at + np.uint64(20)])]
            g -= loss[begin + np.uint64(group[at + np.uint64(24)])]
            h -= loss[begin + np.uint64(group[at + np.uint64(28)])]
            begin += stride
            at += np.uint64(SLICES)
    low = (a >= 0) | (b >= 0) << 1 | (c >= 0) << 2 | (d >= 0) << 3
    return low | (e >= 0) << 4 | (f >= 0) << 5 | (g >= 0) << 6 | (h >= 0) << 7


@njit(**JIT)
def range_of_slices(query, loss, room, single, group):
    """First and last slice that may reach the target; SLICES and -1 if none.

    `room` is what all negatives together may take.
    """
    groups = groups_with_room(query, loss, room, group)
    if groups == 0:
        return SLICES, -1
    first = 0
    while first < SLICES:
        if first % GROUP == 0 and groups >> first // GROUP & 1 == 0:
            first += GROUP
            continue
        if has_room(query, loss, room, single, first):
            break
        first += 1
    last = SLICES - 1 if first < SLICES else -1
    while last > first:
        if last % GROUP == GROUP - 1 and groups >> last // GROUP & 1 == 0:
            last -= GROUP
            continue
        if has_room(query, loss, room, single, last):
            break
        last -= 1
    return first, last


@njit(**JIT)
def worth(counts, at, number, query, loss, most):
    """What counts of lost pairs, from a place on, are worth; the negatives' positions are not."""
    value = most
    for which in range(query.shape[0]):
        rivals = query[which, 2]
        for c in range(rivals + 1):
            number[c] = 0
        for i in range(query[which, 0], query[which, 1]):
            number[counts[at + i]] += 1
        before = np.uint64(query[which, 3])
        stride = np.uint64(query[which, 4])
        for c in range(rivals):
            before += np.uint64(number[c])
            value -= loss[before + stride * np.uint64(c)]
    return value


@njit(**JIT)
def count_lost(n, centre, need, owner, at, base, base_at, counts):
    """Pairs of each positive that are lost at the middle of the box."""
    for i in range(counts.size):
        counts[i] = base[base_at + i]
    for q in range(n):
        counts[owner[at + q]] += centre[q] < need


# -- pairs that count by themselves -------------------------------------------------------------------


@njit(**JIT)
def range_of_pairs(n, ids, at, gain, code, cost, value, target):
    """First and last slice that may reach the target where pairs count by themselves."""
    for s in range(cost.size):
        cost[s] = 0
    for q in range(n):
        worth_of_it = gain[ids[at + q]]
        can = int(code[q])
        if can <= SLICES:  # lost from there on
            cost[can] += worth_of_it
        else:  # lost up to there
            cost[0] += worth_of_it
            cost[2 * SLICES + 1 - can] -= worth_of_it
    first = SLICES
    last = -1
    for s in range(SLICES):
        value -= cost[s]
        if value >= target:
            first = min(first, s)
            last = s
    return first, last


@njit(**JIT)
def gains_lost(n, centre, need, ids, at, gain, value):
    """The value at the middle of the box where pairs count by themselves."""
    for q in range(n):
        if centre[q] < need:
            value -= gain[ids[at + q]]
    return value
