"""The objective: the value of lost counts, beside a count over all pairs that knows nothing of it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.objective import Objective, PositionWeights, position_weights


def counts_of(X, y, coef):
    """Negatives at or above each positive, pair by pair."""
    scores = [Fraction(0)] * len(X)
    for i, row in enumerate(X.tolist()):
        scores[i] = sum((Fraction(a) * Fraction(b) for a, b in zip(row, coef, strict=True)), Fraction(0))
    tops, rest = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    return [sum(scores[k] >= scores[i] for k in rest) for i in tops]


@pytest.mark.parametrize("seed", range(10))
def test_lists_are_worth_their_weights_at_the_places_of_the_positives(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X, y = rng.integers(-2, 3, (n, 2)).astype(float), np.concatenate(([0, 1], rng.integers(0, 2, n - 2)))
    qid = np.concatenate(([0, 0], rng.integers(0, 3, n - 2)))
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid)
    coef = rng.integers(-2, 3, 2).astype(float)
    expected, counts, q = Fraction(0), [], -1
    for name in np.unique(qid):
        own = qid == name
        if len(np.unique(y[own])) == 2:
            q += 1  # lists with one class are left out
            lost = counts_of(X[own], y[own], coef)
            counts += lost
            # DCG: one over the logarithm of the place, best places first.
            weights = problem.objective.weights[
                problem.objective.weight_start[q] : problem.objective.weight_start[q + 1]
            ]
            assert weights == pytest.approx([1 / math.log2(j + 2) for j in range(own.sum())])
            expected += sum(Fraction(float(weights[j + c])) for j, c in enumerate(sorted(lost)))
    assert problem.objective.exact_value(counts) == expected
    assert problem.objective.value(counts) == float(expected)
    assert problem.evaluate_exact(coef) == expected


def test_pairs_are_worth_their_weights_when_not_lost():
    pairs = Objective.of_pairs(np.array([0.1, 0.2, 0.3]))
    assert pairs.exact_value([0, 1, 0]) == Fraction(0.1) + Fraction(0.3)
    assert pairs.value([1, 1, 1]) == pairs.floor == 0
    assert (pairs.n_items, pairs.n_pairs, pairs.by_pairs) == (3, 3, True)
    assert pairs.size == pytest.approx(0.6)


def test_floor_and_trivial_bound_are_all_lost_and_nothing_lost():
    problem = RankingProblem.from_labels(
        [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0, 1], "dcg", qid=[0, 0, 0, 1, 1]
    )
    objective = problem.objective
    assert objective.everything_lost().tolist() == [1, 1, 1]
    assert float(objective.floor) == problem.floor
    assert objective.value(objective.nothing_lost()) == problem.trivial_bound
    assert (objective.n_items, objective.n_pairs, objective.by_pairs) == (3, 3, False)
    assert not any(weights is None for weights in (objective.worth, objective.weights))


def test_a_query_with_one_class_counts_for_nothing():
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", qid=["a", "a", "b"])
    assert (problem.objective.n_items, problem.n_pairs) == (1, 1)
    assert problem.evaluate([1.0]) == problem.trivial_bound == 1.0


def test_one_problem_has_one_objective():
    problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc")
    assert problem.objective is problem.objective
    assert problem.arrays().objective is problem.objective


@pytest.mark.parametrize("seed", range(10))
def test_sure_and_attainable_value_enclose_what_is_reached(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (9, 2)).astype(float)
    y = np.concatenate(([0, 1], rng.integers(0, 2, 7)))
    pairs = [(i, k) for i in range(9) for k in range(9) if y[i] > y[k]]
    for problem in (
        RankingProblem.from_labels(X, y, "dcg"),
        RankingProblem.from_preferences(X, pairs, rng.integers(1, 5, len(pairs)) / 4),
    ):
        arrays = problem.arrays()
        for _ in range(5):
            coef = rng.normal(size=2)
            value = problem.evaluate_exact(problem.unscale(coef))
            assert arrays.sure_value(coef) <= value <= Fraction(arrays.attainable_value())
    # Every pair of different rows can be won by itself, and nothing else.
    won = [bool((X[i] != X[k]).any()) for i, k in pairs]
    assert arrays.attainable_value() == pytest.approx(oracles.pair_value(won, problem.pair_weight))


# -- position weights: of each query by its own length, never increasing, cut where they are given ----

LABELS = np.array([1, 0, 1, 0, 0, 1, 1], dtype=np.int8)
QID = np.array([0, 0, 1, 1, 1, 2, 2])


def test_each_query_has_the_weights_of_its_own_length_and_one_class_none():
    weights, start, name = position_weights("dcg", LABELS, QID, "sum")
    assert start.tolist() == [0, 2, 5, 5]
    expected = [1 / np.log2(j + 2) for j in (0, 1, 0, 1, 2)]
    assert weights == pytest.approx(expected)
    assert name == "dcg"
    mean, _, _ = position_weights("DCG", LABELS, QID, "mean")
    assert mean == pytest.approx(np.array(expected) / 2)


def test_given_weights_are_cut_to_each_query():
    weights, _, name = position_weights([3.0, 2.0, 2.0, 0.0], LABELS, QID, "sum")
    assert weights.tolist() == [3.0, 2.0, 3.0, 2.0, 2.0]
    assert name == "position weights"


def test_weights_query_by_query_are_used_as_they_are():
    given = PositionWeights((np.array([5.0, 1.0]), np.array([2.0, 1.0, 0.0]), np.empty(2)), "heads")
    for queries in ("sum", "mean"):
        weights, _, name = position_weights(given, LABELS, QID, queries)
        assert weights.tolist() == [5.0, 1.0, 2.0, 1.0, 0.0]
        assert name == "heads"


@pytest.mark.parametrize(
    "statistic, queries, message",
    [
        ("dcg", "median", "queries must be"),
        ([1.0, 2.0, 3.0], "sum", "never increase"),
        ([1.0], "sum", "3 position weights are needed"),
        ([np.nan, 1.0, 0.0], "sum", "finite"),
        ("ap", "sum", "not a linear rank statistic"),
        (PositionWeights((np.ones(2),), "one"), "sum", "3 queries are needed"),
    ],
)
def test_what_cannot_be_used_is_named(statistic, queries, message):
    with pytest.raises(ValueError, match=message):
        position_weights(statistic, LABELS, QID, queries)
