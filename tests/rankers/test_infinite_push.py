"""`InfinitePush`: kernels, Agarwal's example, limits, the zero optimum, paths."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import push_reference as reference
from toprank import statistics
from toprank.control import SearchStoppedWarning, Status
from toprank.rankers.infinite_push import InfinitePush
from toprank.rankers.parts.push_bound import push_bound
from toprank.rankers.parts.top_push import ZeroOptimumWarning
from toprank.rankers.tuning.path import regularisation_path

# Agarwal (2011), Table 1.
F1 = [9.7, 7.3, 5.2, 4.0, 8.7, 6.3, 3.9, 2.7, 1.1, 0.8]
F2 = [9.5, 8.1, 7.2, 1.5, 6.3, 5.1, 4.4, 3.1, 2.7, 0.9]
TABLE_1 = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])

quiet = pytest.mark.filterwarnings("ignore::toprank.rankers.parts.top_push.ZeroOptimumWarning")


def data(seed=0, m=20, n=40, d=4, shift=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, d))
    X[:m] += shift
    order = rng.permutation(m + n)
    return X[order], np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)][order]


# -- what it learns ------------------------------------------------------------------------------


def test_agarwals_two_rankings_have_the_same_auc():
    for scores, at_top in ((F1, 1), (F2, 3)):
        assert statistics.get("auc")(TABLE_1, scores) == pytest.approx(19 / 24)
        assert statistics.get("positives_at_top")(TABLE_1, scores) == at_top


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_of_agarwals_two_rankings_it_picks_the_second_kind(C):
    """Both orders are reachable: w = (1, 0) is f1 and w = (0, 1) is f2."""
    X = np.column_stack([F1, F2])
    ranker = InfinitePush(C=C).fit(X, TABLE_1)
    assert statistics.get("positives_at_top")(TABLE_1, ranker.decision_function(X)) == 3


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_outcome_is_the_objective_at_the_coefficients(C):
    X, y = data()
    ranker = InfinitePush(C=C, tol=1e-8).fit(X, y)
    value, w = reference.solve(X[y == 1], X[y == 0], C=C)
    assert ranker.outcome_.status is Status.OPTIMAL
    assert ranker.outcome_.gap <= 1e-8
    assert ranker.outcome_.value == pytest.approx(value, rel=1e-6)
    assert ranker.outcome_.value == pytest.approx(
        reference.objective(ranker.coef_, X[y == 1], X[y == 0], C=C), rel=1e-9
    )
    assert ranker.coef_ == pytest.approx(w, abs=1e-4)


def test_gradient_projection_agrees():
    X, y = data(1, m=8, n=10, d=3, shift=2.0)
    fast = InfinitePush(C=1.0).fit(X, y)
    slow = InfinitePush(C=1.0, solver="gradient_projection", step_size=0.05, tol=1e-3, max_iter=20_000).fit(
        X, y
    )
    assert slow.outcome_.status is Status.OPTIMAL
    assert slow.outcome_.value == pytest.approx(fast.outcome_.value, rel=2e-3)
    assert slow.outcome_.bound <= fast.outcome_.value * (1 + 1e-6)


# -- kernels -------------------------------------------------------------------------------------


KERNELS = [
    ("rbf", {"gamma": 0.5}, lambda A, B: rbf_kernel(A, B, gamma=0.5)),
    ("poly", {"degree": 2, "gamma": 1.0}, lambda A, B: polynomial_kernel(A, B, degree=2, gamma=1.0)),
    (lambda a, b: float(a @ b + 1.0), {}, lambda A, B: A @ B.T + 1.0),
]


@pytest.mark.parametrize("kernel, parameters, by_hand", KERNELS, ids=["rbf", "poly", "callable"])
def test_kernels_agree_with_clarabel(kernel, parameters, by_hand):
    X, y = data(2, m=12, n=25, d=3)
    K = by_hand(X, X)
    value, _ = reference.solve(np.flatnonzero(y == 1), np.flatnonzero(y == 0), C=10.0, gram=K)
    ranker = InfinitePush(C=10.0, kernel=kernel, tol=1e-9, **parameters).fit(X, y)
    assert ranker.outcome_.value == pytest.approx(value, rel=1e-6)
    # f is the sum over the training rows, as in Eq. (3.14): the same value by the book.
    f = K @ ranker.dual_coef_
    losses = np.maximum(1 + f[y == 0].max() - f[y == 1], 0)
    norm = ranker.dual_coef_ @ K @ ranker.dual_coef_
    assert 0.5 * norm + 10.0 * losses.mean() == pytest.approx(value, rel=1e-6)
    new = np.random.default_rng(5).normal(size=(7, 3))
    expected = by_hand(new, X) @ ranker.dual_coef_ + ranker.intercept_
    assert ranker.decision_function(new) == pytest.approx(expected)


def test_a_precomputed_kernel_is_the_same():
    X, y = data(3, m=10, n=20)
    named = InfinitePush(C=5.0, kernel="rbf", gamma=0.3).fit(X, y)
    given = InfinitePush(C=5.0, kernel="precomputed").fit(rbf_kernel(X, gamma=0.3), y)
    new = np.random.default_rng(6).normal(size=(5, 4))
    scores = given.decision_function(rbf_kernel(new, X, gamma=0.3))
    assert scores == pytest.approx(named.decision_function(new), abs=1e-6)


def test_nystroem_with_all_landmarks_is_exact():
    X, y = data(4, m=10, n=20)
    exact = InfinitePush(C=5.0, kernel="rbf", gamma=0.3).fit(X, y)
    near = InfinitePush(
        C=5.0, kernel="rbf", gamma=0.3, approximation="nystroem", n_components=30, random_state=0
    ).fit(X, y)
    assert near.outcome_.value == pytest.approx(exact.outcome_.value, rel=1e-5)


def test_fourier_features_come_close():
    X, y = data(4, m=10, n=20)
    exact = InfinitePush(C=1.0, kernel="rbf", gamma=0.3).fit(X, y)
    near = InfinitePush(
        C=1.0, kernel="rbf", gamma=0.3, approximation="fourier", n_components=3000, random_state=0
    ).fit(X, y)
    assert near.outcome_.value == pytest.approx(exact.outcome_.value, rel=0.05)


def test_a_kernel_separates_what_a_line_cannot():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 2))
    y = (np.linalg.norm(X, axis=1) < 0.7).astype(int)
    with pytest.warns(ZeroOptimumWarning):
        InfinitePush(C=100.0).fit(X, y)
    ranker = InfinitePush(C=100.0, kernel="rbf", gamma=1.0).fit(X, y)
    assert statistics.get("positives_at_top")(y, ranker.decision_function(X)) >= 0.9 * y.sum()


# -- limits --------------------------------------------------------------------------------------


def test_one_positive_and_one_negative():
    """The largest margin between two points: w = (p - n) / |p - n|^2."""
    ranker = InfinitePush(C=1e4).fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    assert ranker.coef_ == pytest.approx([3 / 25, 4 / 25], rel=1e-3)


def test_a_small_C_leans_towards_the_nearest_mean_of_negatives():
    """While every positive is within the margin, w = C (mean of positives - nearest point of the hull)."""
    ranker = InfinitePush(C=1e-4).fit([[0.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 1.0]], [0, 0, 1, 1])
    assert ranker.coef_ == pytest.approx([2e-4, 0.0], abs=1e-8)


def test_a_constant_column_gets_no_weight():
    X, y = data(8)
    X[:, 2] = 7.0
    assert InfinitePush(C=10.0).fit(X, y).coef_[2] == pytest.approx(0.0, abs=1e-9)


def test_identical_rows_cannot_be_ranked_and_nothing_breaks():
    with pytest.warns(ZeroOptimumWarning, match="same mean"):
        ranker = InfinitePush().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert (ranker.coef_ == 0).all()
    assert np.isfinite(ranker.decision_function(np.ones((2, 2)))).all()


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, np.nan, "1"])
def test_an_impossible_C_is_refused(C):
    with pytest.raises(ValueError, match="C="):
        InfinitePush(C=C).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "parameters, match",
    [
        ({"solver": "magic"}, "solver='magic'"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_impossible_parameters_are_refused(parameters, match):
    with pytest.raises(ValueError, match=match):
        InfinitePush(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_weights_that_leave_one_class_are_refused():
    with pytest.raises(ValueError, match="sample_weight"):
        InfinitePush().fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[1.0, 0.0, 0.0])


def test_negatives_without_weight_are_not_there():
    X, y = data(9)
    top = int(np.flatnonzero(y == 0)[np.argmax((X @ np.ones(4))[y == 0])])
    weight = np.ones(len(y))
    weight[top] = 0.0
    rest = np.arange(len(y)) != top
    weighted = InfinitePush(C=10.0).fit(X, y, sample_weight=weight)
    assert weighted.coef_ == pytest.approx(InfinitePush(C=10.0).fit(X[rest], y[rest]).coef_, abs=1e-6)


# -- when zero is optimal ------------------------------------------------------------------------


def surrounded():
    """Positives in the middle of the negatives, but to the right of their mean."""
    rng = np.random.default_rng(10)
    X = np.vstack([0.3 * rng.normal(size=(30, 2)) + [1.0, 0.0], 2.0 * rng.normal(size=(300, 2))])
    return X, np.r_[np.ones(30, dtype=int), np.zeros(300, dtype=int)]


@pytest.mark.parametrize("C", [0.1, 1000.0])
def test_a_zero_optimum_is_said_plainly_and_a_ranking_still_comes_out(C):
    X, y = surrounded()
    with pytest.warns(ZeroOptimumWarning, match=r"w = 0 is optimal for every C.*TauFPL\(negative_share="):
        ranker = InfinitePush(C=C).fit(X, y)
    assert ranker.zero_is_optimal_
    assert ranker.outcome_.value == pytest.approx(C)
    assert ranker.outcome_.status is Status.OPTIMAL
    assert "difference of the class means" in ranker.outcome_.notes[0]
    assert ranker.coef_ == pytest.approx(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    assert ranker.score(X, y) > 0.6


def test_no_note_where_there_is_an_answer():
    X, y = data(shift=3.0)
    ranker = InfinitePush().fit(X, y)
    assert not ranker.zero_is_optimal_
    assert ranker.outcome_.notes == ()


# -- paths and stopping --------------------------------------------------------------------------


def test_warm_starts_take_fewer_rounds_to_the_same_answer():
    X, y = data(11, m=100, n=2000, d=15)
    cold = InfinitePush(C=20.0).fit(X, y)
    warm = InfinitePush(C=18.0, warm_start=True).fit(X, y).set_params(C=20.0).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.outcome_.value == pytest.approx(cold.outcome_.value, rel=1e-5)


def test_the_path_is_the_single_fits():
    X, y = data(12)
    path = regularisation_path(InfinitePush(), X, y, [0.1, 1.0, 10.0])
    for C, coef in zip(path.Cs, path.coefs, strict=True):
        assert coef == pytest.approx(InfinitePush(C=C).fit(X, y).coef_, abs=2e-3)


def test_a_callback_that_stops_keeps_the_best_so_far():
    X, y = data(13, m=200, n=5000, d=20)
    heard = []

    def stop(progress):
        heard.append(progress)
        return False

    with pytest.warns(SearchStoppedWarning):
        ranker = InfinitePush(C=100.0, tol=1e-12, callback=stop).fit(X, y)
    assert ranker.outcome_.status is Status.STOPPED
    assert len(heard) == 1
    assert ranker.outcome_.bound <= ranker.outcome_.value
    assert np.isfinite(ranker.coef_).all()


def test_sparse_rows_are_never_made_dense():
    """Half a million columns: dense copies of these rows would not fit."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 500_000, 3000), np.arange(0, 3001, 10)
    X = sp.csr_matrix((rng.normal(size=3000), *places), shape=(300, 500_000))
    y = (np.arange(300) % 3 == 0).astype(int)
    assert InfinitePush(tol=1e-3).fit(X, y).outcome_.gap <= 1e-3


