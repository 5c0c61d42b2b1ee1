"""Is a positive combination of these rows exactly zero? Then no direction wins them all: no epsilon needed.

By Gordan's theorem rows r_1, ..., r_k have no w with r_i @ w > 0 for all i exactly when some multipliers
t >= 0, not all zero, make t_1 r_1 + ... + t_k r_k = 0. `dependent` proves that such t exist, all positive:

1. in floats with error bounds: k - 1 of the rows are independent, and the only t that may do has positive
   entries;
2. in whole numbers: the k rows are dependent, since all their k x k minors vanish modulo enough primes that
   no minor is large enough to be another multiple of them all (Hadamard's bound). With more rows than
   dimensions there is nothing to prove.

What floats and primes read are two things: approximate rows in any coordinates and at any scale, and the
features themselves, whose differences the rows are. See `toprank.exact.arithmetic.dependence` for the latter.

Approximate rows are made by `pairs_in_coordinates` as if with twice the digits: coordinates may bring out
small differences. The difference of two floats is hi + lo exactly (Knuth), the product of two floats as well
(Veltkamp, Dekker); sums carry their rounding errors along (Ogita, Rump, Oishi 2005, Dot2).
"""

import math

import numpy as np

from toprank.compiled import njit
from toprank.exact.rounding import UNIT

