"""Quantiles, the choice between pins, and what screening may exclude."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_top_oracles import top_quantile
from toprank.control import Run
from toprank.convex.accuracy_at_top.pin_search import Progressed, search_all, search_screened
from toprank.convex.accuracy_at_top.pins import Items, PinTable, choose, excluded, quantile
from toprank.convex.accuracy_at_top.quantile import local_minimum


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=12), st.data())
def test_quantile_is_the_largest_minimiser_of_the_pinball_loss(values, data):
    scores = np.array(values, dtype=float)
    mass = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values))), float)
    top = data.draw(st.integers(1, int(mass.sum()) - 1))
    assert quantile(scores, mass, top) == top_quantile(scores, top / mass.sum(), mass)


def table(*rows):
    return PinTable(np.array([[value, value, distance, 0.0, 1.0] for value, distance in rows]))


def test_the_choice_is_by_distance_then_objective_then_order():
    assert choose(table((5.0, 0.2), (1.0, 0.3))) == 0
    assert choose(table((5.0, 0.2), (1.0, 0.2 + 1e-9))) == 1
    assert choose(table((1.0 + 1e-9, 0.2), (1.0, 0.2))) == 0
    unsolved = table((5.0, 0.2), (1.0, 0.1))
    unsolved.numbers[1] = np.nan
    assert choose(unsolved) == 0


def test_only_hopeless_pins_are_excluded():
    known = PinTable(
        np.array([[2.0, 2.0, 0.1, 0.1, 1.0], [1.0, 0.5, 0.5, 0.3, 1.0], [1.0, 0.5, 0.5, 0.05, 1.0]])
    )
    assert excluded(known, 0).tolist() == [False, True, False]
    at_quantile = PinTable(
        np.array([[2.0, 2.0, 0.0, 0.0, 1.0], [3.0, 2.5, 0.0, 0.0, 1.0], [3.0, 1.5, 0.0, 0.0, 1.0]])
    )
    assert excluded(at_quantile, 0).tolist() == [False, True, False]


def random_items(seed, n, d, C, top):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    positive = points[:, 0] + 0.7 * rng.normal(size=n) > 0.5
    positive[:2] = True, False
    up, down = np.where(positive, C, 0.0), np.where(positive, 0.0, C)
    return Items(points - points.mean(axis=0), None, up, down, np.ones(n), float(top))


@pytest.mark.parametrize("certify", [False, True])
def test_screened_equals_exhaustive_whenever_it_says_certified(certify):
    certified = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n, C = int(rng.integers(8, 45)), 10.0 ** rng.uniform(-3, 1)
        items = random_items(seed, n, int(rng.integers(1, 5)), C, int(rng.integers(1, n // 2)))
        with Run() as run:
            every = search_all(Progressed(items, 1e-10), run, None)
            some = search_screened(Progressed(items, 1e-10), run, None, candidates=3, certify=certify)
        if some.certified:
            certified += 1
            assert some.pin == every.pin
        assert (some.table.bound <= every.table.value + 1e-9).all()
        assert (some.table.nearest <= every.table.distance + 1e-6).all()
    assert certified == 50 if certify else 5 <= certified < 50


def sweep_minimum(items, angles=4000):
    """Problem (1) in the plane: the best length for each of many directions."""
    best = np.inf
    for angle in np.linspace(0, 2 * np.pi, angles, endpoint=False):
        along = items.points @ np.array([np.cos(angle), np.sin(angle)])
        lead = along - np.sort(along)[::-1][int(items.top) - 1]
        # Along a ray the quantile item stays: a piecewise quadratic function of the length.
        kinks = np.concatenate([1 / lead[lead > 0], -1 / lead[lead < 0]])
        slopes = np.concatenate([-(items.up * lead)[lead > 0], (items.down * -lead)[lead < 0] * -1])
        lengths = np.concatenate([[0.0], kinks, np.geomspace(1e-3, 1e2, 60), np.abs(np.cumsum(slopes))])
        losses = items.up @ np.maximum(1 - np.outer(lead, lengths), 0)
        losses += items.down @ np.maximum(1 + np.outer(lead, lengths), 0)
        best = min(best, float((0.5 * lengths**2 + losses).min()))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_local_comes_close_to_the_global_minimum_in_the_plane(seed):
    items = random_items(seed, 60, 2, 0.3, 9)
    with Run(rng=0) as run:
        answer = local_minimum(items, run, n_restarts=10, max_iter=100, tol=1e-6)
    scores = items.points @ answer.coef
    lead = scores - np.sort(scores)[::-1][8]
    value = 0.5 * answer.coef @ answer.coef + items.up @ np.maximum(1 - lead, 0)
    value += items.down @ np.maximum(1 + lead, 0)
    assert answer.value == pytest.approx(value, rel=1e-12)
    assert answer.value <= 1.01 * sweep_minimum(items)


def test_local_is_no_worse_than_the_published_rule_on_many_rows_through_a_subsample():
    items = random_items(3, 6000, 3, 0.01, 300)
    with Run(rng=0) as run:
        answer = local_minimum(items, run, n_restarts=1, max_iter=50, tol=1e-5)
    near = np.argsort(
        np.abs(items.points @ answer.coef - quantile(items.points @ answer.coef, items.mass, 300.0))
    )
    pin = int(near[0])
    pinned = items.weights(pin, items.solve(pin, 1e-6)) @ items.points
    other = items.objective(0.5 * float(pinned @ pinned), items.points @ pinned)
    assert answer.value <= other * (1 + 1e-3)
