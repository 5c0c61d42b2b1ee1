"""Compiled look for a point of a box where all its undecided pairs are exactly tied: a centre.

Such a box never ends by halving: whatever part of it holds the centre looks like the whole. But on the way
from the centre through any other point no undecided pair changes sides, so that all there is to be had is to
be had on the boundary, whose parts have one axis less.

Centres are learnt as they are met, in whole numbers (`slices.centres`): directions, and the pairs that are
tied there. Combinations of centres are centres for the pairs tied at all of them. Here they are combined in
floats: fixed coordinates are met by elimination, the rest comes as near to the middle of the box as it can.
The same combination of the exact directions is an exact centre, and behind the coordinates stands how far it
may be from the one computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.slices._slice_kernels import JIT

SMALLEST_PIVOT = 1e-3
"""What is left of a direction is made longer by so much at most: rounding grows along."""
ROUNDING = 2.0**-51
"""More than the rounding of a product and a sum, for their size."""
LONGEST = 8.0
"""No coordinate of a row that others are reduced by is larger."""
STEPS = 12
"""Passes in which the point comes nearer to the middle."""


class Stars(NamedTuple):
    """What is known of centres, the same for all workers."""

    point: NDArray[np.float64]
    """Each rounded, its largest coordinate 1."""
    tied: NDArray[np.uint8]
    """(centres, pairs): 1 where the pair is tied."""


@njit(**JIT)
def tied_at(tied, c, ids, at, n, undecided):
    """Whether all undecided pairs are tied at a centre."""
    free = 0
    for q in range(n):
        free += undecided[q] > 0 and tied[c, ids[at + q]] == 0
        if free > 0:
            break
    return free == 0


@njit(**JIT)
def add_multiple(space, x, factor, p):
    """Add a multiple of row p to row x. Behind the coordinates of a row stands how far they may be off."""
    r = space.shape[1] - 1
    largest = 0.0
    for j in range(r):
        product = factor * space[p, j]
        space[x, j] += product
        largest = max(largest, abs(product) + abs(space[x, j]))
    space[x, r] += abs(factor) * space[p, r] + ROUNDING * largest


@njit(**JIT)
def longest_of(space, x):
    """Largest coordinate of a row, and what it may be off."""
    r = space.shape[1] - 1
    longest = 0.0
    for j in range(r):
        longest = max(longest, abs(space[x, j]))
    return longest + space[x, r]


@njit(**JIT)
def without(space, x, p, axis):
    """Take a multiple of row p from row x, so that its coordinate along the axis vanishes; row p has 1."""
    r = space.shape[1] - 1
    if space[x, axis] != 0.0:
        # The exact multiple differs by as much as the coordinate is off.
        more = space[x, r] * longest_of(space, p)
        add_multiple(space, x, -space[x, axis], p)
        space[x, axis] = 0.0
        space[x, r] += more


@njit(**JIT)
def scale_to(space, x, axis):
    """Divide a row by its coordinate along an axis; whether that leaves it of moderate size."""
    r = space.shape[1] - 1
    pivot = space[x, axis]
    if abs(pivot) < SMALLEST_PIVOT or space[x, r] > 1e-3 * abs(pivot):
        return False
    longest = 0.0
    for j in range(r):
        space[x, j] /= pivot
        longest = max(longest, abs(space[x, j]))
    space[x, axis] = 1.0
    space[x, r] = 1.01 * space[x, r] / abs(pivot) * (1.0 + longest) + ROUNDING * longest
    return longest <= LONGEST


@njit(**JIT)
def gather_centres(stars, number, ids, at, n, undecided, space):
    """Independent centres at which all undecided pairs are tied, as rows 1, 2, ...; how many."""
    r = space.shape[1] - 1
    rows = 0
    for c in range(number):
        if rows == r - 1 or not tied_at(stars.tied, c, ids, at, n, undecided):
            continue
        new = rows + 1
        for j in range(r):
            space[new, j] = stars.point[c, j]
        space[new, r] = ROUNDING
        for p in range(1, new):
            axis = 0
            for j in range(r):
                if abs(space[p, j]) > abs(space[p, axis]):
                    axis = j
            if space[p, axis] == 1.0:
                without(space, new, p, axis)
        axis = 0
        for j in range(r):
            if abs(space[new, j]) > abs(space[new, axis]):
                axis = j
        if scale_to(space, new, axis):
            rows = new
    return rows


@njit(**JIT)
def meet_fixed(space, rows, low, high, level):
    """A combination of the rows with the fixed coordinates of a box into row 0; how many rows are left or -1.

    Those that are left vanish along the fixed coordinates.
    """
    r = space.shape[1] - 1
    for j in range(r + 1):
        space[0, j] = 0.0
    for axis in range(r):
        if low[level, axis] != high[level, axis]:
            continue
        pivot = 0
        for x in range(1, rows + 1):
            if pivot == 0 or abs(space[x, axis]) > abs(space[pivot, axis]):
                pivot = x
        if pivot == 0 or not scale_to(space, pivot, axis):
            return -1
        for j in range(r + 1):  # it goes last
            space[pivot, j], space[rows, j] = space[rows, j], space[pivot, j]
        for x in range(1, rows):
            without(space, x, rows, axis)
        more = space[0, r] * longest_of(space, rows)
        add_multiple(space, 0, low[level, axis] - space[0, axis], rows)
        space[0, r] += more + ROUNDING
        rows -= 1
    return rows


@njit(**JIT)
def approach(space, rows, mid, half):
    """Bring row 0 near to the middle of the box, in units of its half widths, by multiples of the others."""
    r = space.shape[1] - 1
    for _ in range(STEPS if rows > 1 else rows):
        for x in range(1, rows + 1):
            along = 0.0
            length = 0.0
            for j in range(r):
                if half[j] > 0.0:
                    e = space[x, j] / half[j]
                    along += (mid[j] - space[0, j]) / half[j] * e
                    length += e * e
            if length > 0.0:
                add_multiple(space, 0, along / length, x)


@njit(**JIT)
def has_centre(stars, number, ids, at, n, undecided, low, high, level, mid, half, space):
    """Whether a point of the box of a level is surely a centre of all its undecided pairs."""
    r = space.shape[1] - 1
    rows = gather_centres(stars, number, ids, at, n, undecided, space)
    if rows == 0:
        return False
    rows = meet_fixed(space, rows, low, high, level)
    if rows < 0:
        return False
    approach(space, rows, mid, half)
    off = space[0, r]
    inside = off < 1.0
    for j in range(r):
        if low[level, j] != high[level, j]:
            inside &= low[level, j] + off < space[0, j] < high[level, j] - off
    return inside
