"""The driver: equal to enumeration, honest at every step, stoppable, resumable, kind to bad input."""

import itertools
import os
import signal
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import exact_oracles as oracles
from clock import Clock
from toprank.control import Run, Status, keep_best_on_interrupt
from toprank.exact import RankingProblem
from toprank.exact.search.driver import search
from toprank.exact.verification import verify

METHODS = ["boxes", "cells"]
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


def rows_of(kind, rng, n, d):
    if kind == "whole":
        return rng.integers(-2, 3, (n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "constant":
        X[:, 0] = 4.0
    return X


def optimum_of_lists(problem, X, y, qid=None):
    """The enumerated optimum of a sum over queries."""
    scaled = X / problem.scales
    qid = np.zeros(len(y), dtype=int) if qid is None else np.asarray(qid)
    differences, parts = [], []
    number = -1
    for q in np.unique(qid):
        own = qid == q
        if len(np.unique(y[own])) == 2:
            number += 1  # lists with one class are left out
            found, positive, negative = oracles.class_pairs(scaled[own], y[own])
            weights = problem.objective.weights[
                problem.objective.weight_start[number] : problem.objective.weight_start[number + 1]
            ].tolist()
            parts.append((len(found), positive, negative, weights))
            differences += found

    def value(won):
        ends = itertools.accumulate((size for size, *_ in parts), initial=0)
        return sum(
            oracles.order_value(won[begin : begin + size], positive, negative, weights)
            for begin, (size, positive, negative, weights) in zip(ends, parts, strict=False)
        )

    return oracles.best_value(differences, problem.margin, value, problem.penalty)


def checked(problem, best=None, **options):
    """Search with every progress event checked against the optimum."""
    bounds = []

    def check(progress):
        if best is not None:
            assert progress.value <= best + 1e-12
            assert progress.bound >= best - 1e-12
        bounds.append(progress.bound)

    with Run(rng=0, callback=check, interval=0.0) as run:
        certificate = search(problem, run, **options)
    assert all(later <= earlier for earlier, later in itertools.pairwise(bounds))
    assert verify(problem, certificate, seconds=0).passed
    return certificate


def assert_optimal(problem, best, **options):
    certificate = checked(problem, best, **options)
    assert certificate.status is Status.OPTIMAL
    assert certificate.value == pytest.approx(best, rel=1e-12, abs=1e-12)
    assert best <= certificate.bound <= best + 1e-9 * max(1.0, abs(best))


@cache
def enumerated(kind, statistic):
    """Four problems and their optima; enumeration takes longer than all the methods."""
    rng = np.random.default_rng(sum(map(ord, kind + statistic)))
    found = []
    for _ in range(4):
        n, d = int(rng.integers(4, 11)), int(rng.integers(1, 5))
        X, y = rows_of(kind, rng, n, d), np.concatenate(([0, 1], rng.integers(0, 2, n - 2)))
        problem = RankingProblem.from_labels(X, y, statistic)
        found.append((problem, optimum_of_lists(problem, X, y)))
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["continuous", "whole", "duplicates", "constant"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_equals_enumeration(method, kind, statistic):
    for problem, best in enumerated(kind, statistic):
        assert_optimal(problem, best, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_equals_enumeration_over_queries(method):
    rng = np.random.default_rng(1)
    for trial in range(8):
        n, d = 12, int(rng.integers(1, 4))
        X, y = rows_of("whole" if trial % 2 else "continuous", rng, n, d), rng.integers(0, 2, n)
        y[:2] = 0, 1
        qid = np.concatenate(([0, 0], rng.integers(0, 3, n - 2)))
        problem = RankingProblem.from_labels(X, y, "dcg", qid=qid)
        assert_optimal(problem, optimum_of_lists(problem, X, y, qid), method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("penalty", [0.02, 0.2, 2.0])
def test_equals_enumeration_with_a_price_on_coefficients(method, penalty):
    rng = np.random.default_rng(2)
    for trial in range(6):
        n, d = int(rng.integers(5, 10)), int(rng.integers(1, 5))
        X = rows_of("whole" if trial % 2 else "continuous", rng, n, d)
        y = np.concatenate(([0, 1], rng.integers(0, 2, n - 2)))
        problem = RankingProblem.from_labels(X, y, "dcg", penalty=penalty)
        assert_optimal(problem, optimum_of_lists(problem, X, y), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_equals_enumeration_for_preferences(method):
    rng = np.random.default_rng(3)
    for trial in range(8):
        n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
        X = rows_of("whole" if trial % 2 else "continuous", rng, n, d)
        pairs = [(i, k) for i in range(n) for k in range(n) if i != k and rng.random() < 0.5] or [(0, 1)]
        problem = RankingProblem.from_preferences(
            X, pairs, rng.integers(1, 5, len(pairs)) / 4, penalty=0.1 * (trial % 3)
        )
        scaled = X / problem.scales
        differences = [scaled[i] - scaled[k] for i, k in problem.pairs]
        value = lambda won, worth=problem.pair_weight: oracles.pair_value(won, worth)  # noqa: E731
        assert_optimal(
            problem, oracles.best_value(differences, problem.margin, value, problem.penalty), method=method
        )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_methods_and_threads_agree_beyond_enumeration(n_jobs):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg")
    values = {method: checked(problem, method=method, n_jobs=n_jobs) for method in METHODS}
    assert all(certificate.proved for certificate in values.values())
    assert len({certificate.value for certificate in values.values()}) == 1


def test_the_answer_does_not_depend_on_how_it_was_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg")
    found = {
        checked(problem, n_jobs=jobs, starts=starts).coef
        for jobs in (1, 2)
        for starts in ([], [[1.0, 0.0, 0.0]])
    }
    assert len(found) == 1


def hard_problem():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 7))
    y = (X[:, 0] + 2 * rng.normal(size=120) > 0.5).astype(int)
    return RankingProblem.from_labels(X, y, "dcg")


def test_a_long_history_is_thinned_and_keeps_its_ends(monkeypatch):
    monkeypatch.setattr("toprank.exact.search.incumbent.LONGEST_HISTORY", 3)
    monkeypatch.setattr("toprank.exact.search.driver.CHUNK_SECONDS", 0.02)
    problem = hard_problem()
    with Run(time_limit=1.5, rng=0) as run:
        certificate = search(problem, run, method="cells")
    seconds, values, bounds = zip(*certificate.history, strict=True)
    assert 2 <= len(seconds) <= 4
    assert (values[0], bounds[0]) == (problem.floor, problem.trivial_bound)
    assert (values[-1], bounds[-1]) == (certificate.value, certificate.bound)
    assert list(seconds) == sorted(seconds)
    assert list(values) == sorted(values)
    assert list(bounds) == sorted(bounds, reverse=True)


@pytest.mark.wall_clock
@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_is_kept_and_leaves_value_and_bound(method):
    problem = hard_problem()
    with Run(rng=0, time_limit=0.1) as run:  # compile first
        search(problem, run, method=method)
    with Clock(2.0) as clock, Run(rng=0, time_limit=2.0) as run:
        certificate = search(problem, run, method=method, n_jobs=2)
    assert clock.kept, clock.seconds_over
    assert certificate.status is Status.TIME_LIMIT
    assert problem.floor < certificate.value < certificate.bound <= problem.trivial_bound
    assert verify(problem, certificate, seconds=0).passed


def test_an_interrupt_leaves_the_best_so_far():
    problem = hard_problem()
    heard = []

    def press(progress):
        heard.append(progress)
        if len(heard) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with keep_best_on_interrupt(), Run(rng=0, callback=press, time_limit=30) as run:
        certificate = search(problem, run, method="boxes")
    assert certificate.status is Status.INTERRUPTED
    assert certificate.value > problem.floor


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_stopped_and_resumed_gives_the_same_optimum(tmp_path, monkeypatch, method, penalty):
    # Short enough to be stopped often; a node of the cells takes a millisecond, on a busy machine several.
    monkeypatch.setattr("toprank.exact.search.driver.CHUNK_SECONDS", 0.002 if method == "boxes" else 0.01)
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 4 if penalty else 5))
    y = (X[:, 0] + rng.normal(size=60) > 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg", penalty=penalty)
    whole = checked(problem, method=method)
    assert whole.proved
    file, rounds, bounds = tmp_path / "state.npz", 0, []
    while True:
        rounds += 1
        calls = itertools.count()
        with Run(rng=rounds, callback=lambda _, calls=calls: next(calls) < 4, interval=0.0) as run:
            part = search(problem, run, method=method, checkpoint=file)
        bounds.append(part.bound)
        assert part.value <= whole.value <= part.bound + 1e-12
        if part.proved:
            break
        assert file.exists()
        assert rounds < 500
    assert rounds > 1
    assert part.value == pytest.approx(whole.value, rel=1e-12)
    assert bounds == sorted(bounds, reverse=True)
    assert part.seconds > run.seconds
    assert not file.exists()


def test_degenerate_problems_end_at_once_with_a_proof():
    same = RankingProblem.from_labels(np.ones((6, 2)), [0, 1, 0, 1, 0, 1], "dcg")
    wide = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc", margin=1e6)
    for problem in (same, wide):
        certificate = checked(problem)
        assert certificate.proved
        assert certificate.value == certificate.bound == problem.floor


def test_the_perfect_order_is_found_by_a_glance():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 10))
    y = (X @ rng.normal(size=10) > 0).astype(int)
    certificate = checked(RankingProblem.from_labels(X, y, "dcg"))
    assert certificate.proved
    assert certificate.nodes == 0
    assert certificate.method == "perfect order"


def test_sparse_rows_are_searched_too():
    rng = np.random.default_rng(9)
    X = np.where(rng.random((20, 3)) < 0.5, rng.normal(size=(20, 3)), 0.0)
    y = rng.permutation(np.arange(20) < 7).astype(int)
    dense = RankingProblem.from_labels(X, y, "dcg")
    sparse = RankingProblem.from_labels(sp.csr_matrix(X), y, "dcg", scales=dense.scales)
    assert checked(dense).value == checked(sparse).value


def test_lists_out_of_reach_get_an_answer_and_the_trivial_bound(monkeypatch):
    monkeypatch.setattr("toprank.exact.search.choice.MOST_ENTRIES", 100)
    problem = hard_problem()
    with Run(rng=0, time_limit=60) as run:
        certificate = search(problem, run, starts=[np.ones(7)])
    assert certificate.status is Status.FINISHED
    assert certificate.value > problem.evaluate(np.ones(7))
    assert certificate.bound == problem.trivial_bound


@pytest.mark.parametrize("option", [{"method": "magic"}, {"n_jobs": 0}, {"n_jobs": -2}])
def test_bad_options_are_named(option):
    problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc")
    with Run() as run, pytest.raises(ValueError, match=next(iter(option))):
        search(problem, run, **option)
