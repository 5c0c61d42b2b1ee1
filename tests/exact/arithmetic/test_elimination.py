"""Differences of pairs in whole numbers, and what vanishes."""

from fractions import Fraction

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.arithmetic.elimination import exact_reach, null_vectors, same_direction, whole_difference


def arrays_of(X):
    return RankingProblem.from_preferences(X, [(0, 1), (2, 1)], scales=np.ones(X.shape[1])).arrays()


def test_a_difference_in_whole_numbers_is_a_multiple_of_the_exact_one():
    X = np.array([[0.1, 1e16], [0.3, 1.0], [0.2, 0.5]])
    for pair, (i, k) in enumerate([(0, 1), (2, 1)]):
        whole = whole_difference(arrays_of(X), pair)
        exact = [Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)]
        assert all(isinstance(number, int) for number in whole)
        assert whole[0] * exact[1] == whole[1] * exact[0]
        assert whole[0] * exact[0] > 0


def test_the_reach_is_relative_to_the_length():
    X = np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 0.25]])
    assert exact_reach(arrays_of(X), 0) == Fraction(4, 4)
    assert exact_reach(arrays_of(X), 1) == Fraction(1, 4) / Fraction(1, 2)


def test_the_same_direction_is_a_positive_multiple():
    assert same_direction([1, -2, 0], [3, -6, 0])
    assert not same_direction([1, -2, 0], [-1, 2, 0])
    assert not same_direction([1, -2, 0], [1, -2, 1])
    assert not same_direction([0, 0], [0, 0])


@pytest.mark.parametrize("seed", range(20))
def test_null_vectors_vanish_and_are_as_many_as_the_rank_leaves(seed):
    rng = np.random.default_rng(seed)
    count, d = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    rows = rng.integers(-2, 3, (count, d))
    found = np.array(null_vectors(rows.tolist()), dtype=object).reshape(-1, count)
    assert len(found) == count - np.linalg.matrix_rank(rows)
    assert not (found.astype(int) @ rows).any()
    if len(found):
        assert np.linalg.matrix_rank(found.astype(float)) == len(found)
