"""Coordinates and whole-number values of the search over boxes."""

import math
from fractions import Fraction

import numpy as np
import pytest

from box_problems import features, medium_problem
from toprank.exact import RankingProblem
from toprank.exact.directions.frame import build_frame


def test_error_covers_the_coordinates():
    """Rows of the frame differ from exact products by less than the error that is allowed for."""
    arrays = medium_problem(3, n=20).arrays()
    frame = build_frame(arrays, np.ones(4))
    basis = [[Fraction(v) for v in row] for row in frame.basis.tolist()]
    rows = [[Fraction(v) for v in row] for row in arrays.rows.tolist()]
    for p, (given, error) in enumerate(zip(frame.problem.E, frame.problem.error, strict=True)):
        row = [a - b for a, b in zip(rows[arrays.upper[p]], rows[arrays.lower[p]], strict=True)]
        exact = [sum(x * basis[i][j] for i, x in enumerate(row)) for j in range(len(given))]
        # Each row is brought to a size of its own by a power of two.
        scale = Fraction(2) ** round(math.log2(np.abs(given).max() / float(max(map(abs, exact)))))
        for a, b in zip(exact, given.tolist(), strict=True):
            assert abs(scale * a - Fraction(b)) <= Fraction(float(error))


def with_margin(seed, kind="continuous", d=4, margin=1e-3):
    rng = np.random.default_rng(seed)
    X = features(rng, kind, 14, d)
    return RankingProblem.from_labels(X, np.arange(14) % 2, "dcg", margin=margin, scales=np.ones(d))


@pytest.mark.parametrize("kind", ["continuous", "dependent columns", "equal columns", "constant column"])
@pytest.mark.parametrize("seed", range(5))
def test_leads_are_those_of_the_coefficients_with_a_margin(seed, kind):
    """In the coordinates u, pair p leads by E[p] @ u as it does by its difference in the coefficients."""
    arrays = with_margin(seed, kind).arrays()
    frame = build_frame(arrays, np.ones(4))
    possible = arrays.differences[arrays.winnable()]
    ratio = frame.margin / arrays.margin if frame.noise == 0 else None
    for u in np.random.default_rng(seed).uniform(-1, 1, size=(20, frame.size)):
        leads, wanted = frame.problem.E @ u, possible @ (frame.basis @ u)
        scale = ratio or np.median(leads / wanted)
        np.testing.assert_allclose(leads, scale * wanted, atol=1e-10)


@pytest.mark.parametrize("kind", ["continuous", "dependent columns"])
def test_coefficients_are_of_size_one_and_the_smallest_that_score_so(kind):
    arrays = with_margin(3, kind).arrays()
    frame = build_frame(arrays, np.ones(4))
    for u in np.random.default_rng(0).uniform(-1, 1, size=(10, frame.size)):
        coef, plain = frame.coefficients(u), frame.basis @ u
        assert np.abs(coef).max() == pytest.approx(1.0)
        # The same order by leads that are at least as wide, the largest coefficient being one.
        ratio = np.abs(plain).max()
        leads, least = arrays.differences @ coef, arrays.differences @ plain / ratio
        assert (np.sign(leads) == np.sign(least))[np.abs(least) > 1e-9].all()
        assert (np.abs(leads) >= np.abs(least) - 1e-9).all()


def test_every_direction_lies_on_a_face():
    frame = build_frame(medium_problem(1, n=20).arrays(), np.ones(4))
    roots, r = frame.roots(), frame.size
    for u in np.random.default_rng(0).normal(size=(50, r)):
        u = u / np.abs(u).max()
        holding = [
            root for root in roots if (np.abs(u - root[:r]) <= root[r : 2 * r]).all() and (root[:r] @ u) == 1
        ]
        assert len(holding) == 1
        assert holding[0][r + frame.swept(holding[0])] == 1.0  # what is swept is not what is fixed


@pytest.mark.parametrize("margin", [0.0, 1e-3])
def test_values_are_whole_and_never_too_small(margin):
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(8, 3)), np.zeros((2, 3))])
    y = np.append(rng.permutation(np.arange(8) % 2), [0, 1])  # one pair that can never be won
    problem = RankingProblem.from_labels(X, y, "dcg", margin=margin, scales=np.ones(3))
    frame = build_frame(problem.arrays())
    discount = [1 / math.log2(j + 2) for j in range(10)]
    best = sum(discount[:4]) + discount[5]
    assert best <= frame.scale.value(frame.value) <= best + 1e-12
    assert float(frame.floor) == pytest.approx(sum(discount[5:]))


@pytest.mark.parametrize("margin", [0.0, 1e-3])
def test_a_frame_is_had_again_from_its_basis(margin):
    arrays = with_margin(1, margin=margin).arrays()
    frame = build_frame(arrays, np.array([1.0, -1.0, 0.5, 0.2]))
    again = build_frame(arrays, given=(frame.basis, frame.noise))
    np.testing.assert_array_equal(again.problem.E, frame.problem.E)
    np.testing.assert_array_equal(again.problem.error, frame.problem.error)
    assert again.margin == frame.margin
