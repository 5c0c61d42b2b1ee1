import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from toprank.convex.algebra.merge import merge_rows


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_merged_rows_carry_all_the_weight(make, rows):
    values = np.array(rows, dtype=float)
    X, stratum = make(values[:, :2]), values[:, 2].astype(int)
    weight = 1.0 + np.arange(len(rows))
    merged = merge_rows(X, stratum, weight)
    kept = np.arange(len(rows))[merged.rows]
    expected, got = {}, {}
    for row, w in zip(rows, weight, strict=True):
        expected[row] = expected.get(row, 0.0) + w
    for k, w in zip(kept, merged.weight, strict=True):
        got[rows[k]] = got.get(rows[k], 0.0) + w
    assert got == expected


def test_rows_without_weight_are_left_out():
    merged = merge_rows(np.array([[1.0], [2.0], [3.0]]), np.zeros(3, dtype=int), np.array([1.0, 0.0, 2.0]))
    assert merged.rows.tolist() == [0, 2]
    assert merged.weight.tolist() == [1.0, 2.0]


def test_distinct_rows_stay():
    merged = merge_rows(np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50, dtype=int))
    assert merged.weight is None
    assert merged.rows == slice(None)
