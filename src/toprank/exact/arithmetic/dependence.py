"""What whole numbers tell of rows and columns: which depend on others, and in which coordinates to look.

Every float is a whole number times a power of two, so ranks are decided exactly, modulo primes: `ledger` is
what the test for exact dependence reads, `free_margin` a margin that costs nothing.

Without a margin only signs matter, so the coefficients' own norm does not: any coordinates will do in which
the differences are told apart well. Rows are brought to unit length before their spread is measured, and
again in the new coordinates (`plain_basis`): neither an outlier nor columns that are nearly the same leave a
direction flat.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from toprank.exact.arithmetic.rational import whole_numbers

__all__ = [
    "Ledger",
    "free_margin",
    "independent_columns",
    "is_regular",
    "ledger",
    "pairs_in",
    "plain_basis",
    "slanted",
    "two_difference",
]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]
Indices = NDArray[np.int32]
Ledger = tuple[Floats, Places, Places, Places, Floats, Floats, Places, Places]
PRIME_BITS = 30.9
"""Each prime below 2**31 has at least so many."""
MOST_PRIMES = 1000
ROWS_AT_A_TIME = 1 << 16
NEVER = 1 << 20
"""Exponent of the lowest bit of zero: above all others."""
LEAST_MARGIN = 2.0**-20
"""Smaller ones are of no use: boxes and cells of directions would have to be as small."""
ROUNDS = 4
"""Of whitening; after these, nearly equal columns are apart."""
SLANT = 0.03
"""How far a basis is turned: enough that nothing is aligned with the data, too little to matter."""
MOST_ROWS = 50_000
"""Pairs from which the spread is measured."""


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
    >>> from toprank.exact.arithmetic._kernels import dependent
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


# -- columns, and a margin that costs nothing ---------------------------------------------------------


def free_margin(rows: Floats) -> float:
    """A margin by which pairs of these rows can be won whenever they can be won at all; 0 if none is useful.

    With whole-number differences D, pairs S that some w wins strictly are won by a vertex of
    ``{D_S w >= 1}``, and by Cramer's rule and Hadamard's inequality none of its coefficients is large. So
    the leads, relative to the largest coefficient and to the pairs' lengths, are not small.

    >>> free_margin(np.array([[0.0, 1.0], [3.0, 2.0]])) == 1 / 16
    True
    >>> free_margin(np.random.default_rng(0).normal(size=(9, 3)))
    0.0
    """
    d = rows.shape[1]
    ranges, units = np.zeros(d), np.zeros(d)
    for j, column in enumerate(rows.T):
        values = np.unique(column)
        whole, exponent = whole_numbers(values)
        divisor = math.gcd(*(int(v - whole[0]) for v in whole)) if len(values) > 1 else 1
        steps = int(whole[-1] - whole[0]) // max(divisor, 1)
        if steps > 2**40 or abs(exponent) > 900 or divisor > 2**500:
            return 0.0
        ranges[j] = float(steps)
        units[j] = math.ldexp(float(max(divisor, 1)), exponent)
    # In units of its own |w_j| is at most the product of the other columns' ranges times r**(r/2).
    sizes = np.log2(np.maximum(ranges, 1.0))
    largest = sizes.sum() - sizes + 0.5 * d * math.log2(d) - np.log2(units)
    length = np.log2(np.maximum(ranges, 1.0) * units).max() + 1.0
    margin = 2.0 ** math.floor(-float(largest.max()) - float(length) - 1e-9)
    return margin if margin >= LEAST_MARGIN else 0.0


def independent_columns(rows: Floats, upper: Numbers, lower: Numbers) -> Places:
    """Columns whose differences over the pairs span those of all columns, exactly; the first such ones.

    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 1.0], [3.0, 6.0, 1.5]])
    >>> independent_columns(X, np.array([0, 0]), np.array([1, 2]))
    array([0, 2])
    """
    n, d = rows.shape
    # A few pairs show that columns are independent; that they are not takes all.
    few = slice(None, None, max(1, len(upper) // (64 + 8 * d)))
    if is_regular(rows, upper[few], lower[few]):
        return np.arange(d)
    ends_of_pairs = upper.astype(np.int32), lower.astype(np.int32)  # before scipy 1.16 it takes no others
    graph = coo_array((np.ones(len(upper)), ends_of_pairs), shape=(n, n)).tocsr()
    forest = minimum_spanning_tree(graph).tocoo()
    ends = forest.row.astype(np.int64), forest.col.astype(np.int64)
    book = ledger(rows, *ends)
    kept: Places | None = None
    shown = 0.0
    for prime, powers in zip(book[6], book[7], strict=True):
        found = _pivots(_residues(rows, book[1], int(prime), powers), *ends, int(prime))
        if len(found) == d:
            return found
        if kept is None or len(found) > len(kept):
            kept, shown = found, 0.0
        shown += PRIME_BITS
        # All larger minors vanish modulo primes whose product is above them.
        if len(found) <= len(kept) and shown > book[5][len(kept) + 1]:
            return kept
    return np.arange(d)


def is_regular(rows: Floats, upper: Numbers | None = None, lower: Numbers | None = None) -> bool:
    """Whether columns of floats are independent, exactly: of the rows, or of differences of pairs of them.

    False when one prime cannot tell.
    """
    if upper is None or lower is None:
        upper, lower = np.arange(len(rows)), np.full(len(rows), len(rows))
        rows = np.vstack([rows, np.zeros(rows.shape[1])])
    book = ledger(rows, upper, lower)
    residues = _residues(rows, book[1], int(book[6][0]), book[7][0])
    return len(_pivots(residues, book[2], book[3], int(book[6][0]))) == rows.shape[1]


def _residues(rows: Floats, shift: Places, prime: int, powers: Places) -> Places:
    """Entries, as whole numbers, modulo the prime."""
    mantissa, exponent = np.frexp(rows)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    place = np.where(digits == 0, 0, exponent.astype(np.int64) - 53 + shift)
    return (digits % prime) * powers[place] % prime


def _pivots(residues: Places, upper: Places, lower: Places, prime: int) -> Places:
    """Columns of the pairs' differences that are independent modulo the prime of those before them."""
    table = (residues[upper] - residues[lower]) % prime
    found = []
    for j in range(table.shape[1]):
        filled = np.flatnonzero(table[:, j])
        if not len(filled):
            continue
        found.append(j)
        pivot = table[filled[0]] * pow(int(table[filled[0], j]), -1, prime) % prime
        table = np.delete(table, filled[0], axis=0)
        table = (table - table[:, j : j + 1] * pivot % prime) % prime
    return np.array(found, dtype=np.int64)


