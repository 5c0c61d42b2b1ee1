"""Compiled local search over directions, and the value of a list.

Symbols. Rows Y are given in coordinates of a search space, one column for each of its r directions, scaled so
that all directions matter alike; v is the present answer in these coordinates, |v| = 1. Pair p puts row up[p]
above row low[p]; it is won when its lead (Y[up] - Y[low]) . v is at least eps, a tiny number plus
margin * max |B v|, B the map back to coefficients: this only steers, the problem itself counts exactly.
Listwise problems: pair p belongs to positive item[p]; lost[i] counts the lost pairs of positive i; count[c]
is the number of positives of the query with at most c lost pairs, so that the sorted place of a change is
known in O(1); the value is the sum over queries of weight[j + c_(j)]. Otherwise the value is the sum of
worth[p] over won pairs. Along a line the answer is v + t u with u across v, |u| = 1.
"""

import numpy as np
from numba import njit

TINY = 1e-12


@njit(cache=True, nogil=True)
def least_lead(margin, B, v):
    """The lead that counts as won here: rounding stays below it."""
    if margin == 0.0:
        return TINY
    return margin * np.abs(B @ v).max() + TINY


@njit(cache=True, nogil=True)
def list_value(sp, sn, pos_start, neg_start, weights, weight_start, eps):
    """Sum over queries of weight[j + c_(j)] for scores sp of the positives and sn of the negatives.

    A single query comes sorted, ascending.
    """
    total = 0.0
    for q in range(len(pos_start) - 1):
        p = sp[pos_start[q] : pos_start[q + 1]]
        n = sn[neg_start[q] : neg_start[q + 1]]
        if len(pos_start) > 2:
            p = np.sort(p)
            n = np.sort(n)
        w = weights[weight_start[q] : weight_start[q + 1]]
        k = len(n)  # n[:k] are the negatives beaten; going down the positives, never more
        for j in range(len(p)):
            own = p[len(p) - 1 - j]
            while k > 0 and own - n[k - 1] < eps:
                k -= 1
            total += w[j + len(n) - k]
    return total


@njit(cache=True, nogil=True)
def ascending(times):
    """Order of the times: buckets of t / (1 + |t|), then insertion; several times faster than a full sort."""
    count = len(times)
    buckets = count // 4 + 1
    start = np.zeros(buckets + 1, np.int64)
    place = np.empty(count, np.int32)
    for e in range(count):
        t = times[e]
        b = int((t / (1.0 + abs(t)) * 0.5 + 0.5) * buckets)
        b = min(max(b, 0), buckets - 1)
        place[e] = b
        start[b + 1] += 1
    for b in range(buckets):
        start[b + 1] += start[b]
    order = np.empty(count, np.int32)
    fill = start[:buckets].copy()
    for e in range(count):
        b = place[e]
        order[fill[b]] = e
        fill[b] += 1
    for b in range(buckets):
        first = start[b]
        last = start[b + 1]
        if last - first > 40:
            members = order[first:last].copy()
            inner = np.argsort(times[members])
            for e in range(len(inner)):
                order[first + e] = members[inner[e]]
            continue
        for e in range(first + 1, last):
            moving = order[e]
            t = times[moving]
            f = e - 1
            while f >= first and times[order[f]] > t:
                order[f + 1] = order[f]
                f -= 1
            order[f + 1] = moving
    return order


@njit(cache=True, nogil=True)
def lost_pairs(lead, eps, item, lost):
    """Count in `lost` the pairs each positive loses."""
    lost[:] = 0
    for p in range(len(lead)):
        if lead[p] < eps:
            lost[item[p]] += 1


@njit(cache=True, nogil=True)
def tabulate(lost, query, count_start, weights, weight_start, count):
    """Fill `count` from `lost`; the value of the list."""
    count[:] = 0
    for i in range(len(lost)):
        count[count_start[query[i]] + lost[i]] += 1
    value = 0.0
    for q in range(len(count_start) - 1):
        j = 0
        for c in range(count_start[q + 1] - count_start[q]):
            for _ in range(count[count_start[q] + c]):
                value += weights[weight_start[q] + j + c]
                j += 1
            count[count_start[q] + c] = j
    return value


@njit(cache=True, nogil=True)
def value_of(lead, eps, problem, lost, count):
    """Value of the answer with these leads."""
    worth, item, query, count_start, weights, weight_start = problem
    if len(worth) == 0:
        lost_pairs(lead, eps, item, lost)
        return tabulate(lost, query, count_start, weights, weight_start, count)
    value = 0.0
    for p in range(len(lead)):
        if lead[p] >= eps:
            value += worth[p]
    return value


