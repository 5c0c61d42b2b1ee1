"""Units: pairs that win and lose together, their thresholds, whole-number weights."""

import itertools

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.cells.units import build_units, convex_below


@pytest.mark.parametrize("seed", range(20))
def test_convex_weights_lie_below(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(-50, 1000, rng.integers(2, 30)))[::-1].tolist()
    convex = convex_below(values)
    steps = [a - b for a, b in itertools.pairwise(convex)]
    assert all(c <= v for c, v in zip(convex, values, strict=True))
    assert steps == sorted(steps, reverse=True)
    assert min(steps) >= 0
    already = np.cumsum(np.sort(rng.integers(0, 99, 12)))[::-1].tolist()
    assert convex_below(already) == already


def test_pairs_told_apart_by_rounding_only_are_two_units():
    """1e17 - 1 and 1e17 - 3 round to the same float."""
    X = np.array([[1e17, 1.0], [3.0, 0.0], [1.0, 0.0]])
    units = build_units(RankingProblem.from_labels(X, [1, 0, 0], "auc", scales=[1.0, 1.0]).arrays())
    assert units.size == 2


def test_equal_differences_are_one_unit():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]])
    problem = RankingProblem.from_labels(X, [0, 1, 1, 0, 1, 0], "dcg", scales=[1.0, 1.0])
    units = build_units(problem.arrays())
    assert units.size == len({(1.0, 2.0), (5.0, 5.0), (-4.0, -3.0)})
    assert len(units.objective.pairs[0]) == problem.n_pairs


def test_a_unit_is_where_all_its_pairs_are():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(12, 3)).astype(float)
    arrays = RankingProblem.from_labels(X, np.arange(12) % 2, "dcg", scales=np.ones(3)).arrays()
    units = build_units(arrays)
    live = arrays.differences.any(axis=1)
    assert ((units.unit_of >= 0) == live).all()
    assert sorted(set(units.unit_of[live].tolist())) == list(range(units.size))
    for unit in range(units.size):
        rows = arrays.differences[units.unit_of == unit]
        assert (rows == rows[0]).all()
        # A power of two brings the largest entry to between one and two.
        np.testing.assert_array_equal(
            units.rows[unit] / np.abs(units.rows[unit]).max(), rows[0] / np.abs(rows[0]).max()
        )
        assert 1.0 <= np.abs(units.rows[unit]).max() <= 2.0
    start, pairs = units.objective.pair_start, units.objective.pairs
    for unit in range(units.size):
        own = np.flatnonzero(units.unit_of == unit)
        found = pairs[:, start[unit] : start[unit + 1]]
        assert sorted(zip(*found.tolist(), strict=True)) == sorted(
            zip(arrays.positive[own].tolist(), arrays.negative[own].tolist(), strict=True)
        )


@pytest.mark.parametrize("statistic", ["dcg", "auc", "precision@2"])
def test_floor_and_ceiling_are_the_values_of_losing_and_winning_all(statistic):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(10, 2)), rng.permutation(np.arange(10) % 2)
    problem = RankingProblem.from_labels(X, y, statistic)
    units = build_units(problem.arrays())
    weights = problem.objective.weights
    assert units.scale.value(units.ceiling) == pytest.approx(weights[:5].sum(), abs=1e-9)
    assert units.scale.value(units.floor) == pytest.approx(weights[5:10].sum(), abs=1e-9)


def test_thresholds_are_looser_than_the_margin_and_none_alike():
    X = np.random.default_rng(2).normal(size=(12, 3))
    problem = RankingProblem.from_labels(X, np.arange(12) % 2, "dcg", margin=1e-3, scales=np.ones(3))
    (thresholds,) = build_units(problem.arrays()).thresholds
    low, high, exact, _, hold = thresholds
    assert (low < exact).all()
    assert (high > exact).all()
    assert (hold < low).all()
    assert len(np.unique(low / exact)) == len(low)
