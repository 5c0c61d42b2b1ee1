"""Compiled linear programs over a box: pairs that cannot be won together, and what follows for the value."""

from __future__ import annotations

import numpy as np
from numba import njit

from toprank.exact.arithmetic._kernels import dependent
from toprank.exact.boxes._sweep_kernels import JIT, lose, regain

NEARLY = 2.0**-46
"""Combinations of rows (largest entries near 1) this small may be exactly zero."""


@njit(**JIT)
def conflict(n, axes, rows, flags, lp, tolerance):
    """Can all live pairs be won at once? 1: no, flags[2] says why; 0: yes, lp says where; -1: unknown.

    rows[q] = (value at the middle, range along each axis) of pair q, error included. Minimises over
    lambda >= 0, sum lambda = 1, the largest value of sum_q lambda_q pair_q over the box,

        sum_q lambda_q rows[q, 0] + sum_j |sum_q lambda_q rows[q, j]|,

    by the simplex method (axes + 1 equations); below zero, the pairs with lambda > 0 cannot all be won. Any
    lambda proves it, so the last word is a recomputation from lambda alone.
    """
    size = axes + 1
    inverse = lp[:size, :size]
    price = lp[size, :size]
    cost = lp[size + 1, :size]
    column = lp[size + 2, :size]
    basis = flags[2]
    start = -1
    for q in range(n):
        if flags[0, q] == 1 and (start < 0 or rows[q, 0] < rows[start, 0]):
            start = q
    if start < 0:
        lp[size + 3, :size] = 0.0
        return 0
    inverse[:, :] = 0.0
    inverse[0, 0] = 1.0
    basis[0] = start
    cost[0] = rows[start, 0]
    for j in range(1, size):
        e = rows[start, j]
        inverse[j, j] = -1.0 if e >= 0 else 1.0
        inverse[j, 0] = abs(e)
        basis[j] = -2 * j if e >= 0 else -2 * j - 1
        cost[j] = 1.0
    for _ in range(20 + 8 * size):
        for j in range(size):
            s = 0.0
            for i in range(size):
                s += cost[i] * inverse[i, j]
            price[j] = s
        if price[0] < 0.0 and is_conflict(size, rows, basis, inverse, column):
            return 1
        least = -tolerance
        enters = 0
        found = False
        for j in range(1, size):
            if 1.0 + price[j] < least:
                least, enters, found = 1.0 + price[j], -2 * j, True
            if 1.0 - price[j] < least:
                least, enters, found = 1.0 - price[j], -2 * j - 1, True
        if not found:
            for q in range(n):
                if flags[0, q] == 1:
                    g = rows[q, 0] - price[0]
                    for j in range(1, size):
                        g -= price[j] * rows[q, j]
                    if g < least:
                        least, enters, found = g, q, True
        if not found:
            lp[size + 3, :size] = price
            return 0 if price[0] >= 0.0 else -1
        for i in range(size):
            if enters >= 0:
                s = inverse[i, 0]
                for j in range(1, size):
                    s += inverse[i, j] * rows[enters, j]
            else:
                s = -inverse[i, -enters // 2] if enters % 2 == 0 else inverse[i, -enters // 2]
            column[i] = s
        leaves = -1
        ratio = 0.0
        for i in range(size):
            if column[i] > 1e-12:
                x = inverse[i, 0] / column[i]
                if leaves < 0 or x < ratio or (x == ratio and column[i] > column[leaves]):
                    ratio, leaves = x, i
        if leaves < 0:
            return -1
        inverse[leaves] /= column[leaves]
        for i in range(size):
            if i != leaves and column[i] != 0.0:
                f = column[i]
                for j in range(size):
                    inverse[i, j] -= f * inverse[leaves, j]
        basis[leaves] = enters
        cost[leaves] = rows[enters, 0] if enters >= 0 else 1.0
    return -1


@njit(**JIT)
def is_conflict(size, rows, basis, inverse, total):
    """Whether the basic pairs, weighted by their lambda, stay below zero all over the box."""
    total[:] = 0.0
    for i in range(size):
        if basis[i] >= 0 and inverse[i, 0] > 0.0:
            for j in range(size):
                total[j] += inverse[i, 0] * rows[basis[i], j]
    largest = total[0]
    for j in range(1, size):
        largest += abs(total[j])
    return largest < 0.0


@njit(**JIT)
def clash(n, axes, first, ids, rows, wide, flags, lp, doubt, problem):
    """As `conflict`, the members in flags[4]: how many, then which.

    Without a margin (doubt > 0), pairs that are exactly opposed cannot be told from pairs that can just be
    won together, within the box and in floats: where the latter is in doubt, a second program looks for a
    combination of the live pairs that vanishes, and whole numbers decide whether it does.
    """
    answer = conflict(n, axes, rows, flags, lp, 1e-12)
    size = axes + 1
    members = flags[4]
    members[0] = 0
    if answer == 1:
        for i in range(size):
            if flags[2, i] >= 0 and lp[i, 0] > 0.0:
                members[0] += 1
                members[members[0]] = flags[2, i]
        return 1
    if doubt == 0.0 or (answer == 0 and lp[size + 3, 0] > doubt):
        return answer
    r = problem.E.shape[1]
    for q in range(n):
        wide[q, 0] = -NEARLY
        for j in range(r):
            wide[q, j + 1] = problem.E[ids[first + q], j]
    other = wide[wide.shape[0] - r - 6 :, :]
    if conflict(n, r, wide, flags, other, 1e-15) == 0:
        return answer
    # Members by multiplier, largest first: rows that are nearly the same bring in some that do not belong.
    chosen = np.empty(r + 1, np.int64)
    part = np.empty(r + 1)
    for i in range(r + 1):
        if flags[2, i] >= 0 and other[i, 0] > 0.0:
            place = members[0]
            while place > 0 and part[place - 1] < other[i, 0]:
                part[place] = part[place - 1]
                members[place + 1] = members[place]
                place -= 1
            part[place] = other[i, 0]
            members[place + 1] = flags[2, i]
            members[0] += 1
    for i in range(members[0]):
        chosen[i] = ids[first + members[i + 1]]
    while members[0] > 1:
        if dependent(problem.E, problem.doubt, problem.book, chosen, np.ones(r + 1), members[0]):
            return 1
        members[0] -= 1
    return -1


@njit(**JIT)
def close(value, target, n, axes, tries, first, ids, rows, wide, flags, lp, doubt, problem, count, at_most):
    """Try to show that no set of undecided pairs that can be won together is worth the target.

    Each conflict means that one of its pairs is lost; those whose loss alone misses the target are settled,
    the others are tried one after the other (those tried before stay won). Returns 1: shown, 0: all pairs
    left can be won at once (lp holds the point), -1: not within `tries`; and the value, restored.

    flags[0] = 1 while a pair counts as won, flags[1] = 1 while it may not be lost, flags[3] = stack of frames
    (members..., how many, which one is being tried).
    """
    owner, gain, weight, shift = problem.owner, problem.gain, problem.weight, problem.shift
    size = problem.E.shape[1] + 1
    stack = flags[3]
    top = 0
    for q in range(n):
        flags[0, q] = 1
        flags[1, q] = 0
    answer = 1
    while True:
        tries -= 1
        answer = -1
        if tries >= 0 and top + size + 2 < stack.size:
            answer = clash(n, axes, first, ids, rows, wide, flags, lp, doubt, problem)
        if answer != 1:
            break
        members = 0
        for i in range(flags[4, 0]):
            q = flags[4, i + 1]
            if flags[1, q] == 0:
                p = ids[first + q]
                after = lose(p, owner, gain, weight, shift, count, at_most, value)
                regain(p, owner, gain, weight, shift, count, at_most, after)
                if after >= target:
                    stack[top + members] = q
                    members += 1
        stack[top + members] = members
        stack[top + members + 1] = -1
        top += members + 2
        while top > 0:
            members = stack[top - 2]
            base = top - 2 - members
            tried = stack[top - 1]
            if tried >= 0:
                q = stack[base + tried]
                value = regain(ids[first + q], owner, gain, weight, shift, count, at_most, value)
                flags[0, q] = 1
                flags[1, q] = 1
            tried += 1
            stack[top - 1] = tried
            if tried < members:
                q = stack[base + tried]
                value = lose(ids[first + q], owner, gain, weight, shift, count, at_most, value)
                flags[0, q] = 0
                break
            for i in range(members):
                flags[1, stack[base + i]] = 0
            top = base
        if top == 0:
            return 1, value
    while top > 0:
        members = stack[top - 2]
        base = top - 2 - members
        q = stack[base + stack[top - 1]]
        value = regain(ids[first + q], owner, gain, weight, shift, count, at_most, value)
        top = base
    return answer, value
