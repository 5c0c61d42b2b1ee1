"""Rounding: claims about pairs and values hold in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from toprank.exact.rounding import UNIT, Scale, largest_leads, surely_won, value_scale, winnable


def exact(row, coef):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(row, coef, strict=True)), Fraction(0))


def test_the_unit_is_half_the_distance_to_the_next_float():
    assert Fraction(float(np.nextafter(1.0, 2.0))) - 1 == 2 * Fraction(UNIT)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("margin", [0.0, 2.0**-20])
def test_pairs_called_won_are_won_and_hardly_any_other_is_left_out(seed, margin):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=3)
    D = rng.normal(size=(200, 3))
    D[::4] -= np.outer(D[::4] @ coef / (coef @ coef), coef)  # leads that are rounding only
    won = surely_won(D, coef, margin)
    least = Fraction(margin) * max(Fraction(abs(c)) for c in coef)
    truth = np.array([exact(row, coef) >= least and exact(row, coef) > 0 for row in D])
    assert not (won & ~truth).any()
    assert (won == truth)[np.abs(D @ coef) > 1e-5].all()
    assert not surely_won(D, np.zeros(3), margin).any()


def test_pairs_that_cannot_be_won_are_those_shorter_than_the_margin():
    D = np.array([[0.5, 0.25], [0.0, 0.0], [0.5, 0.0]])
    assert winnable(D, 0.0).tolist() == [True, False, True]
    assert winnable(D, 0.75).tolist() == [True, False, False]
    assert winnable(D, 0.76).tolist() == [False, False, False]


@pytest.mark.parametrize("seed", range(10))
def test_what_can_just_be_won_is_never_left_out(seed):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(100, 5))
    for row in D:
        margin = float(sum(map(abs, map(Fraction, row))))  # rounded up or down
        if Fraction(margin) <= sum(map(abs, map(Fraction, row))):
            assert winnable(row[None], margin)[0]


def test_leads_are_found_in_pieces_too(monkeypatch):
    D, sizes = np.random.default_rng(0).normal(size=(10, 3)), np.array([1.0, 0.5, 2.0])
    whole = largest_leads(D, sizes)
    monkeypatch.setattr("toprank.exact.rounding.ROWS_AT_A_TIME", 3)
    assert largest_leads(D, sizes) == pytest.approx(whole)
    assert surely_won(D, sizes, 0.0).tolist() == (D @ sizes > 0).tolist()


@pytest.mark.parametrize("largest", [1e-300, 0.3, 1.0, 5.0, 1e300])
@pytest.mark.parametrize("bits", [60, 61])
def test_whole_number_values_fit_and_are_never_too_small(largest, bits):
    scale = value_scale(largest, bits)
    assert 2 ** (bits - 1) <= scale.up(largest) <= 2**bits
    for value in (largest, largest / 3, -largest / 7, 0.0):
        assert Fraction(scale.value(scale.up(value))) >= Fraction(value)


def test_a_scale_rounds_up_once():
    assert Scale(3).up(Fraction(3, 10)) == 3
    assert Scale(3).up(0.375) == 3
    assert value_scale(0.0, 60) == Scale(0)
