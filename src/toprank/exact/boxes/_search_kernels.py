"""Compiled search over boxes of directions: bound by a sweep, close by small linear programs, split.

Symbols. P pairs, r coordinates u of the direction w = B u (`directions.frame` builds them). A node is a
box ``|u_j - mid_j| <= half_j`` on a face ``u_f = +-1`` of the cube; one coordinate, k, is swept: t = u_k in
[low, high]. For pair p: ``centre`` and ``radius`` of E[p].u over the box without t, slope E[p, k]. The pair
can be won somewhere in the box at t only if ``centre + radius + slope * t + error >= need``, need = margin *
(a lower bound of max|w_j| over the box).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from toprank.compiled import njit
from toprank.exact.boxes._sweep_kernels import (
    FLOOR,
    FOUND,
    HANDED,
    LEAF,
    LEVEL,
    LOGGED,
    NODES,
    ROOT,
    SPARED,
    STUCK,
    VALUE,
    WORKED,
    spare_node,
    step_down,
    sweep,
)
from toprank.exact.directions._conflict_kernels import close
from toprank.exact.directions._counting import JIT, NOTHING, STEP, fresh_tally, lose, regain

FINISHED, PAUSED = 0, 1
LAST_TRIES = 2000
"""Linear programs spent on a box too small to split: it would stay open. Not tuned."""


class Rules(NamedTuple):
    """How boxes are judged, the same for the whole search."""

    margin: float
    close_size: int
    """Boxes with so few undecided pairs are closed by linear programs, ..."""
    close_tries: int
    """... so many at most."""
    smallest: float
    """Boxes are not split along an axis on which they are this small."""


@njit(**JIT)
def norm_range(mid, half, k, low, high, norm, norm_error):
    """Bounds of max_i |norm_i . u| over a box with t in [low, high]; only the lower one is safe."""
    least = 0.0
    most = 0.0
    for i in range(norm.shape[0]):
        c = 0.5 * norm[i, k] * (low + high)
        s = 0.5 * abs(norm[i, k]) * (high - low)
        for j in range(norm.shape[1]):
            if j != k:
                c += norm[i, j] * mid[j]
                s += abs(norm[i, j]) * half[j]
        least = max(least, abs(c) - s - norm_error[i])
        most = max(most, abs(c) + s)
    return least, most


@njit(**JIT)
def widest_axis(first, last, k, reach, ids, E, half, smallest, total):
    """Axis along which the undecided pairs change most, -1 if none; the swept one only when far ahead."""
    total[:] = 0.0
    for q in range(first, last):
        p = ids[q]
        for j in range(E.shape[1]):
            total[j] += abs(E[p, j])
    axis = -1
    most = 0.0
    for j in range(E.shape[1]):
        size = total[j] * (reach / 32.0 if j == k else half[j])
        if size > most and half[j] > smallest:
            axis = j
            most = size
    return axis


@njit(**JIT)
def take_back(lost, first, last, tally, value):
    """Regain pairs that were lost; the value."""
    for q in range(first, last):
        value = regain(lost[q], tally, value)
    return value


@njit(**JIT)
def worth_at(value, target, point, first, last, margin, problem, work):
    """Value at a point of the box when it reaches the target, else NOTHING; rounding is ignored."""
    E, error, losers = problem.E, problem.error, work.who[0]
    tally = fresh_tally(problem, work.count, work.at_most)
    need = 0.0
    for i in range(problem.norm.shape[0]):
        s = 0.0
        for j in range(point.size):
            s += problem.norm[i, j] * point[j]
        need = max(need, margin * abs(s))
    n = 0
    for q in range(first, last):
        p = work.ids[q]
        s = 0.0
        for j in range(point.size):
            s += E[p, j] * point[j]
        if s < need or (need == 0.0 and s <= error[p]):
            value = lose(p, tally, value)
            losers[n] = p
            n += 1
            if value < target:
                break
    found = value if value >= target else NOTHING
    take_back(losers, 0, n, tally, value)
    return found


@njit(**JIT)
def fill_rows(first, last, k, low, high, need, ids, centre, E, error, half, rows, ranges):
    """Undecided pairs as `conflict` reads them: middle value and range along each axis; how many axes.

    Everything is multiplied by a power of two that makes the longest range about 1; returned as well, times
    the largest error.
    """
    axes = 0
    longest = 0.0
    for j in range(E.shape[1]):
        if half[j] > 0.0:
            axes += 1
            ranges[axes] = 0.5 * (high - low) + 3e-16 if j == k else half[j]
            longest = max(longest, ranges[axes])
    factor = math.ldexp(1.0, -math.frexp(longest)[1])
    axes = 0
    for j in range(E.shape[1]):
        if half[j] > 0.0:
            axes += 1
            for q in range(last - first):
                rows[q, axes] = factor * (E[ids[first + q], j] * ranges[axes])
    middle = 0.5 * (low + high)
    largest = 0.0
    for q in range(last - first):
        p = ids[first + q]
        rows[q, 0] = factor * (centre[first + q] + E[p, k] * middle + 2.0 * error[p] - need)
        largest = max(largest, error[p])
    return axes, factor * largest


@njit(**JIT)
def propose(value, target, first, last, margin, problem, work):
    """Keep the point of the worker as a candidate if it is worth the target and more than the last one."""
    floor = max(target, work.regs[FLOOR] + 1)
    found = worth_at(value, floor, work.point[0], first, last, margin, problem, work)
    if found >= floor:
        work.regs[FOUND] = 1
        work.regs[FLOOR] = found
        work.point[1] = work.point[0]


@njit(**STEP)
def save_child(work, below, first, last, lost_first, lost_last, low, high, pick, best):
    """Put a child that stays open on the stack."""
    work.span[below, 0] = first
    work.span[below, 1] = last
    work.span[below, 2] = lost_first
    work.span[below, 3] = lost_last
    work.times[below, 0] = low
    work.times[below, 1] = high
    work.plan[below, 0] = pick
    work.plan[below, 1] = 0
    work.plan[below, 2] = best


@njit(**STEP)
def move_point(work, below, k, low, high, axes, ranges):
    """The point of the worker to where the linear program wins all pairs left."""
    axis = 0
    work.point[0, k] = 0.5 * (low + high)
    for j in range(work.mid.shape[1]):
        if work.half[below, j] > 0.0:
            axis += 1
            work.point[0, j] -= ranges[axis] * work.lp[axes + 4, axis]


@njit(**JIT)
def search(problem, work, rules, k, target, max_work):
    """Work on the loaded subtree until it is done, `max_work` pairs were looked at or something was found.

    The steps on a child, marked below, stay in one function: as functions of their own, called or inlined,
    they took a tenth to a sixth longer per box, for handing over all the arrays.
    """
    E, error, margin = problem.E, problem.error, rules.margin
    ids, centre, radius, lost = work.ids, work.centre, work.radius, work.lost
    at, who, regs = work.at, work.who, work.regs
    span, mid, half, times, plan = work.span, work.mid, work.half, work.times, work.plan
    tally = fresh_tally(problem, work.count, work.at_most)
    out = np.zeros(3)
    total = np.zeros(E.shape[1])
    ranges = np.zeros(E.shape[1] + 1)
    level = regs[LEVEL]
    value = regs[VALUE]
    code = FINISHED
    done = 0
    while level >= 0:
        full = regs[SPARED] + 1 >= work.spare.shape[0] or regs[LOGGED] + 8 >= work.log.size > 0
        if done >= max_work or full or regs[FOUND] > 0:
            code = PAUSED
            break
        stage = plan[level, 1]
        axis = plan[level, 0]
        if stage == 2 or (stage == 1 and axis == ROOT):
            value = take_back(lost, span[level, 2], span[level, 3], tally, value)
            level -= 1
            continue
        # The next child of the level, and whether it is worth a look.
        below = level + 1
        low, high = step_down(work, level, k, times[level, 0], times[level, 1])
        plan[level, 1] += 1
        first = span[level, 1]
        last = first
        lost_first = span[level, 3]
        lost_last = lost_first
        best = plan[level, 2]
        pick = LEAF
        alive = high >= low and best >= target
        if alive and first + first - span[level, 0] > ids.size:
            spare_node(work, below, low, high, best, HANDED)
            pick = HANDED
            alive = False
        if alive:
            # Which pairs it surely loses, which stay undecided, and which change sides within [low, high].
            regs[NODES] += 1
            done += first - span[level, 0] + 10
            least, most = norm_range(mid[below], half[below], k, low, high, problem.norm, problem.norm_error)
            need = margin * least * (1.0 - 1e-15)
            events = np.int64(0)  # a constant is another type, for which all would be compiled again
            split = axis if axis != ROOT and axis != k else 0
            shrink = half[below, split] if axis != ROOT and axis != k else 0.0
            move = shrink if stage == 1 else -shrink
            for q in range(span[level, 0], first):
                p = ids[q]
                e = E[p, split]
                c = centre[q] + move * e
                s = radius[q] - abs(shrink * e)
                top = c + s + error[p] - need
                a = E[p, k] * low
                b = E[p, k] * high
                if top + max(a, b) < 0.0:
                    lost[lost_last] = p
                    lost_last += 1
                    value = lose(p, tally, value)
                    if value < target:
                        alive = False
                        break
                elif c - s + min(a, b) < margin * most:
                    ids[last] = p
                    centre[last] = c
                    radius[last] = s
                    last += 1
                    if top + min(a, b) < 0.0:
                        at[0, events] = -top / E[p, k]
                        who[0, events] = p if E[p, k] > 0.0 else -1 - p
                        events += 1
        if alive:
            # The largest value at any time of the swept coordinate.
            out[0] = 0.5 * (low + high)
            best = value
            if events > 0:
                best, value = sweep(value, target, False, events, low, high, at, who, work.ends, tally, out)
                low, high = out[1], out[2]
                alive = best >= target
        if alive:
            # It may reach the target: a candidate, pairs that cannot be won together, or an axis to halve.
            work.point[0] = mid[below]
            work.point[0, k] = out[0]
            propose(value, target, first, last, margin, problem, work)
            pick = widest_axis(first, last, k, 0.5 * (high - low), ids, E, half[below], rules.smallest, total)
            stuck = pick < 0 or below + 2 >= plan.shape[0]
            if last - first <= (work.rows.shape[0] if stuck else rules.close_size):
                axes, doubt = fill_rows(
                    first, last, k, low, high, need, ids, centre, E, error, half[below], work.rows, ranges
                )
                answer, value = close(
                    value, target, last - first, axes, LAST_TRIES if stuck else rules.close_tries, first,
                    ids, work.rows, work.wide, work.flags, work.lp,
                    2.0 * doubt + 1e-10 if margin == 0.0 else 0.0, problem, work.count, work.at_most,
                )  # fmt: skip
                done += last - first
                alive = answer != 1
                if answer == 0:
                    move_point(work, below, k, low, high, axes, ranges)
                    propose(value, target, first, last, margin, problem, work)
            if alive and stuck:
                spare_node(work, below, low, high, best, STUCK)
                pick = STUCK
                alive = False
            elif not alive:
                pick = LEAF
        if work.log.size > 0:
            work.log[regs[LOGGED]] = pick
            regs[LOGGED] += 1
        if alive:
            save_child(work, below, first, last, lost_first, lost_last, low, high, pick, best)
            level = below
        else:
            value = take_back(lost, lost_first, lost_last, tally, value)
    regs[LEVEL] = level
    regs[VALUE] = value
    regs[WORKED] = done
    return code
