"""Features of kernels: their inner products are the kernel, exactly or nearly."""

import numpy as np
import pytest
import scipy.sparse as sp

from toprank.convex.algebra.kernel_map import EXACT_LIMIT, KernelMap, RowKernel


def rows(n=30, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def rbf(left, right, gamma):
    """exp(-gamma |x - z|^2), pair by pair."""
    return np.array([[np.exp(-gamma * ((x - z) ** 2).sum()) for z in right] for x in left])


def centred(gram):
    middle = np.eye(len(gram)) - 1.0 / len(gram)
    return middle @ gram @ middle


def powered(x, z, power):
    return float(x @ z) ** power


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_inner_products_of_features_are_the_centred_kernel(gamma, shift):
    X = rows() + shift
    map_ = KernelMap(RowKernel("rbf", {"gamma": gamma, "degree": 7, "coef0": 2}))
    Z = map_.fit(X)
    expected = rbf(X, X, 1.0 / 3.0 if gamma is None else gamma)
    np.testing.assert_allclose(Z @ Z.T, centred(expected), atol=1e-8)


def test_finished_weights_score_new_rows_as_features_score_old_ones():
    X, new = rows(), rows(5, seed=1)
    map_ = KernelMap(RowKernel("rbf", {"gamma": 0.3}))
    Z = map_.fit(X)
    coef = np.random.default_rng(2).normal(size=Z.shape[1])
    beta = map_.finish(coef)
    np.testing.assert_allclose(map_.scores(new, beta), rbf(new, X, 0.3) @ beta, atol=1e-10)
    scores = map_.scores(X, beta)
    np.testing.assert_allclose(scores - scores.mean(), Z @ coef, atol=1e-8)


@pytest.mark.parametrize("gamma", [None, 0.7])
def test_fourier_features_stand_for_the_same_kernel_as_the_exact_map(gamma):
    X = rows(20) + 1e3
    map_ = KernelMap(
        RowKernel("rbf", {"gamma": gamma}), approximation="fourier", n_components=40_000, random_state=0
    )
    Z = map_.fit(X)
    np.testing.assert_allclose(Z @ Z.T, rbf(X, X, 1.0 / 3.0 if gamma is None else gamma), atol=0.04)
    np.testing.assert_allclose(map_.approximate(X), Z, atol=1e-9)


def test_all_landmarks_give_the_kernel_itself():
    X = rows(20)
    map_ = KernelMap(
        RowKernel("rbf", {"gamma": 0.7}), approximation="nystroem", n_components=50, random_state=0
    )
    Z = map_.fit(X)
    assert Z.shape == (20, 20)
    np.testing.assert_allclose(Z @ Z.T, rbf(X, X, 0.7), atol=1e-8)


@pytest.mark.parametrize("count", [1, 3, 7])
def test_fewer_features_than_landmarks_are_the_best_rank_of_the_landmarks(count):
    X = rows(20)
    map_ = KernelMap(
        RowKernel("rbf", {"gamma": 0.7}),
        approximation="nystroem",
        n_components=count,
        n_landmarks=20,
        random_state=0,
    )
    Z = map_.fit(X)
    assert Z.shape == (20, count)
    gram = rbf(X, X, 0.7)
    singular = np.linalg.svd(gram, compute_uv=False)
    # Eckart & Young: no matrix of that rank is nearer, in either norm, and this one is as near.
    assert np.linalg.norm(gram - Z @ Z.T, 2) == pytest.approx(singular[count])
    assert np.linalg.norm(gram - Z @ Z.T) == pytest.approx(np.linalg.norm(singular[count:]))
    np.testing.assert_allclose(map_.approximate(X), Z, atol=1e-9)


def test_many_landmarks_describe_new_rows_as_their_own_kernel_matrix_says():
    X, new = rows(40), rows(5, seed=1)
    map_ = KernelMap(
        RowKernel("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
        approximation="nystroem",
        n_components=4,
        n_landmarks=15,
        random_state=3,
    )
    map_.fit(X)
    landmarks = map_._sampler.components_
    assert len(landmarks) == 15
    U, D, _ = np.linalg.svd((0.5 * landmarks @ landmarks.T + 1.0) ** 2)
    to_landmarks = (0.5 * new @ landmarks.T + 1.0) ** 2
    expected = to_landmarks @ U[:, :4] @ np.diag(1.0 / D[:4]) @ U[:, :4].T @ to_landmarks.T
    features = map_.approximate(new)
    np.testing.assert_allclose(features @ features.T, expected, rtol=1e-8)


def test_a_kernel_of_low_rank_has_no_more_features_than_that():
    line = np.arange(6.0)[:, np.newaxis]
    map_ = KernelMap(
        RowKernel("linear"), approximation="nystroem", n_components=5, n_landmarks=6, random_state=0
    )
    assert map_.fit(line).shape == (6, 1)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "poly"])
def test_sparse_rows_have_the_kernel_of_dense_ones(kernel):
    X = np.abs(rows(12))
    X[X < 0.5] = 0.0
    kernels = [RowKernel(kernel, {"gamma": None}) for _ in range(2)]
    dense = kernels[0].learn_origin(X)
    sparse = kernels[1].learn_origin(sp.csr_matrix(X))
    np.testing.assert_allclose(kernels[1].between(sparse, sparse), kernels[0].between(dense, dense))


def test_extra_parameters_reach_a_callable_and_win_over_shared_ones():
    X = rows(6)
    cubed = RowKernel(powered, {"gamma": 5.0}, {"power": 3})
    np.testing.assert_allclose(cubed.between(X, X), (X @ X.T) ** 3)
    wide = RowKernel("rbf", {"gamma": 5.0}, {"gamma": 0.1})
    np.testing.assert_allclose(wide.between(X, X), rbf(X, X, 0.1))
    X = rows(20)
    features = KernelMap(cubed, approximation="nystroem", n_components=20, random_state=0).fit(X)
    np.testing.assert_allclose(features @ features.T, (X @ X.T) ** 3, atol=1e-5)


def test_a_kernel_that_is_none_is_refused_by_name():
    with pytest.raises(ValueError, match=r"kernel='magic' is neither a callable nor one of .*'rbf'"):
        RowKernel("magic")
    with pytest.raises(ValueError, match=r"kernel_params: kernel='rbf' has no 'power'.*'gamma'"):
        RowKernel("rbf", {}, {"power": 3})


def test_what_no_exact_map_can_do():
    with pytest.raises(ValueError, match="square matrix"):
        KernelMap(RowKernel("precomputed")).fit(rows())
    with pytest.raises(ValueError, match="too large; use approximation="):
        KernelMap(RowKernel("rbf")).fit(np.zeros((EXACT_LIMIT + 1, 1)))
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        KernelMap(RowKernel("precomputed")).fit(-np.eye(4))
