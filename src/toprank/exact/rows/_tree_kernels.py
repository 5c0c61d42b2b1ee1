"""Compiled tree of groups of rows: halved along their widest axis until all rows of a group are equal."""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit
from toprank.exact.rows._row_kernels import JIT


@njit(**JIT)
def enclose(Z, order, begin, end, middle, extent):
    """Middle of some rows, and how far they are from it at most, rounding included; the widest axis."""
    widest, most = 0, -1.0
    for j in range(Z.shape[1]):
        low, high = Z[order[begin], j], Z[order[begin], j]
        for a in range(begin + 1, end):
            low, high = min(low, Z[order[a], j]), max(high, Z[order[a], j])
        middle[j] = 0.5 * low + 0.5 * high
        extent[j] = max(high - middle[j], middle[j] - low) * (1 + 2.0**-50) if low < high else 0.0
        if high - low > most:
            widest, most = j, high - low
    return widest


@njit(**JIT)
def grow(Z, doubt, ups, lows, middle, extent, doubts, up, low, child):
    """Fill the arrays of a tree over n different rows, which has 2 n - 1 groups; children follow parents."""
    n = Z.shape[0]
    order = np.arange(n)
    span = np.zeros((2 * n - 1, 2), np.int64)
    span[0, 1] = n
    used = 1
    for g in range(2 * n - 1):
        begin, end = span[g]
        axis = enclose(Z, order, begin, end, middle[g], extent[g])
        for a in range(begin, end):
            up[g] += ups[order[a]]
            low[g] += lows[order[a]]
            doubts[g] = max(doubts[g], doubt[order[a]])
        if end - begin == 1:
            continue
        part = order[begin:end]
        order[begin:end] = part[np.argsort(Z[part, axis])]
        half = (begin + end) // 2
        child[g] = used
        span[used, 0], span[used, 1], span[used + 1, 0], span[used + 1, 1] = begin, half, half, end
        used += 2
