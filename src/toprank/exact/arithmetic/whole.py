"""What whole numbers tell: a margin that costs nothing, and columns that depend on others.

Every float is a whole number times a power of two, so ranks are decided exactly, modulo primes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from toprank.exact.arithmetic.dependence import ledger
from toprank.exact.arithmetic.rational import whole_numbers

__all__ = ["free_margin", "independent_columns", "is_regular"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]
LEAST_MARGIN = 2.0**-20
"""Smaller ones are of no use: boxes and cells of directions would have to be as small."""


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
    graph = coo_array((np.ones(len(upper)), (upper, lower)), shape=(n, n)).tocsr()
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
        shown += 30.9
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
