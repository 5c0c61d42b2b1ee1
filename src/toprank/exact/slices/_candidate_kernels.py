"""Compiled looks at a box that stays open: points that may be better, pairs not to be won together."""

from __future__ import annotations

import math

import numpy as np

from toprank.compiled import njit
from toprank.exact.directions._conflict_kernels import close
from toprank.exact.slices._pack_kernels import lead_over
from toprank.exact.slices._slice_kernels import JIT, worth
from toprank.exact.slices._stack_kernels import FLOOR, FOUND, norm_range


@njit(**JIT)
def propose(problem, lists, work, pack, target, margin):
    """Keep work.point[0] as a candidate if it is worth the target and more than the last one.

    Rounding is ignored.
    """
    packs, point = work.packs, work.point[0]
    nowhere = np.zeros(point.size)
    need = margin * norm_range(point, nowhere, problem.norm, problem.norm_error)[1]
    counts = work.counts
    counts[:] = packs.base[pack * packs.width : (pack + 1) * packs.width]
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
        value = worth(counts, 0, work.slices.number, lists.query, lists.loss, lists.most)
    if value >= max(target, work.regs[FLOOR] + 1):
        work.regs[FOUND] = 1
        work.regs[FLOOR] = value
        work.point[1] = point


@njit(**JIT)
def tally_up(problem, lists, work, pack, slack):
    """Counts of lost pairs as `close` reads them, the undecided in work.ids; how many they are, the value."""
    packs, scratch, counts = work.packs, work.slices, work.counts
    at = packs.span[pack, 0]
    counts[:] = packs.base[pack * packs.width : (pack + 1) * packs.width]
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
    return m, worth(counts, 0, scratch.number, lists.query, lists.loss, lists.most)


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
    begin = np.int64(0)  # a constant would be a type of its own
    answer, _ = close(
        value, target, n, axes, tries, begin, work.ids, work.rows, work.wide, work.flags, work.lp,
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
