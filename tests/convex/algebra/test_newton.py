"""Newton's method on ridge and logistic losses, factorised and by conjugate gradients."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from toprank.control import Run, Status
from toprank.convex.algebra import design as designs
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import minimise, start_at


@dataclass
class LogisticPoint:
    signs: np.ndarray
    scores: np.ndarray

    @property
    def value(self):
        return np.logaddexp(0.0, -self.signs * self.scores).sum()

    @property
    def chance(self):
        return 1.0 / (1.0 + np.exp(self.signs * self.scores))

    @property
    def gradient(self):
        return -self.signs * self.chance

    @property
    def curvature(self):
        return self.chance * (1.0 - self.chance)

    def curvature_product(self, direction):
        return self.curvature * direction


@dataclass
class Logistic:
    design: Design
    signs: np.ndarray
    C: float

    def at(self, scores):
        return LogisticPoint(self.signs, scores)

    def hessian(self, point):
        return self.design.gram(point.curvature)


def posed(C=3.0, n=80, d=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return Logistic(Design(X), np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0), C)


@pytest.mark.parametrize("limit", [768, 1])
@pytest.mark.parametrize("C", [1e-3, 3.0, 1e4])
def test_agrees_with_scipy_and_the_bound_holds(C, limit, monkeypatch):
    monkeypatch.setattr(designs, "DIRECT_LIMIT", limit)
    task = posed(C)
    found, outcome = minimise(task, np.zeros(6), Run(), tol=1e-9, max_iter=100)

    def objective(w):
        return 0.5 * w @ w + C * np.logaddexp(0.0, -task.signs * (task.design.X @ w)).sum()

    reference = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    assert outcome.status is Status.OPTIMAL
    assert outcome.value == pytest.approx(objective(found.coef))
    assert outcome.value <= reference.fun * (1 + 1e-8)
    assert outcome.bound <= reference.fun * (1 + 1e-9)


def test_every_bound_lies_below_the_optimum():
    task = posed()
    best = minimise(task, np.zeros(6), Run(), tol=1e-12, max_iter=100)[1].value
    for seed in range(20):
        anywhere = start_at(task, np.random.default_rng(seed).normal(size=6))
        assert anywhere.bound <= best <= anywhere.value


def test_iteration_limit_and_stop_button():
    assert minimise(posed(1e4), np.zeros(6), Run(), tol=1e-12, max_iter=1)[1].status is Status.ITERATION_LIMIT
    run = Run()
    run.stop()
    assert minimise(posed(), np.zeros(6), run, tol=1e-12, max_iter=9)[1].status is Status.STOPPED
