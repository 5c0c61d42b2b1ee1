"""The exact search as a whole: against enumeration, at every progress event, and when it is cut short."""

import itertools
import signal
import threading
import time

import numpy as np
import pytest

import exact_oracles as oracle
from toprank.control import Run, Status
from toprank.exact.certificate import verify
from toprank.exact.problem import RankingProblem
from toprank.exact.search import search

STATISTICS = [
    "dcg",
    "auc",
    "mrr",
    "precision@2",
    "dcg@3",
    "p_norm",
    "winner_takes_all",
    "partial_auc@3",
    "ndcg@4",
    "recall@3",
]
MARGIN = 1e-3
METHODS = ["sweep", "cells"]


def rows(rng, kind, n, d):
    """Continuous, whole-number, duplicated or partly constant rows."""
    if kind == "continuous":
        return rng.normal(size=(n, d)).round(3)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if kind == "duplicated":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "constant":
        X[:, rng.integers(d)] = 1.0
    return X


def solve(problem, method="auto", **options):
    events = []
    with Run(time_limit=60, rng=0, callback=events.append, interval=0.0) as run:
        found = search(problem, run, method=method, **options)
    return found, events


def check(problem, best, method):
    found, events = solve(problem, method)
    assert found.status is Status.OPTIMAL, (method, found)
    assert found.value == pytest.approx(best, abs=1e-9), method
    assert best <= found.bound + 1e-12 * abs(best)
    assert found.bound == pytest.approx(best, rel=1e-9, abs=1e-9), method
    assert verify(problem, found) == []
    slack = 1e-9 * max(1.0, abs(best))
    for event in events:
        assert event.value <= best + slack
        assert event.bound >= best - slack
    bounds = [event.bound for event in events]
    assert all(later <= earlier for earlier, later in itertools.pairwise(bounds))


def bipartite(seed, penalty=0.0):
    rng = np.random.default_rng(seed)
    while True:
        n, d = int(rng.integers(4, 11)), int(rng.integers(1, 5))
        X = rows(rng, ["continuous", "whole", "duplicated", "constant"][seed % 4], n, d)
        y = rng.integers(0, 2, n)
        if 0 < y.sum() < n:
            break
    if d == 4 and n > 8:
        X, y = X[:8], np.r_[0, 1, y[2:8]]
    problem = RankingProblem.from_labels(
        X, y, STATISTICS[seed % len(STATISTICS)], margin=MARGIN, penalty=penalty, scales=np.ones(d)
    )
    differences, positive, negative = oracle.class_pairs(X, y)

    def value(won):
        return oracle.order_value(won, positive, negative, problem.weights)

    return problem, oracle.best_value(differences, MARGIN, value, penalty)


@pytest.mark.parametrize("seed", range(60))
def test_equals_enumeration(seed):
    problem, best = bipartite(seed)
    for method in METHODS:
        check(problem, best, method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_equals_enumeration_at_length(seed):
    problem, best = bipartite(seed, penalty=[0.0, 0.02][seed % 2])
    for method in METHODS:
        check(problem, best, method)


@pytest.mark.parametrize("seed", range(30))
def test_a_price_on_coefficients_is_exact(seed):
    problem, best = bipartite(seed, penalty=[0.01, 0.1, 0.5][seed % 3])
    check(problem, best, METHODS[seed % 2])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", METHODS)
def test_preferences(seed, method):
    rng = np.random.default_rng(seed)
    X = rows(rng, ["continuous", "whole"][seed % 2], 7, 2)
    y = rng.integers(0, 3, 7)
    y[:2] = 0, 2
    make = RankingProblem.kendall if seed % 3 == 0 else RankingProblem.multipartite
    problem = make(X, y, margin=MARGIN, scales=np.ones(2))
    differences = X[problem.pairs[:, 0]] - X[problem.pairs[:, 1]]
    best = oracle.best_value(differences, MARGIN, lambda won: oracle.pair_value(won, problem.pair_weight))
    check(problem, best, method)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("method", METHODS)
def test_queries(seed, method):
    rng = np.random.default_rng(seed)
    X = rows(rng, ["continuous", "whole"][seed % 2], 9, 2)
    y, qid = np.array([1, 0, 0, 1, 0, 1, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid, margin=MARGIN, scales=np.ones(2))
    parts = [oracle.class_pairs(X[qid == q], y[qid == q]) for q in (0, 1)]
    cut = len(parts[0][0])

    def value(won):
        pieces = (won[:cut], won[cut:])
        return sum(
            oracle.order_value(pieces[q], parts[q][1], parts[q][2], problem.queries[q][2]) for q in (0, 1)
        )

    check(problem, oracle.best_value(parts[0][0] + parts[1][0], MARGIN, value), method)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_threads_and_methods_agree(n_jobs, method):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] + rng.normal(size=40) > 0.5).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg")
    found, _ = solve(problem, method, n_jobs=n_jobs)
    assert found.proved
    assert found.value == pytest.approx(solve(problem)[0].value, abs=1e-9)


# -- cut short -----------------------------------------------------------------------------------


def hard_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = (X[:, 0] + 2 * rng.normal(size=200) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg")


@pytest.mark.parametrize("method", METHODS)
def test_time_limit_is_kept_and_the_bound_is_never_looser_than_the_trivial_one(method):
    problem = hard_problem()
    with Run(time_limit=2.0, rng=0) as run:
        found = search(problem, run, method=method)
    assert found.status is Status.TIME_LIMIT
    assert found.seconds < 3.5
    assert problem.floor < found.value <= found.bound <= problem.trivial_bound
    assert verify(problem, found) == []


def test_ctrl_c_returns_the_best_so_far():
    problem = hard_problem()
    threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT)).start()
    begin = time.perf_counter()
    with Run(time_limit=60, rng=0) as run:
        found = search(problem, run)
    assert found.status is Status.INTERRUPTED
    assert time.perf_counter() - begin < 5
    assert found.value > problem.floor


def test_the_callback_can_stop():
    with Run(time_limit=60, rng=0, callback=lambda progress: progress.seconds < 0.5) as run:
        found = search(hard_problem(), run)
    assert found.status is Status.STOPPED


# -- degenerate input ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_identical_rows_and_too_large_a_margin_give_the_trivial_certificate(method):
    same = RankingProblem.from_labels(np.ones((4, 2)), [0, 1, 0, 1], "dcg")
    wide = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc", margin=1e6)
    for problem in (same, wide):
        found, _ = solve(problem, method)
        assert found.proved
        assert found.value == problem.floor == pytest.approx(found.bound)


def test_senseless_options_are_named():
    problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc")
    with pytest.raises(ValueError, match="method="):
        solve(problem, "magic")
    with pytest.raises(ValueError, match="n_jobs="):
        solve(problem, n_jobs=0)
