"""First answers by rounding: between value and bound lies the optimum, and the whole solver is as before."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import push_reference as reference
from toprank.control import Run, Status, relative_gap
from toprank.convex.top_push import column_generation as push
from toprank.convex.top_push import start as push_start
from toprank.convex.top_push.column_generation import solve_top_push
from toprank.convex.top_push.problem import TopPushProblem
from toprank.convex.top_push.start import first_answer
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean
from turns import first_in_every_run

LOSSES = list(SURROGATES)


def data(seed, m=40, n=300, d=5, shift=0.9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, d))
    X[:m] += shift
    return X, np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]


def problem(X, y, *, C=1.0, loss="hinge", rule=None):
    rule = Highest() if rule is None else rule
    return TopPushProblem.from_labels(X, y, np.ones(len(y)), C=C, surrogate=SURROGATES[loss], rule=rule)


@pytest.mark.parametrize("k", [1, 30])
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_between_value_and_bound(loss, C, k):
    X, y = data(0)
    optimum, _ = reference.solve(X[y == 1], X[y == 0], C=C, loss=loss, k=k)
    rule = Highest() if k == 1 else MeanOfHighest(k)
    for rows in (X, sp.csr_matrix(np.where(np.abs(X) > 0, X, 0))):
        found = first_answer(problem(rows, y, C=C, loss=loss, rule=rule), tol=1e-6, run=Run())
        assert found.bound <= optimum * (1 + 1e-7)
        assert found.best.value >= optimum * (1 - 1e-7)
        assert relative_gap(found.best.value, found.bound) < 0.05
        by_the_book = reference.objective(found.best.coef, X[y == 1], X[y == 0], C=C, loss=loss, k=k)
        assert found.best.value == pytest.approx(by_the_book)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_hostile_data(seed):
    rng = np.random.default_rng(seed)
    m, n, d = int(rng.integers(1, 12)), int(rng.integers(1, 20)), int(rng.integers(1, 5))
    X = rng.normal(size=(m + n, d))
    match rng.integers(0, 4):
        case 0:
            X = np.round(X)
        case 1:
            X = X[rng.integers(0, m + n, m + n)]
        case 2:
            X = np.zeros_like(X)
    y = np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]
    C, loss, k = 10.0 ** rng.uniform(-2, 2), LOSSES[rng.integers(0, 3)], int(rng.integers(1, n + 1))
    try:
        optimum, _ = reference.solve(X[:m], X[m:], C=C, loss=loss, k=k)
    except reference.NoReference:
        reject()
    found = first_answer(problem(X, y, C=C, loss=loss, rule=MeanOfHighest(k)), tol=1e-6, run=Run())
    assert np.isfinite(found.coef).all()
    assert found.bound <= optimum * (1 + 1e-6) + 1e-9
    assert found.best.value >= optimum * (1 - 1e-6) - 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_more_digits_than_there_are_end_it_too(loss):
    X, y = data(6, d=2)
    for rule in (Highest(), MeanOfHighest(30)):
        found = first_answer(problem(X, y, C=10.0, loss=loss, rule=rule), tol=1e-16, run=Run())
        assert np.isfinite(found.coef).all()
        assert found.bound <= found.best.value * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_negatives_agree_with_clarabel(loss):
    X, y = data(1, m=60, n=2 * push_start.LARGE, d=3)
    value, w = reference.solve(X[y == 1], X[y == 0], C=30.0, loss=loss, k=400)
    found = solve_top_push(problem(X, y, C=30.0, loss=loss, rule=QuantileMean(0.1)), tol=1e-8, run=Run())
    assert found.status is Status.OPTIMAL
    assert found.point.value == pytest.approx(value, rel=1e-6)
    assert found.bound == pytest.approx(value, rel=1e-6)
    assert found.point.coef == pytest.approx(w, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_subset_of_the_rows_changes_nothing(loss, monkeypatch):
    X, y = data(2, m=1200, n=3000, d=4)
    posed = problem(X, y, C=10.0, loss=loss, rule=QuantileMean(0.2))
    whole = solve_top_push(posed, tol=1e-8, run=Run())
    monkeypatch.setattr(push_start, "SMALL", 900)
    assert solve_top_push(posed, tol=1e-8, run=Run()).point.value == pytest.approx(
        whole.point.value, rel=1e-7
    )


@pytest.mark.parametrize("loss", first_in_every_run(LOSSES, 1))
def test_more_features_than_are_factorised(loss, monkeypatch):
    rng = np.random.default_rng(3)
    X = sp.random(2500, 900, density=0.02, random_state=3, format="csr")
    y = (np.asarray(X[:, :200].sum(axis=1)).ravel() + rng.normal(size=2500) > 4.0).astype(int)
    for rule in (Highest(), MeanOfHighest(20)):
        posed = problem(X, y, C=5.0, loss=loss, rule=rule)
        fast = solve_top_push(posed, tol=1e-5, run=Run(rng=0))
        with monkeypatch.context() as patched:
            patched.setattr(push, "worth_a_start", lambda problem: False)
            slow = solve_top_push(posed, tol=1e-5, run=Run(rng=0))
        assert fast.status is slow.status is Status.OPTIMAL
        assert fast.point.value == pytest.approx(slow.point.value, rel=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_zero_is_found_optimal_among_many_rows(loss):
    X, y = data(4, m=50, n=2 * push_start.LARGE, d=3, shift=0.1)
    found = solve_top_push(problem(X, y, C=100.0, loss=loss, rule=QuantileMean(0.05)), tol=1e-3, run=Run())
    assert found.trivial


def test_a_stop_leaves_a_usable_answer():
    X, y = data(5, n=2 * push_start.LARGE)
    posed = problem(X, y, C=10.0, rule=QuantileMean(0.1))
    stopped = solve_top_push(posed, tol=1e-9, run=Run(callback=lambda progress: False, interval=0.0))
    assert stopped.status is Status.STOPPED
    assert stopped.bound <= stopped.point.value <= posed.zero().value
    late = solve_top_push(posed, tol=1e-9, run=Run(time_limit=1e-9))
    assert late.status is Status.TIME_LIMIT
    assert np.isfinite(late.point.coef).all()
