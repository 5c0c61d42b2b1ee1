"""Exact dependence against rational arithmetic: what is claimed is so, and what is plain is found."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.exact.arithmetic._kernels import dependent
from toprank.exact.arithmetic.dependence import (
    free_margin,
    independent_columns,
    is_regular,
    ledger,
    pairs_in,
    plain_basis,
    slanted,
    two_difference,
)


def null_vectors(rows):
    """A basis of the left null space of rows of fractions, by elimination."""
    count, d = len(rows), len(rows[0])
    table = [[*row, *(Fraction(int(i == j)) for j in range(count))] for i, row in enumerate(rows)]
    done = 0
    for column in range(d):
        pivot = next((i for i in range(done, count) if table[i][column] != 0), None)
        if pivot is None:
            continue
        table[done], table[pivot] = table[pivot], table[done]
        for i in range(done + 1, count):
            factor = table[i][column] / table[done][column]
            table[i] = [a - factor * b for a, b in zip(table[i], table[done], strict=True)]
        done += 1
    return [row[d:] for row in table[done:]]


def exact_difference(above, below):
    return [Fraction(a) - Fraction(b) for a, b in zip(above.tolist(), below.tolist(), strict=True)]


def is_positive_circuit(features, upper, lower, signs):
    """Whether exactly one combination of the differences vanishes, and it has one sign throughout."""
    differences = [exact_difference(features[i], features[k]) for i, k in zip(upper, lower, strict=True)]
    rows = [[int(sign) * v for v in row] for sign, row in zip(signs, differences, strict=True)]
    null = null_vectors(rows)
    return len(null) == 1 and (all(t > 0 for t in null[0]) or all(t < 0 for t in null[0]))


def claims(features, upper, lower, signs, turn=None):
    """What the kernel says of all pairs together, with rows turned into other coordinates if asked."""
    rows = features[upper] - features[lower]
    off = [
        max(
            (abs(Fraction(v) - e) for v, e in zip(row.tolist(), exact_difference(a, b), strict=True)),
            default=0,
        )
        for row, a, b in zip(rows, features[upper], features[lower], strict=True)
    ]
    errors = np.array([float(v) for v in off]) * (1 + 2.0**-50)
    if turn is not None:
        errors = 2.0**-48 * (np.abs(rows) @ np.abs(turn)).max(axis=1)
        rows = rows @ turn
    count = len(upper)
    book = ledger(features, upper, lower)
    return dependent(rows, errors, book, np.arange(count), np.asarray(signs, dtype=float), count)


def random_circuit(rng, d, count, bits):
    """Items whose differences to the last one cancel with positive weights, and that last one, the origin."""
    small = rng.integers(-(2**bits), 2**bits, size=(count, d))
    weights = rng.integers(1, 9, size=count)
    if count <= d:  # count - 1 independent rows and one that depends on them
        small[-1] = -(weights[:-1] @ small[:-1])
    return np.vstack((small, np.zeros(d))).astype(float)


@pytest.mark.parametrize("kind", ["whole", "small whole", "floats", "one bit off", "scales", "far away"])
@pytest.mark.parametrize("turned", [False, True])
def test_claims_are_true_and_plain_cases_are_found(kind, turned):
    rng = np.random.default_rng([3, len(kind), turned])
    right = missed = found = 0
    for _ in range(250):
        d = int(rng.integers(1, 7))
        count = int(rng.integers(2, d + 2))
        features = random_circuit(rng, d, count, 2 if kind == "small whole" else 20)
        if kind == "floats":
            features[:-1] = rng.normal(size=(count, d))
        if kind == "one bit off":
            i, j = rng.integers(count), rng.integers(d)
            features[i, j] = np.nextafter(features[i, j], np.inf)
        if kind == "scales":
            features *= np.exp2(rng.integers(-40, 41, size=d))
        if kind == "far away":
            features += rng.integers(-(2**40), 2**40, size=d)
        upper, lower = np.arange(count), np.full(count, count)
        signs = rng.choice([-1.0, 1.0], size=count) if rng.random() < 0.3 else np.ones(count)
        turn = rng.normal(size=(d, d)) if turned else None
        truth = is_positive_circuit(features, upper, lower, signs)
        claim = claims(features, upper, lower, signs, turn)
        assert not claim or truth, (kind, features.tolist(), signs)
        right += truth
        found += claim
        missed += truth and not claim
    assert kind == "one bit off" or right > 20
    # Error bounds are by the largest entries: columns that differ by 2**80 cost some, turned all of them.
    if not (turned and kind == "scales"):
        assert missed <= (0.15 if kind == "scales" else 0.03) * right, (right, found, missed)


def test_circuits_of_more_pairs_than_dimensions_need_no_primes():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(300):
        d = int(rng.integers(2, 9))
        features = np.vstack((rng.normal(size=(d + 1, d)), np.zeros(d)))
        weights = rng.random(d + 1) + 0.1
        features[d] = -(weights[:-1] @ features[:d])  # floats: nearly, and with d + 1 rows that is enough
        upper, lower = np.arange(d + 1), np.full(d + 1, d + 1)
        assert claims(features, upper, lower, np.ones(d + 1)) <= is_positive_circuit(
            features, upper, lower, np.ones(d + 1)
        )
        found += claims(features, upper, lower, np.ones(d + 1))
    assert found > 290


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_antiparallel_pairs(d):
    rng = np.random.default_rng(d)
    row = rng.integers(1, 2**30, size=d).astype(float)
    features = np.array([np.zeros(d), 3 * row, -7 * row, 5 * row])
    assert claims(features, [1, 2], [0, 0], [1.0, 1.0])
    assert claims(features, [1, 3], [0, 0], [1.0, -1.0])
    assert not claims(features, [1, 3], [0, 0], [1.0, 1.0])
    for j in range(1, d):  # one unit in the last place of one entry
        other = features.copy()
        other[2, j] = np.nextafter(other[2, j], 0.0)
        assert not claims(other, [1, 2], [0, 0], [1.0, 1.0])


def test_differences_that_floats_cannot_hold():
    """1e17 + 1 - 3 rounds: the rows look antiparallel in floats, the features say otherwise."""
    features = np.array([[1e17, 1e17], [3.0, 1.0], [-1e17, -1e17], [-3.0, -1.0], [-3.0, -3.0]])
    assert claims(features, [0, 2], [1, 3], [1.0, 1.0])
    assert not claims(features, [0, 2], [1, 4], [1.0, 1.0])


def test_hidden_dependence_modulo_a_prime_is_not_believed():
    """A minor that is a multiple of the first prime, but not zero."""
    prime = float(ledger(np.eye(2), [0], [1])[6][0])
    features = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, prime]])
    # An error bound that allows anything: only the primes can tell.
    book = ledger(features, [1, 2], [0, 0])
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert book[6].size > 1
    assert not dependent(rows, np.array([0.0, 1e-3]), book, np.array([0, 1]), np.ones(2), 2)
    # With that prime alone it would be believed.
    one = (*book[:4], np.zeros(2), *book[5:])
    assert dependent(rows, np.array([0.0, 1e-3]), one, np.array([0, 1]), np.ones(2), 2)


def test_sets_that_are_not_circuits_are_not_claimed():
    features = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert not claims(features, [1, 2, 3], [0, 0, 0], np.ones(3))
    assert not claims(features, [1, 2, 3, 1], [0, 0, 0, 2], np.ones(4))
    assert claims(features, [0], [0], [1.0])  # an item above itself: no direction does that
    assert not claims(features, [1], [0], [1.0])


def test_minors_of_all_sizes_are_bounded():
    """Hadamard's bounds in the ledger hold for the exact minors."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        d = int(rng.integers(1, 5))
        features = np.ldexp(
            rng.integers(-99, 99, size=(d + 1, d)).astype(float), rng.integers(-30, 30, size=d)
        )
        upper, lower = np.arange(d), np.full(d, d)
        _, _, _, _, bits, minor_bits, _, _ = ledger(features, upper, lower)
        exact = [[Fraction(v) for v in row] for row in features.tolist()]
        rows = [exact_difference(features[i], features[d]) for i in range(d)]
        base = [min((_lowest(row[j]) for row in exact if row[j]), default=0) for j in range(d)]
        whole = [[int(v / Fraction(2) ** base[j]) for j, v in enumerate(row)] for row in rows]
        minor = abs(_determinant([[Fraction(v) for v in row] for row in whole]))
        assert minor <= 2 ** Fraction(float(minor_bits[d])).__ceil__()
        common = sum(min((_twos(v) for v in row if v), default=0) for row in whole)
        if all(any(row) for row in whole):
            assert float(minor) / 2.0**common <= 2.0 ** float(bits.sum())


