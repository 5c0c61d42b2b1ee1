"""Compiled linear programs over a box: pairs that cannot be won together, and what follows for the value."""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit
from toprank.exact.arithmetic._kernels import dependent
from toprank.exact.directions._counting import JIT, STEP, fresh_tally, lose, regain

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
    start = lowest(n, rows, flags)
    if start < 0:
        lp[size + 3, :size] = 0.0
        return 0
    begin(size, start, rows, basis, inverse, cost)
    for _ in range(20 + 8 * size):
        for j in range(size):
            s = 0.0
            for i in range(size):
                s += cost[i] * inverse[i, j]
            price[j] = s
        if price[0] < 0.0 and is_conflict(size, rows, basis, inverse, column):
            return 1
        found, enters = entering(n, size, rows, flags, price, tolerance)
        if not found:
            lp[size + 3, :size] = price
            return 0 if price[0] >= 0.0 else -1
        leaves = leaving(size, enters, rows, inverse, column)
        if leaves < 0:
            return -1
        pivot(size, leaves, inverse, column)
        basis[leaves] = enters
        cost[leaves] = rows[enters, 0] if enters >= 0 else 1.0
    return -1


@njit(**STEP)
def lowest(n, rows, flags):
    """The live pair that is lowest at the middle; -1 if none is live."""
    start = -1
    for q in range(n):
        if flags[0, q] == 1 and (start < 0 or rows[q, 0] < rows[start, 0]):
            start = q
    return start


@njit(**STEP)
def begin(size, start, rows, basis, inverse, cost):
    """The basis of one pair and the absolute value of each of its ranges."""
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


@njit(**STEP)
def entering(n, size, rows, flags, price, tolerance):
    """Whether something lowers the value, and what: pair q, or -2 j, -2 j - 1 for either sign of axis j."""
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
    return found, enters


@njit(**STEP)
def leaving(size, enters, rows, inverse, column):
    """The place in the basis that what enters takes, -1 if none; `column` is what it looks like there."""
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
    return leaves


@njit(**STEP)
def pivot(size, leaves, inverse, column):
    """Exchange one member of the basis."""
    inverse[leaves] /= column[leaves]
    for i in range(size):
        if i != leaves and column[i] != 0.0:
            f = column[i]
            for j in range(size):
                inverse[i, j] -= f * inverse[leaves, j]


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
    return 1 if opposed(first, ids, flags, other, problem) else -1


@njit(**JIT)
def opposed(first, ids, flags, lp, problem):
    """Whether the pairs of a vanishing combination are opposed in whole numbers; they go to flags[4].

    Members by multiplier, largest first: rows that are nearly the same bring in some that do not belong.
    """
    members = flags[4]
    r = problem.E.shape[1]
    chosen = np.empty(r + 1, np.int64)
    part = np.empty(r + 1)
    for i in range(r + 1):
        if flags[2, i] >= 0 and lp[i, 0] > 0.0:
            place = members[0]
            while place > 0 and part[place - 1] < lp[i, 0]:
                part[place] = part[place - 1]
                members[place + 1] = members[place]
                place -= 1
            part[place] = lp[i, 0]
            members[place + 1] = flags[2, i]
            members[0] += 1
    for i in range(members[0]):
        chosen[i] = ids[first + members[i + 1]]
    while members[0] > 1:
        if dependent(problem.E, problem.doubt, problem.ledger, chosen, np.ones(r + 1), members[0]):
            return True
        members[0] -= 1
    return False


@njit(**STEP)
def push_members(value, target, first, ids, flags, top, tally):
    """Put the members of a conflict whose loss leaves the target within reach on the stack; its new top."""
    stack = flags[3]
    members = 0
    for i in range(flags[4, 0]):
        q = flags[4, i + 1]
        if flags[1, q] == 0:
            p = ids[first + q]
            after = lose(p, tally, value)
            regain(p, tally, after)
            if after >= target:
                stack[top + members] = q
                members += 1
    stack[top + members] = members
    stack[top + members + 1] = -1
    return top + members + 2


@njit(**STEP)
def next_loss(value, first, ids, flags, top, tally):
    """Lose the next member on the stack instead of the last one; value and top, which is 0 after all."""
    stack = flags[3]
    while top > 0:
        members = stack[top - 2]
        base = top - 2 - members
        tried = stack[top - 1]
        if tried >= 0:
            q = stack[base + tried]
            value = regain(ids[first + q], tally, value)
            flags[0, q] = 1
            flags[1, q] = 1
        tried += 1
        stack[top - 1] = tried
        if tried < members:
            q = stack[base + tried]
            value = lose(ids[first + q], tally, value)
            flags[0, q] = 0
            break
        for i in range(members):
            flags[1, stack[base + i]] = 0
        top = base
    return value, top


@njit(**JIT)
def close(value, target, n, axes, tries, first, ids, rows, wide, flags, lp, doubt, problem, count, at_most):
    """Try to show that no set of undecided pairs that can be won together is worth the target.

    Each conflict means that one of its pairs is lost; those whose loss alone misses the target are settled,
    the others are tried one after the other (those tried before stay won). Returns 1: shown, 0: all pairs
    left can be won at once (lp holds the point), -1: not within `tries`; and the value, restored.

    flags[0] = 1 while a pair counts as won, flags[1] = 1 while it may not be lost, flags[3] = stack of frames
    (members..., how many, which one is being tried).
    """
    tally = fresh_tally(problem, count, at_most)
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
        top = push_members(value, target, first, ids, flags, top, tally)
        value, top = next_loss(value, first, ids, flags, top, tally)
        if top == 0:
            return 1, value
    while top > 0:
        members = stack[top - 2]
        base = top - 2 - members
        q = stack[base + stack[top - 1]]
        value = regain(ids[first + q], tally, value)
        top = base
    return answer, value
