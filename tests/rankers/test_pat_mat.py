"""Pat&Mat and Grill against cvxpy, finite differences and each other."""

import cvxpy as cp
import numpy as np
import pytest

from at_top_oracles import solve_precisely
from toprank.control import SearchStoppedWarning, Status
from toprank.rankers.accuracy_at_top import AccuracyAtTop
from toprank.rankers.pat_mat import Grill, PatMat


def sample(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0.6).astype(int)
    y[:2] = 0, 1
    return X, y


@pytest.mark.parametrize("negatives_only", [False, True])
@pytest.mark.parametrize("seed, C", [(0, 1.0), (1, 20.0)])
def test_pat_mat_agrees_with_clarabel(seed, C, negatives_only):
    X, y = sample(seed)
    share = {"negative_share": 0.2} if negatives_only else {"top_share": 0.2}
    ranker = PatMat(C=C, **share, tol=1e-8).fit(X, y)
    w, t = cp.Variable(3), cp.Variable()
    counted = X[y == 0] if negatives_only else X
    above = cp.sum(cp.square(cp.pos(1 + counted @ w - t))) / len(counted)
    lost = cp.sum(cp.square(cp.pos(1 + t - X[y == 1] @ w))) / y.sum()
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * lost), [above <= 0.2])
    solve_precisely(problem)
    assert ranker.outcome_.value == pytest.approx(problem.value, rel=1e-6)
    assert ranker.outcome_.bound <= problem.value * (1 + 1e-9)
    assert ranker.outcome_.status is Status.OPTIMAL
    np.testing.assert_allclose(ranker.coef_, w.value, atol=1e-3)


def test_grill_is_problem_one_with_its_own_weights():
    X, y = sample(3)
    pairs = y.sum() * (1 - y).sum()
    grill = Grill(0.2, 3.0, random_state=0).fit(X, y)
    other = AccuracyAtTop(0.2, 3.0 / pairs, solver="local", random_state=0).fit(X, y)
    np.testing.assert_allclose(grill.coef_, other.coef_, atol=1e-9)
    scores = X @ grill.coef_
    lead = scores - np.sort(scores)[::-1][5]
    value = np.maximum(1 - lead[y == 1], 0).mean() + np.maximum(1 + lead[y == 0], 0).mean()
    assert grill.outcome_.value == pytest.approx(0.5 * grill.coef_ @ grill.coef_ + 3 * value)


@pytest.mark.parametrize("ranker", [PatMat(), Grill()])
def test_out_of_time_and_bad_parameters(ranker):
    X, y = sample(4)
    with pytest.warns(SearchStoppedWarning):
        ranker.set_params(time_limit=1e-9).fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    with pytest.raises(ValueError, match="C="):
        ranker.set_params(C=0.0).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight leaves one class"):
        ranker.set_params(C=1.0).fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="top_share="):
        ranker.set_params(top_share=0).fit(X, y)
