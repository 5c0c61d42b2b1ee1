"""Compiled search over boxes of directions: bound by a sweep, close by small linear programs, split.

Symbols. P pairs, r coordinates u of the direction w = B u (`boxes.frame` builds them). A node is a
box ``|u_j - mid_j| <= half_j`` on a face ``u_f = +-1`` of the cube; one coordinate, k, is swept: t = u_k in
[low, high]. For pair p: ``centre`` and ``radius`` of E[p].u over the box without t, slope E[p, k]. The pair
can be won somewhere in the box at t only if ``centre + radius + slope * t + error >= need``, need = margin *
(a lower bound of max|w_j| over the box).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from toprank.exact.boxes._conflict_kernels import close
from toprank.exact.boxes._sweep_kernels import JIT, NOTHING, lose, regain, sweep

FINISHED, PAUSED = 0, 1
LEVEL, VALUE, NODES, LOGGED, SPARED, FLOOR, FOUND, WORKED = range(8)
LEAF, HANDED, STUCK = 255, 254, 253  # log codes; smaller ones are the axis of a split
ROOT = -1


class Work(NamedTuple):
    """One worker's stack: lists of undecided pairs per level, boxes, counts, scratch."""

    ids: NDArray[np.int32]
    centre: NDArray[np.float64]
    radius: NDArray[np.float64]
    lost: NDArray[np.int32]
    span: NDArray[np.int64]
    mid: NDArray[np.float64]
    half: NDArray[np.float64]
    times: NDArray[np.float64]
    plan: NDArray[np.int64]
    at: NDArray[np.float64]
    who: NDArray[np.int32]
    count: NDArray[np.int32]
    at_most: NDArray[np.int32]
    regs: NDArray[np.int64]
    point: NDArray[np.float64]
    log: NDArray[np.uint8]
    spare: NDArray[np.float64]
    spare_info: NDArray[np.int64]
    rows: NDArray[np.float64]
    wide: NDArray[np.float64]
    flags: NDArray[np.int64]
    lp: NDArray[np.float64]
    ends: NDArray[np.int64]


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
def load(problem, work, node, k, value, bound):
    """Start a worker on one open node: all pairs undecided, level 0."""
    P, r = problem.E.shape
    work.count[:] = problem.count
    work.at_most[:] = problem.at_most
    work.regs[LEVEL] = 0
    work.regs[VALUE] = value
    work.plan[0, 0] = ROOT
    work.plan[0, 1] = 0
    work.plan[0, 2] = bound
    work.times[0, 0] = node[2 * r]
    work.times[0, 1] = node[2 * r + 1]
    for j in range(r):
        work.mid[0, j] = node[j]
        work.half[0, j] = node[r + j]
    for p in range(P):
        c = 0.0
        s = 0.0
        for j in range(r):
            if j != k:
                c += problem.E[p, j] * node[j]
                s += abs(problem.E[p, j]) * node[r + j]
        work.ids[p] = p
        work.centre[p] = c
        work.radius[p] = s
    work.span[0, 0] = 0
    work.span[0, 1] = P
    work.span[0, 2] = 0
    work.span[0, 3] = 0


@njit(**JIT)
def step_down(work, level, k, low, high):
    """Box of the next child of `level` into level + 1; the part of [low, high] in it."""
    axis = work.plan[level, 0]
    below = level + 1
    for j in range(work.mid.shape[1]):
        work.mid[below, j] = work.mid[level, j]
        work.half[below, j] = work.half[level, j]
    if axis != ROOT:
        h = 0.5 * work.half[level, axis]
        work.half[below, axis] = h
        work.mid[below, axis] += h if work.plan[level, 1] == 1 else -h
        if axis == k:
            low = max(low, work.mid[below, k] - h)
            high = min(high, work.mid[below, k] + h)
    return low, high


@njit(**JIT)
def hand_over(work, k, nodes, bounds):
    """Give back all that is left of a worker's subtree as open nodes; how many."""
    r = work.mid.shape[1]
    n = 0
    level = work.regs[LEVEL]
    while level >= 0:
        children = 1 if work.plan[level, 0] == ROOT else 2
        while work.plan[level, 1] < children:
            low, high = step_down(work, level, k, work.times[level, 0], work.times[level, 1])
            nodes[n, :r] = work.mid[level + 1]
            nodes[n, r : 2 * r] = work.half[level + 1]
            nodes[n, 2 * r] = low
            nodes[n, 2 * r + 1] = high
            bounds[n] = work.plan[level, 2]
            n += 1
            work.plan[level, 1] += 1
        level -= 1
    return n


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
def worth_at(value, target, point, first, last, margin, problem, work):
    """Value at a point of the box when it reaches the target, else NOTHING; rounding is ignored."""
    E, owner, gain, weight, shift = problem.E, problem.owner, problem.gain, problem.weight, problem.shift
    error = problem.error
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
            value = lose(p, owner, gain, weight, shift, work.count, work.at_most, value)
            work.who[0, n] = p
            n += 1
            if value < target:
                break
    found = value if value >= target else NOTHING
    for q in range(n):
        value = regain(work.who[0, q], owner, gain, weight, shift, work.count, work.at_most, value)
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
def spare_node(work, level, low, high, bound, kind):
    """Put the box of a level aside."""
    r = work.mid.shape[1]
    n = work.regs[SPARED]
    work.spare[n, :r] = work.mid[level]
    work.spare[n, r : 2 * r] = work.half[level]
    work.spare[n, 2 * r] = low
    work.spare[n, 2 * r + 1] = high
    work.spare_info[n, 0] = bound
    work.spare_info[n, 1] = kind
    work.regs[SPARED] = n + 1


