"""The objective of the TopPush family against sums over pairs, its slopes against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.convex.top_push.problem import TopPushProblem, best_between
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean


def posed(X, y, weight=None, *, loss="hinge", rule=None, C=1.0):
    weight = np.ones(len(y)) if weight is None else weight
    return TopPushProblem.from_labels(
        np.asarray(X, dtype=float), y, weight, C=C, surrogate=SURROGATES[loss], rule=rule or Highest()
    )


def mean_loss(scores, y, loss):
    """The loss of scores as they are: rows of one feature with a coefficient of one."""
    return posed(scores[:, np.newaxis], y, loss=loss).at(np.ones(1)).value - 0.5


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=2, max_size=12))
def test_the_hinge_is_at_least_the_positives_not_above_the_highest_negative(items):
    scores, y = np.array([s for s, _ in items], dtype=float), np.array([p for _, p in items], dtype=int)
    if y.min() == y.max():
        return
    missed = np.mean(scores[y == 1] <= scores[y == 0].max())
    for loss in ("hinge", "squared_hinge"):
        assert mean_loss(scores, y, loss) >= missed - 1e-12


def test_infinite_push_is_the_worst_negative():
    """The maximum over negatives of the mean loss (Agarwal 2011, Eq. 3.3) is the loss at the highest one."""
    rng = np.random.default_rng(2)
    scores, y = rng.normal(size=30), rng.integers(0, 2, 30)
    pairs = 1 - np.subtract.outer(scores[y == 1], scores[y == 0])
    worst = np.maximum(pairs, 0).mean(axis=0).max()
    assert mean_loss(scores, y, "hinge") == pytest.approx(worst)


@pytest.mark.parametrize("rule", [Highest(), MeanOfHighest(3), QuantileMean(0.3)])
@pytest.mark.parametrize("loss", SURROGATES)
def test_slopes_are_finite_differences(loss, rule):
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(20, 3)), rng.integers(0, 2, 20), rng.uniform(0.5, 2.0, 20)
    problem = posed(X, y, weight, loss=loss, rule=rule, C=3.0)
    here, there = (problem.at(rng.normal(size=3)) for _ in range(2))
    h = 1e-6
    difference = (here.towards(there, h).value - here.towards(there, -h).value) / (2 * h)
    assert here.slope_towards(there) == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_the_best_point_on_the_way_is_no_worse_than_a_fine_grid_says():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    problem = posed(X, y, loss="squared_hinge", C=5.0)
    start, end = problem.zero(), problem.at(3.0 * problem.mean_difference())
    grid = min(start.towards(end, part).value for part in np.linspace(0.0, 1.0, 1001))
    best = best_between(start, end)
    assert best.value <= grid + 0.02 * (start.value - grid)
    assert best.value == pytest.approx(problem.at(best.coef).value)


def test_a_share_with_an_answer_is_beaten_and_a_smaller_one_is_not():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 2)), np.arange(200) % 2
    X[y == 1] += 0.3
    problem = posed(X, y)
    share = problem.share_with_answer()
    scores = np.sort((X @ problem.mean_difference())[y == 0])[::-1]
    level, count = (X @ problem.mean_difference())[y == 1].mean(), round(share * len(scores))
    assert scores[:count].mean() < level <= scores[: count - 1].mean()


def test_equal_means_have_no_such_share():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    assert posed(X, np.array([1, 1, 0, 0])).share_with_answer() is None
