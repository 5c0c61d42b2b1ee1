import numpy as np
import pytest
import scipy.sparse as sp

import pairwise_oracles as oracle
from toprank.control import Run, Status
from toprank.convex.algebra import design as design_module
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import minimise
from toprank.convex.p_norm_push.boosting import boost
from toprank.convex.p_norm_push.newton import LogPush
from toprank.convex.p_norm_push.weak_rankers import FeatureRankers, StumpRankers
from toprank.losses.p_norm_push import PNormPushItems


def toy(n, n_features, seed, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n) > 0.5).astype(int)


def solve(X, y, C, p, **options):
    return minimise(
        LogPush(Design(X), PNormPushItems.from_labels(y), C, p), np.zeros(X.shape[1]), Run(),
        **{"tol": 1e-10, "max_iter": 200, **options},
    )  # fmt: skip


@pytest.mark.parametrize("p", [1.0, 4.0, 64.0])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_optimum_agrees_with_clarabel(p, C):
    X, y = toy(60, 3, seed=0)
    found, outcome = solve(X, y, C, p)
    value, coef = oracle.push_optimum(X, y, C, p)
    assert outcome.status is Status.OPTIMAL
    assert outcome.value == pytest.approx(value, rel=1e-6)

    def objective(w):
        return 0.5 * w @ w + C * oracle.push(X @ w, y, p)

    # 1e-8 from the optimal value can be 1e-4 from its place: no reference for the coefficients.
    assert objective(found.coef) <= objective(coef) + 1e-12
    np.testing.assert_allclose(oracle.numerical_gradient(objective, found.coef), 0.0, atol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_hessian_by_finite_differences(make):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((30, 3)) < 0.45, rng.normal(size=(30, 3)), 0.0)
    y, qid = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
    problem = LogPush(Design(make(X)), PNormPushItems.from_labels(y, qid=qid), 1.0, 8.0)
    coef = rng.normal(size=3)
    matrix = problem.hessian(problem.at(X @ coef))
    for k, unit in enumerate(np.eye(3)):
        column = oracle.numerical_gradient(lambda w, u=unit: X.T @ problem.at(X @ w).gradient @ u, coef)
        np.testing.assert_allclose(matrix[k], column, atol=1e-6)


def test_conjugate_gradients_find_the_same_optimum(monkeypatch):
    X, y = toy(200, 6, seed=2)
    direct, _ = solve(X, y, 10.0, 4.0)
    monkeypatch.setattr(design_module, "DIRECT_LIMIT", 2)
    iterative, outcome = solve(X, y, 10.0, 4.0)
    assert outcome.status is Status.OPTIMAL
    np.testing.assert_allclose(iterative.coef, direct.coef, atol=1e-5)


def test_separable_data_neither_overflow_nor_stall():
    X, y = toy(80, 3, seed=3, noise=0.0)
    for p in (1.0, 64.0):
        found, outcome = solve(X, y, 1e6, p)
        assert outcome.status is Status.OPTIMAL
        assert np.isfinite(found.coef).all()


def test_nothing_to_learn_is_optimal_at_zero():
    found, outcome = solve(np.full((6, 2), 3.7), np.array([0, 1, 0, 1, 0, 1]), 10.0, 4.0)
    assert outcome.status is Status.OPTIMAL
    assert not found.coef.any()


@pytest.mark.parametrize("p", [1.0, 4.0, 16.0])
def test_boosted_features_reach_the_unpenalised_optimum(p):
    X, y = toy(150, 3, seed=4)
    boosted, outcome = boost(
        FeatureRankers(X), PNormPushItems.from_labels(y), Run(), p=p, rounds=2000, tol=1e-10
    )
    nearly_free, _ = oracle.push_optimum(X, y, 1e6, p)
    assert outcome.value == pytest.approx(nearly_free / 1e6, abs=1e-4)
    losses = np.array(boosted.losses)
    assert (np.diff(losses) <= 1e-12).all()


@pytest.mark.parametrize("family", [FeatureRankers, StumpRankers])
def test_every_round_takes_the_steepest_weak_ranker(family):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(40, 3)), 1) * np.array([1.0, 5.0, 0.1])
    gradient = rng.normal(size=40)
    gradient -= gradient.mean()
    ranker, slope = family(X).steepest(gradient)
    if family is FeatureRankers:
        candidates = gradient @ X / np.ptp(X, axis=0)
    else:
        candidates = np.array([gradient @ (X[:, k] > t) for k in range(3) for t in np.unique(X[:, k])[:-1]])
    assert abs(slope) == pytest.approx(np.abs(candidates).max())
    values = family(X).values(ranker)
    assert slope == pytest.approx(gradient @ values)
    sparse_ranker, sparse_slope = family(sp.csr_array(X)).steepest(gradient)
    assert sparse_slope == pytest.approx(slope)
    np.testing.assert_allclose(family(sp.csr_array(X)).values(sparse_ranker), family(X).values(sparse_ranker))


def test_line_search_ends_at_a_minimum():
    X, y = toy(100, 2, seed=6)
    boosted, _ = boost(FeatureRankers(X), PNormPushItems.from_labels(y), Run(), p=4.0, rounds=1, tol=1e-10)
    ranker, weight = boosted.rankers[0], boosted.weights[0]
    column = X[:, ranker.feature] / ranker.unit
    best = oracle.push(weight * column, y, 4.0)
    for other in (weight * 0.99, weight * 1.01):
        assert oracle.push(other * column, y, 4.0) >= best - 1e-12


def test_many_distinct_values_are_thinned_to_255_thresholds():
    X = np.random.default_rng(7).normal(size=(3000, 1))
    gradient = np.where(X[:, 0] > 0.5, -1.0, 1.0)
    gradient -= gradient.mean()
    ranker, _ = StumpRankers(X).steepest(gradient)
    assert ranker.threshold == pytest.approx(0.5, abs=0.05)
