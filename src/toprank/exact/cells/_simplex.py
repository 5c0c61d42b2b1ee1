"""A tiny simplex method for the cells: d variables, many rows, and certificates that do not trust it.

The arrays are explained in `_layout`.
"""

import numpy as np

from toprank.compiled import njit
from toprank.exact.arithmetic._kernels import dependent, spanning
from toprank.exact.cells._layout import (
    EPS,
    EXACT,
    FAST,
    HEAD,
    HIGH,
    INNER,
    LENGTH,
    LOW,
    MOST_STEPS,
    N_ROWS,
    RATE,
    RATIO,
    RHS,
    SIZE,
    SLACK,
    WORK,
)


@njit(**FAST)
def combine(rows, n, vertex, k, sign, out, at):
    """Write ``sign * vertex[k] @ rows[:, :n]`` to out[at]; four rows at a time, which saves stores."""
    d = vertex.shape[1]
    j = d % 4
    for r in range(n):
        out[at, r] = 0.0
    for i in range(j):
        e = sign * vertex[k, i]
        for r in range(n):
            out[at, r] += e * rows[i, r]
    while j < d:
        e0, e1 = sign * vertex[k, j], sign * vertex[k, j + 1]
        e2, e3 = sign * vertex[k, j + 2], sign * vertex[k, j + 3]
        for r in range(n):
            out[at, r] += e0 * rows[j, r] + e1 * rows[j + 1, r] + e2 * rows[j + 2, r] + e3 * rows[j + 3, r]
        j += 4


@njit(**FAST)
def step(lp, n, k, sign, tolerance):
    """Leave basic row k along its edge to the first row met, and pivot; -1 if there is none."""
    rows, lines, basis, vertex = lp.rows, lp.lines, lp.basis, lp.vertex
    d = basis.size
    norm = 0.0
    for j in range(d):
        norm += abs(vertex[k, j])
    combine(rows, n, vertex, k, sign, lines, RATE)
    # Dividing first and looking for the smallest afterwards lets both loops run several rows at a time.
    for r in range(n):
        lines[RATIO, r] = lines[RATE, r] / (lines[SLACK, r] + tolerance)
    tightest = 0.0
    for r in range(n):
        tightest = min(tightest, lines[RATIO, r])
    floor = -1e-10 * norm
    enter = -1
    largest = -floor
    for r in range(n):
        if -lines[RATE, r] > largest and -lines[SLACK, r] * tightest <= -lines[RATE, r]:
            largest = -lines[RATE, r]
            enter = r
    if enter < 0:
        return -1
    length = max(lines[SLACK, enter], 0.0) / largest
    for r in range(n):
        lines[SLACK, r] += length * lines[RATE, r]
    for j in range(d):
        vertex[d, j] += length * sign * vertex[k, j]
        vertex[k, j] *= -sign / largest
    for i in range(d):
        if i != k:
            a = 0.0
            for j in range(d):
                a += rows[j, enter] * vertex[i, j]
            for j in range(d):
                vertex[i, j] -= a * vertex[k, j]
    lines[SLACK, enter] = 0.0
    basis[k] = enter
    return enter


@njit(**FAST)
def climb(lp, n, units, unit, sign, goal, tolerance, control):
    """Raise ``sign * units[unit] @ point`` to the goal: 1 reached, 0 its maximum is below, -1 gave up."""
    vertex = lp.vertex
    d = lp.basis.size
    for _ in range(MOST_STEPS):
        value = 0.0
        for j in range(d):
            value += units[unit, j] * vertex[d, j]
        if sign * value >= goal:
            return 1
        k = -1
        best = 1e-22
        for i in range(d):
            price = 0.0
            norm = 0.0
            for j in range(d):
                price += units[unit, j] * vertex[i, j]
                norm += vertex[i, j] * vertex[i, j]
            price *= sign
            vertex[d + 1, i] = price
            if price > 0.0 and price * price > best * norm:
                best = price * price / norm
                k = i
        if k < 0:
            return 0
        control[WORK] += n + 4 * d
        if step(lp, n, k, 1.0, tolerance) < 0:
            return -1
    return -1


@njit(**FAST)
def _eliminate(work):
    """Bring the left half of a table to the identity; False for one that is singular."""
    d = work.shape[0]
    for c in range(d):
        best = c
        for i in range(c + 1, d):
            if abs(work[i, c]) > abs(work[best, c]):
                best = i
        if abs(work[best, c]) < 1e-13:
            return False
        for j in range(2 * d):
            work[c, j], work[best, j] = work[best, j], work[c, j]
        scale = 1.0 / work[c, c]
        for j in range(2 * d):
            work[c, j] *= scale
        for i in range(d):
            a = work[i, c]
            if i != c:
                for j in range(2 * d):
                    work[i, j] -= a * work[c, j]
    return True


@njit(**FAST)
def refactor(lp, n):
    """Edges, point and slacks from the basis alone; the smallest slack, or -inf for a singular basis."""
    rows, lines, basis, vertex = lp.rows, lp.lines, lp.basis, lp.vertex
    d = basis.size
    work = np.zeros((d, 2 * d))
    for k in range(d):
        for j in range(d):
            work[k, j] = rows[j, basis[k]]
        work[k, d + k] = 1.0
    if not _eliminate(work):
        return -np.inf
    for j in range(d):
        vertex[d, j] = 0.0
        for k in range(d):
            vertex[k, j] = work[j, d + k]
            vertex[d, j] += vertex[k, j] * lines[RHS, basis[k]]
    for r in range(n):
        lines[SLACK, r] = -lines[RHS, r]
    for j in range(d):
        for r in range(n):
            lines[SLACK, r] += rows[j, r] * vertex[d, j]
    smallest = 0.0
    for k in range(d):
        lines[SLACK, basis[k]] = 0.0
    for r in range(n):
        smallest = min(smallest, lines[SLACK, r])
    return smallest


