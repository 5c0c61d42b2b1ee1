"""Compiled search over boxes of directions: bound by slices, shrink, close by small linear programs, halve.

With need = margin * (a lower bound of max|w_j| over the box), a pair can be won somewhere in a box only if
its largest lead, rounding added, is not below need.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from toprank.exact.directions._conflict_kernels import close
from toprank.exact.slices._pack_kernels import (
    LANES,
    MUCH_LARGER,
    lead_over,
    relative,
    row_of,
    start_pack,
    thin_out,
    upward,
)
from toprank.exact.slices._slice_kernels import (
    JIT,
    SLICES,
    STEP,
    change,
    count_lost,
    gains_lost,
    limits,
    measure,
    number_of,
    open_pairs,
    range_of_lists,
    range_of_pairs,
    reaches,
    worth,
)
from toprank.exact.slices._stack_kernels import (
    FLOOR,
    FOUND,
    HANDED,
    LEAF,
    LEVEL,
    LOGGED,
    NODES,
    ROOT,
    SHRUNK,
    SPARED,
    STUCK,
    SWEEPS,
    SWEPT,
    WORKED,
    middle,
    norm_range,
    spare_node,
    step_down,
    widest,
)

FINISHED, PAUSED = 0, 1
LAST_TRIES = 2000
"""Linear programs spent on a box too small to split: it would stay open. Not tuned."""
SEEN_UP_TO, SEEN_EVERY = 96, 8
"""Middles of boxes are looked at where so few pairs are undecided, and of every so many others."""


class Rules(NamedTuple):
    """How boxes are judged, the same for the whole search."""

    margin: float
    close_size: int
    """Boxes with so few undecided pairs are closed by linear programs, ..."""
    close_tries: int
    """... so many at most."""
    smallest: float
    """Boxes are not split along an axis on which they are this small."""
    rounds: int
    """A box is swept again, up to so often, ..."""
    few: int
    """... while no more than so many slices were left."""
    sparse: float
    """Undecided pairs are packed anew when fewer than this share of a pack is left."""


# -- candidates and conflicts -------------------------------------------------------------------------


@njit(**STEP)
def glance(problem, lists, work, pack, need, floor):
    """Whether the middle of the box seems to be worth the floor, by the leads just measured."""
    packs, scratch = work.packs, work.slices
    at, n = packs.span[pack, 0], packs.span[pack, 1]
    if problem.gain.size > 0:
        ids = packs.ids[at : at + n]
        seems = gains_lost(n, scratch.centre, need, ids, problem.gain, packs.value[pack]) >= floor
    else:
        count_lost(n, scratch.centre, need, packs.owner[at : at + n], packs.base[pack], work.counts)
        seems = reaches(work.counts, scratch.number, lists, floor)
    return seems


@njit(**JIT)
def propose(problem, lists, work, pack, target, margin):
    """Keep work.point[0] as a candidate if it is worth the target and more than the last one.

    Rounding is ignored.
    """
    packs, point = work.packs, work.point[0]
    nowhere = np.zeros(point.size)
    need = margin * norm_range(point, nowhere, problem.norm, problem.norm_error)[1]
    counts = work.counts
    counts[:] = packs.base[pack]
    value = packs.value[pack]
    for q in range(packs.span[pack, 0], packs.span[pack, 0] + packs.span[pack, 1]):
        p = packs.ids[q]
        lead, _ = lead_over(problem.E[p], point, nowhere)
        if lead < need or (need == 0.0 and lead <= problem.error[p]):
            if problem.gain.size > 0:
                value -= problem.gain[p]
            else:
                counts[packs.owner[q]] += 1
    if problem.gain.size == 0:
        value = worth(counts, work.slices.number, lists)
    if value >= max(target, work.regs[FLOOR] + 1):
        work.regs[FOUND] = 1
        work.regs[FLOOR] = value
        work.point[1] = point


@njit(**JIT)
def tally_up(problem, lists, work, pack, slack):
    """Counts of lost pairs as `close` reads them, the undecided in work.ids; how many they are, the value."""
    packs, scratch, counts = work.packs, work.slices, work.counts
    at = packs.span[pack, 0]
    counts[:] = packs.base[pack]
    value = packs.value[pack]
    m = 0
    for q in range(packs.span[pack, 1]):
        p = packs.ids[at + q]
        if scratch.undecided[q] > 0:
            work.ids[m] = p
            m += 1
        elif scratch.centre[q] + scratch.radius[q] + slack < 0:
            if problem.gain.size > 0:
                value -= problem.gain[p]
            else:
                counts[packs.owner[at + q]] += 1
    if problem.gain.size > 0:
        return m, value
    offset = 0
    for query in range(lists.query.shape[0]):
        rivals = lists.query[query, 2]
        work.at_most[offset : offset + rivals + 1] = 0
        for i in range(lists.query[query, 0], lists.query[query, 1]):
            work.count[i] = offset + counts[i]
            work.at_most[offset + counts[i]] += 1
        for c in range(offset, offset + rivals):
            work.at_most[c + 1] += work.at_most[c]
        offset += rivals + 1
    return m, worth(counts, scratch.number, lists)


@njit(**JIT)
def fill_rows(problem, work, n, need):
    """Undecided pairs as `conflict` reads them: middle value and range along each axis; how many axes.

    Everything is multiplied by a power of two that makes the longest range about 1; returned as well, times
    the largest error.
    """
    half, ids, rows = work.half, work.ids, work.rows
    factor = math.ldexp(1.0, -math.frexp(half.max())[1])
    axes = 0
    for j in range(half.size):
        if half[j] > 0.0:
            axes += 1
            for q in range(n):
                rows[q, axes] = factor * (problem.E[ids[q], j] * half[j])
    largest = 0.0
    for q in range(n):
        c, _ = lead_over(problem.E[ids[q]], work.mid, half)
        rows[q, 0] = factor * (c + 2.0 * problem.error[ids[q]] - need)
        largest = max(largest, problem.error[ids[q]])
    return axes, factor * largest


@njit(**JIT)
def closed(problem, lists, work, pack, need, slack, tries, target, margin):
    """Whether no set of undecided pairs that can be won together is worth the target, and what all are worth.

    Where all of them can be won at once, a candidate is proposed.
    """
    n, value = tally_up(problem, lists, work, pack, slack)
    if value < target:
        return True, value
    axes, doubt = fill_rows(problem, work, n, need)
    answer, _ = close(
        value, target, n, axes, tries, 0, work.ids, work.rows, work.wide, work.flags, work.lp,
        2.0 * doubt + 1e-10 if margin == 0.0 else 0.0, problem, work.count, work.at_most,
    )  # fmt: skip
    if answer == 0:
        axis = 0
        for j in range(work.mid.size):
            work.point[0, j] = work.mid[j]
            if work.half[j] > 0.0:
                axis += 1
                work.point[0, j] -= work.half[j] * work.lp[axes + 4, axis]
        propose(problem, lists, work, pack, target, margin)
    return answer == 1, value


# -- the search ---------------------------------------------------------------------------------------


@njit(**STEP)
def cut_ends(work, below, k, left, right):
    """Shrink the box to some of the slices along axis k, and write that down."""
    low, high = work.low[below], work.high[below]
    step = (high[k] - low[k]) / SLICES
    if right < SLICES - 1:
        high[k] = low[k] + (right + 1) * step
    if left > 0:
        low[k] = low[k] + left * step
    work.mid[k] = 0.5 * (low[k] + high[k])
    work.half[k] = max(high[k] - work.mid[k], work.mid[k] - low[k])
    if work.log.size > 0:
        place = work.regs[LOGGED]
        work.log[place] = SHRUNK + k
        work.log[place + 1] = left
        work.log[place + 2] = right
        work.regs[LOGGED] = place + 3


@njit(**STEP)
def sweep(problem, lists, work, pack, k_place, k, slack, target):
    """First and last slice of the box along one axis that may reach the target."""
    packs, scratch = work.packs, work.slices
    at, n, filled = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
    work.regs[SWEEPS] += 1
    width = np.float32(2.0 * work.half[k] / SLICES)
    row = row_of(packs, at, filled, k_place)
    limits(filled, scratch.centre, scratch.radius, slack, row, width, scratch.begin, scratch.end)
    if problem.gain.size > 0:
        ids, value = packs.ids[at : at + n], packs.value[pack]
        left, right = range_of_pairs(
            n, ids, problem.gain, scratch.begin, scratch.end, scratch.cost, value, target
        )
    else:
        owner = packs.owner[at : at + n]
        left, right = range_of_lists(n, owner, packs.words[pack], lists, scratch, target)
    return left, right


@njit(**STEP)
def measure_box(work, pack):
    """Leads of the pack's pairs over the box at hand."""
    packs, scratch = work.packs, work.slices
    at, filled = packs.span[pack, 0], packs.span[pack, 2]
    move, reach = work.factor[0], work.factor[1]
    relative(work.mid, work.half, packs.mid[pack], work.axes, move, reach)
    start, doubt = packs.centre[at : at + filled], packs.doubt[at : at + filled]
    measure(packs.rows, at * packs.axes, filled, start, doubt, move, reach, scratch.centre, scratch.radius)


