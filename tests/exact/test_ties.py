"""Lemma 2's perturbation: ties between different rows go, all else stays. The oracle uses fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from toprank.control import Run
from toprank.exact.mip import solve as mip
from toprank.exact.mip.solve import solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.ties import break_ties


def rational_scores(X, coef):
    return [
        sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, coef, strict=True)), Fraction(0))
        for row in X
    ]


def visible(X, coef):
    """Rows as a score with this support sees them."""
    return [tuple(float(v) for v, c in zip(row, coef, strict=True) if c != 0) for row in X]


def check_kept(X, before, after):
    """No strict order and no zero may change."""
    assert [c == 0 for c in before] == [c == 0 for c in after]
    assert all(np.sign(a) == np.sign(b) for a, b in zip(before, after, strict=True))
    old, new = rational_scores(X, before), rational_scores(X, after)
    for i in range(len(old)):
        for k in range(len(old)):
            if old[i] > old[k]:
                assert new[i] > new[k], (i, k)


def ties_between_different_rows(X, coef):
    scores, rows = rational_scores(X, coef), visible(X, coef)
    return [
        (i, k) for i in range(len(rows)) for k in range(i) if scores[i] == scores[k] and rows[i] != rows[k]
    ]


@st.composite
def whole_tables(draw):
    """Few small whole numbers: ties and equal rows everywhere, and room for a step in floats."""
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    entries = st.integers(-3, 3)
    X = draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n))
    coef = draw(st.lists(st.integers(-2, 2), min_size=d, max_size=d))
    power = st.sampled_from([0, -450, 200])
    return np.ldexp(np.array(X, float), draw(power)), np.ldexp(np.array(coef, float), draw(power))


@given(whole_tables())
@example((np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0])))
@example((np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 1.0])))
@example((np.zeros((3, 2)), np.array([1.0, -1.0])))
def test_small_whole_numbers_lose_every_tie_that_can_go(table):
    X, coef = table
    moved = break_ties(X, coef)
    check_kept(X, coef, moved)
    assert ties_between_different_rows(X, moved) == []


numbers = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 0.3, -0.1, 1.0, 1e-160, -1e-160, 1e150, 5e-324, 1e-308, 3.0, 1 / 3]),
    st.floats(-1e150, 1e150, allow_nan=False),
)


@st.composite
def hostile_tables(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    rows = st.lists(numbers, min_size=d, max_size=d)
    X = draw(st.lists(rows, min_size=n, max_size=n))
    repeated = draw(st.lists(st.sampled_from(X), max_size=3))
    return np.array(X + repeated), np.array(draw(rows))


@given(hostile_tables())
@example((np.array([[0.1, 0.2], [0.3, 0.0], [0.2, 0.1]]), np.array([1.0, 1.0])))
@example((np.array([[1e150, 1e-160], [1e-160, 1e150], [0.0, 0.0]]), np.array([1e150, 1e150])))
def test_hostile_numbers_are_left_alone_or_lose_every_tie(table):
    X, coef = table
    moved = break_ties(X, coef)
    check_kept(X, coef, moved)
    assert np.array_equal(moved, coef) or ties_between_different_rows(X, moved) == []


def test_nothing_tied_is_nothing_changed():
    X, coef = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]]), np.array([1.0, 1.0])
    assert np.array_equal(break_ties(X, coef), coef)
    assert np.array_equal(break_ties(X, np.zeros(2)), np.zeros(2))


def test_columns_without_a_coefficient_keep_none():
    # The second column alone tells the rows apart, but it must stay out of the score.
    X = np.array([[1.0, 5.0, 0.0], [1.0, 7.0, 0.0], [0.0, 0.0, 1.0]])
    moved = break_ties(X, [1.0, 0.0, 1.0])
    assert moved[1] == 0
    scores = rational_scores(X, moved)
    assert scores[0] == scores[1] != scores[2]


def test_the_seed_decides_and_sparse_rows_are_welcome():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert np.array_equal(break_ties(X, [1.0, 1.0], rng=3), break_ties(X, [1.0, 1.0], rng=3))
    assert not np.array_equal(break_ties(X, [1.0, 1.0], rng=3), break_ties(X, [1.0, 1.0], rng=4))
    assert np.array_equal(break_ties(sp.csr_matrix(X), [1.0, 1.0]), break_ties(X, [1.0, 1.0]))


# -- what it is for --------------------------------------------------------------------------------


@pytest.fixture
def tied_problem():
    """One relevant row above all; the best coefficients for the widest margin tie the two others."""
    X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    return RankingProblem.from_labels(X, [1, 0, 0], "dcg", margin=1e-3, scales=np.ones(2))


@pytest.mark.parametrize("formulation", ["mip", "mip-subrank", "mip-resolved"])
def test_answers_of_the_programs_are_polished(tied_problem, formulation, monkeypatch):
    def solve():
        with Run(rng=0) as run:
            found = solve_program(tied_problem, run, formulation=formulation, start=[1.0, 1.0])
        return np.array(found.coef)

    polished = solve()
    assert ties_between_different_rows(tied_problem.X, polished) == []
    monkeypatch.setattr(mip, "break_ties", lambda X, coef: coef)
    raw = solve()
    assert ties_between_different_rows(tied_problem.X, raw) == [(2, 1)]
    check_kept(tied_problem.X, raw, polished)
    assert tied_problem.evaluate(polished) == tied_problem.evaluate(raw)
