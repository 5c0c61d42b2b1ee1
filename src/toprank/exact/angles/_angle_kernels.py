"""Compiled counting over intervals of directions: what is lost all along, who crosses whom, and the walk.

An order lists the different rows from the top down, just after or just before a direction, so that no two of
them tie. ``above[i]`` is the number of negatives of its list at or above positive i, ``place[k]`` the place
of negative k among those of its list. In an interval shorter than half a turn a pair changes sides once at
most: what is lost at both ends is lost all along.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit

JIT: dict[str, Any] = {"cache": True, "nogil": True}
INNER: dict[str, Any] = {**JIT, "inline": "always"}
NOTHING = -(2**62)
"""Less than any value."""


class Lists(NamedTuple):
    """Whose items the rows are: those of row r are ``begin[r]`` to ``begin[r + 1]``."""

    up_begin: NDArray[np.int64]
    low_begin: NDArray[np.int64]
    up_list: NDArray[np.int32]
    """List of each positive."""
    low_list: NDArray[np.int32]
    up_start: NDArray[np.int64]
    """Number of positives in all lists before each."""
    low_start: NDArray[np.int64]
    values: NDArray[np.float64]
    """Of all lists' tables, times the power of two that makes values whole numbers."""
    start: NDArray[np.int64]
    stride: NDArray[np.int64]
    factor: NDArray[np.float64]


@njit(**INNER)
def worth(lists, q, j, c):
    """What the j-th best positive of a list is worth with c negatives at or above it, rounded up."""
    value = lists.values[lists.start[q] + lists.stride[q] * j + c]
    return np.int64(math.ceil(lists.factor[lists.up_start[q] + j] * value))


@njit(**JIT)
def stand(order, lists, above, place):
    """Count, from the top of an order down, the negatives above each positive, and place them."""
    seen = np.zeros(len(lists.low_start) - 1, np.int32)
    for row in order:
        for k in range(lists.low_begin[row], lists.low_begin[row + 1]):
            q = lists.low_list[k]
            place[k] = seen[q]
            seen[q] += 1
        for i in range(lists.up_begin[row], lists.up_begin[row + 1]):
            above[i] = seen[lists.up_list[i]]


@njit(**JIT)
def tabulate(lost, lists, at_most):
    """Value of lost counts; ``at_most`` becomes, list after list, how many positives lost at most so many."""
    at_most[:] = 0
    for i in range(len(lost)):
        q = lists.up_list[i]
        at_most[lists.low_start[q] + q + lost[i]] += 1
    value = np.int64(0)
    for q in range(len(lists.low_start) - 1):
        j = 0
        first = lists.low_start[q] + q
        for c in range(lists.low_start[q + 1] - lists.low_start[q] + 1):
            for _ in range(at_most[first + c]):
                value += worth(lists, q, j, c)
                j += 1
            at_most[first + c] = j
    return value


@njit(**JIT)
def value_of(lost, lists):
    """Value of lost counts."""
    return tabulate(lost, lists, np.empty(len(lists.low_list) + len(lists.low_start) - 1, np.int32))


@njit(**JIT)
def bound_between(order, above_first, above_last, place_last, lists):
    """No direction between two is worth more, and how many pairs change sides between them.

    The negatives above a positive at both ends: going down the first order, those met are counted by their
    places in the last, in a binary indexed tree for each list.
    """
    tree = np.zeros(len(lists.low_list), np.int32)
    lost = np.empty(len(lists.up_list), np.int32)
    crossings = np.int64(0)
    for row in order:
        for k in range(lists.low_begin[row], lists.low_begin[row + 1]):
            q = lists.low_list[k]
            first = lists.low_start[q] - 1
            size = lists.low_start[q + 1] - lists.low_start[q]
            at = np.int64(place_last[k]) + 1
            while at <= size:
                tree[first + at] += 1
                at += at & -at
        for i in range(lists.up_begin[row], lists.up_begin[row + 1]):
            first = lists.low_start[lists.up_list[i]] - 1
            at = np.int64(above_last[i])
            both = np.int32(0)
            while at > 0:
                both += tree[first + at]
                at -= at & -at
            lost[i] = both
            crossings += above_first[i] + above_last[i] - 2 * both
    return value_of(lost, lists), crossings


@njit(**JIT)
def crossing_pairs(above_first, place_first, above_last, place_last, lists, crossings):
    """Positive and negative of each pair that changes sides, and whether it is won from there on.

    Negatives are looked at by their places in the first order, from where the positive stands upwards and
    downwards, as long as any further one has moved far enough.
    """
    n = len(place_first)
    moved = np.empty(n, np.int32)
    who = np.empty(n, np.int32)
    for k in range(n):
        at = lists.low_start[lists.low_list[k]] + place_first[k]
        moved[at] = place_last[k]
        who[at] = k
    highest = np.empty(n, np.int32)  # of those up to here
    lowest = np.empty(n, np.int32)  # of those from here on
    for q in range(len(lists.low_start) - 1):
        first, end = lists.low_start[q], lists.low_start[q + 1]
        for at in range(first, end):
            highest[at] = moved[at] if at == first else max(moved[at], highest[at - 1])
        for at in range(end - 1, first - 1, -1):
            lowest[at] = moved[at] if at == end - 1 else min(moved[at], lowest[at + 1])
    upper = np.empty(crossings, np.int32)
    lower = np.empty(crossings, np.int32)
    gained = np.empty(crossings, np.bool_)
    found = 0
    for i in range(len(above_first)):
        q = lists.up_list[i]
        first, end = lists.low_start[q], lists.low_start[q + 1]
        last = above_last[i]
        at = first + above_first[i] - 1
        while at >= first and highest[at] >= last:
            if moved[at] >= last:
                upper[found], lower[found], gained[found] = i, who[at], True
                found += 1
            at -= 1
        at = first + above_first[i]
        while at < end and lowest[at] < last:
            if moved[at] < last:
                upper[found], lower[found], gained[found] = i, who[at], False
                found += 1
            at += 1
    return upper, lower, gained


@njit(**JIT)
def walk(above, upper, gained, events, ends, lists):
    """The largest value of any sector between events, and after which set of them; -1: before the first.

    Beginning with so many negatives above each positive; events up to ``ends[g]`` happen at one direction.
    """
    count = above.copy()
    at_most = np.empty(len(lists.low_list) + len(lists.low_start) - 1, np.int32)
    value = tabulate(count, lists, at_most)
    best, found = value, -1
    begin = 0
    for g in range(len(ends)):
        for e in range(begin, ends[g]):
            i = upper[events[e]]
            q = lists.up_list[i]
            if gained[events[e]]:
                c = count[i] - 1
                at = lists.low_start[q] + q + c
                j = at_most[at]
                at_most[at] = j + 1
                count[i] = c
                value += worth(lists, q, j, c) - worth(lists, q, j, c + 1)
            else:
                c = count[i]
                at = lists.low_start[q] + q + c
                j = at_most[at] - 1
                at_most[at] = j
                count[i] = c + 1
                value += worth(lists, q, j, c + 1) - worth(lists, q, j, c)
        begin = ends[g]
        if value > best:
            best, found = value, g
    return best, found
