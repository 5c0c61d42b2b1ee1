"""Products of rows, dense and sparse, beside the same in plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from toprank.convex.algebra.design import Design, Origin, centered


def some_rows(share, seed=0, shape=(40, 6)):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < share, rng.normal(size=shape), 0.0)


def designs(rows):
    return {"dense": Design(rows), "sparse": Design(sp.csr_matrix(rows))}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_products_are_those_of_the_rows_it_holds(kind):
    design = designs(some_rows(0.3))[kind]
    assert design.sparse == (kind == "sparse")
    rows = design.X.toarray() if design.sparse else design.X
    rng = np.random.default_rng(1)
    coef, weight = rng.normal(size=6), np.where(rng.random(40) < 0.3, 0.0, rng.random(40))
    np.testing.assert_allclose(design.scores(coef), rows @ coef, atol=1e-12)
    np.testing.assert_allclose(design.combine(weight), weight @ rows, atol=1e-12)
    np.testing.assert_allclose(design.gram(weight), rows.T @ np.diag(weight) @ rows, atol=1e-12)
    np.testing.assert_allclose(design.column_squares(weight), np.diag(design.gram(weight)), atol=1e-12)
    few = np.array([3, 1])
    np.testing.assert_array_equal(design.take(few).scores(coef), design.scores(coef)[few])
    np.testing.assert_allclose(design.columns(few).scores(coef[:2]), rows[:, few] @ coef[:2], atol=1e-12)


def test_long_designs_are_added_up_in_pieces(monkeypatch):
    rows, weight = some_rows(0.3), np.random.default_rng(2).random(40)
    whole = {kind: design.gram(weight) for kind, design in designs(rows).items()}
    monkeypatch.setattr("toprank.convex.algebra.design.CHUNK", 7)
    monkeypatch.setattr("toprank.convex.algebra.design.SPARSE_CHUNK", 0.1)
    for kind, design in designs(rows).items():
        np.testing.assert_allclose(design.gram(weight), whole[kind], atol=1e-12)
        np.testing.assert_allclose(design.column_squares(weight), np.diag(whole[kind]), atol=1e-12)


def test_a_full_sparse_matrix_is_held_as_an_array():
    assert not Design(sp.csr_matrix(some_rows(0.9))).sparse


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8), st.sampled_from([0, 10**6, 2**40]))
def test_differences_of_rows_survive_any_distance_from_the_origin(values, offset):
    shifted = centered(np.array([[float(value + offset)] for value in values])).ravel()
    # The mean is rounded where the rows lie; what counts are the differences.
    np.testing.assert_allclose(
        np.subtract.outer(shifted, shifted), np.subtract.outer(values, values), atol=1e-12
    )
    assert abs(shifted.mean()) <= 1e-3


def test_rows_of_queries_are_taken_relative_to_their_own_query():
    rows, query = some_rows(1.0), np.repeat([0, 1, 2, 3], 10)
    far = rows + 1e6 * query[:, np.newaxis]
    held = Design(far, query).X
    for number in range(4):
        own = rows[query == number]
        np.testing.assert_allclose(held[query == number], own - own.mean(axis=0), atol=1e-8)


def test_only_filled_columns_far_from_zero_move_in_sparse_rows():
    rows = some_rows(0.1, shape=(200, 5))
    rows[:, 4] = 1e7 + np.random.default_rng(3).normal(size=200)
    held = centered(sp.csr_matrix(rows)).toarray()
    np.testing.assert_array_equal(held[:, :4], rows[:, :4])
    assert abs(held[:, 4].mean()) < 1e-6
    origin = Origin(sp.csr_matrix(rows))
    coef = np.arange(5.0)
    np.testing.assert_allclose(rows @ coef - origin.scores(coef), held @ coef, rtol=0, atol=1e-6)
