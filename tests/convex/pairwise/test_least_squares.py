import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import pairwise_oracles as oracle
from toprank.control import Run, Status
from toprank.convex.algebra import design as design_module
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import minimise
from toprank.convex.pairwise.greedy_selection import greedy_selection
from toprank.convex.pairwise.least_squares import LeavePairOut, RankLeastSquares
from toprank.losses.pairwise_squares import PairwiseSquares


def fit(X, y, C, qid=None, weight=None):
    squares = PairwiseSquares.from_labels(y, qid=qid, sample_weight=weight)
    found, outcome = minimise(
        RankLeastSquares(Design(X), squares, C), np.zeros(X.shape[1]), Run(), tol=1e-12, max_iter=100
    )
    assert outcome.status is Status.OPTIMAL
    return found.coef


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), queries=st.integers(1, 5), power=st.floats(-2, 4))
def test_closed_form_equals_listing_all_pairs(seed, queries, power):
    rng = np.random.default_rng(seed)
    X, y, qid = rng.normal(size=(15, 3)), rng.normal(size=15), rng.integers(0, queries, 15)
    expected = oracle.rank_rls(X, y, 10**power, qid)
    np.testing.assert_allclose(fit(X, y, 10**power, qid), expected, atol=1e-6 * (1 + np.abs(expected).max()))
    sparse = sp.csr_array(X * (np.abs(X) > 0.7))
    np.testing.assert_allclose(
        fit(sparse, y, 3.0, qid), oracle.rank_rls(sparse.toarray(), y, 3.0, qid), atol=1e-7
    )


def test_loss_is_the_mean_over_pairs_and_its_gradient_is_right():
    rng = np.random.default_rng(0)
    y, qid, weight, scores = (
        rng.normal(size=12),
        rng.integers(0, 3, 12),
        rng.uniform(1, 2, 12),
        rng.normal(size=12),
    )

    def value(s):
        total = 0.0
        for q in range(3):
            rows = np.flatnonzero(qid == q)
            for a in rows:
                for b in rows[rows < a]:
                    error = (y[a] - y[b]) - (s[a] - s[b])
                    total += weight[a] * weight[b] * error**2 / weight[rows].sum()
        return total / (2 * weight.sum())

    point = PairwiseSquares.from_labels(y, qid=qid, sample_weight=weight).at(scores)
    assert point.value == pytest.approx(value(scores))
    np.testing.assert_allclose(point.gradient, oracle.numerical_gradient(value, scores), atol=1e-8)


def test_whole_weights_are_repetitions():
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(10, 2)), rng.normal(size=10), rng.integers(1, 4, 10)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight), 5.0)
    np.testing.assert_allclose(fit(X, y, 5.0, weight=weight), repeated, atol=1e-8)


def test_many_features_by_conjugate_gradients(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 8)), rng.normal(size=30)
    monkeypatch.setattr(design_module, "DIRECT_LIMIT", 2)
    np.testing.assert_allclose(fit(X, y, 50.0), oracle.rank_rls(X, y, 50.0), atol=1e-6)


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), queries=st.integers(1, 6), wide=st.booleans())
def test_leave_pair_out_equals_refitting(seed, queries, wide):
    rng = np.random.default_rng(seed)
    n, d = 12, 15 if wide else 3
    X, y = rng.normal(size=(n, d)), np.round(rng.normal(size=n), 1)
    # Every query keeps a pair, whatever is left out of it.
    qid = np.sort(rng.integers(0, queries, n))
    seen = 0
    for _, upper, lower, difference in LeavePairOut(X, y, qid).differences(3.0):
        for i, j, held_out in zip(upper, lower, difference, strict=True):
            keep = np.setdiff1d(np.arange(n), [i, j])
            if not any(qid[a] == qid[b] for a in keep for b in keep if a < b):
                continue
            coef = oracle.rank_rls(X[keep], y[keep], 3.0, qid[keep])
            assert (X[i] - X[j]) @ coef == pytest.approx(held_out, abs=1e-7)
            seen += 1
    pairs = sum(y[i] > y[j] and qid[i] == qid[j] for i in range(n) for j in range(n))
    assert seen == pairs or queries > 1


def test_leave_pair_out_concordance_counts_ties_half():
    X, y = np.zeros((6, 1)), np.array([0.0, 0, 0, 1, 1, 1])
    assert LeavePairOut(X, y).concordance(1.0) == 0.5
    assert LeavePairOut(X, y).concordance(1.0, by_query=True) == 0.5


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), queries=st.integers(1, 3))
def test_greedy_selection_equals_refitting(seed, queries):
    rng = np.random.default_rng(seed)
    n, C = 14, 4.0
    X, y, qid = rng.normal(size=(n, 4)), rng.normal(size=n), np.arange(n) % queries
    found = greedy_selection(X, y, qid, Run(), C=C, n_features=3)
    chosen = []
    for step in range(3):
        errors = [np.inf if k in chosen else left_out_error(X[:, [*chosen, k]], y, qid, C) for k in range(4)]
        chosen.append(int(np.argmin(errors)))
        assert found.errors[step + 1] == pytest.approx(min(errors), rel=1e-6)
    assert found.features.tolist() == chosen


def left_out_error(X, y, qid, C):
    errors = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        residual = y - X @ oracle.rank_rls(X[keep], y[keep], C, qid[keep])
        errors.append((residual[i] - residual[keep & (qid == qid[i])].mean()) ** 2)
    return np.mean(errors)


def test_selection_stops_when_nothing_helps():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 6)), rng.normal(size=60)
    X[:, 2] = y + 0.1 * rng.normal(size=60)
    found = greedy_selection(X, y, None, Run(), C=100.0, n_features=None)
    assert found.features[0] == 2
    assert (np.diff(found.errors) < 0).all()
    assert len(found.features) < 6
