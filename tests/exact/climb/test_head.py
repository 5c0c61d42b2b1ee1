"""The head of one long list: worth what the whole list is, and a climb on it never ends lower."""

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.climb.arena import view_of
from toprank.exact.climb.head import head_of


def long_problem(seed, statistic="dcg@10"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    y = (X @ [1.0, 0.5, -0.5] + 2 * rng.normal(size=400) > 1.5).astype(int)
    return RankingProblem.from_labels(X, y, statistic), rng


@pytest.mark.parametrize("seed", range(8))
def test_the_head_is_worth_what_the_list_is(seed):
    problem, rng = long_problem(seed)
    coef = rng.normal(size=3)
    scores = problem.centred @ coef
    head = head_of(view_of(problem), scores, problem.centred, np.eye(3))
    assert len(head.Y) == 40
    value = head.view.value(head.Y @ coef, 1e-12)
    assert value == pytest.approx(problem.evaluate(problem.unscale(coef)))


def test_a_climb_on_the_head_goes_up():
    better = 0
    for seed in range(8):
        problem, rng = long_problem(seed)
        begin = np.array([-1.0, 0.2, 0.1])
        head = head_of(view_of(problem), problem.centred @ begin, problem.centred, np.eye(3))
        first = head.view.value(head.Y @ begin, 1e-12)
        end, value, lines, stalled = head.climb(begin, 0.0, 0.3, rng, 10, 0, 10)
        assert value == pytest.approx(head.view.value(head.Y @ end, 1e-12))
        assert value >= first
        assert (lines, stalled) == (10, 0 if value > first else 10)
        better += value > first
    assert better >= 5


def test_where_more_than_the_first_places_count_there_is_none():
    problem, _ = long_problem(0, "auc")
    assert head_of(view_of(problem), problem.centred[:, 0], problem.centred, np.eye(3)) is None
