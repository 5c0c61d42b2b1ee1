"""Local search: exact along a line, optimal on small problems, the same for the same seed."""

import numpy as np
import pytest
import scipy.sparse as sp

import exact_oracles as oracles
from clock import Clock
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.climb import arena
from toprank.exact.climb.arena import best_on_line, view_of
from toprank.exact.climb.local_search import LocalSearch, default_lines, local_search


def small_problem(rng, kind):
    n, d = int(rng.integers(4, 10)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, (n, d)).astype(float) if kind == "whole" else rng.normal(size=(n, d))
    y = np.concatenate(([0, 1], rng.integers(0, 2, n - 2)))
    return X, y


def optimum(problem, X, y):
    differences, positive, negative = oracles.class_pairs(X / problem.scales, y)
    weights = problem.objective.weights.tolist()
    return oracles.best_value(
        differences, problem.margin, lambda won: oracles.order_value(won, positive, negative, weights)
    )


@pytest.mark.parametrize("kind", ["continuous", "whole"])
@pytest.mark.parametrize("statistic", ["dcg", "auc", "precision@2", "reciprocal_rank_sum"])
def test_reaches_the_optimum_of_small_problems(kind, statistic):
    """Never above the enumerated optimum, and nearly always at it."""
    rng = np.random.default_rng(0)
    reached = []
    for _ in range(12):
        X, y = small_problem(rng, kind)
        problem = RankingProblem.from_labels(X, y, statistic)
        best = optimum(problem, X, y)
        with Run(rng=1) as run:
            found = local_search(problem, [np.ones(X.shape[1])], run).best
        assert found.value <= best
        assert found.value == problem.evaluate(problem.unscale(found.coef))
        reached.append(found.value == best)
    assert np.mean(reached) >= 0.9


def test_reaches_the_optimum_of_small_preferences():
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(12):
        X = rng.normal(size=(6, 3))
        problem = RankingProblem.kendall(X, rng.normal(size=6))
        rows = X / problem.scales
        differences = [rows[i] - rows[k] for i, k in problem.pairs]
        best = oracles.best_value(
            differences, problem.margin, lambda won, w=problem.pair_weight: oracles.pair_value(won, w)
        )
        with Run(rng=1) as run:
            found = local_search(problem, [np.ones(3)], run).best
        assert found.value <= best
        reached.append(found.value == best)
    assert np.mean(reached) >= 0.9


@pytest.mark.parametrize("statistic", ["dcg", "auc", "dcg@5", "precision@3"])
def test_line_search_finds_the_best_point_of_a_fine_grid(statistic):
    rng = np.random.default_rng(2)
    for trial in range(9):
        X = rng.integers(-3, 4, (25, 3)).astype(float) if trial % 2 else rng.normal(size=(25, 3))
        y = rng.permutation(np.arange(25) < 9).astype(int)
        qid = None if trial % 3 else rng.integers(0, 3, 25)
        problem = RankingProblem.from_labels(X, y, statistic, qid=qid)
        w, u = rng.normal(size=3), rng.normal(size=3)
        picked = view_of(problem).pick(None, rng)
        t = best_on_line(picked, problem.scaled, w, u, 1e-9, 5.0)
        assert -5 < t < 5
        along = [problem.evaluate(problem.unscale(w + step * u)) for step in np.linspace(-5, 5, 801)]
        assert problem.evaluate(problem.unscale(w + t * u)) >= max(along) - 1e-9


@pytest.mark.parametrize("statistic", ["dcg", "auc", "dcg@5", "precision@3"])
def test_whole_list_value_is_the_problems(statistic):
    rng = np.random.default_rng(3)
    for trial in range(20):
        X = rng.integers(-2, 3, (40, 2)).astype(float)
        y = rng.permutation(np.arange(40) < 11).astype(int)
        problem = RankingProblem.from_labels(
            X, y, statistic, qid=rng.integers(0, 3, 40) if trial % 2 else None
        )
        w = problem.scale(rng.normal(size=2))
        value = view_of(problem).value(problem.scaled @ w, 1e-12)
        assert value == pytest.approx(problem.evaluate(problem.unscale(w)), rel=1e-12)


def synthetic(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + 2 * rng.normal(size=n) > 3).astype(int)
    return X, y


@pytest.fixture
def tiny_limits(monkeypatch):
    """Make short lists count as long ones and narrow data as wide."""
    monkeypatch.setattr(arena, "MOST_PAIRS", 500)
    monkeypatch.setattr(arena, "FOCUS_PAIRS", 400)


