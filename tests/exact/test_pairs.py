"""Pair arrays: each row the rounded difference of its pair, brought to length one by a power of two."""

from fractions import Fraction

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.pairs import lengths


def problems(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * 10.0 ** rng.integers(-6, 6, 3)
    y, qid = np.tile([0, 1], 6), np.repeat([0, 1, 2], 4)
    pairs = [(i, k) for i in range(12) for k in range(12) if i != k and rng.random() < 0.3]
    return [
        RankingProblem.from_labels(X, y, "dcg", qid=qid),
        RankingProblem.from_preferences(X, pairs, rng.integers(1, 5, len(pairs)) / 4),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_differences_up_to_a_power_of_two(seed):
    for problem in problems(seed):
        arrays = problem.arrays()
        scaled = problem.X / problem.scales
        for row, i, k in zip(arrays.differences, arrays.upper, arrays.lower, strict=True):
            assert 0.5 <= np.abs(row).max() < 1.0
            exact = [Fraction(a) - Fraction(b) for a, b in zip(scaled[i], scaled[k], strict=True)]
            place = int(np.argmax(np.abs(row)))
            power = Fraction(2) ** round(np.log2(float(exact[place]) / row[place]))
            for entry, true in zip(row, exact, strict=True):
                assert abs(Fraction(entry) * power - true) <= Fraction(2) ** -53 * abs(true)


def test_all_pairs_of_each_query_and_no_others():
    problem = problems(0)[0]
    arrays = problem.arrays()
    labels, lists = oracles.labels_and_lists(problem.queries, 12)
    expected = {
        (i, k) for i in range(12) for k in range(12) if labels[i] > labels[k] and lists[i] == lists[k]
    }
    assert set(zip(arrays.upper.tolist(), arrays.lower.tolist(), strict=True)) == expected
    assert len(arrays.upper) == len(expected) == problem.n_pairs
    same = arrays.positive_query[arrays.positive] == arrays.negative_query[arrays.negative]
    assert same.all()


@pytest.mark.parametrize("seed", range(5))
def test_lost_counts_are_those_of_the_items(seed):
    rng = np.random.default_rng(seed)
    for problem in problems(seed):
        arrays = problem.arrays()
        won = rng.random(len(arrays.upper)) < 0.5
        lost = arrays.lost(won)
        if problem.objective.by_pairs:
            assert lost.tolist() == (~won).tolist()
        else:
            _, lists = oracles.labels_and_lists(problem.queries, 12)
            tops = sorted(set(arrays.upper.tolist()), key=lambda row: (lists[row], row))
            assert lost.tolist() == [int((~won[arrays.upper == row]).sum()) for row in tops]


def test_some_columns_are_those_of_a_smaller_problem():
    problem = problems(1)[0]
    labels, lists = oracles.labels_and_lists(problem.queries, 12)
    part = RankingProblem.from_labels(
        problem.X[:, [0, 2]], labels, "dcg", qid=lists, scales=problem.scales[[0, 2]]
    )
    assert np.array_equal(problem.arrays([0, 2]).differences, part.arrays().differences)
    assert problem.arrays() is problem.arrays([0, 1, 2])
    assert problem.arrays() is not problem.arrays([0, 2, 1])


def test_equal_rows_have_no_length():
    problem = RankingProblem.from_labels([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], [0, 1, 1], "auc")
    arrays = problem.arrays()
    assert arrays.differences[0].tolist() == [0.0, 0.0]
    assert arrays.winnable().tolist() == [False, True]
    assert lengths(np.array([[0.0, 0.0], [1.0, -0.3], [0.99, 0.0]])).tolist() == [0, 1, 0]