def test_the_bound_of_the_push_by_hand():
    y, scores = [1, 1, 1, 0, 0], [3.0, 2.0, 0.5, 1.0, -1.0]
    found = push_bound(y, scores, margin=1.5, epsilon=0.5, covering_number=3.0, far=0.5)
    worst = max(np.mean([s - other < 1.5 for s in scores[:3]]) for other in scores[3:])
    assert found.error == pytest.approx(worst) == pytest.approx(2 / 3)
    assert found.value == pytest.approx(worst + 0.5)
    assert found.probability == 1.0
    many = push_bound(
        np.repeat(y, 1000), np.repeat(scores, 1000), margin=1.5, epsilon=0.5, covering_number=3.0, far=0.99
    )
    assert many.probability == pytest.approx(
        3.0 * (2 * 2000 * np.exp(-3000 * 0.25 / 8) + 0.99**2000), rel=1e-9
    )
    assert found.error >= statistics.get("infinite_push_loss")(y, scores), "a margin only adds mistakes"


@pytest.mark.parametrize(
    "wrong", [{"margin": 0.0}, {"epsilon": -1.0}, {"covering_number": 0.5}, {"far": 1.5}], ids=str
)
def test_what_the_bound_of_the_push_cannot_take(wrong):
    given = {"margin": 1.0, "epsilon": 0.1, "covering_number": 2.0, "far": 0.5, **wrong}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        push_bound([0, 1], [0.0, 1.0], **given)
