"""The systems of an interior-point step against plain solves."""

import numpy as np
import pytest
import scipy.sparse as sp

from toprank.convex.algebra.row_systems import (
    DenseMetric,
    FeatureSystem,
    GramSystem,
    Identity,
    IterativeSystem,
    LowRankMetric,
    UndecidedRows,
    row_system,
)


def metrics(d):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(d, d))
    basis = np.linalg.qr(rng.normal(size=(d, 3)))[0]
    return [
        Identity(),
        DenseMetric(np.eye(d) + root @ root.T),
        LowRankMetric(1.5, basis, np.array([0.0, 2.0, 5.0])),
    ]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("sparse", [False, True])
def test_every_row_system_solves_the_same_equations(number, sparse):
    rng, d = np.random.default_rng(1), 6
    rows = rng.normal(size=(10, d))
    metric = metrics(d)[number]
    matrix = np.eye(d) if metric.matrix() is None else metric.matrix()
    K = rows @ np.linalg.solve(matrix, rows.T)
    weights = 10.0 ** rng.uniform(-6, 6, 10)
    right = rng.normal(size=(10, 2))
    expected = np.linalg.solve(np.diag(1 / weights) + K, right)
    given_rows = sp.csr_matrix(rows) if sparse else rows
    assert metric.gram(given_rows) == pytest.approx(K)
    assert metric.solve(right[:d, 0]) == pytest.approx(np.linalg.solve(matrix, right[:d, 0]))
    systems = [
        GramSystem(metric.gram(given_rows)),
        FeatureSystem(UndecidedRows(given_rows), metric),
        IterativeSystem(given_rows, metric),
    ]
    some = np.array([7, 2, 4])
    for system in systems:
        assert system.rank >= np.linalg.matrix_rank(K)
        assert system.gram(some) == pytest.approx(K[np.ix_(some, some)])
        system.factor(weights)
        alone = system.solve(right[:, 0])
        assert alone == pytest.approx(expected[:, 0], rel=1e-4, abs=1e-6 * np.abs(expected).max())
        assert system.times(right[:, 0]) == pytest.approx(K @ right[:, 0])
        assert system.solve(right) == pytest.approx(expected, rel=1e-4, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("count", [0, 3])
def test_sparse_undecided_rows_are_shifted_like_dense_ones(count):
    rng = np.random.default_rng(2)
    matrix = np.where(rng.random((40, 12)) < 0.15, rng.normal(size=(40, 12)), 0.0)
    shift, weights = rng.normal(size=12), rng.random(40)
    plain = matrix.copy()
    plain[:count] -= shift
    for rows in (sp.csr_matrix(matrix), matrix):
        undecided = UndecidedRows(rows, shift=shift, count=count)
        assert undecided.many
        assert undecided.times(shift) == pytest.approx(plain @ shift)
        assert undecided.transposed(weights) == pytest.approx(plain.T @ weights)
        pair = np.column_stack([weights, -weights])
        assert undecided.transposed(pair) == pytest.approx(plain.T @ pair)
        assert undecided.gram(weights) == pytest.approx(plain.T @ (weights[:, np.newaxis] * plain))


@pytest.mark.parametrize("heaviest, accuracy", [(1e3, 1e-12), (1e6, 1e-12), (1e9, 1e-12), (1e12, 1e-9)])
def test_heavy_rows_do_not_cost_the_digits_of_the_others(heaviest, accuracy):
    """Against the same system solved in long doubles."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 5))
    weights = np.where(np.arange(40) < 4, heaviest, 1.0) * rng.uniform(0.5, 2.0, 40)
    right = rng.normal(size=40)
    system = FeatureSystem(rows)
    system.factor(weights)
    solution = system.solve(right)
    left = solution.astype(np.longdouble) / weights + rows @ (rows.T.astype(np.longdouble) @ solution)
    assert np.abs(left - right).max() <= accuracy


def test_the_cheapest_system_is_taken():
    rng = np.random.default_rng(4)
    assert isinstance(row_system(UndecidedRows(rng.normal(size=(50, 5)))), FeatureSystem)
    assert isinstance(row_system(UndecidedRows(rng.normal(size=(5, 50)))), GramSystem)
    wide = UndecidedRows(sp.random(2000, 3000, density=1e-3, format="csr", random_state=0))
    assert isinstance(row_system(wide), IterativeSystem)
