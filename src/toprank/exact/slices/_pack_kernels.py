"""Compiled packs: the pairs that are undecided in a box, as float32 columns, and their leads over boxes.

The lead of a pair over a box is `centre` at its middle, give or take `reach`, which covers all rounding. A
box that differs from a larger one along one axis, its middle by `move` and its half width by `less`, has

    centre + E move    and    reach - |E| less,

so that each step costs one row. All of it is float32, an error of u = 2**-24 for each number and operation:

- E, `move`, their product and the sum make 3 u |E move| + u |new centre|;
- `less` is rounded down by more than E is off, its product and two sums make 3 u of what they add up to.

|E move| <= |E less| <= reach, since the smaller box is inside the larger one: 7 u reach + u |new centre| in
all. Twice as much is allowed for at each step (MORE, ROUNDED), fused or not. It adds up to some 2**-11 of
the reach of the box where leads were last computed in float64, which is done anew when boxes have become
much smaller than that one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.slices._slice_kernels import JIT, aligned

LANES = 32
"""Packs are filled up to a multiple of this, so that no loop over them has a rest."""
MUCH_LARGER = 256.0
"""Times the change of all pairs over a box from which a pack is made anew from float64."""
LEADS = 2
"""Times the room for pairs, that for their leads over boxes."""
ALWAYS_WON = np.float32(1e30)
NO = np.float32(0.0)


class Packs(NamedTuple):
    """Packs of one worker, one behind the other."""

    rows: NDArray[np.float32]
    """Of each pack a table of its pairs, one row for each axis."""
    centre: NDArray[np.float32]
    """Lead of each pair of a pack at the middle of some box, ..."""
    reach: NDArray[np.float32]
    """... and how far it changes over the box, rounding added; several boxes may share a pack."""
    owner: NDArray[np.uint16]
    ids: NDArray[np.int32]
    """Positive and number of each pair."""
    span: NDArray[np.int64]
    """Of each pack: where it begins, how many pairs it has, how many with those that fill it up."""
    size: NDArray[np.float64]
    """How much all its pairs change over the box where they were last computed in float64."""
    value: NDArray[np.int64]
    """Where pairs count by themselves: the value without those lost outside the pack."""
    base: NDArray[np.uint8]
    """Otherwise: lost pairs of each positive outside the pack, one pack behind the other."""
    width: int
    """Positives of each."""
    axes: int
    """Rows of each table: an even number."""


def fresh_packs(number: int, room: int, coordinates: int, width: int) -> Packs:
    """Room for so many packs, and for so many pairs in all; one coordinate never changes on a face."""
    axes = coordinates // 2 * 2
    return Packs(
        rows=aligned(axes * room, np.float32),
        centre=aligned(LEADS * room, np.float32),
        reach=aligned(LEADS * room, np.float32),
        owner=np.zeros(room, np.uint16),
        ids=np.zeros(room, np.int32),
        span=np.zeros((number, 3), np.int64),
        size=np.zeros(number),
        value=np.zeros(number, np.int64),
        base=np.zeros(number * width, np.uint8),
        width=width,
        axes=axes,
    )


@njit(**JIT)
def upward(x):
    """A float32 that is not below."""
    return np.float32(x + abs(x) * 2.0**-23 + 1e-44)


@njit(**JIT)
def lead_over(row, mid, half):
    """Lead of a pair at the middle of a box, and how far it changes over the box."""
    c = 0.0
    s = 0.0
    for j in range(mid.size):
        c += row[j] * mid[j]
        s += abs(row[j]) * half[j]
    return c, s


@njit(**JIT)
def downward(x):
    """A float32 below x, or above it where x is below zero, by as much as an entry of a row may be off."""
    return np.float32(x * (1.0 - 2.0**-23))


@njit(**JIT)
def fill_up(packs, pack, at, lead, n, size, used):
    """Write down where a pack is, and fill it up with pairs that are always won; its length."""
    filled = (n + LANES - 1) // LANES * LANES
    for q in range(lead + n, lead + filled):
        packs.centre[q] = ALWAYS_WON
        packs.reach[q] = NO
    packs.span[pack, 0] = at
    packs.span[pack, 1] = n
    packs.span[pack, 2] = filled
    packs.size[pack] = size
    for j in range(packs.axes):
        begin = at * packs.axes + j * filled
        for q in range(begin + (n if j < used else 0), begin + filled):
            packs.rows[q] = NO
    return filled


@njit(**JIT)
def start_pack(problem, packs, pack, at, lead, slack, most, chosen, mid, half, axes):
    """Pack the undecided ones of some pairs over a box; the lost ones are counted in base or value.

    `at` is where pairs begin, `lead` where their leads do.
    """
    by_pairs = problem.gain.size > 0
    n = 0
    size = 0.0
    for p in chosen:
        c, s = lead_over(problem.E[p], mid, half)
        if c + s + problem.error[p] + slack < 0.0:
            if by_pairs:
                packs.value[pack] -= problem.gain[p]
            else:
                packs.base[pack * packs.width + problem.owner[p]] += 1
        elif c - s < most:
            q = at + n
            packs.ids[q] = p
            packs.owner[q] = 0 if by_pairs else problem.owner[p]
            packs.centre[lead + n] = np.float32(c)
            packs.reach[lead + n] = upward((problem.error[p] + s) * (1.0 + 1e-6) + 1e-6 * abs(c))
            size += s
            n += 1
    filled = fill_up(packs, pack, at, lead, n, size, axes.size)
    for j in range(axes.size):
        begin = at * packs.axes + j * filled
        for q in range(n):
            packs.rows[begin + q] = np.float32(problem.E[packs.ids[at + q], axes[j]])


@njit(**JIT)
def choose_open(n, undecided, chosen):
    """Places of the undecided pairs; how many."""
    m = np.uint64(0)
    for q in range(np.uint64(n)):
        chosen[m] = np.uint32(q)
        m += np.uint64(undecided[q] > NO)
    return int(m)


@njit(**JIT)
def gather_pairs(m, chosen, at, new, ids, owner, lead, start, reach, centre, radius):
    """Copy what is known of the chosen pairs behind the pack."""
    at, new, lead = np.uint64(at), np.uint64(new), np.uint64(lead)
    for x in range(np.uint64(m)):
        q = np.uint64(chosen[x])
        ids[new + x] = ids[at + q]
        owner[new + x] = owner[at + q]
        start[lead + x] = centre[q]
        reach[lead + x] = radius[q]


@njit(**JIT)
def gather_rows(m, chosen, rows, axes, source, length, goal, filled):
    """Copy the rows of the chosen pairs, two axes at a time."""
    source, goal = np.uint64(source), np.uint64(goal)
    length, filled = np.uint64(length), np.uint64(filled)
    for _ in range(axes // 2):
        for x in range(np.uint64(m)):
            q = source + np.uint64(chosen[x])
            a, b = rows[q], rows[q + length]
            rows[goal + x] = a
            rows[goal + filled + x] = b
        source += length + length
        goal += filled + filled


@njit(**JIT)
def count_gone(n, centre, radius, slack, owner, at, base, base_at):
    """Count the pairs of a pack that are lost all over the box."""
    at, base_at = np.uint64(at), np.uint64(base_at)
    for q in range(np.uint64(n)):
        base[base_at + np.uint64(owner[at + q])] += centre[q] + radius[q] + slack < NO


@njit(**JIT)
def thin_out(gain, packs, pack, lead, slack, used, scratch, chosen):
    """The undecided pairs of a pack as the next one; their leads are those at hand."""
    at, n, length = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
    new = at + length
    centre, radius = scratch.centre, scratch.radius
    if gain.size > 0:
        for q in range(n):
            if centre[q] + radius[q] + slack < NO:
                packs.value[pack + 1] -= gain[packs.ids[at + q]]
    else:
        base_at = (pack + 1) * packs.width
        count_gone(n, centre, radius, slack, packs.owner, at, packs.base, base_at)
    m = choose_open(n, scratch.undecided, chosen)
    filled = fill_up(packs, pack + 1, new, lead, m, packs.size[pack], used)
    gather_pairs(m, chosen, at, new, packs.ids, packs.owner, lead, packs.centre, packs.reach, centre, radius)
    gather_rows(m, chosen, packs.rows, packs.axes, at * packs.axes, length, new * packs.axes, filled)
