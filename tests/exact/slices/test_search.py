"""The search in slices: equal to enumeration on small problems, sound at every step, resumable."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import exact_oracles as oracles
import hostile_problems as hostile
from box_problems import KINDS, check, features, medium_problem, random_problem, solve
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.directions.search import Box
from toprank.exact.search.driver import search
from toprank.exact.slices.centres import Centres
from toprank.exact.slices.search import SliceSearch, why_not
from toprank.exact.slices.worker import SliceWorker, WholeValues
from turns import first_in_every_run


@pytest.mark.parametrize("block", range(8))
def test_equals_enumeration(block):
    for seed in range(15 * block, 15 * block + 15):
        problem, optimum = random_problem(seed)
        found = check(problem, optimum, SliceSearch)
        assert found.unresolved == -math.inf or problem.margin == 0.3


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_equals_enumeration_on_thousands(block):
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        problem, optimum = random_problem(seed)
        found = check(problem, optimum, SliceSearch)
        assert found.unresolved == -math.inf or problem.margin == 0.3


@pytest.mark.parametrize("seed", range(24))
def test_preferences_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.choice([2, 3, 3, 4])), int(rng.integers(4, 10))
    X = features(rng, KINDS[seed % len(KINDS)], n, d)
    pairs = np.array([rng.permutation(n)[:2] for _ in range(rng.integers(1, 14 if d < 4 else 9))])
    worth = rng.integers(1, 4, size=len(pairs)) * 0.37 if seed % 2 else rng.random(len(pairs)) + 0.01
    problem = RankingProblem.from_preferences(X, pairs, worth, margin=1e-6, scales=np.ones(d))
    exact = [[Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)] for i, k in pairs]
    check(problem, oracles.best_value(exact, 1e-6, lambda won: oracles.pair_value(won, worth)), SliceSearch)


def as_problem(case, penalty):
    if case.pairs is not None:
        return RankingProblem.from_preferences(case.X, case.pairs, case.pair_weight, penalty=penalty)
    return RankingProblem.from_labels(case.X, case.y, case.weights, qid=case.qid, penalty=penalty)


@pytest.mark.parametrize("block", first_in_every_run(range(6), 2))
def test_no_hostile_problem_gets_a_wrong_certificate(block):
    """Lists, queries, weighted pairs and prices, with everything that misleads floating point."""
    undecided = 0
    for seed in range(block, 120, 6):
        case = hostile.hostile_problem(seed)
        best = hostile.best_value(case)
        with Run(time_limit=30, rng=0) as run:
            found = search(as_problem(case, case.penalty), run, method="slices")
        assert found.value <= best + 1e-12, (seed, case.kind)
        if found.margin > 0:  # a claim about wider wins only, and it says so
            assert found.notes
            undecided += 1
            continue
        assert found.bound >= best - 1e-12, (seed, case.kind)
        if found.proved:
            assert found.value >= best - 1e-9, (seed, case.kind)
        undecided += not found.proved
    assert undecided <= 1


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_a_target_just_below_the_optimum_is_never_excluded(seed):
    """With no candidates taken, something must be left: only a bound that is too low could close it all."""
    case = hostile.hostile_problem(seed)
    problem = as_problem(case, 0.0)
    best = hostile.best_value(replace(case, penalty=0.0))
    if best <= problem.floor:
        return
    arrays = problem.arrays()
    found = SliceSearch(arrays)
    frame = found._frame
    worker = SliceWorker(frame, WholeValues(arrays, frame), Centres(arrays, frame), keep_log=False)
    left = 0
    for place in found._roots():
        worker.load(Box(frame.value, place))
        for _ in range(20):
            worker.expect(2**61)  # nothing is worth as much, so no candidate is taken
            worker.run(frame.scale.up(best - 1e-9 * max(1.0, abs(best))), 1.0, 50_000)
            left += len(worker.puzzles()) + sum(len(boxes) for boxes in worker.put_aside())
            if not worker.busy or left:
                break
        left += worker.busy
        worker.give_back()
    assert left > 0


def test_target_is_all_that_is_excluded():
    problem = medium_problem()
    cold = solve(problem, SliceSearch)
    best = max(problem.evaluate(problem.unscale(w)) for w in cold.candidates)
    warm = solve(problem, SliceSearch, target=best + 1e-9, direction=cold.candidates[-1])
    assert warm.done
    assert not warm.candidates
    assert warm.bound == pytest.approx(best, abs=1e-8)
    assert solve(problem, SliceSearch, target=best - 1e-3).candidates
    assert solve(problem).bound == pytest.approx(best, abs=1e-8)


def test_one_thread_is_repeatable_and_two_find_the_same():
    first, second = (solve(medium_problem(2), SliceSearch) for _ in range(2))
    assert first.nodes == second.nodes
    np.testing.assert_array_equal(first.candidates, second.candidates)
    together = solve(medium_problem(2), SliceSearch, n_jobs=2)
    assert together.bound == pytest.approx(first.bound, abs=1e-9)
    assert together.unresolved == -math.inf


def test_stopped_and_resumed():
    problem = medium_problem(4)
    whole = solve(problem, SliceSearch)
    found = SliceSearch(problem.arrays())
    rounds = 0
    while not found.done:
        found.advance(5e-3)
        found = SliceSearch.resume(problem.arrays(), found.checkpoint())
        rounds += 1
    assert rounds > 1
    assert found.bound == pytest.approx(whole.bound, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_nothing_to_win(d):
    problem = RankingProblem.from_labels(np.ones((4, d)), [0, 1, 0, 1], "auc")
    found = SliceSearch(problem.arrays())
    assert found.done
    assert found.bound < 1e-9


def test_weights_below_zero():
    """The last positions may cost something: slices count what the negatives take."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 3)), np.arange(24) % 3 == 0
    weights = np.linspace(1.0, -2.0, 24)
    problem = RankingProblem.from_labels(X, y, weights)
    assert solve(problem, SliceSearch).bound == pytest.approx(solve(problem).bound, abs=1e-9)


def test_the_longest_lists_that_bytes_count():
    """255 negatives, all of which may be lost; one more of either side is refused with the reason."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(258, 3)), np.arange(258) < 3
    problem = RankingProblem.from_labels(X, y, "dcg")
    assert why_not(problem.arrays()) is None
    assert solve(problem, SliceSearch).bound == pytest.approx(solve(problem).bound, abs=1e-9)
    longer = RankingProblem.from_labels(np.vstack([X, X[-1:] + 1]), np.append(y, False), "dcg")
    with Run(rng=0) as run, pytest.raises(ValueError, match=r"method='slices' does not apply.*256 negatives"):
        search(longer, run, method="slices")


def test_several_lists_of_different_lengths():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 3)), rng.random(40) < 0.4
    problem = RankingProblem.from_labels(X, y, "dcg", qid=np.sort(rng.integers(0, 3, 40)))
    assert solve(problem, SliceSearch).bound == pytest.approx(solve(problem).bound, abs=1e-9)
