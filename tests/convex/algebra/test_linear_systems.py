"""Factorised and iterative solves against numpy's."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from toprank.convex.algebra.linear_systems import Factor, conjugate_gradients, refined


def definite(d, seed=0):
    root = np.random.default_rng(seed).normal(size=(d, d))
    return root @ root.T + np.eye(d)


@pytest.mark.parametrize("columns", [(), (3,)])
def test_both_solve(columns):
    matrix, right = definite(12), np.random.default_rng(1).normal(size=(12, *columns))
    expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(Factor(matrix.copy()).solve(right), expected, rtol=1e-9)
    diagonal = np.diag(matrix).reshape(-1, *(1 for _ in columns))
    found = conjugate_gradients(lambda v: matrix @ v, right, diagonal, 1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_each_column_of_conjugate_gradients_is_as_accurate_as_asked():
    matrix = definite(60, seed=2)
    right = np.random.default_rng(3).normal(size=(60, 4)) * [1.0, 1e-8, 1e8, 0.0]
    found = conjugate_gradients(lambda v: matrix @ v, right, np.ones((60, 1)), 1e-3)
    left = np.linalg.norm(right - matrix @ found, axis=0)
    assert (left <= 1.001e-3 * np.linalg.norm(right, axis=0)).all()
    assert not found[:, 3].any()


def test_what_rounding_made_indefinite_is_lifted_and_what_is_indefinite_is_refused():
    flat = np.ones((3, 3))
    flat[2, 2] -= 4e-16
    solution = Factor(flat.copy()).solve(np.ones(3))
    np.testing.assert_allclose(flat @ solution, np.ones(3), atol=1e-6)
    with pytest.raises(LinAlgError, match="not positive definite"):
        Factor(np.diag([1.0, -1.0]))


def test_refining_gives_lost_digits_back():
    matrix, right = definite(6), np.arange(6.0)
    rough = np.linalg.inv(matrix) * (1 + 1e-3)
    errors = [
        np.abs(matrix @ refined(lambda v: rough @ v, lambda v: matrix @ v, right, times) - right).max()
        for times in range(4)
    ]
    assert errors[0] > 1e-4
    assert errors[3] < 1e-10


def test_nothing_to_solve_is_solved():
    assert Factor(np.eye(3)).solve(np.zeros((3, 0))).shape == (3, 0)
    assert Factor(np.zeros((0, 0))).solve(np.zeros((0, 2))).shape == (0, 2)
    assert Factor(np.zeros((0, 0))).solve(np.zeros(0)).shape == (0,)
