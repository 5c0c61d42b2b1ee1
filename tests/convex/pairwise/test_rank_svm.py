import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import pairwise_oracles as oracle
from toprank.control import Run, Status
from toprank.convex.algebra import design as design_module
from toprank.convex.algebra.design import Design
from toprank.convex.pairwise.concave_penalty import Lq, concave_rank_svm
from toprank.convex.pairwise.gradient_projection import gradient_projection
from toprank.convex.pairwise.hessian import pair_hessian
from toprank.convex.pairwise.rank_svm import PairLoss, rank_svm
from toprank.convex.pairwise.sparse_penalty import weighted_l1
from toprank.losses.pairs import Pairs
from toprank.losses.pairwise import pairwise_loss


def toy(n_pos, n_neg, n_features, seed, shift=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_pos + n_neg, n_features))
    X[:n_pos, 0] += shift
    return X, np.repeat([1, 0], [n_pos, n_neg])


def problem(X, y, C, loss, **options):
    return PairLoss(Design(X), Pairs.from_labels(y, **options), C, loss)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_optimum_agrees_with_clarabel(loss, C):
    X, y = toy(20, 30, 4, seed=1)
    coef, outcome = rank_svm(problem(X, y, C, loss), Run(), tol=1e-9, max_iter=100)
    value, expected = oracle.rank_svm(X, y, C, squared=loss == "squared_hinge")
    assert outcome.status is Status.OPTIMAL
    assert outcome.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(coef, expected, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_graded_labels_queries_and_weights_agree_with_clarabel(loss):
    rng = np.random.default_rng(2)
    X, y, qid = rng.normal(size=(40, 3)), rng.integers(0, 4, 40), rng.integers(0, 3, 40)
    weight = rng.uniform(0.5, 2, 40)
    options = {"qid": qid, "weighting": "queries"}
    coef, _ = rank_svm(
        problem(X, y, 20.0, loss, sample_weight=weight, **options), Run(), tol=1e-9, max_iter=100
    )
    _, expected = oracle.rank_svm(X, y, 20.0, squared=loss == "squared_hinge", weight=weight, **options)
    np.testing.assert_allclose(coef, expected, atol=1e-5)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), power=st.floats(-2, 5), kind=st.sampled_from(["normal", "ties", "copies"]))
def test_value_and_bound_enclose_the_optimum(seed, power, kind):
    rng = np.random.default_rng(seed)
    n_pos, n_neg, n_features = rng.integers(1, 60), rng.integers(1, 150), rng.integers(1, 10)
    X, y = toy(n_pos, n_neg, n_features, seed)
    if kind == "ties":
        X = np.round(X)
    if kind == "copies":
        X = X[rng.integers(0, len(X), len(X)) // 4]
    exact, tight = rank_svm(problem(X, y, 10**power, "hinge"), Run(), tol=1e-8, max_iter=500)
    rough, loose = rank_svm(problem(X, y, 10**power, "hinge"), Run(), tol=1e-2, max_iter=500)
    assert tight.status is loose.status is Status.OPTIMAL
    assert np.isfinite(exact).all()
    assert np.isfinite(rough).all()
    slack = 1e-7 * tight.value
    assert loose.bound <= tight.value + slack
    assert tight.bound <= loose.value + slack
    listed = oracle.all_pairs(y)
    recomputed = 0.5 * exact @ exact + 10**power * oracle.hinge(X @ exact, listed)
    assert recomputed == pytest.approx(tight.value, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_conjugate_gradients_find_the_same_optimum(loss, monkeypatch):
    X, y = toy(80, 400, 12, seed=3)
    X = sp.csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.4, X, 0.0))
    direct, _ = rank_svm(problem(X, y, 50.0, loss), Run(), tol=1e-8, max_iter=300)
    monkeypatch.setattr(design_module, "DIRECT_LIMIT", 2)
    assert not Design(X).direct
    iterative, outcome = rank_svm(problem(X, y, 50.0, loss), Run(), tol=1e-8, max_iter=300)
    assert outcome.status is Status.OPTIMAL
    np.testing.assert_allclose(iterative, direct, atol=1e-3)


def test_warm_start_from_fewer_rows_gives_the_same_answer():
    X, y = toy(2000, 10000, 5, seed=4)
    cold, _ = rank_svm(problem(X, y, 10.0, "hinge"), Run(), tol=1e-8, max_iter=200, start=np.zeros(5))
    warm, outcome = rank_svm(problem(X, y, 10.0, "hinge"), Run(), tol=1e-8, max_iter=200)
    assert outcome.iterations <= 10
    np.testing.assert_allclose(warm, cold, atol=1e-3)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("flip", [False, True])
