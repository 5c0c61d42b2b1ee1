"""Column generation for the at-the-top rankers: against Clarabel, linear programs and its own parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import push_reference as reference
from toprank.control import Run, Status
from toprank.convex.algebra.row_systems import (
    DenseMetric,
    FeatureSystem,
    GramSystem,
    Identity,
    IterativeSystem,
    LowRankMetric,
    UndecidedRows,
)
from toprank.convex.top_push.column_generation import solve_top_push
from toprank.convex.top_push.gradient_projection import gradient_projection
from toprank.convex.top_push.problem import TopPushProblem, best_between
from toprank.convex.top_push.working_set import FREE, LOWER, UPPER, WorkingSet, pick_worst
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean

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


@pytest.mark.parametrize("loss", LOSSES)
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


def test_the_line_search_finds_the_best_point_on_the_way():
    X, y = data(11)
    posed = problem(X, y, C=3.0)
    start, end = posed.zero(), posed.at(10.0 * posed.mean_difference())
    found = best_between(start, end)
    along = [start.towards(end, part).value for part in np.linspace(0, 1, 2001)]
    assert found.value <= min(along) * (1 + 1e-2)
    assert found.value <= min(start.value, end.value)


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


def test_equal_means_have_no_such_share():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    assert problem(X, np.array([1, 1, 0, 0])).share_with_answer() is None


# -- the reference algorithm ---------------------------------------------------------------------


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


# -- the parts -----------------------------------------------------------------------------------


def metrics(d):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(d, d))
    basis = np.linalg.qr(rng.normal(size=(d, 3)))[0]
    return [
        Identity(),
        DenseMetric(np.eye(d) + root @ root.T),
        LowRankMetric(1.5, basis, np.array([0.0, 2.0, 5.0])),
    ]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("sparse", [False, True])
def test_every_row_system_solves_the_same_equations(number, sparse):
    rng, d = np.random.default_rng(1), 6
    rows = rng.normal(size=(10, d))
    metric = metrics(d)[number]
    matrix = np.eye(d) if metric.matrix() is None else metric.matrix()
    K = rows @ np.linalg.solve(matrix, rows.T)
    weights = 10.0 ** rng.uniform(-6, 6, 10)
    right = rng.normal(size=(10, 2))
    expected = np.linalg.solve(np.diag(1 / weights) + K, right)
    given_rows = sp.csr_matrix(rows) if sparse else rows
    assert metric.gram(given_rows) == pytest.approx(K)
    assert metric.solve(right[:d, 0]) == pytest.approx(np.linalg.solve(matrix, right[:d, 0]))
    systems = [
        GramSystem(metric.gram(given_rows)),
        FeatureSystem(UndecidedRows(given_rows), metric),
        IterativeSystem(given_rows, metric),
    ]
    for system in systems:
        system.factor(weights)
        assert system.times(right[:, 0]) == pytest.approx(K @ right[:, 0])
        assert system.solve(right) == pytest.approx(expected, rel=1e-4, abs=1e-6 * np.abs(expected).max())


def test_rows_that_come_back_stay_longer():
    rows = WorkingSet(np.array([FREE, FREE, UPPER, LOWER]))
    lack = np.array([-1.0, 1.0, -1.0, 2.0])
    assert rows.wrong(lack).tolist() == [-np.inf, -np.inf, 1.0, 2.0]
    assert rows.release(np.array([0, 1]), np.array([0.0, 1.0]), lack[:2]) == 2
    assert rows.state.tolist() == [LOWER, UPPER, UPPER, LOWER]
    rows.admit(np.array([0]))
    assert rows.release(np.array([0]), np.array([0.0]), lack[:1]) == 0
    assert rows.release(np.array([0]), np.array([0.0]), lack[:1]) == 1


def test_the_worst_are_picked_and_copies_left():
    wrong = np.array([5.0, 4.0, 4.0, 3.0, 2.0, 1.0, -1.0])
    assert sorted(pick_worst(wrong, 100).tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(pick_worst(wrong, 100, distinct=True).tolist()) == [0, 1, 3, 4, 5]
    assert set(pick_worst(wrong, 2).tolist()) >= {0}
    assert len(pick_worst(wrong, 2)) == 2


@pytest.mark.parametrize("count", [0, 3])
def test_sparse_undecided_rows_are_shifted_like_dense_ones(count):
    rng = np.random.default_rng(2)
    matrix = np.where(rng.random((40, 12)) < 0.15, rng.normal(size=(40, 12)), 0.0)
    shift, weights = rng.normal(size=12), rng.random(40)
    plain = matrix.copy()
    plain[:count] -= shift
    for rows in (sp.csr_matrix(matrix), matrix):
        undecided = UndecidedRows(rows, shift=shift, count=count)
        assert undecided.many
        assert undecided.times(shift) == pytest.approx(plain @ shift)
        assert undecided.transposed(weights) == pytest.approx(plain.T @ weights)
        pair = np.column_stack([weights, -weights])
        assert undecided.transposed(pair) == pytest.approx(plain.T @ pair)
        assert undecided.gram(weights) == pytest.approx(plain.T @ (weights[:, np.newaxis] * plain))
