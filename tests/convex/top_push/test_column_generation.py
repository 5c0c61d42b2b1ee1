"""Column generation for the at-the-top rankers: against Clarabel, linear programs and its own parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import push_reference as reference
from toprank.control import Run, Status
from toprank.convex.top_push.column_generation import solve_top_push
from toprank.convex.top_push.problem import TopPushProblem
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean
from turns import first_in_every_run

LOSSES = list(SURROGATES)


def data(seed, m=15, n=40, d=5, shift=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, d))
    X[:m] += shift
    return X, np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]


def problem(X, y, *, C=1.0, loss="hinge", rule=None, weight=None):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    rule = Highest() if rule is None else rule
    return TopPushProblem.from_labels(X, y, weight, C=C, surrogate=SURROGATES[loss], rule=rule)


def solve(X, y, *, tol=1e-9, **options):
    return solve_top_push(problem(X, y, **options), tol=tol, run=Run(rng=0))


# -- the optimum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 40])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_clarabel(loss, C, k):
    X, y = data(3)
    value, w = reference.solve(X[y == 1], X[y == 0], C=C, loss=loss, k=k)
    found = solve(X, y, C=C, loss=loss, rule=Highest() if k == 1 else MeanOfHighest(k))
    assert found.status is Status.OPTIMAL
    assert found.point.value == pytest.approx(value, rel=1e-6)
    assert found.bound == pytest.approx(value, rel=1e-6)
    assert found.point.coef == pytest.approx(w, abs=1e-4 * (1 + np.abs(w).max()))
    by_the_book = reference.objective(found.point.coef, X[y == 1], X[y == 0], C=C, loss=loss, k=k)
    assert found.point.value == pytest.approx(by_the_book, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_separable_data_with_more_features_than_rows(loss):
    X, y = data(4, m=6, n=12, d=40)
    value, _ = reference.solve(X[y == 1], X[y == 0], C=100.0, loss=loss)
    assert solve(X, y, C=100.0, loss=loss).point.value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_give_the_same_answer(loss):
    X, y = data(5)
    X[np.abs(X) < 0.5] = 0.0
    for rule in (Highest(), QuantileMean(0.2)):
        found = solve(sp.csr_matrix(X), y, C=5.0, loss=loss, rule=rule)
        assert found.point.coef == pytest.approx(
            solve(X, y, C=5.0, loss=loss, rule=rule).point.coef, abs=1e-5
        )


@pytest.mark.parametrize("loss", first_in_every_run(LOSSES, 1))
def test_more_features_than_are_factorised(loss):
    rng = np.random.default_rng(6)
    X = sp.random(150, 1000, density=0.03, random_state=6, format="csr")
    y = (rng.random(150) < 0.3).astype(int)
    value, _ = reference.solve(X.toarray()[y == 1], X.toarray()[y == 0], C=20.0, loss=loss)
    found = solve(X, y, C=20.0, loss=loss, tol=1e-8)
    assert found.point.value == pytest.approx(value, rel=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_hostile_data(seed):
    """Ties, copies, constant columns, offsets, tiny classes: the gap closes and Clarabel agrees."""
    rng = np.random.default_rng(seed)
    m, n, d = rng.integers(1, 12), rng.integers(1, 20), rng.integers(1, 5)
    X = rng.normal(size=(m + n, d))
    match rng.integers(0, 5):
        case 0:
            X = np.round(X)
        case 1:
            X = X[rng.integers(0, m + n, m + n)]
        case 2:
            X[:, 0] = 3.0
        case 3:
            X = X + 1e3
    y = np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]
    C, loss, k = 10.0 ** rng.uniform(-2, 2), LOSSES[rng.integers(0, 3)], int(rng.integers(1, n + 1))
    try:
        value, _ = reference.solve(X[:m], X[m:], C=C, loss=loss, k=k)
    except reference.NoReference:
        reject()
    found = solve(X, y, C=C, loss=loss, rule=MeanOfHighest(k), tol=1e-8)
    assert np.isfinite(found.point.coef).all()
    assert found.point.value == pytest.approx(value, rel=1e-6, abs=1e-7)
    assert found.bound <= value * (1 + 1e-6) + 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_count_as_repetitions(loss):
    X, y = data(7)
    weight = np.random.default_rng(7).integers(1, 4, len(y))
    X_repeated, y_repeated = X.repeat(weight, axis=0), y.repeat(weight)
    for rule in (Highest(), MeanOfHighest(9), QuantileMean(0.3)):
        weighted = solve(X, y, C=10.0, loss=loss, rule=rule, weight=weight)
        repeated = solve(X_repeated, y_repeated, C=10.0, loss=loss, rule=rule)
        assert weighted.point.value == pytest.approx(repeated.point.value, rel=1e-8)
    value, _ = reference.solve(X[y == 1], X[y == 0], C=10.0, loss=loss, weight=weight[y == 1])
    assert solve(X, y, C=10.0, loss=loss, weight=weight).point.value == pytest.approx(value, rel=1e-6)


# -- on the way ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_value_and_bound_hold_the_optimum_between_them_in_every_round(loss):
    X, y = data(8, m=60, n=600, d=12, shift=0.9)
    optimum, _ = reference.solve(X[y == 1], X[y == 0], C=30.0, loss=loss)
    heard = []
    run = Run(callback=heard.append, interval=0.0, rng=0)
    solve_top_push(problem(X, y, C=30.0, loss=loss), tol=1e-9, run=run)
    assert len(heard) >= 2
    for progress in heard:
        assert progress.bound <= optimum * (1 + 1e-7)
        assert progress.value >= optimum * (1 - 1e-7)


def test_the_callback_stops_it_with_a_usable_point():
    X, y = data(9, m=60, n=600, d=12)
    run = Run(callback=lambda progress: False, interval=0.0)
    found = solve_top_push(problem(X, y, C=100.0), tol=1e-12, run=run)
    assert found.status is Status.STOPPED
    assert found.rounds == 1
    assert np.isfinite(found.point.coef).all()
    assert found.bound <= found.point.value


def test_out_of_time_before_it_began():
    X, y = data(9)
    found = solve_top_push(problem(X, y), tol=1e-12, run=Run(time_limit=1e-9))
    assert found.status is Status.TIME_LIMIT
    assert found.bound <= found.point.value <= problem(X, y).zero().value


def test_few_rounds_are_an_iteration_limit():
    X, y = data(9, m=60, n=600, d=12)
    assert (
        solve_top_push(problem(X, y, C=100.0), tol=1e-12, run=Run(), max_iter=1).status
        is Status.ITERATION_LIMIT
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_at_the_answer_saves_rounds(loss):
    X, y = data(10, m=100, n=2000, d=20, shift=1.0)
    posed = problem(X, y, C=30.0, loss=loss)
    cold = solve_top_push(posed, tol=1e-7, run=Run())
    warm = solve_top_push(posed, tol=1e-7, run=Run(), start=cold.point.coef)
    assert warm.rounds < cold.rounds
    assert warm.point.value == pytest.approx(cold.point.value, rel=1e-6)


# -- w = 0 ---------------------------------------------------------------------------------------


def mean_in_hull(P, N, k):
    """Whether the mean of P is a mean of rows of N with shares of at most 1/k, by linear programming."""
    columns = np.vstack([N.T, np.ones(len(N))])
    target = np.r_[P.mean(axis=0), 1.0]
    found = linprog(np.zeros(len(N)), A_eq=columns, b_eq=target, bounds=[(0, 1 / k)] * len(N))
    return found.status == 0


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_zero_is_optimal_exactly_when_the_mean_is_in_the_hull(seed):
    rng = np.random.default_rng(seed)
    X, y = data(seed, m=int(rng.integers(1, 9)), n=int(rng.integers(3, 30)), d=2, shift=rng.uniform(0, 2))
    k, loss = int(rng.integers(1, 4)), LOSSES[rng.integers(0, 3)]
    k = min(k, int((y == 0).sum()))
    found = solve(X, y, C=1e3, loss=loss, rule=MeanOfHighest(k), tol=1e-7)
    assert found.trivial == mean_in_hull(X[y == 1], X[y == 0], k)


def test_the_share_that_is_named_has_an_answer():
    X, y = data(12, m=30, n=300, d=3, shift=0.6)
    posed = problem(X, y, C=100.0)
    assert solve_top_push(posed, tol=1e-6, run=Run()).trivial
    share = posed.share_with_answer()
    assert 0 < share < 1
    assert not solve(X, y, C=100.0, rule=QuantileMean(1.1 * share), tol=1e-6).trivial
