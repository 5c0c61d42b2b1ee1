"""Compiled search over boxes of directions: bound by slices, shrink, close by small linear programs, halve.

With need = margin * (a lower bound of max|w_j| over the box), a pair can be won somewhere in a box only if
its largest lead, rounding added, is not below need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from toprank.compiled import njit
from toprank.exact.slices._candidate_kernels import closed, propose
from toprank.exact.slices._pack_kernels import LANES, MUCH_LARGER, downward, start_pack, thin_out, upward
from toprank.exact.slices._slice_kernels import (
    JIT,
    SLICES,
    STEP,
    change,
    count_lost,
    count_positives,
    count_slices,
    gains_lost,
    keep_leads,
    limits,
    open_pairs,
    range_of_pairs,
    range_of_slices,
    step_from,
    step_on,
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
    NOWHERE,
    PUZZLE,
    ROOT,
    SHRUNK,
    SPARED,
    STAR,
    STUCK,
    SWEEPS,
    SWEPT,
    VISITS,
    WORKED,
    children,
    middle,
    norm_bounds,
    spare_node,
    steepest,
    step_along,
    step_down,
    widest,
)
from toprank.exact.slices._star_kernels import has_centre

FINISHED, PAUSED = 0, 1
LAST_TRIES = 2000
"""Linear programs spent on a box too small to split: it would stay open. Not tuned."""
SAME_PAIRS = 0.98
"""A centre is looked for where halving a box has left so large a share of its pairs undecided."""
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


@njit(**STEP)
def cut_ends(low, high, mid, half, below, k, left, right):
    """Shrink the box to some of the slices along axis k; what that is as a step of leads."""
    bottom, before, wide = low[below, k], mid[k], half[k]
    step = (high[below, k] - bottom) / SLICES
    if right < SLICES - 1:
        high[below, k] = bottom + (right + 1) * step
    if left > 0:
        low[below, k] = bottom + left * step
    mid[k] = 0.5 * (low[below, k] + high[below, k])
    half[k] = max(high[below, k] - mid[k], mid[k] - low[below, k])
    return np.float32(mid[k] - before), downward(wide - half[k])


@njit(**STEP)
def note_ends(log, regs, k, left, right):
    """Write down what is left of a box."""
    if log.size > 0:
        place = regs[LOGGED]
        log[place] = SHRUNK + k
        log[place + 1] = left
        log[place + 2] = right
        regs[LOGGED] = place + 3


@njit(**STEP)
def write_plan(plan, level, pick, best, pack, number, lead):
    """What is to become of the box of a level."""
    plan[level, 0] = pick
    plan[level, 1] = 0
    plan[level, 2] = best
    plan[level, 3] = pack
    plan[level, 4] = number
    plan[level, 5] = lead


@njit(**JIT)
def no_room(packs, pack, lead):
    """Whether another pack, or other leads of this one, might not fit behind it."""
    at, n, filled = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
    pairs = at + filled + n + LANES > packs.ids.size
    return pairs or lead + 2 * filled > packs.centre.size or pack + 2 > packs.value.size


@njit(**JIT)
def next_pack(problem, lists, work, pack, lead, need, limit, slack, size):
    """Pack the undecided pairs anew; what is no longer in the pack makes a bound."""
    packs = work.packs
    at, n, filled = packs.span[pack, 0], packs.span[pack, 1], packs.span[pack, 2]
    begin, end = (pack + 1) * packs.width, (pack + 2) * packs.width
    for i in range(begin, end):
        packs.base[i] = packs.base[i - packs.width]
    packs.value[pack + 1] = packs.value[pack]
    if size * MUCH_LARGER < packs.size[pack]:
        chosen = packs.ids[at : at + n]
        start_pack(
            problem, packs, pack + 1, at + filled, lead, -need, limit, chosen, work.mid, work.half, work.axes
        )
    else:
        thin_out(problem.gain, packs, pack, lead, slack, work.axes.size, work.slices, work.chosen)
    value = packs.value[pack + 1]
    if problem.gain.size == 0:
        value = worth(packs.base, begin, work.slices.number, lists.query, lists.loss, lists.most)
    return value


@njit(**JIT)
def search(problem, lists, work, rules, stars, centres, learning, target, max_work):
    """Work on the loaded subtree until it is done, `max_work` pairs were looked at or something was found.

    So many `centres` are known; boxes too small to split are put aside while more are being learnt.
    """
    # Each name is taken out of its tuple once: doing so costs as much as a short loop.
    margin, by_pairs, gain = rules.margin, problem.gain.size > 0, problem.gain
    low, high, plan, total, regs = work.low, work.high, work.plan, work.total, work.regs
    axes, places, mid, half, counted = work.axes, work.places, work.mid, work.half, work.counts
    log, spare, number_of = work.log, work.spare, work.slices.number
    centre, radius, undecided = work.slices.centre, work.slices.radius, work.slices.undecided
    code, counts, single, group = work.slices.code, work.slices.counts, work.slices.single, work.slices.group
    cost, lost, span, sizes = work.slices.cost, work.slices.lost, work.packs.span, work.packs.size
    rows, start, reach, owner = work.packs.rows, work.packs.centre, work.packs.reach, work.packs.owner
    ids, base, values = work.packs.ids, work.packs.base, work.packs.value
    row_count, width, across, norm_error = work.packs.axes, work.packs.width, work.across, problem.norm_error
    query, loss, most_of_all = lists.query, lists.loss, lists.most
    positives = 0 if by_pairs else query[query.shape[0] - 1, 1]
    level = regs[LEVEL]
    state = FINISHED
    done = 0
    puzzled = False
    while level >= 0:
        full = regs[SPARED] + 1 >= spare.shape[0] or regs[LOGGED] + 16 >= log.size > 0
        if done >= max_work or full or regs[FOUND] > 0 or puzzled:
            state = PAUSED
            break
        if plan[level, 1] == children(plan, level, mid.size):
            level -= 1
            continue
        below = level + 1
        axis = step_down(low, high, plan, level)
        plan[level, 1] += 1
        if axis == NOWHERE:
            continue
        pack, lead = plan[level, 3], plan[level, 5]
        at, n, filled = span[pack, 0], span[pack, 1], span[pack, 2]
        pick = LEAF
        best = plan[level, 2]
        alive = best >= target
        need, limit, slack = 0.0, 0.0, np.float32(0.0)
        k = -1
        number = 0
        if alive:
            # Sweep, shrink, and sweep again along another axis while that pays.
            regs[NODES] += 1
            middle(low, high, below, mid, half)
            move, less = step_along(low, high, level, axis, mid, half)
            row = at * row_count + places[axis] * filled
            step_from(filled, lead, start, reach, rows, row, move, less, centre, radius)
            turn = 0
            while True:
                done += filled + 10
                if margin > 0.0:
                    least, most = norm_bounds(mid, half, across, norm_error, work.leads)
                    need = margin * least * (1.0 - 1e-15)
                    limit = margin * most
                    slack = upward(-need)
                if turn == rules.rounds:
                    break
                place = steepest(total, level, half, axes)
                k = axes[place]
                regs[SWEEPS] += 1
                regs[VISITS] += n
                thickness = np.float32(2.0 * half[k] / SLICES)
                row = at * row_count + place * filled
                limits(filled, centre, radius, slack, rows, row, thickness, code)
                if by_pairs:
                    left, right = range_of_pairs(n, ids, at, gain, code, cost, values[pack], target)
                else:
                    count_slices(n, code, owner, at, base, pack * width, positives, lost, counts)
                    count_positives(query, counts, single, group)
                    left, right = range_of_slices(query, loss, most_of_all - target, single, group)
                if left >= SLICES:
                    alive = False
                    pick = SWEPT + k
                    break
                if left == 0 and right == SLICES - 1:
                    break
                move, less = cut_ends(low, high, mid, half, below, k, left, right)
                step_on(filled, rows, row, move, less, centre, radius)
                note_ends(log, regs, k, left, right)
                turn = turn + 1 if right - left + 1 <= rules.few else rules.rounds
        if alive:
            # It may reach the target: a candidate, pairs that cannot be won together, or an axis to halve.
            number = open_pairs(filled, centre, radius, slack, np.float32(limit), undecided)
            size = 0.0
            for j in range(axes.size):
                axis = axes[j]
                total[below, axis] = change(filled, undecided, rows, at * row_count + j * filled)
                size += total[below, axis] * half[axis]
            pick = widest(total, below, half, rules.smallest, k)
            stuck = pick < 0 or below + 2 >= plan.shape[0]
            if centres > 0 and (stuck or number >= SAME_PAIRS * plan[level, 4]) and has_centre(
                stars, centres, ids, at, n, undecided, low, high, below, mid, half, work.space
            ):  # fmt: skip
                pick = STAR
                stuck = below + 2 >= plan.shape[0]
            if number <= SEEN_UP_TO or regs[NODES] % SEEN_EVERY == 0:
                if by_pairs:
                    seems = gains_lost(n, centre, np.float32(need), ids, at, gain, values[pack])
                else:
                    count_lost(n, centre, np.float32(need), owner, at, base, pack * width, counted)
                    seems = worth(counted, 0, number_of, query, loss, most_of_all)
                if seems >= max(target, regs[FLOOR] + 1):
                    for j in range(mid.size):
                        work.point[0, j] = mid[j]
                    propose(problem, lists, work, pack, target, margin)
            if stuck and learning and plan[level, 0] != ROOT:
                # Whoever looks at it again either knows a centre of it or begins with it.
                spare_node(work, below, best, PUZZLE)
                pick = HANDED
                alive = False
                puzzled = True
            elif number <= (work.rows.shape[0] - 1 if stuck else rules.close_size):
                tries = LAST_TRIES if stuck else rules.close_tries
                over, value = closed(problem, lists, work, pack, need, slack, tries, target, margin)
                best = min(best, value)
                alive = not over
                pick = pick if alive else LEAF
                done += number
            if not alive:
                pass
            elif stuck:
                spare_node(work, below, best, STUCK)
                pick = STUCK
                alive = False
            elif no_room(work.packs, pack, lead):
                spare_node(work, below, best, HANDED)
                pick = HANDED
                alive = False
            elif number < rules.sparse * n or size * MUCH_LARGER < sizes[pack]:
                lead += filled
                best = min(best, next_pack(problem, lists, work, pack, lead, need, limit, slack, size))
                pack += 1
                alive = best >= target
                pick = pick if alive else LEAF
            else:
                lead += filled
                keep_leads(filled, centre, radius, lead, start, reach)
        if log.size > 0:
            log[regs[LOGGED]] = pick
            regs[LOGGED] += 1
        if alive:
            write_plan(plan, below, pick, best, pack, number, lead)
            level = below
    regs[LEVEL] = level
    regs[WORKED] = done
    return state
