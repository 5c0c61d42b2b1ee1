"""The search over boxes: equal to enumeration on small problems, sound at every step, resumable."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import exact_oracles as oracles
from box_problems import KINDS, check, features, medium_problem, random_problem, solve
from toprank.exact import RankingProblem
from toprank.exact.boxes.search import BoxSearch


@pytest.mark.parametrize("block", range(12))
def test_equals_enumeration(block):
    for seed in range(20 * block, 20 * block + 20):
        problem, optimum = random_problem(seed)
        search = check(problem, optimum)
        assert search.unresolved == -math.inf or problem.margin == 0.3


def test_faces_swept_in_pieces_equal_enumeration(monkeypatch):
    """So many pairs that a face is swept piece by piece, with more events in a piece than it has room for."""
    monkeypatch.setattr("toprank.exact.boxes.plane.MANY_PAIRS", 0)
    small = [(problem, best) for problem, best in map(random_problem, range(200)) if problem.n_features <= 2]
    assert len(small) > 40
    for problem, optimum in small:
        check(problem, optimum)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_equals_enumeration_on_thousands(block):
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        problem, optimum = random_problem(seed)
        search = check(problem, optimum)
        assert search.unresolved == -math.inf or problem.margin == 0.3


@pytest.mark.parametrize("seed", range(60))
def test_preferences_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([2, 3, 3, 4]))
    n = int(rng.integers(4, 10))
    X = features(rng, KINDS[seed % len(KINDS)], n, d)
    pairs = np.array([rng.permutation(n)[:2] for _ in range(rng.integers(1, 14 if d < 4 else 9))])
    worth = rng.integers(1, 4, size=len(pairs)) * 0.37 if seed % 2 else rng.random(len(pairs)) + 0.01
    problem = RankingProblem.from_preferences(X, pairs, worth, margin=1e-6, scales=np.ones(d))
    exact = [[Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)] for i, k in pairs]
    check(problem, oracles.best_value(exact, 1e-6, lambda won: oracles.pair_value(won, worth)))


@pytest.mark.parametrize("seed", range(40))
def test_queries_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.choice([2, 3])), int(rng.integers(6, 11))
    X = features(rng, KINDS[seed % len(KINDS)], n, d)
    qid, y = np.sort(np.arange(n) % 2), np.zeros(n, dtype=int)
    y[[0, n - 1]] = 1
    y[1 : n - 1] = rng.integers(0, 2, size=n - 2)
    y[[1, n - 2]] = 0
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid, margin=1e-6, scales=np.ones(d))
    exact, owner = [], []
    for q in (0, 1):
        upper, lower = np.flatnonzero((qid == q) & (y == 1)), np.flatnonzero((qid == q) & (y == 0))
        for i, k in itertools.product(upper, lower):
            exact.append([Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)])
            owner.append((q, i))

    def value(won):
        lost = dict.fromkeys(owner, 0)
        for who, is_won in zip(owner, won, strict=True):
            lost[who] += not is_won
        terms = []
        for q in (0, 1):
            counts = sorted(c for (query, _), c in lost.items() if query == q)
            terms += [1 / math.log2(j + c + 2) for j, c in enumerate(counts)]
        return math.fsum(terms)

    check(problem, oracles.best_value(exact, 1e-6, value))


def test_target_is_all_that_is_excluded():
    problem = medium_problem()
    cold = solve(problem)
    best = max(problem.evaluate(problem.unscale(w)) for w in cold.candidates)
    warm = solve(problem, target=best + 1e-9, direction=cold.candidates[-1])
    assert warm.done
    assert not warm.candidates
    assert warm.nodes < cold.nodes
    assert warm.bound == pytest.approx(best, abs=1e-8)
    assert solve(problem, target=best - 1e-3).candidates


def test_threads_find_the_same():
    problem = medium_problem(1)
    alone, together = solve(problem), solve(problem, n_jobs=2)
    assert together.bound == pytest.approx(alone.bound, abs=1e-9)
    assert together.unresolved == -math.inf


def test_one_thread_is_repeatable():
    first, second = solve(medium_problem(2)), solve(medium_problem(2))
    assert first.nodes == second.nodes
    np.testing.assert_array_equal(first.candidates, second.candidates)


def test_stopped_and_resumed():
    problem = medium_problem(4, n=120)
    whole = solve(problem)
    search = BoxSearch(problem.arrays())
    rounds = 0
    while not search.done:
        search.advance(1e-3)
        search = BoxSearch.resume(problem.arrays(), search.checkpoint())
        rounds += 1
    assert rounds > 1
    assert search.bound == pytest.approx(whole.bound, abs=1e-9)


def test_two_features_match_every_angle():
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(60, 2)), 1)
    y = (X[:, 0] + rng.normal(size=60) > 0.7).astype(int)
    problem = RankingProblem.from_labels(X, y, "auc", scales=[1.0, 1.0])
    search = solve(problem)
    found = max(problem.evaluate(w) for w in search.candidates)
    angles = np.linspace(0, 2 * np.pi, 20001)
    swept = max(problem.evaluate([math.cos(a), math.sin(a)]) for a in angles[::10])
    assert swept <= found
    assert search.bound - found < 1e-9


@pytest.mark.parametrize("d", [1, 2, 3])
def test_nothing_to_win(d):
    problem = RankingProblem.from_labels(np.ones((4, d)), [0, 1, 0, 1], "auc")
    search = BoxSearch(problem.arrays())
    assert search.done
    assert search.bound < 1e-9


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_margin_larger_than_any_difference(d):
    X = np.random.default_rng(0).normal(size=(6, d))
    problem = RankingProblem.from_labels(X, [0, 1, 0, 1, 1, 0], "auc", margin=1e3, scales=np.ones(d))
    assert BoxSearch(problem.arrays()).done


def test_sure_value_is_never_too_high():
    rng = np.random.default_rng(0)
    problem = RankingProblem.from_labels(
        rng.integers(0, 3, size=(12, 3)), np.arange(12) % 2, "dcg", scales=np.ones(3)
    )
    for _ in range(50):
        coef = rng.integers(-2, 3, size=3) / 2.0
        if coef.any():
            assert problem.arrays().sure_value(coef) <= problem.evaluate_exact(coef)


@pytest.mark.slow
def test_long_list_of_two_features_is_quick():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    y = np.zeros(10_000, dtype=int)
    y[np.argsort(-(X @ [1.0, 0.5] + rng.normal(size=10_000)))[:500]] = 1
    solve(medium_problem(0, n=20, d=2))
    problem = RankingProblem.from_labels(X, y, "dcg")
    search = solve(problem)
    assert search.unresolved == -math.inf
    assert search.bound - problem.evaluate(problem.unscale(search.candidates[-1])) < 1e-6
