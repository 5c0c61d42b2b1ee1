"""Compiled local search over directions, and the value of a list.

Symbols. Rows Y are given in coordinates of a search space, one column for each of its r directions, scaled so
that all directions matter alike; v is the present answer in these coordinates, |v| = 1. Pair p puts row up[p]
above row low[p]; it is won when its lead (Y[up] - Y[low]) . v is at least eps, a tiny number plus
margin * max |B v|, B the map back to coefficients: this only steers, the problem itself counts exactly.
Listwise problems: pair p belongs to positive item[p]; lost[i] counts the lost pairs of positive i; count[c]
is the number of positives of the query with at most c lost pairs, so that the sorted place of a change is
known in O(1); the value is the sum over queries of g(j, c_(j)), which is weights[stride * j + c] from where
the query's begin. Otherwise the value is the sum of worth[p] over won pairs. Along a line the answer is
v + t u with u across v, |u| = 1.

Everybody waits for these to be compiled, once: there are loops instead of array expressions, sorts and
matrix products, whose compilation took more than twice as long.
"""

import math

import numpy as np

from toprank.compiled import njit
from toprank.exact.climb._sweep_kernels import INNER, PUBLIC, clear, lost_pairs, sweep, tabulate

TINY = 1e-12
# Sums in any order: what they steer is counted exactly elsewhere.
FAST = {**INNER, "fastmath": {"reassoc", "contract"}}


@njit(**FAST)
def dot(a, b):
    """Inner product."""
    s = 0.0
    for j in range(len(a)):
        s += a[j] * b[j]
    return s


@njit(**INNER)
def set_to(a, b):
    """Copy b into a."""
    for j in range(len(a)):
        a[j] = b[j]


@njit(**INNER)
def add_times(a, t, b):
    """Add t times b to a."""
    for j in range(len(a)):
        a[j] += t * b[j]


@njit(**INNER)
def divide_by(a, size):
    """Divide a by a number."""
    for j in range(len(a)):
        a[j] /= size


@njit(**INNER)
def move(x, t, u):
    """Go from x in the direction u, and back to length one."""
    add_times(x, t, u)
    divide_by(x, math.sqrt(dot(x, x)))


@njit(**INNER)
def least_lead(margin, B, v):
    """The lead that counts as won here: rounding stays below it."""
    largest = 0.0
    if margin > 0.0:
        for i in range(len(B)):
            largest = max(largest, abs(dot(B[i], v)))
    return margin * largest + TINY


@njit(**PUBLIC)
def list_value(sp, sn, pos_start, neg_start, weights, weight_start, stride, factor, eps):
    """Sum over queries of g(j, c_(j)) for scores sp of the positives and sn of the negatives.

    Those of each query come sorted, ascending.
    """
    total = 0.0
    for q in range(len(pos_start) - 1):
        negatives = neg_start[q + 1] - neg_start[q]
        positives = pos_start[q + 1] - pos_start[q]
        k = negatives  # the first k negatives are beaten; going down the positives, never more
        for j in range(positives):
            own = sp[pos_start[q + 1] - 1 - j]
            while k > 0 and own - sn[neg_start[q] + k - 1] < eps:
                k -= 1
            worth = weights[weight_start[q] + stride[q] * j + negatives - k]
            total += factor[pos_start[q] + j] * worth
    return total


@njit(**INNER)
def value_of(lead, eps, problem, lost, count):
    """Value of the answer with these leads."""
    worth, item, query, count_start, weights, weight_start, stride = problem
    if len(worth) == 0:
        lost_pairs(lead, eps, item, lost)
        return tabulate(lost, query, count_start, weights, weight_start, stride, count)
    value = 0.0
    for p in range(len(lead)):
        if lead[p] >= eps:
            value += worth[p]
    return value


@njit(**INNER)
def first_crossing(lead, slope, eps):
    """The nearest crossing with t > 0 and its pair (-1 when there is none)."""
    nearest = np.inf
    found = -1
    for p in range(len(lead)):
        gap = eps - lead[p]
        if gap * slope[p] > 0.0 and gap / slope[p] < nearest:
            nearest = gap / slope[p]
            found = p
    return nearest, found


@njit(**INNER)
def differences_along(Y, up, low, u, out):
    """Set ``out[p]`` to (Y[up[p]] - Y[low[p]]) . u."""
    s = np.empty(len(Y))
    for i in range(len(Y)):
        s[i] = dot(Y[i], u)
    for p in range(len(up)):
        out[p] = s[up[p]] - s[low[p]]


@njit(**INNER)
def across(u, v, faces, n_faces):
    """Make u orthogonal to the orthonormal faces and to v, of length one; False when nothing is left."""
    before = math.sqrt(dot(u, u))
    for _ in range(2):  # a second round repairs what rounding left of the first
        for f in range(n_faces):
            add_times(u, -dot(u, faces[f]), faces[f])
        add_times(u, -dot(u, v), v)
    size = math.sqrt(dot(u, u))
    if not size > 1e-9 * before:
        return False
    divide_by(u, size)
    return True


