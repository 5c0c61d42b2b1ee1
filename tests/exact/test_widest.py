"""The widest-margin program: equal to the whole program at once, exact where it claims, in time."""

import time

import numpy as np
import pytest
from scipy.optimize import linprog

from toprank.exact.widest import perfect_order, widest_margin


@pytest.mark.parametrize("seed", range(60))
def test_perfect_order_is_that_of_the_whole_program(seed):
    rng = np.random.default_rng(seed)
    P, d = int(rng.integers(1, 300)), int(rng.integers(1, 6))
    D = rng.integers(-2, 3, size=(P, d)).astype(float) if seed % 2 else rng.normal(size=(P, d))
    D = D[np.abs(D).sum(axis=1) > 0]
    if seed % 3 and len(D):
        D = D * np.where(D @ rng.normal(size=d) >= 0, 1.0, -1.0)[:, None]
    if not len(D):
        return
    whole = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-D, np.ones(len(D))]),
        b_ub=np.zeros(len(D)),
        bounds=[(-1, 1)] * d + [(None, None)],
    )
    w = perfect_order(D, 1e-6)
    if whole.x[-1] > 2e-6:
        assert w is not None
        assert np.abs(w).max() <= 1
        assert (D @ w).min() >= 0.98 * whole.x[-1]
    elif whole.x[-1] < 5e-7:
        assert w is None


def test_perfect_order_passes_over_pairs_nobody_wins():
    D = np.array([[1.0, 0.5], [0.0, 0.0], [0.2, -0.1], [1e-9, 0.0]])
    w = perfect_order(D, 1e-6)
    assert w is not None
    assert (D[[0, 2]] @ w >= 1e-6).all()
    assert perfect_order(np.zeros((3, 2)), 1e-6) is None


def test_one_feature_needs_no_program(monkeypatch):
    monkeypatch.setattr("toprank.exact.widest.linprog", None)
    assert perfect_order(np.array([[-0.5], [-2.0], [0.0]]), 0.0).tolist() == [-1.0]
    assert perfect_order(np.array([[-0.5], [2.0]]), 0.0) is None
    assert perfect_order(np.array([[0.5], [1e-12]]), 0.0) is None  # a program would not tell it from a tie


def test_perfect_order_meets_the_margin_exactly_or_not_at_all():
    D = np.array([[0.25], [0.5]])
    assert perfect_order(D, 0.25) is not None
    assert perfect_order(D, np.nextafter(0.25, 1)) is None


@pytest.mark.parametrize("seed", range(20))
def test_multipliers_show_that_nothing_is_wider(seed):
    """Weak duality: no w in the box has a smallest product above the box's reach of the combined row."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(int(rng.integers(1, 500)), int(rng.integers(1, 6))))
    found = widest_margin(rows, enough=lambda lead, width: lead >= width - 1e-9)
    assert (found.multipliers >= 0).all()
    assert found.multipliers.sum() == pytest.approx(1.0)
    reach = np.abs(found.multipliers @ rows).sum()
    assert (rows @ found.coef).min() == pytest.approx(reach, abs=1e-7)
    assert np.abs(found.coef).max() <= 1.0


def test_a_box_of_signs_is_kept():
    rows = np.array([[1.0, -1.0], [1.0, 0.5], [0.5, -0.2]])
    lower, upper = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    found = widest_margin(rows, enough=lambda lead, width: lead >= width, lower=lower, upper=upper)
    assert ((found.coef >= lower) & (found.coef <= upper)).all()
    whole = linprog(
        [0, 0, -1],
        A_ub=np.column_stack([-rows, np.ones(3)]),
        b_ub=np.zeros(3),
        bounds=[(0, 1), (0, 1), (None, None)],
    )
    assert found.width == pytest.approx(whole.x[-1])


@pytest.mark.wall_clock
def test_the_program_gives_up_below_what_is_wanted_and_out_of_time():
    rows = np.random.default_rng(0).normal(size=(20_000, 40))
    rows *= np.where(rows[:, :1] >= 0, 1.0, -1.0)
    assert widest_margin(rows, enough=lambda lead, width: lead >= width, least=1e3) is None
    begin = time.perf_counter()
    assert widest_margin(rows, enough=lambda lead, width: False, seconds=0.0) is None
    assert perfect_order(rows, 0.0, seconds=1e-3) is None
    assert time.perf_counter() - begin < 0.5