@pytest.mark.parametrize("width", ["narrow", "wide", "sparse"])
@pytest.mark.parametrize("queries", [False, True])
def test_long_and_wide_problems_improve_and_tell_the_truth(tiny_limits, monkeypatch, width, queries):
    if width != "narrow":
        monkeypatch.setattr("toprank.exact.climb.local_search.WIDEST", 3)
    X, y = synthetic(400, 8)
    rows = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0)) if width == "sparse" else X
    qid = np.arange(400) % 20 if queries else None
    problem = RankingProblem.from_labels(rows, y, "dcg", qid=qid)
    start = problem.scale(np.ones(8))
    with Run(rng=0) as run:
        search = local_search(problem, [start], run, max_iter=150)
    assert search.best.value > problem.evaluate(np.ones(8))
    assert search.best.value == problem.evaluate(problem.unscale(search.best.coef)) <= problem.trivial_bound


def test_long_preferences_are_sampled(tiny_limits):
    X, _ = synthetic(60, 3)
    problem = RankingProblem.kendall(X, X @ [1.0, -1.0, 0.5] + np.sin(np.arange(60)))
    with Run(rng=0) as run:
        search = local_search(problem, [np.ones(3)], run, max_iter=60)
    assert search.best.value > problem.evaluate(np.ones(3))


@pytest.mark.parametrize("limit", [None, 500])
def test_same_seed_same_answer(monkeypatch, limit):
    if limit:
        monkeypatch.setattr(arena, "MOST_PAIRS", limit)
    X, y = synthetic(120, 4)
    problem = RankingProblem.from_labels(X, y, "dcg")
    answers = []
    for _ in range(2):
        with Run(rng=7) as run:
            answers.append(local_search(problem, [np.ones(4)], run, max_iter=120).best.coef)
    assert np.array_equal(*answers)


@pytest.mark.wall_clock
def test_time_limit_and_callback_stop_the_search():
    X, y = synthetic(300, 5)
    problem = RankingProblem.from_labels(X, y, "dcg")
    with Clock(0.3) as clock, Run(time_limit=0.3, rng=0) as run:
        local_search(problem, [np.ones(5)], run, n_restarts=10**6, max_iter=10**9)
    assert clock.kept, clock.seconds_over
    seen = []
    with Run(callback=lambda progress: bool(seen.append(progress)), interval=0.0, rng=0) as run:
        search = local_search(problem, [np.ones(5)], run, n_restarts=10**6, max_iter=10**9)
    assert len(seen) == 1
    assert run.stopped_by == "stopped"
    assert search.best.value >= problem.evaluate(np.ones(5))


def test_identical_rows_end_at_once():
    problem = RankingProblem.from_labels(np.ones((6, 2)), [0, 1, 0, 1, 0, 1], "dcg")
    with Run(rng=0) as run:
        search = local_search(problem, [np.ones(2)], run)
    assert (search.rank, search.lines) == (0, 0)
    assert search.best.value == problem.floor


def test_stops_at_the_trivial_bound():
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "dcg")
    with Run(rng=0) as run:
        search = local_search(problem, [[1.0]], run)
    assert search.best.value == problem.trivial_bound
    assert search.lines <= 50


def test_a_zero_start_is_replaced():
    problem = RankingProblem.from_labels([[0.0, 1.0], [1.0, 0.0]], [0, 1], "dcg")
    search = LocalSearch(problem, np.random.default_rng(0))
    search.start([0.0, 0.0])
    search.advance(10)
    search.keep()
    assert search.best.value == 1.0


def test_default_work_falls_with_the_length_of_the_list():
    short = RankingProblem.from_labels(*synthetic(50, 3), "dcg")
    longer = RankingProblem.from_labels(*synthetic(3000, 3), "dcg")
    assert default_lines(short) > default_lines(longer) >= 30


def test_a_start_that_ties_all_rows_is_left():
    """Opposite columns: equal coefficients give every row the same score."""
    x = np.array([-2.0, -1.0, -1.0, 1.0, 1.0, 2.0])
    problem = RankingProblem.from_labels(np.column_stack((x, -x)), [1, 0, 0, 1, 1, 1], "auc")
    with Run(rng=0) as run:
        assert local_search(problem, [np.ones(2)], run).best.value == pytest.approx(0.75)