def test_hessian_equals_the_sum_over_pairs(make, flip):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((50, 4)) < 0.4, rng.normal(size=(50, 4)), 0.0)
    y, weight, scores = rng.integers(0, 3, 50), rng.uniform(0.5, 2, 50), rng.normal(size=50)
    y = 2 - y if flip else y
    point = pairwise_loss(Pairs.from_labels(y, sample_weight=weight), scores, smoothing=0.4)
    expected = np.zeros((4, 4))
    for i, j, w in oracle.all_pairs(y, weight=weight):
        if abs(1 - scores[i] + scores[j]) < 0.4:
            expected += w / 0.8 * np.outer(X[i] - X[j], X[i] - X[j])
    np.testing.assert_allclose(pair_hessian(Design(make(X)), point), expected, atol=1e-12)


def test_gradient_projection_approaches_the_newton_answer():
    X, y = toy(12, 15, 3, seed=6)
    exact = problem(X, y, 5.0, "hinge")
    _, best = rank_svm(exact, Run(), tol=1e-10, max_iter=100)
    _, outcome = gradient_projection(exact, Run(), step=5e-3, tol=1e-4, max_iter=20000)
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound <= best.value * (1 + 1e-9)
    assert outcome.value == pytest.approx(best.value, rel=1e-3)


def test_first_steps_of_gradient_projection_are_agarwals():
    X, y = toy(3, 4, 2, seed=7)
    C, eta = 2.0, 0.05
    listed = oracle.all_pairs(y)
    alpha = np.full(len(listed), C / (1000 * len(listed)))
    objectives = []
    for t in range(1, 5):
        w = sum(a * (X[i] - X[j]) for a, (i, j, _) in zip(alpha, listed, strict=True))
        objectives.append((0.5 * w @ w - alpha.sum(), w))
        slope = np.array([w @ (X[i] - X[j]) - 1 for i, j, _ in listed])
        alpha = np.clip(alpha - eta / np.sqrt(t) * slope, 0, C / len(listed))
    coef, _ = gradient_projection(problem(X, y, C, "hinge"), Run(), step=eta, tol=0.0, max_iter=3)
    np.testing.assert_allclose(coef, min(objectives, key=lambda pair: pair[0])[1], atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("n_pos", "n_neg", "C"), [(20, 30, 3.0), (25, 40, 200.0), (60, 200, 6.0)])
def test_l1_optimum_agrees_with_clarabel(loss, n_pos, n_neg, C):
    X, y = toy(n_pos, n_neg, 6, seed=8, shift=1.0)
    coef, outcome = weighted_l1(problem(X, y, C, loss), np.ones(6), Run(), tol=1e-8, max_iter=200)
    value, expected = oracle.rank_svm(X, y, C, squared=loss == "squared_hinge", penalty="l1")
    assert outcome.status is Status.OPTIMAL
    assert outcome.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(coef, expected, atol=1e-5)


def test_l1_with_more_features_than_fit_a_matrix(monkeypatch):
    from toprank.convex.pairwise import sparse_penalty

    X, y = toy(40, 80, 30, seed=9, shift=1.5)
    full, _ = weighted_l1(problem(X, y, 8.0, "squared_hinge"), np.ones(30), Run(), tol=1e-9, max_iter=200)
    monkeypatch.setattr(sparse_penalty, "DIRECT_LIMIT", 5)
    part, outcome = weighted_l1(
        problem(X, y, 8.0, "squared_hinge"), np.ones(30), Run(), tol=1e-9, max_iter=200
    )
    assert outcome.status is Status.OPTIMAL
    np.testing.assert_allclose(part, full, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_lq_is_a_minimum_along_every_coefficient_and_sparser_than_l1(loss):
    X, y = toy(40, 80, 8, seed=10, shift=1.5)
    X[:40, 1] += 0.3
    task = problem(X, y, 5.0, loss)
    l1, _ = weighted_l1(task, np.ones(8), Run(), tol=1e-8, max_iter=200)
    coef, outcome = concave_rank_svm(task, Lq(0.5), Run(), tol=1e-8, max_iter=200)
    assert 0 < np.count_nonzero(coef) <= np.count_nonzero(l1)
    listed = oracle.all_pairs(y)

    def objective(w):
        return (np.abs(w) ** 0.5).sum() + 5.0 * oracle.hinge(X @ w, listed, loss == "squared_hinge")

    assert outcome.value == pytest.approx(objective(coef))
    assert outcome.value <= objective(l1) + 1e-9
    for k in range(8):
        for change in (-1e-3, 1e-3):
            assert objective(coef + change * np.eye(8)[k]) >= outcome.value - 1e-6


def test_limits_and_stop_button():
    X, y = toy(300, 900, 20, seed=12)
    task = problem(X, y, 1e4, "hinge")
    _, limited = rank_svm(task, Run(), tol=1e-12, max_iter=1)
    assert limited.status is Status.ITERATION_LIMIT
    coef, late = rank_svm(task, Run(time_limit=1e-9), tol=1e-12, max_iter=100)
    assert late.status is Status.TIME_LIMIT
    assert np.isfinite(coef).all()
    run = Run()
    run.stop()
    assert rank_svm(task, run, tol=1e-12, max_iter=100)[1].status is Status.STOPPED