def _lowest(value):
    """Exponent of the lowest bit of a fraction of a power of two."""
    return _twos(value.numerator) - _twos(value.denominator)


def _twos(value):
    return (value & -value).bit_length() - 1


def _determinant(rows):
    if not rows:
        return Fraction(1)
    return sum(
        (-1) ** j * rows[0][j] * _determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j in range(len(rows))
    )


# -- whole numbers ----------------------------------------------------------------------------------


def test_no_free_margin_between_numbers_hundreds_of_digits_apart():
    assert free_margin(np.array([[0.0], [5e-324], [1e150]])) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_the_free_margin_costs_nothing(seed):
    """The optimum by rational enumeration of cells is that at the margin, by vertices of the arrangement."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 8)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, size=(n, d)) * 2.0 ** rng.integers(-1, 2, size=d)
    y = np.arange(n) % 2
    margin = free_margin(X)
    assert margin > 0
    differences, positive, negative = oracles.class_pairs(X, y)
    weights = (1 / (np.arange(n) + 1.0)).tolist()

    def value(won):
        return oracles.order_value(won, positive, negative, weights)

    assert oracles.best_value(differences, 0, value) == oracles.best_value(differences, margin, value)


def test_dependent_columns_are_found_exactly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4))
    X[:, 2] = 2 * X[:, 0]
    pairs = np.arange(1, 9), np.zeros(8, dtype=int)
    assert independent_columns(X, *pairs).tolist() == [0, 1, 3]
    X[3, 2] = np.nextafter(X[3, 2], 9)  # no longer dependent, by one unit in the last place
    assert independent_columns(X, *pairs).tolist() == [0, 1, 2, 3]
    X[:, 2] = 7.0
    assert independent_columns(X, *pairs).tolist() == [0, 1, 3]
    assert is_regular(np.array([[1.0, 1.0], [1.0, 1 + 2.0**-52]]))
    assert not is_regular(np.array([[0.1, 0.2], [0.2, 0.4]]))


# -- coordinates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_difference_and_what_rounding_took_from_it_are_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    upper, lower = (rng.normal(size=50) * 10.0 ** rng.integers(-9, 9, 50) for _ in range(2))
    rounded, rest = two_difference(upper, lower)
    for a, b, c, d in zip(upper, lower, rounded, rest, strict=True):
        assert Fraction(a) - Fraction(b) == Fraction(c) + Fraction(d)


def pairs_of(kind, rng, n=30, d=4):
    X = rng.normal(size=(n, d))
    if kind == "outlier":
        X[3, 1] = 1e9
    if kind == "nearly equal columns":
        X[:, 1] = X[:, 0] * (1 + 1e-9 * rng.normal(size=n))
    if kind == "small differences":
        X = 1e6 + 1e-6 * X
    upper, lower = np.nonzero(np.arange(n)[:, None] > np.arange(n))
    return X, upper.astype(np.int32), lower.astype(np.int32)


KINDS = ["plain", "outlier", "nearly equal columns", "small differences"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_pairs_in_new_coordinates_are_off_by_no_more_than_they_say(kind, seed):
    rng = np.random.default_rng(seed)
    X, upper, lower = pairs_of(kind, rng)
    basis = rng.normal(size=(4, 4))
    rows, doubt = pairs_in(X, upper, lower, basis)
    assert np.abs(rows).max() <= 1.0
    for p in range(0, len(upper), 7):
        difference = exact_difference(X[upper[p]], X[lower[p]])
        exact = [sum(a * Fraction(b) for a, b in zip(difference, column, strict=True)) for column in basis.T]
        # Up to a power of two, which the largest entry tells.
        largest = int(np.argmax(np.abs(rows[p])))
        factor = Fraction(2) ** round(np.log2(abs(rows[p, largest] / float(exact[largest]))))
        for found, true in zip(rows[p], exact, strict=True):
            assert abs(Fraction(found) - factor * true) <= Fraction(doubt[p])


@pytest.mark.parametrize("kind", KINDS)
def test_in_the_plain_basis_no_direction_is_flat(kind):
    X, upper, lower = pairs_of(kind, np.random.default_rng(0))
    basis = plain_basis(X, upper, lower)
    assert is_regular(basis)
    rows, _ = pairs_in(X, upper, lower, basis)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sizes = np.linalg.svd(rows, compute_uv=False)
    assert sizes[-1] > 0.05 * sizes[0]
    turned = slanted(basis)
    assert is_regular(turned)
    assert (np.abs(np.linalg.solve(basis, turned) - np.eye(4)) < 0.05).all()


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_rows_that_are_no_numbers_or_not_known_prove_nothing(bad):
    """Two rows against each other are dependent; not where a coordinate, or its error, is out of bounds."""
    features = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]])
    upper, lower, signs = np.array([0, 1]), np.array([1, 0]), np.ones(2)
    book, members = ledger(features, upper, lower), np.arange(2)
    rows, errors = features[upper] - features[lower], np.zeros(2)
    assert dependent(rows, errors, book, members, signs, 2)
    spoilt = rows.copy()
    spoilt[1, 1] = bad
    assert not dependent(spoilt, errors, book, members, signs, 2)
    assert not dependent(rows, np.array([0.0, bad]), book, members, signs, 2)
    assert not dependent(rows, np.array([0.0, 10.0]), book, members, signs, 2)
    for count in (0, 4):
        assert not dependent(np.vstack((rows, rows)), np.zeros(4), book, np.arange(4), np.ones(4), count)


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("which", [1, 2])
def test_a_row_that_may_lie_on_the_other_side_proves_nothing(order, which):
    """Three rows around the origin of the plane; moved by 0.25 the second or third leaves them on a side."""
    rows = np.array([[1.0, 0.0], [-0.1, 1.0], [-0.1, -1.0]])
    errors = np.zeros((2, 3))
    errors[:, which] = 0.01, 0.25
    order = np.array(order)
    features = np.vstack((rows, np.zeros(2)))
    book = ledger(features, order, np.full(3, 3))
    known, unsure = (dependent(rows[order], one[order], book, np.arange(3), np.ones(3), 3) for one in errors)
    assert known
    assert not unsure
