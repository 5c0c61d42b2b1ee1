"""The features as the test for exact dependence reads them: floats, shifts to whole numbers, primes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ledger", "ledger", "two_difference"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Ledger = tuple[Floats, Places, Places, Places, Floats, Floats, Places, Places]
PRIME_BITS = 30.9
MOST_PRIMES = 1000
ROWS_AT_A_TIME = 1 << 16
NEVER = 1 << 20
"""Exponent of the lowest bit of zero: above all others."""


def ledger(features: Any, upper: Any, lower: Any) -> Ledger:
    """What the kernel `dependent` reads of the pairs ``features[upper] - features[lower]``.

    Parameters
    ----------
    features : (n, d) array
        One row per item; finite floats, taken as they are.
    upper, lower : (P,) arrays of int
        Rows of the two items of each pair.

    Returns
    -------
    tuple of arrays
        The features; by which power of two each column becomes whole numbers; upper; lower; the logarithm
        (base 2) of a bound on the length of each difference in whole numbers; of one on all minors of each
        size; primes; powers of two modulo each of them.

    Examples
    --------
    >>> from toprank.exact.arithmetic._dependence_kernels import dependent
    >>> X = np.array([[0.0, 0.0], [0.1, 0.3], [0.2, 0.6], [0.3, 0.9]])
    >>> book = ledger(X, [1, 0, 0], [0, 2, 3])
    >>> rows, errors = X[[1, 0, 0]] - X[[0, 2, 3]], np.zeros(3)
    >>> dependent(rows, errors, book, np.array([0, 1]), np.ones(2), 2)
    True
    >>> dependent(rows, errors, book, np.array([0, 2]), np.ones(2), 2)  # 0.3 is not three times 0.1 in floats
    False
    """
    X = np.ascontiguousarray(features, dtype=np.float64)
    first, second = (np.ascontiguousarray(side, dtype=np.int64) for side in (upper, lower))
    d = X.shape[1]
    mantissa, exponent = np.frexp(X)
    exponent = exponent.astype(np.int64)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    zero = digits == 0
    low = np.where(zero, NEVER, exponent - 54 + np.frexp((digits & -digits).astype(np.float64))[1])
    base = np.where(zero.all(axis=0), 0, low.min(axis=0, initial=NEVER))
    low = np.where(zero, NEVER, low - base)
    shift = 53 - np.where(zero, NEVER, exponent).min(axis=0, initial=NEVER)
    shift[zero.all(axis=0)] = 0
    # A difference is at most twice the largest entry; longer columns first.
    widths = np.sort(np.where(zero, 0, exponent - base).max(axis=0, initial=0) + 1.0)[::-1]
    sizes = np.arange(d + 1)
    minor_bits = np.append(0.0, np.cumsum(widths)) + 0.5 * sizes * np.log2(np.maximum(sizes, 1)) + 0.01
    count = min(MOST_PRIMES, int(minor_bits[-1] / PRIME_BITS) + 2)
    largest = int(np.where(zero, 0, exponent - 53 + shift).max(initial=0))
    bits = _row_bits(X, exponent, base, low, first, second)
    return X, shift, first, second, bits, minor_bits, _primes(count), _powers(count, largest + 1)


def _row_bits(X: Floats, exponent: Places, base: Places, low: Places, upper: Places, lower: Places) -> Floats:
    """Logarithm of a bound on each difference's length, in whole numbers without common factors of two."""
    bits = np.empty(len(upper))
    for begin in range(0, len(bits), ROWS_AT_A_TIME):
        a, b = upper[begin : begin + ROWS_AT_A_TIME], lower[begin : begin + ROWS_AT_A_TIME]
        with np.errstate(over="ignore"):
            difference = X[a] - X[b]
        size = np.where(
            np.isfinite(difference),
            np.frexp(difference)[1],
            np.maximum(exponent[a], exponent[b]) + 1,
        )
        size = np.where(difference == 0, 0, size - base).max(axis=1, initial=0)
        common = np.minimum(low[a], low[b]).min(axis=1, initial=NEVER)
        bits[begin : begin + ROWS_AT_A_TIME] = size - np.where(common == NEVER, 0, common)
    return bits + 0.5 * np.log2(max(X.shape[1], 1)) + 0.01


@cache
def _primes(count: int) -> Places:
    """The largest primes below 2**31; products of two residues fit into 62 bits."""
    top, span = 2**31, 64 * (count + 8)
    sieve = np.ones(span, dtype=bool)  # sieve[i]: top - 1 - i
    limit = int(top**0.5) + 1
    small = np.ones(limit + 1, dtype=bool)
    small[:2] = False
    for p in range(2, limit + 1):
        if small[p]:
            small[p * p :: p] = False
            sieve[(top - 1) % p :: p] = False
    found = top - 1 - np.flatnonzero(sieve)[:count]
    return np.ascontiguousarray(found, dtype=np.int64)


@cache
def _powers(count: int, size: int) -> Places:
    """Powers of two modulo each prime."""
    primes = _primes(count)
    powers = np.empty((count, size), dtype=np.int64)
    value = np.ones(count, dtype=np.int64)
    for exponent in range(size):
        powers[:, exponent] = value
        value = 2 * value % primes
    return powers


def two_difference(upper: Floats, lower: Floats) -> tuple[Floats, Floats]:
    """The rounded difference and what rounding took from it: their exact sum is the exact difference.

    >>> two_difference(np.array([1e16]), np.array([1.0]))
    (array([1.e+16]), array([-1.]))
    """
    difference = upper - lower
    part = difference - upper
    return difference, (upper - (difference - part)) - (lower + part)
