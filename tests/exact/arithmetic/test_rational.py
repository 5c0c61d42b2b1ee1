"""Exact scores and lost counts against fractions, whatever the numbers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from toprank.exact.arithmetic import rational
from toprank.exact.arithmetic.rational import (
    Scores,
    exact_scores,
    lost_counts,
    score_error_bound,
    whole_numbers,
    won_pairs,
)


def exact(row, coef):
    return sum(
        (Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), coef.tolist(), strict=True)), Fraction(0)
    )


def rows_of(kind, rng, n=12, d=3):
    if kind == "whole":
        return rng.integers(-2, 3, (n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "outlier":
        X[0, 0] = 1e17
    if kind == "rounding":
        X = 0.1 * rng.integers(0, 4, (n, d)) + 0.2
    return X


KINDS = ["whole", "normal", "outlier", "rounding"]


def test_whole_numbers_are_the_floats():
    values = np.array([0.1, -3.0, 5e-324, 1e300, 0.0])
    numbers, exponent = whole_numbers(values)
    assert [Fraction(int(z)) * Fraction(2) ** exponent for z in numbers] == [Fraction(v) for v in values]
    numbers, exponent = whole_numbers(np.zeros(3))
    assert (list(numbers), exponent) == ([0, 0, 0], 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_exact_and_floats_within_their_bound(kind, sparse):
    rng = np.random.default_rng(0)
    X, coef = rows_of(kind, rng), rng.normal(size=3)
    rows = sp.csr_matrix(X) if sparse else X
    numbers, exponent = exact_scores(rows, coef)
    near, error = np.asarray(rows @ coef), score_error_bound(rows, coef)
    for row, number, floated, off in zip(X, numbers, near, error, strict=True):
        assert number * Fraction(2) ** exponent == exact(row, coef)
        assert abs(Fraction(float(floated)) - exact(row, coef)) <= Fraction(float(off))


def scores_of(X, coef, margin=0.0, sparse=False):
    """As a problem makes them: scales are powers of two, rows are shifted by any vector."""
    scales = np.array([1.0, 4.0, 0.5])
    shifted = X / scales
    shifted = sp.csr_matrix(shifted) if sparse else shifted - shifted[0]
    return Scores(sp.csr_matrix(X) if sparse else X, coef, scales, shifted, margin)


def wins(X, coef, i, k, margin):
    """The claim itself, in fractions."""
    scales = [Fraction(1), Fraction(4), Fraction(1, 2)]
    lead = exact(X[i], coef) - exact(X[k], coef)
    if not margin:
        return lead > 0
    # The length is that of the rounded scaled difference: the smallest power of two above its largest entry.
    largest = np.abs(X[i] / [1.0, 4.0, 0.5] - X[k] / [1.0, 4.0, 0.5]).max()
    if largest == 0:
        return False
    length = Fraction(2) ** int(np.frexp(largest)[1])
    return lead >= Fraction(margin) * length * max(
        abs(Fraction(c)) * s for c, s in zip(coef, scales, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("margin", [0.0, 2.0**-10])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("entries", [0, rational.ENTRIES_FOR_ONE])
def test_pairs_and_counts_equal_fractions(kind, margin, sparse, thorough, entries, monkeypatch):
    """Positives in doubt are settled one by one, or all of them together where that is quicker."""
    monkeypatch.setattr(rational, "ENTRIES_FOR_ONE", entries)
    rng = np.random.default_rng(1)
    for _ in range(5):
        X, coef = rows_of(kind, rng), rng.integers(-2, 3, 3).astype(float)
        scores = scores_of(X, coef, margin, sparse)
        pairs = np.array([(i, k) for i in range(12) for k in range(12) if i != k])
        won = won_pairs(scores, pairs, exact=thorough)
        expected = [coef.any() and wins(X, coef, i, k, margin) for i, k in pairs]
        assert won.tolist() == expected
        upper, lower, weights = np.arange(5), np.arange(5, 12), np.ones(12)
        table = dict(zip(map(tuple, pairs.tolist()), expected, strict=True))
        lost = sorted(sum(not table[i, k] for k in lower) for i in upper)
        none = (np.arange(3), np.empty(0, dtype=int), np.empty(0))
        found = lost_counts(scores, [(upper, lower, weights), none], exact=thorough)
        assert [counts.tolist() for counts in found] == [lost, [0, 0, 0]]