@njit(**INNER)
def worthwhile_lost_pair(lead, eps, problem, lost, count, draw):
    """A lost pair, chosen by what winning it would gain and then by how near it is; -1 when none is lost."""
    worth, item, query, count_start, weights, weight_start, stride = problem
    if len(worth) > 0:
        total = 0.0
        for p in range(len(lead)):
            if lead[p] < eps:
                total += worth[p]
        for p in range(len(lead)):
            if lead[p] < eps:
                draw -= worth[p] / total
                if draw < 0.0:
                    return p
        return -1
    lost_pairs(lead, eps, item, lost)
    tabulate(lost, query, count_start, weights, weight_start, stride, count)
    gain = np.empty(len(lost))
    total = 0.0
    for i in range(len(lost)):
        gain[i] = 0.0
        if lost[i] > 0:
            q = query[i]
            place = weight_start[q] + stride[q] * count[count_start[q] + lost[i] - 1] + lost[i]
            gain[i] = weights[place - 1] - weights[place]
            total += gain[i]
    if total <= 0.0:
        return -1
    chosen = -1
    for i in range(len(lost)):
        if gain[i] > 0.0:
            chosen = i
            draw -= gain[i] / total
            if draw < 0.0:
                break
    nearest = -1
    for p in range(len(lead)):
        if item[p] == chosen and lead[p] < eps and (nearest < 0 or lead[p] > lead[nearest]):
            nearest = p
    return nearest


@njit(**PUBLIC)
def climb(Y, B, axes, up, low, problem, sizes, v, margin, span, normals, kinds, draws, stalled, patience):
    """Search along as many lines as there are kinds; the answer never gets worse.

    `normals` holds r random vectors for each line, `kinds` and `draws` numbers in [0, 1) that choose the
    direction: an edge, a random one, an axis of the original features, or towards a lost pair. Returns the
    answer, its value, the lines searched and how many of the last ones brought nothing.
    """
    r = Y.shape[1]
    n_pairs = len(up)
    lead = np.empty(n_pairs)
    slope = np.empty(n_pairs)
    times = np.empty(n_pairs)
    pairs = np.empty(n_pairs, np.int64)
    lost = np.empty(sizes[0], np.int64)
    count = np.empty(sizes[1], np.int64)
    faces = np.empty((r, r))
    inverse = np.empty(r)
    u = np.empty(r)
    x = np.empty(r)
    face = np.empty(r)
    best = np.empty(r)
    set_to(best, v)
    v = best
    divide_by(v, math.sqrt(dot(v, v)))
    differences_along(Y, up, low, v, lead)
    value = value_of(lead, least_lead(margin, B, v), problem, lost, count)
    line = 0
    while line < len(kinds) and stalled < patience:
        set_to(x, v)
        n_faces = 0
        kind = kinds[line]
        set_to(u, normals[line, 0])
        if kind < 0.65 and r > 2:
            # Slide from face to face of the present cell until one line is left; `lead` follows x.
            for f in range(r - 2):
                if not across(u, x, faces, n_faces):
                    break
                eps = least_lead(margin, B, x)
                differences_along(Y, up, low, u, slope)
                t, p = first_crossing(lead, slope, eps)
                if p < 0:
                    break
                # Just short of losing a pair, or just past winning it.
                t *= 1.0 - 1e-7 if slope[p] < 0.0 else 1.0 + 1e-7
                move(x, t, u)
                differences_along(Y, up, low, x, lead)
                set_to(face, Y[up[p]])
                add_times(face, -1.0, Y[low[p]])
                # Orthonormal faces, and the coordinates of a direction in which all their leads grow.
                size = math.sqrt(dot(face, face))
                grown = size
                for g in range(n_faces):
                    along = dot(face, faces[g])
                    grown -= along * inverse[g]
                    add_times(face, -along, faces[g])
                rest = math.sqrt(dot(face, face))
                if rest <= 1e-9 * size:
                    break
                set_to(faces[n_faces], face)
                divide_by(faces[n_faces], rest)
                inverse[n_faces] = grown / rest
                n_faces += 1
                set_to(u, normals[line, f + 1])
        elif kind > 0.88:
            p = worthwhile_lost_pair(lead, least_lead(margin, B, v), problem, lost, count, draws[line])
            if p >= 0:
                set_to(u, Y[up[p]])
                add_times(u, -1.0, Y[low[p]])
        elif kind > 0.85:
            set_to(u, axes[int(draws[line] * len(axes))])
        line += 1
        stalled += 1
        for step in range(2):
            if step == 1:
                # Away from the faces, so that rounding does not lose what lies exactly on them.
                if n_faces == 0:
                    break
                clear(u)
                for f in range(n_faces):
                    add_times(u, inverse[f], faces[f])
            if not across(u, x, faces, n_faces * (1 - step)):
                break
            differences_along(Y, up, low, u, slope)
            _, t = sweep(lead, slope, least_lead(margin, B, x), span, problem, lost, count, times, pairs)
            move(x, t, u)
            differences_along(Y, up, low, x, lead)
        reached = value_of(lead, least_lead(margin, B, x), problem, lost, count)
        if reached >= value - 1e-11 * abs(value):
            if reached > value + 1e-11 * abs(value):
                stalled = 0
            set_to(v, x)
            value = reached
        else:
            differences_along(Y, up, low, v, lead)
    return v, value, line, stalled