@njit(cache=True, nogil=True)
def sweep(lead, slope, eps, span, problem, lost, count, times, pairs):
    """Best value over the open intervals between crossings with |t| < span; widest in angle among equals.

    Returns the value and the t in the middle (in angle) of the interval.
    """
    worth, item, query, count_start, weights, weight_start = problem
    listwise = len(worth) == 0
    used = 0
    value = 0.0
    lost[:] = 0
    for p in range(len(lead)):
        gap = eps - lead[p]
        rate = slope[p]
        won = gap <= 0.0
        if rate != 0.0:
            t = gap / rate
            if t <= -span:
                won = rate > 0.0
            elif t >= span:
                won = rate < 0.0
            else:
                won = rate < 0.0
                times[used] = t
                pairs[used] = -1 - p if won else p
                used += 1
        if listwise:
            if not won:
                lost[item[p]] += 1
        elif won:
            value += worth[p]
    if listwise:
        value = tabulate(lost, query, count_start, weights, weight_start, count)
    order = ascending(times[:used])
    size = max(abs(value), 1e-300)
    best = -np.inf
    best_width = 0.0
    best_t = 0.0
    left = -span
    for e in range(used + 1):
        right = times[order[e]] if e < used else span
        tie = abs(value - best) <= 1e-11 * size
        if right > left and (tie or value > best):
            a = np.arctan(left)
            b = np.arctan(right)
            if b - a > (max(best_width, 1e-13) if tie else 1e-13):
                best = value
                best_width = b - a
                best_t = np.tan((a + b) / 2)
        if e == used:
            break
        left = right
        p = pairs[order[e]]
        if not listwise:
            value += worth[p] if p >= 0 else -worth[-1 - p]
        elif p >= 0:
            i = item[p]
            q = query[i]
            c = lost[i]
            first = count[count_start[q] + c - 1]
            place = weight_start[q] + first + c
            value += weights[place - 1] - weights[place]
            count[count_start[q] + c - 1] += 1
            lost[i] = c - 1
        else:
            i = item[-1 - p]
            q = query[i]
            c = lost[i]
            last = count[count_start[q] + c] - 1
            place = weight_start[q] + last + c
            value += weights[place + 1] - weights[place]
            count[count_start[q] + c] -= 1
            lost[i] = c + 1
        size = max(size, abs(value))
    return best, best_t


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def differences_along(Y, up, low, u, out):
    """Set ``out[p]`` to (Y[up[p]] - Y[low[p]]) . u."""
    s = Y @ u
    for p in range(len(up)):
        out[p] = s[up[p]] - s[low[p]]


@njit(cache=True, nogil=True)
def across(u, v, faces, n_faces):
    """Make u orthogonal to the orthonormal faces and to v, of length one; False when nothing is left."""
    before = np.sqrt(u @ u)
    for _ in range(2):  # a second round repairs what rounding left of the first
        for f in range(n_faces):
            u -= (u @ faces[f]) * faces[f]
        u -= (u @ v) * v
    size = np.sqrt(u @ u)
    if not size > 1e-9 * before:
        return False
    u /= size
    return True


@njit(cache=True, nogil=True)
def worthwhile_lost_pair(lead, eps, problem, lost, count, draw):
    """A lost pair, chosen by what winning it would gain and then by how near it is; -1 when none is lost."""
    worth, item, query, count_start, weights, weight_start = problem
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
    tabulate(lost, query, count_start, weights, weight_start, count)
    gain = np.zeros(len(lost))
    for i in range(len(lost)):
        if lost[i] > 0:
            q = query[i]
            place = weight_start[q] + count[count_start[q] + lost[i] - 1] + lost[i]
            gain[i] = weights[place - 1] - weights[place]
    total = gain.sum()
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


@njit(cache=True, nogil=True)
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
    v = v / np.sqrt(v @ v)
    differences_along(Y, up, low, v, lead)
    value = value_of(lead, least_lead(margin, B, v), problem, lost, count)
    line = 0
    while line < len(kinds) and stalled < patience:
        x = v.copy()
        n_faces = 0
        kind = kinds[line]
        u[:] = normals[line, 0]
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
                x += t * u
                x /= np.sqrt(x @ x)
                differences_along(Y, up, low, x, lead)
                face = Y[up[p]] - Y[low[p]]
                # Orthonormal faces, and the coordinates of a direction in which all their leads grow.
                size = np.sqrt(face @ face)
                grown = size
                for g in range(n_faces):
                    along = face @ faces[g]
                    grown -= along * inverse[g]
                    face = face - along * faces[g]
                rest = np.sqrt(face @ face)
                if rest <= 1e-9 * size:
                    break
                faces[n_faces] = face / rest
                inverse[n_faces] = grown / rest
                n_faces += 1
                u[:] = normals[line, f + 1]
        elif kind > 0.88:
            p = worthwhile_lost_pair(lead, least_lead(margin, B, v), problem, lost, count, draws[line])
            if p >= 0:
                u[:] = Y[up[p]] - Y[low[p]]
        elif kind > 0.85:
            u[:] = axes[int(draws[line] * len(axes))]
        line += 1
        stalled += 1
        for step in range(2):
            if step == 1:
                # Away from the faces, so that rounding does not lose what lies exactly on them.
                if n_faces == 0:
                    break
                u[:] = 0.0
                for f in range(n_faces):
                    u += inverse[f] * faces[f]
            if not across(u, x, faces, n_faces if step == 0 else 0):
                break
            differences_along(Y, up, low, u, slope)
            _, t = sweep(lead, slope, least_lead(margin, B, x), span, problem, lost, count, times, pairs)
            x += t * u
            x /= np.sqrt(x @ x)
            differences_along(Y, up, low, x, lead)
        reached = value_of(lead, least_lead(margin, B, x), problem, lost, count)
        if reached >= value - 1e-11 * abs(value):
            if reached > value + 1e-11 * abs(value):
                stalled = 0
            v = x
            value = reached
        else:
            differences_along(Y, up, low, v, lead)
    return v, value, line, stalled