PUBLIC = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = {**PUBLIC, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
TINY = 1e-300
"""More than all that is lost when products fall below the smallest float."""
_ALL = np.arange(1000)


@njit(**INNER)
def _gather(rows, errors, members, signs, count, work, error):
    """Copy the signed rows, each scaled by a power of two to entries below one; False if that fails."""
    d = rows.shape[1]
    for i in range(count):
        largest = 0.0
        for j in range(d):
            largest = max(largest, abs(rows[members[i], j]))
        scale = math.ldexp(1.0, -math.frexp(largest)[1])
        error[i] = scale * errors[members[i]]
        for j in range(d):
            work[i, j] = scale * signs[i] * rows[members[i], j]
            if not abs(work[i, j]) < 1.0:
                return False
        if not error[i] < 1.0:
            return False
    return True


@njit(**INNER)
def _pivot(table, d, count, row, column):
    """Gauss-Jordan: the column becomes a unit vector."""
    scale = 1.0 / table[row, column]
    for j in range(d + count):
        table[row, j] *= scale
    for i in range(count):
        a = table[i, column]
        if i != row and a != 0.0:
            for j in range(d + count):
                table[i, j] -= a * table[row, j]


@njit(**INNER)
def _invert(work, error, count, columns, inverse):
    """Choose the row that depends on the others and bring it to the front, choose columns, invert the others.

    The largest pivot is taken every time: the row left over is the one that the others give with small
    multipliers. False when nothing is left to pivot on.
    """
    d = work.shape[1]
    size = count - 1
    table = np.zeros((count, d + count))
    table[:, :d] = work
    pivots = np.full(count, -1)
    taken = np.zeros(d, dtype=np.bool_)
    for i in range(count):
        table[i, d + i] = 1.0
    for c in range(size):
        best, row = 0.0, -1
        for i in range(count):
            if pivots[i] < 0:
                for j in range(d):
                    if abs(table[i, j]) > best and not taken[j]:
                        best, row, columns[c] = abs(table[i, j]), i, j
        if row < 0:
            return False
        pivots[row] = c
        taken[columns[c]] = True
        _pivot(table, d, count, row, columns[c])
    last = 0
    while pivots[last] >= 0:
        last += 1
    for j in range(d):
        work[0, j], work[last, j] = work[last, j], work[0, j]
    error[0], error[last] = error[last], error[0]
    for i in range(count):
        if i != last:
            for j in range(size):
                column = 0 if j + 1 == last else j + 1
                inverse[pivots[i], j] = table[i, d + column]
    return True


@njit(**INNER)
def _shortfall(work, error, largest, size, columns, inverse, space):
    """Bound on the row sums of ``|I - A C|``: A the exact rows 1..size in the columns, C the inverse.

    No entry of `work` is above `largest`. space[0] gets the column sums of ``|C|``.
    """
    rounding = 4.0 * (size + 4) * UNIT
    feel = 0.0
    for j in range(size):
        space[0, j] = 0.0
    for k in range(size):
        for j in range(size):
            space[0, j] += abs(inverse[k, j])
    for j in range(size):
        feel += space[0, j]
    worst = 0.0
    for i in range(size):
        for j in range(size):
            space[1, j] = 0.0
        space[1, i] = 1.0
        for k in range(size):
            entry = work[i + 1, columns[k]]
            for j in range(size):
                space[1, j] -= entry * inverse[k, j]
        total = rounding * (1.0 + largest * feel) + error[i + 1] * feel
        for j in range(size):
            total += abs(space[1, j])
        worst = max(worst, total)
    return (1.0 + rounding) * worst + TINY * (1.0 + feel)


@njit(**INNER)
def _positive(work, error, largest, size, columns, inverse, space):
    """Multipliers of rows 1..size, row 0 having one, that cancel the columns: are all surely positive?

    With A, C and ``M = I - A C`` as above, approximate multipliers t and their residual r = row_0 + t A, the
    exact ones are t - r C (I - M)^-1. space[2] gets t and space[3] how far off each may be.
    """
    rounding = 4.0 * (size + 4) * UNIT
    lacking = _shortfall(work, error, largest, size, columns, inverse, space)
    if not lacking < 0.5:
        return False
    for j in range(size):
        space[2, j] = 0.0
        space[3, j] = 0.0
    for k in range(size):
        entry = work[0, columns[k]]
        space[1, k] = entry
        for j in range(size):
            space[2, j] -= entry * inverse[k, j]
    mass = largest
    wrong = error[0]
    for i in range(size):
        t = space[2, i]
        mass += abs(t) * largest
        wrong += abs(t) * error[i + 1]
        for k in range(size):
            space[1, k] += t * work[i + 1, columns[k]]
    total = 0.0
    for k in range(size):
        residual = (abs(space[1, k]) + rounding * mass + wrong) * (1.0 + rounding) + TINY
        for j in range(size):
            space[3, j] += residual * abs(inverse[k, j])
    for j in range(size):
        total += space[3, j]
    for j in range(size):
        space[3, j] = (space[3, j] + 2.0 * lacking * total) * (1.0 + 2.0 * rounding) + TINY
        if not space[2, j] > space[3, j]:
            return False
    return True


@njit(**INNER)
def _cancels(work, error, size, weights, doubt):
    """Whether floats allow that all columns cancel: no proof, but it spares the primes most of their work."""
    rounding = 4.0 * (size + 4) * UNIT
    for j in range(work.shape[1]):
        value = work[0, j]
        slack = error[0] + rounding * abs(value)
        for i in range(size):
            product = weights[i] * work[i + 1, j]
            value += product
            slack += rounding * abs(product) + weights[i] * error[i + 1]
            slack += doubt[i] * (abs(work[i + 1, j]) + error[i + 1])
        if abs(value) > slack:
            return False
    return True


@njit(**INNER)
def _residue(value, shift, prime, powers):
    """``value * 2**shift`` modulo the prime."""
    mantissa, exponent = math.frexp(value)
    digits = np.int64(math.ldexp(mantissa, 53))
    if digits == 0:
        return np.int64(0)
    return digits % prime * powers[exponent - 53 + shift] % prime


@njit(**INNER)
def _singular(features, shift, upper, lower, members, count, prime, powers, table):
    """Whether the rows are dependent modulo a prime."""
    d = features.shape[1]
    for i in range(count):
        for j in range(d):
            above = _residue(features[upper[members[i]], j], shift[j], prime, powers)
            below = _residue(features[lower[members[i]], j], shift[j], prime, powers)
            table[i, j] = (above - below) % prime
    for c in range(count):
        pivot = -1
        for j in range(d):
            if table[c, j] != 0:
                pivot = j
                break
        if pivot < 0:
            return True
        for i in range(c + 1, count):
            a, b = table[c, pivot], table[i, pivot]
            if b != 0:
                for j in range(d):
                    table[i, j] = (table[i, j] * a % prime - table[c, j] * b % prime) % prime
    return False


@njit(**INNER)
def rank_deficient(ledger, members, count):
    """Whether the rows (signs do not matter) are exactly dependent; False when the primes do not suffice."""
    features, shift, upper, lower, bits, minor_bits, primes, powers = ledger
    felt = 0  # columns in which some row is not zero
    for j in range(features.shape[1]):
        for i in range(count):
            if features[upper[members[i]], j] != features[lower[members[i]], j]:
                felt += 1
                break
    if count > felt:
        return True
    needed = 0.0
    for i in range(count):
        needed += bits[members[i]]
    needed = min(needed, minor_bits[count])
    table = np.empty((count, features.shape[1]), dtype=np.int64)
    shown = 0.0
    for k in range(primes.size):
        if not _singular(features, shift, upper, lower, members, count, primes[k], powers[k], table):
            return False
        shown += 30.9  # every prime is above 2**30.9
        if shown > needed:
            return True
    return False


@njit(**PUBLIC)
def dependent(rows, errors, ledger, members, signs, count):
    """Whether a combination of the rows with positive multipliers only is exactly zero, proved.

    True is a proof, valid in exact arithmetic on the features: no direction w has ``signs[i] * (x[upper] -
    x[lower]) @ w > 0`` for all of the first `count` members. False says nothing. The set must be a minimal
    one (a circuit: any member left out makes the rest independent), else the answer is False.

    Parameters
    ----------
    rows : (P, r) float array
        The difference of each pair in any linear coordinates (the same for all pairs), scaled by any
        positive number of its own, approximately.
    errors : (P,) float array
        How far the entries of each row may be from the exact ones, at most.
    ledger : tuple of arrays
        The features themselves: `toprank.exact.arithmetic.dependence.ledger`.
    members : (count,) int array
        Pairs, each at most once.
    signs : (count,) float array
        1.0 for a pair as it is, -1.0 for its negative.
    count : int
        How many members; at most one more than there are features.
    """
    d = rows.shape[1]
    if count < 1 or count > d + 1:
        return False
    size = count - 1
    work = np.empty((count, d))
    error = np.empty(count)
    if not _gather(rows, errors, members, signs, count, work, error):
        return False
    columns = np.empty(size, dtype=np.int64)
    inverse = np.empty((size, size))
    if not _invert(work, error, count, columns, inverse):
        return False
    space = np.empty((4, count))
    if not _positive(work, error, 1.0, size, columns, inverse, space):
        return False
    if count > ledger[0].shape[1]:
        return True
    return _cancels(work, error, size, space[2], space[3]) and rank_deficient(ledger, members, count)


@njit(**INNER)
def spanning(rows, errors, members, signs, edges, scratch):
    """The same for one member more than there are dimensions, given an approximate inverse of the first ones.

    ``edges[j] @ (signs[i] * rows[members[i]])`` should be one for i = j and zero otherwise. With so many
    rows of so many entries there is nothing to prove but the signs. No entry of a row may be above two in
    size; `scratch` is a table with 2 d + 6 rows of d + 1 numbers.
    """
    d = rows.shape[1]
    error = scratch[2 * d + 5]
    for i in range(d + 1):
        q = members[d] if i == 0 else members[i - 1]
        sign = signs[d] if i == 0 else signs[i - 1]
        error[i] = errors[q]
        for j in range(d):
            scratch[i, j] = sign * rows[q, j]
    for i in range(d):
        for j in range(d):
            scratch[d + 1 + j, i] = edges[i, j]
    inverse, space = scratch[d + 1 : 2 * d + 1], scratch[2 * d + 1 : 2 * d + 5]
    return _positive(scratch, error, 2.0, d, _ALL, inverse, space)


# -- pairs in new coordinates -------------------------------------------------------------------------

SPLITTER = 134217729.0
"""2**27 + 1: splits a float into two halves (Veltkamp)."""


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
