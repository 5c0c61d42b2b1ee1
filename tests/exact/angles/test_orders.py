"""Orders around a direction, and where pairs cross: against fractions, wherever floats cannot tell."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.exact.angles.orders import FACES, Face, direction, direction_between

KINDS = ("continuous", "whole numbers", "decimals", "offset", "outlier", "far and close")


def different_rows(kind, seed, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if kind == "whole numbers":
        X = rng.integers(-3, 4, size=(n, 2)).astype(float)
    elif kind == "decimals":
        X = np.round(X, 1)
    elif kind == "offset":
        X = 1.0 + X * 2.0**-45
    elif kind == "outlier":
        X[rng.integers(n), rng.integers(2)] = 1e15
    elif kind == "far and close":  # two clusters, each too narrow for a score in floats
        X = np.where(np.arange(n)[:, None] % 2, 1.0, 3.0) + rng.integers(-9, 10, (n, 2)) * 2.0**-51
    return np.unique(X, axis=0)


def by_fractions(rows, turns, t):
    """Rows from the top down just before and just after a direction."""
    w = [Fraction(v) for v in direction(turns, 1.0, t).tolist()]
    turn = [-w[1], w[0]]  # how directions change as t grows
    exact = [[Fraction(v) for v in row] for row in rows.tolist()]
    score, slope = ([sum(a * b for a, b in zip(row, v, strict=True)) for row in exact] for v in (w, turn))
    keys = [sorted(range(len(rows)), key=lambda i, s=sign: (-score[i], -s * slope[i])) for sign in (-1, 1)]
    return keys[0], keys[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turns", range(FACES))
def test_orders_are_those_of_fractions(kind, turns):
    rows = different_rows(kind, turns)
    face = Face(rows, turns)
    for t in (0.0, 1.0, -1.0, 0.5, -0.25, 1 / 3, 0.1, *np.random.default_rng(turns).uniform(-1, 1, 20)):
        before, after = face.orders(float(t))
        assert (before.tolist(), after.tolist()) == by_fractions(rows, turns, float(t)), t


def test_tied_rows_change_places():
    face = Face(different_rows("whole numbers", 0), 0)
    before, after = face.orders(0.0)
    assert before.tolist() != after.tolist()
    same = face.orders(0.1234567)
    assert same[0] is same[1]


small = st.integers(-4, 4).map(float)
fine = st.floats(-4, 4, allow_subnormal=False, width=32)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(small | fine, small | fine), min_size=2, max_size=8, unique=True), st.data())
def test_orders_of_any_rows(rows, data):
    table = np.unique(np.array(rows) + 0.0, axis=0)
    turns, t = data.draw(st.integers(0, 3)), data.draw(st.floats(-1.01, 1.01, allow_subnormal=False))
    before, after = Face(table, turns).orders(t)
    assert (before.tolist(), after.tolist()) == by_fractions(table, turns, t)


def test_a_crossing_is_where_scores_are_the_same():
    for kind in KINDS:
        rows = different_rows(kind, 1)
        for turns in range(FACES):
            face = Face(rows, turns)
            a, b = np.triu_indices(len(rows), 1)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = face.crossings(a, b)
            for i in np.flatnonzero(np.abs(near) <= 1.02)[:200]:
                t = face.crossing(int(a[i]), int(b[i]))
                scores = [Fraction(face.p[j]) + t * Fraction(face.q[j]) for j in (int(a[i]), int(b[i]))]
                assert scores[0] == scores[1]
                assert abs(t - Fraction(near[i])) <= Fraction(7, 2**54)


def test_a_direction_between_lies_there():
    rng = np.random.default_rng(0)
    for width in (1.0, 1e-3, 1e-9, 1e-14):
        low = Fraction(rng.uniform(-1, 1))
        high = low + Fraction(width)
        for turns in range(FACES):
            x, y = direction(-turns % 4, *direction_between(turns, low, high).tolist())
            assert low < Fraction(y) / Fraction(x) < high
