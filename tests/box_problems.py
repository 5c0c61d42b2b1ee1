"""Problems for the searches over boxes and in slices, small ones with their optimum by enumeration."""

import math

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.boxes.search import BoxSearch

KINDS = ("continuous", "integer", "duplicated", "constant column", "equal columns", "dependent columns")


def features(rng, kind, n, d):
    if kind == "continuous":
        return rng.normal(size=(n, d))
    if kind == "dependent columns":
        X = rng.normal(size=(n, d))
        X[:, -1] = X[:, :-1].sum(axis=1)
        return X
    X = rng.integers(0, rng.integers(2, 5), size=(n, d)).astype(float)
    if kind == "duplicated":
        X = X[rng.integers(0, n, size=n)]
    elif kind == "constant column":
        X[:, rng.integers(d)] = 1.0
    elif kind == "equal columns":
        X[:, -1] = X[:, 0] * rng.choice([1, 2, -1])
    return X


def position_weights(rng, n):
    places = np.arange(n)
    shapes = (
        (n - 1.0 - places) / n,  # AUC
        1 / np.log2(places + 2),  # DCG
        np.where(places < 3, 1 / np.log2(places + 2), 0.0),  # DCG@3
        1 / (places + 1.0),  # MRR
        np.where(places < 1, 1.0, 0.0),  # winner takes all
        np.where(places < 2, 0.5, 0.0),  # precision@2
        np.maximum(0.0, n // 2 - places),  # partial AUC
        (n - places) ** 3.0,  # p-norm
        np.sort(rng.random(n))[::-1],
    )
    return shapes[rng.integers(len(shapes))]


def finish(search, problem, optimum):
    """Run to the end; value <= optimum <= bound all the way, and the bound never rises."""
    best, bound = problem.floor, math.inf
    while not search.done:
        search.advance(0.01)
        for coef in search.candidates:
            assert 0.5 <= np.abs(coef).max() <= 1.0
        best = max([best, *(problem.evaluate(problem.unscale(coef)) for coef in search.candidates)])
        assert best <= optimum + 1e-12
        assert search.bound >= optimum - 1e-12
        assert search.bound <= bound
        bound = search.bound
    return best


def check(problem, optimum, kind=BoxSearch, **options):
    search = kind(problem.arrays(), **options)
    best = finish(search, problem, optimum)
    if search.unresolved == -math.inf:
        assert best == pytest.approx(optimum, abs=1e-9)
        assert search.bound == pytest.approx(optimum, abs=1e-8)
    return search


def random_problem(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 3, 3, 3, 4]))
    n = int(rng.integers(3, 12 if d < 4 else 8))
    X = features(rng, KINDS[seed % len(KINDS)] if d > 1 else "integer", n, d)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: rng.integers(1, n)]] = 1
    weights, margin = position_weights(rng, n), float(rng.choice([1e-6, 1e-6, 1e-3, 0.3]))
    problem = RankingProblem.from_labels(X, y, weights, margin=margin, scales=np.ones(d))
    differences, positive, negative = oracles.class_pairs(X, y)
    optimum = oracles.best_value(
        differences, margin, lambda won: oracles.order_value(won, positive, negative, weights)
    )
    return problem, optimum


def medium_problem(seed=0, n=60, d=4, statistic="dcg"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + 1.5 * rng.normal(size=n) > 0.8).astype(int)
    return RankingProblem.from_labels(X, y, statistic)


def solve(problem, kind=BoxSearch, **options):
    search = kind(problem.arrays(), **options)
    while not search.done:
        search.advance(0.05)
    return search
