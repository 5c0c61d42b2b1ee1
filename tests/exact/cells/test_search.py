"""The search over cells: equal to enumeration on small problems, honest at every step, resumable."""

import math
import time

import numpy as np
import pytest

import exact_oracles as oracles
from cell_problems import KINDS, STATISTICS, enumerate_lists, labels_of, medium, rows_of, solved, value_of
from toprank.exact import RankingProblem
from toprank.exact.boxes.search import BoxSearch
from toprank.exact.cells.search import CellSearch


def search_through(problem, best, *, start=None, seconds=0.05, **options):
    """Search to the end, every step checked: value <= optimum <= bound, and the bound never rises."""
    target = problem.floor + 1e-9 if start is None else start
    search = CellSearch(problem.arrays(), target=target, **options)
    found, bounds = problem.floor, [math.inf]
    while not search.done:
        search.advance(seconds)
        found = max([found, *(value_of(problem, w) for w in search.candidates)])
        assert found <= best + 1e-12
        assert search.bound >= best - 1e-12
        assert search.bound <= bounds[-1]
        bounds.append(search.bound)
    return search, found


def assert_equal_to(problem, best, **options):
    search, found = search_through(problem, best, **options)
    assert search.unresolved == -math.inf
    assert found == pytest.approx(best, abs=1e-11)
    assert search.bound == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration(statistic, kind):
    rng = np.random.default_rng(abs(hash((STATISTICS.index(statistic), KINDS.index(kind)))))
    for _ in range(8):
        d = int(rng.integers(1, 5))
        n = int(rng.integers(4, 13 if d < 3 else 9 if d < 4 else 7))
        X, y = rows_of(kind, rng, n, d), labels_of(rng, n)
        problem = RankingProblem.from_labels(X, y, statistic)
        assert_equal_to(problem, enumerate_lists(problem, X, y))


@pytest.mark.parametrize("statistic", ["dcg", "precision@2"])
def test_equals_enumeration_over_queries(statistic):
    rng = np.random.default_rng(11)
    for trial in range(8):
        d, n = int(rng.integers(1, 4)), 10
        X, y = rows_of(KINDS[trial % 4], rng, n, d), labels_of(rng, n)
        qid = rng.integers(0, 3, n)
        problem = RankingProblem.from_labels(X, y, statistic, qid=qid)
        if problem.n_pairs:
            assert_equal_to(problem, enumerate_lists(problem, X, y, qid))


def test_equals_enumeration_for_weighted_pairs():
    rng = np.random.default_rng(12)
    for trial in range(20):
        n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
        X = rows_of(KINDS[trial % 4], rng, n, d)
        pairs = [(i, k) for i in range(n) for k in range(n) if i != k and rng.random() < 0.5] or [(0, 1)]
        problem = RankingProblem.from_preferences(X, pairs, rng.integers(1, 5, len(pairs)) / 4)
        scaled = X / problem.scales
        differences = [scaled[i] - scaled[k] for i, k in problem.pairs]
        worth = problem.pair_weight
        best = oracles.best_value(
            differences, problem.margin, lambda won, worth=worth: oracles.pair_value(won, worth)
        )
        assert_equal_to(problem, best)


@pytest.mark.parametrize("margin", [0.25, 0.5, 1.0])
def test_a_wide_margin_is_never_misjudged(margin):
    """With whole numbers answers often exist on the very edge only: open at worst, never wrong."""
    rng = np.random.default_rng(13)
    for trial in range(12):
        n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        X, y = rows_of(KINDS[trial % 4], rng, n, d), labels_of(rng, n)
        problem = RankingProblem.from_labels(X, y, "dcg", margin=margin, scales=np.ones(d))
        best = enumerate_lists(problem, X, y)
        search, found = search_through(problem, best)
        below = enumerate_lists(
            RankingProblem.from_labels(X, y, "dcg", margin=margin * (1 + 1e-7), scales=np.ones(d)), X, y
        )
        assert found >= below - 1e-11
        assert max(search.bound, search.unresolved) >= best - 1e-9
        if search.unresolved == -math.inf:
            assert found == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("statistic", ["dcg", "dcg@5", "auc"])