@njit(**JIT)
def propose(value, target, first, last, margin, problem, work):
    """Keep the point of the worker as a candidate if it is worth the target and more than the last one."""
    floor = max(target, work.regs[FLOOR] + 1)
    found = worth_at(value, floor, work.point[0], first, last, margin, problem, work)
    if found >= floor:
        work.regs[FOUND] = 1
        work.regs[FLOOR] = found
        work.point[1] = work.point[0]


@njit(**JIT)
def search(problem, work, margin, k, target, max_work, close_size, close_tries, smallest):
    """Work on the loaded subtree until it is done, `max_work` pairs were looked at or something was found."""
    E, error, owner, gain, weight, shift, norm, norm_error, _, _, _, _ = problem
    ids, centre, radius, lost = work.ids, work.centre, work.radius, work.lost
    at, who, count, at_most, regs = work.at, work.who, work.count, work.at_most, work.regs
    span, mid, half, times, plan = work.span, work.mid, work.half, work.times, work.plan
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
            for q in range(span[level, 2], span[level, 3]):
                value = regain(lost[q], owner, gain, weight, shift, count, at_most, value)
            level -= 1
            continue
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
            regs[NODES] += 1
            done += first - span[level, 0] + 10
            least, most = norm_range(mid[below], half[below], k, low, high, norm, norm_error)
            need = margin * least * (1.0 - 1e-15)
            events = 0
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
                    value = lose(p, owner, gain, weight, shift, count, at_most, value)
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
            out[0] = 0.5 * (low + high)
            best = value
            if events > 0:
                best, value = sweep(
                    value, target, False, events, low, high, at, who, work.ends,
                    owner, gain, weight, shift, count, at_most, out,
                )  # fmt: skip
                low, high = out[1], out[2]
                alive = best >= target
        if alive:
            work.point[0] = mid[below]
            work.point[0, k] = out[0]
            propose(value, target, first, last, margin, problem, work)
            pick = widest_axis(first, last, k, 0.5 * (high - low), ids, E, half[below], smallest, total)
            stuck = pick < 0 or below + 2 >= plan.shape[0]
            if last - first <= (work.rows.shape[0] if stuck else close_size):
                axes, doubt = fill_rows(
                    first, last, k, low, high, need, ids, centre, E, error, half[below], work.rows, ranges
                )
                answer, value = close(
                    value, target, last - first, axes, 2000 if stuck else close_tries, first, ids, work.rows,
                    work.wide, work.flags, work.lp, 2.0 * doubt + 1e-10 if margin == 0.0 else 0.0,
                    problem, count, at_most,
                )  # fmt: skip
                done += last - first
                alive = answer != 1
                if answer == 0:
                    axis = 0
                    work.point[0, k] = 0.5 * (low + high)
                    for j in range(total.size):
                        if half[below, j] > 0.0:
                            axis += 1
                            work.point[0, j] -= ranges[axis] * work.lp[axes + 4, axis]
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
            span[below, 0] = first
            span[below, 1] = last
            span[below, 2] = lost_first
            span[below, 3] = lost_last
            times[below, 0] = low
            times[below, 1] = high
            plan[below, 0] = pick
            plan[below, 1] = 0
            plan[below, 2] = best
            level = below
        else:
            for q in range(lost_first, lost_last):
                value = regain(lost[q], owner, gain, weight, shift, count, at_most, value)
    regs[LEVEL] = level
    regs[VALUE] = value
    regs[WORKED] = done
    return code


@njit(**JIT)
def open_bound(work):
    """Largest bound of what is left of a worker's subtree."""
    bound = NOTHING
    for level in range(work.regs[LEVEL] + 1):
        if work.plan[level, 1] < (1 if work.plan[level, 0] == ROOT else 2):
            bound = max(bound, work.plan[level, 2])
    return bound
