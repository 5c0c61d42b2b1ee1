"""Local search with a price on coefficients: it finds what enumeration over all sets of columns finds."""

import itertools

import numpy as np
import pytest

import exact_oracles as oracles
import toprank
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.climb.local_search import local_search
from toprank.exact.climb.priced_search import PricedSearch


def small(seed, n=9, d=3, kind="normal"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if kind == "normal" else rng.integers(0, 4, (n, d)).astype(float)
    y = (rng.permutation(n) < n // 2).astype(int)
    return X, y


def by_enumeration(X, y, problem):
    differences, positive, negative = oracles.class_pairs(X, y)
    ((_, _, table),) = problem.queries
    weights = table.values

    def value(won):
        return oracles.order_value(won, positive, negative, weights)

    return oracles.best_value(differences, problem.margin, value, problem.penalty)


@pytest.mark.parametrize("kind", ["normal", "whole"])
@pytest.mark.parametrize("penalty", [0.05, 0.3])
def test_finds_the_best_set_of_columns(kind, penalty):
    for seed in range(4):
        X, y = small(seed, kind=kind)
        problem = RankingProblem.from_labels(X, y, "dcg", penalty=penalty)
        found = local_search(problem, [np.ones(3)], Run(rng=0), n_restarts=5, max_iter=1500)
        assert found.best.value == pytest.approx(by_enumeration(X, y, problem), abs=1e-12)
        assert found.best.value == problem.evaluate(problem.unscale(found.best.coef))


def test_useless_columns_are_left_out():
    """Two columns decide, ten are noise: whoever ignores the price keeps them all."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 12))
    y = (X[:, 0] - X[:, 1] > 0.3).astype(int)
    ranker = toprank.DirectRanker("auc", penalty=0.02, n_restarts=3, random_state=0).fit(X, y)
    assert np.flatnonzero(ranker.coef_).tolist() == [0, 1]
    assert ranker.outcome_.value == pytest.approx(1 - 2 * 0.02)
    assert np.count_nonzero(toprank.DirectRanker("auc", n_restarts=1, random_state=0).fit(X, y).coef_) == 12


def test_a_price_above_all_gain_leaves_one_column_or_none():
    X, y = small(3)
    problem = RankingProblem.from_labels(X, y, "dcg", penalty=0.8)
    found = local_search(problem, [np.ones(3)], Run(rng=0), n_restarts=2, max_iter=500)
    assert np.count_nonzero(found.best.coef) <= 1
    assert found.best.value == pytest.approx(by_enumeration(X, y, problem))


def test_many_columns_are_thinned_out_several_at_a_time():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 80))
    y = (X[:, 7] > 0.2).astype(int)
    problem = RankingProblem.from_labels(X, y, "auc", penalty=0.01)
    found = local_search(
        problem, [X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)], Run(rng=0), max_iter=3000
    )
    assert np.flatnonzero(found.best.coef).tolist() == [7]


def test_pairs_have_prices_too():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12, 3))
    pairs = [(i, k) for i, k in itertools.permutations(range(12), 2) if X[i, 0] > X[k, 0]]
    ranker = toprank.DirectRanker(penalty=0.5, n_restarts=2, random_state=0).fit_pairs(X, pairs)
    assert np.flatnonzero(ranker.coef_).tolist() == [0]


def test_the_same_seed_gives_the_same_answer_in_any_portions():
    X, y = small(5, n=14)
    problem = RankingProblem.from_labels(X, y, "dcg", penalty=0.1)
    answers = []
    for _ in range(2):
        search = PricedSearch(problem, np.random.default_rng(7))
        search.start(np.ones(3))
        for _ in range(5):
            search.work(40)
        answers.append(search.best)
    np.testing.assert_array_equal(answers[0].coef, answers[1].coef)


def test_nothing_to_tell_rows_apart():
    problem = RankingProblem.from_labels(np.ones((4, 2)), [0, 1, 0, 1], "auc", penalty=0.1)
    found = local_search(problem, [np.ones(2)], Run(rng=0))
    assert found.best.value == problem.floor