@njit(**INNER)
def append_row(facts, lp, control, literal):
    """Add the row of a literal to the simplex method; it may be violated."""
    units, thresholds = facts.units, facts.thresholds
    rows, lines, ids, vertex = lp.rows, lp.lines, lp.ids, lp.vertex
    n = control[N_ROWS]
    d = units.shape[1]
    unit = literal >> 1
    sign = 1.0 - 2.0 * (literal & 1)
    bound = thresholds[LOW, unit] if literal & 1 == 0 else -thresholds[HIGH, unit]
    value = 0.0
    for j in range(d):
        rows[j, n] = sign * units[unit, j]
        value += rows[j, n] * vertex[d, j]
    lines[RHS, n] = bound
    lines[SLACK, n] = value - bound
    ids[n] = literal
    control[N_ROWS] = n + 1


@njit(**INNER)
def remove_row(lp, control, slot):
    """Take a row that is not basic out of the simplex method: the last one moves to its place."""
    rows, lines, ids, basis = lp.rows, lp.lines, lp.ids, lp.basis
    last = control[N_ROWS] - 1
    if slot != last:
        for j in range(basis.size):
            rows[j, slot] = rows[j, last]
            if basis[j] == last:
                basis[j] = slot
        lines[RHS, slot] = lines[RHS, last]
        lines[SLACK, slot] = lines[SLACK, last]
        ids[slot] = ids[last]
    control[N_ROWS] = last


@njit(**INNER)
def certify(facts, lp, literal, found):
    """Whether the basic literals with a price exclude `literal`, proved; the set goes to found[0]."""
    if facts.thresholds[EXACT, literal >> 1] > 0.0:
        return _certify_margin(facts, lp, literal, found)
    # Multipliers that are not rounding errors: a matter of degree, so there are two tries.
    return _certify_dependence(facts, lp, literal, found, 1e-9) or _certify_dependence(
        facts, lp, literal, found, 1e-14
    )


@njit(**INNER)
def _largest_price(vertex, d):
    largest = 1.0
    for k in range(d):
        largest = max(largest, -vertex[d + 1, k])
    return largest


@njit(**INNER)
def _certify_dependence(facts, lp, literal, found, least):
    """Without a margin: the rows of the literals must be exactly dependent, with positive multipliers.

    A loss may be taken for a strict one, since where the value is largest it is so for all units: from a
    point with ties one can move a little and lose no pair that is won.
    """
    units, errors, ledger = facts.units, facts.errors, facts.ledger
    ids, basis, vertex = lp.ids, lp.basis, lp.vertex
    d = basis.size
    floor = least * _largest_price(vertex, d)
    members = np.empty(d + 1, dtype=np.int64)
    signs = np.empty(d + 1)
    sum_of_rows = np.zeros(d)
    mass = 0.0
    count = np.int64(0)  # a constant would be a type of its own
    for k in range(d + 1):
        other = literal if k == d else ids[basis[k]]
        t = 1.0 if k == d else -vertex[d + 1, k]
        if k < d and (other < 0 or t <= floor):
            continue
        found[0, HEAD + count] = other
        members[count] = other >> 1
        signs[count] = 1.0 - 2.0 * (other & 1)
        mass += t
        for j in range(d):
            sum_of_rows[j] += t * signs[count] * units[other >> 1, j]
        count += 1
    found[0, LENGTH] = count
    if (
        count == d + 1
        and d == ledger[0].shape[1]
        and spanning(units, errors, members, signs, vertex, facts.scratch)
    ):
        return True
    for j in range(d):  # what is not nearly zero is not exactly zero
        if abs(sum_of_rows[j]) > 1e-10 * mass:
            return False
    return dependent(units, errors, ledger, members, signs, count)


@njit(**INNER)
def _certify_margin(facts, lp, literal, found):
    """With a margin: multipliers that prove it over the box, beyond rounding.

    With multipliers t_r >= 0: g = row + sum t_r row_r, and g @ w <= sum |g_j| over the box, while every row
    wants g @ w >= rhs + sum t_r rhs_r at the true margin. A contradiction beyond rounding is a proof.
    """
    units, thresholds = facts.units, facts.thresholds
    ids, basis, vertex = lp.ids, lp.basis, lp.vertex
    d = basis.size
    unit = literal >> 1
    sign = 1.0 - 2.0 * (literal & 1)
    wanted = sign * thresholds[EXACT, unit]
    mass = thresholds[SIZE, unit] + thresholds[EXACT, unit]
    floor = 1e-11 * _largest_price(vertex, d)
    gradient = np.empty(d)
    for j in range(d):
        gradient[j] = sign * units[unit, j]
    count = HEAD
    for k in range(d):
        other = ids[basis[k]]
        t = -vertex[d + 1, k]
        if other < 0 or t <= floor:
            continue
        v = other >> 1
        s = t if other & 1 == 0 else -t
        for j in range(d):
            gradient[j] += s * units[v, j]
        wanted += s * thresholds[EXACT, v]
        mass += t * (thresholds[SIZE, v] + thresholds[EXACT, v])
        found[0, count] = other
        count += 1
    found[0, count] = literal
    found[0, LENGTH] = count + 1 - HEAD
    reach = 0.0
    for j in range(d):
        reach += abs(gradient[j])
    # At most d + 1 rows: each product, sum and difference of features rounds once.
    return reach + 4.0 * (d + 4) * EPS * mass < wanted
