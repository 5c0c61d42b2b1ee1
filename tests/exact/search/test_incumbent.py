"""The incumbent: never worse, never above its bound, its history short and in order."""

import itertools

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.search import incumbent
from toprank.exact.search.incumbent import Incumbent, placed
from toprank.exact.widest import perfect_order


def small_problem(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = (X[:, 0] + rng.normal(size=20) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg", **options)


def test_only_better_coefficients_are_taken():
    problem = small_problem()
    best, rng = Incumbent(problem), np.random.default_rng(1)
    assert (best.value, best.bound) == (problem.floor, problem.trivial_bound)
    seen = [problem.floor]
    for coef in rng.normal(size=(50, 3)):
        taken = best.offer(coef)
        assert taken == (problem.evaluate(coef) > max(seen))
        seen.append(problem.evaluate(coef))
        assert best.value == max(seen) == problem.evaluate(best.coef)


def test_the_bound_falls_and_never_below_the_value():
    best = Incumbent(small_problem())
    best.offer([1.0, 0.0, 0.0])
    for bound in (9.0, 20.0, 5.0, -1.0):
        before = best.bound
        best.lower(bound)
        assert best.value <= best.bound <= before
    assert best.closed
    assert best.target > best.value


def test_a_better_answer_lifts_a_bound_that_was_too_low():
    """A bound that rounding brought too low must not stay below what is reached."""
    best = Incumbent(small_problem())
    best.lower(best.value)
    assert best.closed
    assert best.offer([1.0, 0.0, 0.0])
    assert best.bound == best.value


def test_a_long_history_keeps_its_ends_and_its_order(monkeypatch):
    monkeypatch.setattr("toprank.exact.search.incumbent.LONGEST_HISTORY", 5)
    best = Incumbent(small_problem())
    for second in range(100):
        best.note(float(second))
        best.lower(best.bound - 1e-3)
        best.note(second + 0.5)
    seconds, _, bounds = zip(*best.history, strict=True)
    assert len(seconds) <= 6
    assert (seconds[0], seconds[-1]) == (0.0, 99.5)
    assert all(a < b for a, b in itertools.pairwise(seconds))
    assert all(a > b for a, b in itertools.pairwise(bounds))
    best.note(200.0)
    assert best.history[-1][0] == 99.5  # nothing has changed since


def test_it_comes_back_from_plain_text():
    problem = small_problem()
    best = Incumbent(problem)
    best.offer([1.0, 0.2, 0.0])
    best.lower(8.0)
    best.note(1.5)
    again = Incumbent(problem)
    again.restore(best.to_plain())
    assert (again.coef.tolist(), again.value, again.bound) == (best.coef.tolist(), best.value, best.bound)
    assert again.history == best.history
    wrong = {**best.to_plain(), "bound": -5.0}
    again.restore(wrong)
    assert again.bound == again.value


@pytest.mark.parametrize("seed", range(10))
def test_the_middle_of_a_cell_wins_the_same_pairs_by_more(seed):
    rng = np.random.default_rng(seed)
    problem = small_problem()
    best = Incumbent(problem)
    best.offer(rng.normal(size=3) * [1.0, 1.0, seed % 2])
    before, value = best.coef, best.value
    arrays = problem.arrays()
    pairs = np.column_stack((arrays.upper, arrays.lower))
    won = problem.won(before, pairs)
    best.widen(5.0)
    assert best.value >= value
    assert problem.won(best.coef, pairs)[won].all()
    assert np.array_equal(best.coef == 0, before == 0) or (best.coef[before == 0] == 0).all()
    least = [(arrays.differences[won] @ problem.scale(coef)).min() for coef in (before, best.coef)]
    assert least[1] >= 0.98 * least[0]


def test_the_perfect_order_is_in_the_middle_already(monkeypatch):
    """The program that found it is the one that would be solved again; without a feature it is another."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3))
    problem = RankingProblem.from_labels(X, (X @ [1.0, 0.5, 0.2] > 0).astype(int), "dcg")
    arrays = problem.arrays()
    found = problem.unscale(perfect_order(arrays.differences, arrays.margin))
    asked, known = Incumbent(problem), Incumbent(problem)
    asked.offer(found)
    asked.widen(5.0)
    assert asked.coef.tolist() == found.tolist()
    calls = []
    monkeypatch.setattr(incumbent, "perfect_order", lambda *given: calls.append(given))
    known.offer(found, widest=True)
    known.widen(5.0)
    assert not calls
    known.replace(2.0 * found)
    known.widen(5.0)
    assert len(calls) == 1


def test_nothing_is_widened_where_there_is_nothing_or_no_time():
    best = Incumbent(small_problem())
    best.widen(5.0)
    assert not best.coef.any()
    best.offer([1.0, 0.5, 0.25])
    before = best.coef
    best.widen(0.0)
    assert best.coef is before


def test_coefficients_are_put_in_their_places():
    assert placed(np.array([3.0, 4.0]), np.array([2, 0]), 4).tolist() == [4.0, 0.0, 3.0, 0.0]
