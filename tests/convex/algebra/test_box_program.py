"""The program over a box against cvxpy with Clarabel, primal and dual; most of it as pins pose it."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels

from at_top_oracles import pinned_dual, pinned_primal
from toprank.convex.accuracy_at_top.pins import Items
from toprank.convex.algebra.box_program import box_program
from toprank.convex.algebra.row_systems import FeatureSystem, GramSystem


def random_items(seed, n=24, d=4, C=1.0, *, lattice=False):
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (n, d)).astype(float) if lattice else rng.normal(size=(n, d))
    positive = points[:, 0] + rng.normal(size=n) > 0.3
    positive[0], positive[1] = True, False
    up = np.where(positive, C * (~positive).sum(), 0.0)
    down = np.where(positive, 0.0, C * positive.sum())
    return Items(points, None, up, down, np.ones(n), 4.0)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_linear_problem_agrees_with_clarabel(seed, C):
    items = random_items(seed, C=C, lattice=seed % 2 == 1)
    k = 5 + seed
    solution = items.solve(k, 1e-11)
    coef = items.weights(k, solution) @ items.points
    expected, value = pinned_primal(items.points, items.up, items.down, k)
    dual_value, weights = pinned_dual(items.points @ items.points.T, items.up, items.down, k)
    assert solution.value == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert solution.bound == pytest.approx(dual_value, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(coef, expected, atol=1e-6)
    np.testing.assert_allclose(weights @ items.points, coef, atol=1e-5)
    assert (solution.dual >= 0).all()
    assert (solution.dual <= items.costs).all()


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_kernel_problem_agrees_with_clarabel(kernel, C):
    items = random_items(11, C=C)
    gram = pairwise_kernels(items.points, metric=kernel)
    known = Items(None, gram, items.up, items.down, items.mass, items.top)
    solution = known.solve(3, 1e-11)
    value, expected = pinned_dual(gram, items.up, items.down, 3)
    assert solution.value == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert solution.bound == pytest.approx(value, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(gram @ known.weights(3, solution), gram @ expected, atol=1e-5)


def test_both_forms_of_the_rows_agree():
    items = random_items(2, n=40, d=6)
    gram = Items(None, items.points @ items.points.T, items.up, items.down, items.mass, items.top)
    for k in (0, 7, 39):
        one, other = items.solve(k, 1e-11), gram.solve(k, 1e-11)
        np.testing.assert_allclose(one.margins, other.margins, atol=1e-6)
        np.testing.assert_allclose(items.distances(k), gram.distances(k), atol=1e-7)


@pytest.mark.parametrize("tol", [0.3, 5e-2, 1e-3])
def test_the_optimum_lies_in_the_ball(tol):
    for seed in range(10):
        items = random_items(seed, n=30)
        loose, exact = items.solve(4, tol), items.solve(4, 1e-12)
        away = items.weights(4, loose) @ items.points - items.weights(4, exact) @ items.points
        assert loose.gap <= tol * loose.value
        assert np.linalg.norm(away) <= loose.radius + 1e-7


def test_rows_that_surely_pay_can_be_left_out():
    items = random_items(3, C=0.1)
    rows = items.sign[:, np.newaxis] * (items.points[items.owner] - items.points[5])
    whole = items.solve(5, 1e-11)
    w = whole.dual @ rows
    paying = whole.margins < 0.5
    assert paying.any()
    base = items.costs[paying] @ rows[paying]
    rest = rows[~paying]
    targets = 1.0 - rest @ base
    part = box_program(FeatureSystem(rest), items.costs[~paying], tol=0.0, gap=1e-9, targets=targets)
    assert part.gap <= 1e-9
    np.testing.assert_allclose(base + part.dual @ rest, w, atol=1e-4)


@pytest.mark.parametrize("n, d", [(5, 8), (60, 4), (300, 40)])
def test_targets_of_all_kinds_agree_with_clarabel(n, d):
    rng = np.random.default_rng(11)
    rows, costs, force = rng.normal(size=(n, d)), rng.uniform(0.1, 1, n), rng.normal(size=d)
    alpha = cp.Variable(n)
    goal = cp.sum(alpha) - 0.5 * cp.sum_squares(force + rows.T @ alpha)
    reference = cp.Problem(cp.Maximize(goal), [alpha >= 0, alpha <= costs])
    reference.solve(solver="CLARABEL")
    for system in (FeatureSystem(rows), GramSystem(rows @ rows.T)):
        found = box_program(system, costs, tol=1e-14, targets=1.0 - rows @ force).dual
        assert (found >= 0).all()
        assert (found <= costs).all()
        reached = found.sum() - 0.5 * np.sum((force + rows.T @ found) ** 2)
        assert reached == pytest.approx(reference.value, rel=1e-7, abs=1e-7)


def test_stops_when_told():
    items = random_items(0)
    told = box_program(items.rows(0), items.costs, tol=1e-9, should_stop=lambda: True)
    assert told.steps == 0
    assert told.value >= told.bound


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    d=st.integers(1, 4),
    scale=st.sampled_from([1e-6, 1e-2, 1.0, 1e3]),
    cost=st.sampled_from([1e-6, 1e-2, 1.0, 1e4]),
)
def test_hostile_rows(seed, n, d, scale, cost):
    """Duplicates, zero rows, contradictions and every scale: a small gap, inside the box."""
    rng = np.random.default_rng(seed)
    rows = scale * rng.integers(-1, 2, (n, d)).astype(float)
    costs = cost * rng.integers(1, 4, n)
    for form in (FeatureSystem(rows), GramSystem(rows @ rows.T)):
        answer = box_program(form, costs, tol=1e-6)
        # Doubles hold w = R^T a only so well: see the module.
        rounding = 3e-14 * costs.sum() * (rows**2).sum(axis=1).max()
        assert answer.gap <= max(1e-6, rounding) * answer.value
        assert (answer.dual >= 0).all()
        assert (answer.dual <= costs).all()
        w = answer.dual @ rows
        primal = 0.5 * w @ w + costs @ np.maximum(1 - rows @ w, 0)
        assert answer.value == pytest.approx(primal, rel=max(1e-9, rounding), abs=1e-12)