@njit(**STEP)
def changes(work, pack, below):
    """How much the undecided pairs change along each axis, into work.total; and over the box in all."""
    packs, scratch = work.packs, work.slices
    at, filled = packs.span[pack, 0], packs.span[pack, 2]
    size = 0.0
    for j in range(work.axes.size):
        axis = work.axes[j]
        work.total[below, axis] = change(filled, scratch.undecided, row_of(packs, at, filled, j))
        size += work.total[below, axis] * work.half[axis]
    return size


@njit(**STEP)
def next_pack(problem, lists, work, pack, need, limit, slack, size):
    """Pack the undecided pairs anew; what is no longer in the pack makes a bound."""
    packs = work.packs
    at, n, filled = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
    packs.base[pack + 1] = packs.base[pack]
    packs.value[pack + 1] = packs.value[pack]
    if size * MUCH_LARGER < packs.size[pack]:
        chosen = packs.ids[at : at + n]
        start_pack(
            problem, packs, pack + 1, at + filled, -need, limit, chosen, work.mid, work.half, work.axes
        )
    else:
        thin_out(problem, packs, pack, slack, work.mid, work.axes, work.slices, work.chosen)
    value = packs.value[pack + 1]
    if problem.gain.size == 0:
        value = worth(packs.base[pack + 1], work.slices.number, lists)
    return value


