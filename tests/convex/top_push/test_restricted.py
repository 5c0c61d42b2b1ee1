"""Restricted problems as they come from the whole one, every row undecided: against Clarabel."""

import cvxpy as cp
import numpy as np
import pytest

from toprank.control import Run
from toprank.convex.algebra.interior_point import InteriorPoint, Step
from toprank.convex.algebra.row_systems import GramSystem
from toprank.convex.top_push.restricted import Restricted, solve_restricted


def posed(seed, *, soft, caps, n_pos=6, n_neg=9, d=3):
    """Nothing is decided and nothing has curvature: H = 1, w_0 = 0, m = 0."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_pos + n_neg, d))
    rows[:n_pos] += 1.0
    nothing = np.zeros(n_pos + n_neg)
    restricted = Restricted(
        system=GramSystem(rows @ rows.T),
        base_scores=nothing,
        costs=rng.uniform(0.5, 2.0, n_pos),
        caps=np.full(n_neg, 0.4) if caps else None,
        mass=0.0,
        share=1.0,
        tilt_scores=nothing,
        tilt_base=0.0,
        tilt_square=0.0,
        soft=soft,
    )
    return rows, restricted


def reference(rows, restricted):
    n_pos = len(restricted.costs)
    w, q = cp.Variable(rows.shape[1]), cp.Variable()
    scores = rows @ w
    constraints = []
    if restricted.caps is None:
        level, constraints = q, [scores[n_pos:] <= q]
    else:
        level = q + restricted.caps @ cp.pos(scores[n_pos:] - q)
    loss = cp.pos(1 + level - scores[:n_pos])
    loss = cp.square(loss) if restricted.soft else loss
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + restricted.costs @ loss), constraints)
    problem.solve(solver="CLARABEL")
    return w.value


@pytest.mark.parametrize("caps", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_clarabel(seed, soft, caps):
    rows, restricted = posed(seed, soft=soft, caps=caps)
    solution = solve_restricted(restricted, tol=1e-10, run=Run())
    assert solution.gap <= 1e-10
    np.testing.assert_allclose(solution.y @ rows, reference(rows, restricted), atol=2e-4)
    n_pos = len(restricted.costs)
    a, b = solution.y[:n_pos], -solution.y[n_pos:]
    assert a.sum() == pytest.approx(solution.mass)
    assert b.sum() == pytest.approx(solution.mass)
    assert min(a.min(), b.min()) >= 0.0
    if not soft:
        assert (a <= restricted.costs).all()
    if caps:
        assert (b <= 0.4 * solution.mass * (1 + 1e-9)).all()


def test_a_run_that_is_over_takes_no_step():
    run = Run()
    run.stop()
    assert solve_restricted(posed(0, soft=False, caps=False)[1], tol=1e-9, run=run).steps == 0


class Line(InteriorPoint):
    """min x subject to x >= 0 and x <= 4, as dual * slack products of its two bounds."""

    def __init__(self, spoilt=False):
        self.dual, self.slack, self._spoilt = np.array([2.0, 1.0]), np.array([1.0, 3.0]), spoilt

    def _linearise(self, target):
        return self._direction(target)

    def _direction(self, target):
        # dual 1 - dual 2 = 1, slack 1 + slack 2 = 4: one unknown each.
        matrix = np.array([[self.slack[0], self.dual[0]], [self.slack[1], -self.dual[1]]])
        dual, slack = np.linalg.solve(matrix, target)
        both = np.array([dual, dual]) * (np.nan if self._spoilt else 1.0)
        return Step(both, np.array([slack, -slack]))


def test_predictor_corrector_steps_close_the_products_and_keep_the_equations():
    point = Line()
    for _ in range(12):
        assert 0.0 < point.advance() <= 1.0
        assert point.dual[0] - point.dual[1] == pytest.approx(1.0)
        assert point.slack.sum() == pytest.approx(4.0)
        assert min(point.dual.min(), point.slack.min()) > 0.0
    assert point.products < 1e-9
    assert point.slack[0] == pytest.approx(0.0, abs=1e-9)


def test_no_product_is_aimed_below_the_least():
    point = Line()
    for _ in range(30):
        point.advance(least=1e-3)
    assert point.products == pytest.approx(2e-3, rel=0.1)


def test_a_direction_that_is_no_number_is_not_taken():
    point = Line(spoilt=True)
    before = point.dual.copy()
    assert point.advance() == 0.0
    assert (point.dual == before).all()
