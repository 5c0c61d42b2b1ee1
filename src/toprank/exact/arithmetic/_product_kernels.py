"""Pairs in new coordinates, as if with twice the digits: coordinates may bring out small differences.

The difference of two floats is hi + lo exactly (Knuth), the product of two floats as well (Veltkamp, Dekker);
sums carry their rounding errors along (Ogita, Rump, Oishi 2005, Dot2).
"""

import math

import numpy as np
from numba import njit

from toprank.exact.rounding import UNIT

SPLITTER = 134217729.0  # 2**27 + 1


@njit(cache=True, nogil=True)
def two_sum(a, b):
    """The sum in floats and what rounding took from it."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@njit(cache=True, nogil=True)
def two_product(a, b):
    """The product in floats and what rounding took from it."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, nogil=True)
def pairs_in_coordinates(rows, upper, lower, basis, out, doubt):
    """Set out[p] to ``(rows[upper[p]] - rows[lower[p]]) @ basis`` scaled to a largest entry below 1.

    doubt[p] bounds how far each entry is from the exact one.
    """
    d, r = basis.shape
    high = np.empty(d)
    low = np.empty(d)
    for p in range(len(upper)):
        largest = 0.0
        for j in range(d):
            high[j], low[j] = two_sum(rows[upper[p], j], -rows[lower[p], j])
            largest = max(largest, abs(high[j]))
        scale = math.ldexp(1.0, -math.frexp(largest)[1])
        size = 0.0
        mass = 0.0
        for k in range(r):
            total = 0.0
            carry = 0.0
            weight = 0.0
            for j in range(d):
                h = scale * high[j]
                product, lost = two_product(h, basis[j, k])
                total, rounded = two_sum(total, product)
                carry += lost + rounded + scale * low[j] * basis[j, k]
                weight += abs(h * basis[j, k])
            out[p, k] = total + carry
            size = max(size, abs(out[p, k]))
            mass = max(mass, weight)
        doubt[p] = UNIT * size + 8.0 * (d + 4) ** 2 * UNIT * UNIT * mass + 1e-290
        if size > 0.0:
            scale = math.ldexp(1.0, -math.frexp(size)[1])
            doubt[p] *= scale
            for k in range(r):
                out[p, k] *= scale
