"""Compiled sweep along a line: all crossings of pairs in order, and the best value between two of them.

Symbols as in `climb._kernels`.
"""

import math

import numpy as np

from toprank.compiled import njit

PUBLIC = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = {**PUBLIC, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@njit(**INNER)
def clear(a):
    """Set all to zero."""
    for j in range(len(a)):
        a[j] = 0


@njit(**INNER)
def sift(order, first, size, place, times):
    """Let the item at a place of a heap of so many, the latest on top, sink to where it belongs."""
    moving = order[first + place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and times[order[first + child + 1]] > times[order[first + child]]:
            child += 1
        if times[order[first + child]] <= times[moving]:
            break
        order[first + place] = order[first + child]
        place = child
    order[first + place] = moving


@njit(**INNER)
def sort_part(order, first, last, times):
    """Order a part of the items by their times, by a heap."""
    for place in range((last - first) // 2 - 1, -1, -1):
        sift(order, first, last - first, place, times)
    for size in range(last - first - 1, 0, -1):
        latest = order[first]
        order[first] = order[first + size]
        order[first + size] = latest
        sift(order, first, size, 0, times)


@njit(**INNER)
def ascending(times, count):
    """Order of the times: buckets of t / (1 + |t|), then insertion; several times faster than a full sort."""
    buckets = count // 4 + 1
    start = np.empty(buckets + 1, np.int64)
    clear(start)
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
    # Filling moves each start to the end of its bucket, which is the start of the next.
    for e in range(count):
        b = place[e]
        order[start[b]] = e
        start[b] += 1
    for b in range(buckets):
        first = start[b - 1] if b > 0 else 0
        last = start[b]
        if last - first > 40:
            sort_part(order, first, last, times)
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


@njit(**INNER)
def lost_pairs(lead, eps, item, lost):
    """Count in `lost` the pairs each positive loses."""
    clear(lost)
    for p in range(len(lead)):
        if lead[p] < eps:
            lost[item[p]] += 1


@njit(**INNER)
def tabulate(lost, query, count_start, weights, weight_start, stride, count):
    """Fill `count` from `lost`; the value of the list."""
    clear(count)
    for i in range(len(lost)):
        count[count_start[query[i]] + lost[i]] += 1
    value = 0.0
    for q in range(len(count_start) - 1):
        j = 0
        for c in range(count_start[q + 1] - count_start[q]):
            for _ in range(count[count_start[q] + c]):
                value += weights[weight_start[q] + stride[q] * j + c]
                j += 1
            count[count_start[q] + c] = j
    return value


@njit(**PUBLIC)
def sweep(lead, slope, eps, span, problem, lost, count, times, pairs):
    """Best value over the open intervals between crossings with |t| < span; widest in angle among equals.

    Returns the value and the t in the middle (in angle) of the interval.
    """
    worth, item, query, count_start, weights, weight_start, stride = problem
    listwise = len(worth) == 0
    used = 0
    value = 0.0
    clear(lost)
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
        value = tabulate(lost, query, count_start, weights, weight_start, stride, count)
    order = ascending(times, used)
    size = max(abs(value), 1e-300)
    best = -np.inf
    best_width = 0.0
    best_t = 0.0
    left = -span
    for e in range(used + 1):
        right = times[order[e]] if e < used else span
        tie = abs(value - best) <= 1e-11 * size
        if right > left and (tie or value > best):
            a = math.atan(left)
            b = math.atan(right)
            if b - a > (max(best_width, 1e-13) if tie else 1e-13):
                best = value
                best_width = b - a
                best_t = math.tan((a + b) / 2)
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
            place = weight_start[q] + stride[q] * first + c
            value += weights[place - 1] - weights[place]
            count[count_start[q] + c - 1] += 1
            lost[i] = c - 1
        else:
            i = item[-1 - p]
            q = query[i]
            c = lost[i]
            last = count[count_start[q] + c] - 1
            place = weight_start[q] + stride[q] * last + c
            value += weights[place + 1] - weights[place]
            count[count_start[q] + c] -= 1
            lost[i] = c + 1
        size = max(size, abs(value))
    return best, best_t
