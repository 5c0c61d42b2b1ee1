"""Problems for the search over cells and its parts, and their optimum by enumeration."""

import itertools

import numpy as np

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.cells.search import CellSearch

STATISTICS = [
    "dcg",
    "auc",
    "dcg@3",
    "reciprocal_rank_sum",
    "winner_takes_all",
    "precision@2",
    "p_norm(p=3)",
    "partial_auc@4",
]
KINDS = ["continuous", "whole", "duplicates", "constant"]


def rows_of(kind, rng, n, d):
    if kind == "whole":
        return rng.integers(-2, 3, (n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "constant":
        X[:, 0] = 4.0
    return X


def labels_of(rng, n):
    return rng.permutation(np.concatenate(([0, 1], rng.integers(0, 2, n - 2))))


def enumerate_lists(problem, X, y, qid=None):
    """Optimum over all vertices of the arrangement, in fractions."""
    scaled = X / problem.scales
    qid = np.zeros(len(y), dtype=int) if qid is None else np.asarray(qid)
    differences, parts = [], []
    number = -1
    for q in np.unique(qid):
        own = qid == q
        if len(np.unique(y[own])) == 2:
            number += 1  # lists with one class are left out
            found, positive, negative = oracles.class_pairs(scaled[own], y[own])
            a, b = problem.objective.weight_start[number : number + 2]
            parts.append((len(found), positive, negative, problem.objective.weights[a:b].tolist()))
            differences += found

    def value(won):
        begins = itertools.accumulate((size for size, *_ in parts), initial=0)
        return sum(
            oracles.order_value(won[begin : begin + size], positive, negative, weights)
            for begin, (size, positive, negative, weights) in zip(begins, parts, strict=False)
        )

    return oracles.best_value(differences, problem.margin, value)


def value_of(problem, scaled_coef):
    return problem.evaluate(problem.unscale(scaled_coef))


def medium(d=5, n=40, seed=0, statistic="dcg"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0.3).astype(int)
    return RankingProblem.from_labels(X, y, statistic)


def solved(search):
    while not search.done:
        search.advance(0.05)
    return search


def logged(problem, **options):
    search = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9, keep_log=True, **options))
    assert search.unresolved == -np.inf
    return search