# -- coordinates --------------------------------------------------------------------------------------


def pairs_in(rows: Floats, upper: Indices, lower: Indices, basis: Floats) -> tuple[Floats, Floats]:
    """Differences of pairs of rows in new coordinates, largest entry below 1; how far entries are off."""
    from toprank.exact.arithmetic._kernels import pairs_in_coordinates

    out, doubt = np.empty((len(upper), basis.shape[1])), np.empty(len(upper))
    pairs_in_coordinates(np.ascontiguousarray(rows), upper, lower, np.ascontiguousarray(basis), out, doubt)
    return out, doubt


def plain_basis(rows: Floats, upper: Indices, lower: Indices) -> Floats:
    """An invertible basis in which differences of unit length spread alike in all directions."""
    step = max(1, len(upper) // MOST_ROWS)
    some = np.ascontiguousarray(upper[::step]), np.ascontiguousarray(lower[::step])
    basis = kept = np.eye(rows.shape[1])
    for _ in range(ROUNDS):
        E, doubt = pairs_in(rows, *some, basis)
        E = E[doubt < 0.5]
        if not len(E):  # rounding swallows every difference in the new coordinates
            return kept
        kept = basis
        E /= np.sqrt((E**2).sum(axis=1, keepdims=True))
        _, sizes, axes = np.linalg.svd(np.linalg.qr(E, mode="r") if len(E) > E.shape[1] else E)
        sizes = np.concatenate([sizes, np.zeros(len(axes) - len(sizes))]) / sizes[0]
        # Directions that this round cannot see are made visible for the next one.
        new = basis @ (axes.T / np.maximum(sizes, 2.0**-40))
        if not (np.isfinite(new).all() and is_regular(new)):
            break
        basis = new / np.abs(new).max()
        if sizes[-1] > 0.2:
            break
    return basis


def slanted(basis: Floats) -> Floats:
    """A basis turned a little: no face or split of a box lies exactly in the hyperplane of a pair."""
    r = basis.shape[1]
    turn = np.eye(r) + SLANT * np.random.default_rng(0).uniform(-1.0, 1.0, (r, r))
    return basis @ turn
