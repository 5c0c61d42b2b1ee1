import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import pairwise_oracles as oracle
from toprank.control import Status
from toprank.rankers.greedy_rank_rls import GreedyRankRLS
from toprank.rankers.rank_rls import RankRLS


def toy(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + 0.5 * rng.normal(size=n), rng.integers(0, 4, n)


def test_any_real_labels_and_queries():
    X, y, qid = toy()
    ranker = RankRLS(7.0, levels="ordinal").fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.coef_, oracle.rank_rls(X, y, 7.0, qid), atol=1e-8)
    assert ranker.outcome_.status is Status.OPTIMAL


def test_kernel_agrees_with_its_definition():
    X, y, _ = toy(25)
    ranker = RankRLS(7.0, kernel="rbf", gamma=0.3, levels="ordinal").fit(X, y)
    gram = rbf_kernel(X, gamma=0.3)
    center = np.eye(25) - 1 / 25
    # Stationarity in the kernel's space: beta = C/n * centred residual.
    beta = np.linalg.solve(np.eye(25) + 7.0 / 25 * center @ gram, 7.0 / 25 * center @ y)
    np.testing.assert_allclose(gram @ ranker.dual_coef_, gram @ beta, atol=1e-6)


def test_leave_pair_out_is_the_share_of_refits_in_the_right_order():
    X, y, qid = toy(16)
    y = (y > 0).astype(int)
    right = []
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            keep = np.setdiff1d(np.arange(16), [i, j])
            right.append((X[i] - X[j]) @ oracle.rank_rls(X[keep], y[keep], 5.0) > 0)
    found = RankRLS().leave_pair_out(X, y, Cs=[5.0])
    assert found == pytest.approx([np.mean(right)])
    assert RankRLS(5.0).leave_pair_out(X, y) == pytest.approx(found)
    assert 0 <= RankRLS(kernel="rbf").leave_pair_out(X, y, qid=qid)[0] <= 1
    with pytest.raises(ValueError, match="at least 4 rows"):
        RankRLS().leave_pair_out(X[:3], [0, 1, 0])


def test_greedy_selection_keeps_what_it_chose():
    X, y, _ = toy(80)
    ranker = GreedyRankRLS(2, C=50.0, levels="ordinal").fit(X, y)
    assert ranker.selected_[0] == 0
    assert np.flatnonzero(ranker.coef_).tolist() == sorted(ranker.selected_.tolist())
    np.testing.assert_allclose(
        ranker.coef_[ranker.selected_], oracle.rank_rls(X[:, ranker.selected_], y, 50.0), atol=1e-8
    )
    assert len(ranker.errors_) == 3
    with pytest.raises(ValueError, match="n_features_to_select=0 must be"):
        GreedyRankRLS(0).fit(X, y > 0)


@pytest.mark.parametrize("C", [0, np.inf])
def test_impossible_C_is_refused(C):
    with pytest.raises(ValueError, match="must be a positive finite number"):
        RankRLS(C).fit([[0.0], [1.0]], [0, 1])


def test_queries_without_pairs_are_an_error():
    with pytest.raises(ValueError, match="no pair to order"):
        RankRLS().fit([[0.0], [1.0]], [0, 1], qid=[0, 1])