def test_agrees_with_the_boxes(statistic):
    problem = medium(4, 40, 1, statistic)
    both = [
        solved(method(problem.arrays(), target=problem.floor + 1e-9)) for method in (CellSearch, BoxSearch)
    ]
    values = [max(value_of(problem, w) for w in search.candidates) for search in both]
    assert values[0] == pytest.approx(values[1], abs=1e-11)


def test_threads_agree_and_a_good_start_saves_work():
    problem = medium(seed=1)
    alone = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9))
    best = max(value_of(problem, w) for w in alone.candidates)
    pair = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9, n_jobs=2))
    assert max(value_of(problem, w) for w in pair.candidates) == best
    proof = solved(CellSearch(problem.arrays(), target=best + 1e-9))
    assert proof.candidates == []
    assert proof.bound == pytest.approx(best + 1e-9)
    assert proof.nodes < alone.nodes


def test_stopped_and_resumed():
    problem = medium()
    whole = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9))
    best = max(value_of(problem, w) for w in whole.candidates)
    search, found = CellSearch(problem.arrays(), target=problem.floor + 1e-9), []
    for _ in range(10_000):
        search.advance(0.01)
        found += search.candidates
        if search.done:
            break
        search = CellSearch.resume(problem.arrays(), search.checkpoint())
    assert search.done
    assert max(value_of(problem, w) for w in found) == pytest.approx(best, abs=1e-11)
    assert search.bound == pytest.approx(best, abs=1e-8)


def test_nothing_to_win_is_done_at_once():
    same = RankingProblem.from_labels(np.ones((6, 2)), [0, 1, 0, 1, 0, 1], "dcg")
    search = CellSearch(same.arrays())
    assert search.done
    assert search.nodes == 0


def test_standardised_whole_numbers_are_decided_or_left_open():
    """Rounding tells apart what was tied: with such slivers the bound holds, and what is open is named."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        X = rng.integers(0, 4, (9, 2)).astype(float)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y = labels_of(rng, 9)
        problem = RankingProblem.from_labels(X, y, "dcg")
        best = enumerate_lists(problem, X, y)
        search, found = search_through(problem, best)
        assert max(search.bound, search.unresolved) >= best - 1e-12
        if search.unresolved == -math.inf:
            assert found == pytest.approx(best, abs=1e-11)


def test_an_answer_at_the_corner_of_the_box_is_found():
    X = [[-2, -1, 2], [1, 1, -2], [-1, -1, -2], [0, 1, -2], [-1, 1, 0], [0, -1, 1], [-2, 1, -1], [1, -2, 2]]
    X, y = np.array(X, dtype=float), np.array([1, 0, 0, 1, 0, 1, 1, 1])
    problem = RankingProblem.from_labels(X, y, "reciprocal_rank_sum")
    assert_equal_to(problem, enumerate_lists(problem, X, y))


def test_a_node_that_takes_seconds_is_left_when_told_to_stop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12))
    problem = RankingProblem.from_labels(X, X[:, 0] + 3 * rng.normal(size=700) > 2, "dcg")
    search = CellSearch(problem.arrays())
    search.should_stop = lambda: True
    while search.nodes == 0:  # then the kernels are there
        search.advance(1.0)
    for _ in range(4):
        search = CellSearch(problem.arrays())
        search.advance(1e-3)
        looked, before = search.nodes, search.bound
        search.should_stop = lambda: True
        processor = time.process_time()
        search.advance(2.0)
        assert time.process_time() - processor < 0.5
        # Nor are other nodes begun, which would be bounded badly in a hurry.
        assert search.nodes <= looked + 1
        assert not search.done
        assert search.bound <= before