@njit(**JIT)
def search(problem, lists, work, rules, target, max_work):
    """Work on the loaded subtree until it is done, `max_work` pairs were looked at or something was found."""
    margin = rules.margin
    plan, regs, scratch, packs, half = work.plan, work.regs, work.slices, work.packs, work.half
    level = regs[LEVEL]
    code = FINISHED
    done = 0
    while level >= 0:
        full = regs[SPARED] + 1 >= work.spare.shape[0] or regs[LOGGED] + 16 >= work.log.size > 0
        if done >= max_work or full or regs[FOUND] > 0:
            code = PAUSED
            break
        if plan[level, 1] == (1 if plan[level, 0] == ROOT else 2):
            level -= 1
            continue
        below = level + 1
        step_down(work.low, work.high, plan, level)
        plan[level, 1] += 1
        pack = plan[level, 3]
        at, n, filled = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
        pick = LEAF
        best = plan[level, 2]
        alive = best >= target
        need = 0.0
        limit = 0.0
        slack = np.float32(0.0)
        k = -1
        if alive:
            # Sweep, shrink, and sweep again along another axis while that pays.
            regs[NODES] += 1
            middle(work.low[below], work.high[below], work.mid, half)
            turn = 0
            while True:
                done += filled + 10
                if margin > 0.0:
                    least, most = norm_range(work.mid, half, problem.norm, problem.norm_error)
                    need = margin * least * (1.0 - 1e-15)
                    limit = margin * most
                    slack = upward(-need)
                measure_box(work, pack)
                if turn == rules.rounds:
                    break
                place = 0
                for j in range(1, work.axes.size):
                    axis = work.axes[j]
                    first = work.axes[place]
                    if work.total[level, axis] * half[axis] > work.total[level, first] * half[first]:
                        place = j
                k = work.axes[place]
                left, right = sweep(problem, lists, work, pack, place, k, slack, target)
                if left >= SLICES:
                    alive = False
                    pick = SWEPT + k
                    break
                if left == 0 and right == SLICES - 1:
                    break
                cut_ends(work, below, k, left, right)
                turn = turn + 1 if right - left + 1 <= rules.few else rules.rounds
        if alive:
            # It may reach the target: a candidate, pairs that cannot be won together, or an axis to halve.
            open_pairs(filled, scratch.centre, scratch.radius, slack, np.float32(limit), scratch.undecided)
            number = number_of(n, scratch.undecided)
            size = changes(work, pack, below)
            pick = widest(work.total[below], half, rules.smallest, k)
            stuck = pick < 0 or below + 2 >= plan.shape[0]
            seen = number <= SEEN_UP_TO or regs[NODES] % SEEN_EVERY == 0
            if seen and glance(problem, lists, work, pack, np.float32(need), max(target, regs[FLOOR] + 1)):
                work.point[0] = work.mid
                propose(problem, lists, work, pack, target, margin)
            if number <= (work.rows.shape[0] - 1 if stuck else rules.close_size):
                tries = LAST_TRIES if stuck else rules.close_tries
                over, value = closed(problem, lists, work, pack, need, slack, tries, target, margin)
                best = min(best, value)
                alive = not over
                done += number
            if not alive:
                pick = LEAF
            elif stuck:
                spare_node(work, below, best, STUCK)
                pick = STUCK
                alive = False
            elif number < rules.sparse * n or size * MUCH_LARGER < packs.size[pack]:
                if at + filled + n + LANES > packs.ids.size or pack + 1 >= packs.value.size:
                    spare_node(work, below, best, HANDED)
                    pick = HANDED
                    alive = False
                else:
                    best = min(best, next_pack(problem, lists, work, pack, need, limit, slack, size))
                    pack += 1
                    alive = best >= target
                    pick = pick if alive else LEAF
        if work.log.size > 0:
            work.log[regs[LOGGED]] = pick
            regs[LOGGED] += 1
        if alive:
            plan[below, 0] = pick
            plan[below, 1] = 0
            plan[below, 2] = best
            plan[below, 3] = pack
            level = below
    regs[LEVEL] = level
    regs[WORKED] = done
    return code
