"""Agarwal's algorithm beside column generation, and beside her own steps."""

import numpy as np
import pytest

from toprank.control import Run, Status
from toprank.convex.top_push.column_generation import solve_top_push
from toprank.convex.top_push.gradient_projection import gradient_projection
from toprank.convex.top_push.problem import TopPushProblem
from toprank.losses.top_push import SURROGATES, Highest


def data(seed, m=15, n=40, d=5, shift=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, d))
    X[:m] += shift
    return X, np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]


def problem(X, y, *, C=1.0, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return TopPushProblem.from_labels(X, y, weight, C=C, surrogate=SURROGATES["hinge"], rule=Highest())


def test_gradient_projection_comes_to_the_same_optimum():
    X, y = data(13, m=6, n=8, d=3, shift=1.5)
    posed = problem(X, y, C=2.0)
    fast = solve_top_push(posed, tol=1e-9, run=Run())
    slow = gradient_projection(posed, step=0.1, tol=1e-3, run=Run(), max_iter=20_000)
    assert slow.status is Status.OPTIMAL
    assert slow.bound <= fast.point.value * (1 + 1e-9)
    assert slow.point.value == pytest.approx(fast.point.value, rel=2e-3)


def test_gradient_projection_takes_agarwals_steps():
    """The first two iterates, pair by pair."""
    X = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    y, C, step = np.array([1, 1, 0]), 4.0, 0.1
    alpha = np.full((2, 1), C / (1000 * 2 * 1))
    differences = X[:2] - X[2]
    for t in (1, 2):
        w = alpha[:, 0] @ differences
        alpha = np.maximum(alpha - step / np.sqrt(t) * (differences @ w - 1)[:, np.newaxis], 0)
        alpha = np.minimum(alpha, C / 2)  # one column: its maximum is at most C / m
    heard = []
    run = Run(callback=heard.append, interval=0.0)
    gradient_projection(problem(X, y, C=C), step=step, tol=1e-12, run=run, max_iter=2)
    w = alpha[:, 0] @ differences
    assert heard[-1].bound == pytest.approx(alpha.sum() - 0.5 * w @ w)


def test_gradient_projection_takes_weights():
    X, y = data(14, m=6, n=8, d=3, shift=1.5)
    posed = problem(X, y, C=2.0, weight=np.arange(1.0, len(y) + 1))
    fast = solve_top_push(posed, tol=1e-9, run=Run())
    slow = gradient_projection(posed, step=None, tol=1e-6, run=Run(), max_iter=20_000)
    assert slow.status is Status.OPTIMAL
    assert slow.bound <= fast.point.value * (1 + 1e-9)
    np.testing.assert_allclose(slow.point.coef, fast.point.coef, atol=2e-3)


def test_gradient_projection_refuses_too_many_pairs():
    many = np.zeros((5000, 1)), np.r_[np.ones(2500, dtype=int), np.zeros(2500, dtype=int)]
    with pytest.raises(ValueError, match="6250000 pairs"):
        gradient_projection(problem(*many), step=None, tol=1e-3, run=Run(), max_iter=5)
