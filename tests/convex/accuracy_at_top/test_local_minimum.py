"""Local minima of problem (1), beside a sweep over all directions of the plane."""

import numpy as np
import pytest

from at_top_items import random_items
from toprank.control import Run
from toprank.convex.accuracy_at_top.local_minimum import local_minimum
from toprank.convex.accuracy_at_top.pins import quantile


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
