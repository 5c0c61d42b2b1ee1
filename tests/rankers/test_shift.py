"""Every convex ranker, far from the origin: the same coefficients and the same bound as near it."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from at_top_oracles import solve_precisely
from toprank import (
    AccuracyAtTop,
    GreedyRankRLS,
    Grill,
    InfinitePush,
    PatMat,
    PNormPush,
    RankBoost,
    RankRLS,
    RankRLSCV,
    RankSVM,
    TauFPL,
    TopPush,
    TopPushK,
)

SHIFTS = [1e4, 1e8, 1e12]
CONVEX = {
    "RankSVM": lambda: RankSVM(tol=1e-9),
    "RankSVM squared": lambda: RankSVM(loss="squared_hinge", tol=1e-12),
    "RankSVM l1": lambda: RankSVM(5.0, norm="l1", tol=1e-9),
    "RankSVM rbf": lambda: RankSVM(kernel="rbf", tol=1e-9),
    "RankSVM linear kernel": lambda: RankSVM(kernel="linear", tol=1e-9),
    "RankSVM gradient projection": lambda: RankSVM(solver="gradient_projection", tol=1e-9, max_iter=50_000),
    "PNormPush": lambda: PNormPush(tol=1e-12),
    "RankBoost": lambda: RankBoost(n_estimators=10),
    "RankRLS": lambda: RankRLS(),
    "RankRLS rbf": lambda: RankRLS(kernel="rbf"),
    "RankRLS nystroem": lambda: RankRLS(
        kernel="rbf", approximation="nystroem", n_components=10, random_state=0
    ),
    "GreedyRankRLS": lambda: GreedyRankRLS(),
    "RankRLSCV": lambda: RankRLSCV(),
    "InfinitePush": lambda: InfinitePush(tol=1e-9),
    "InfinitePush rbf": lambda: InfinitePush(kernel="rbf", tol=1e-9),
    "TopPush": lambda: TopPush(tol=1e-9),
    "TopPushK": lambda: TopPushK(3, tol=1e-9),
    "TauFPL": lambda: TauFPL(0.5, loss="logistic", tol=1e-9),
    "PatMat": lambda: PatMat(0.3, tol=1e-12),
    "Grill": lambda: Grill(0.3, random_state=0),
    "AccuracyAtTop": lambda: AccuracyAtTop(0.3),
    "AccuracyAtTop rbf": lambda: AccuracyAtTop(0.3, kernel="rbf"),
    "AccuracyAtTop nystroem": lambda: AccuracyAtTop(
        0.3, kernel="rbf", approximation="nystroem", n_components=10, random_state=0
    ),
}


BY_QUERY = [RankRLS, lambda: RankSVM(tol=1e-9), lambda: PNormPush(tol=1e-12)]


def sample(seed=0, n=30, d=3):
    """Rows of eighths, so that with any of the shifts they hold the same differences."""
    rng = np.random.default_rng(seed)
    X = np.round(8.0 * rng.normal(size=(n, d))) / 8.0
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.5).astype(int)
    y[:2] = 0, 1
    return X, y


def learned(ranker):
    """What a fit says and has learned, scores aside: those carry the rounding of the shifted rows."""
    inner = getattr(ranker, "ranker_", ranker)
    known = [name for name in ("coef_", "dual_coef_", "_finished") if hasattr(inner, name)]
    parts = [np.ravel(getattr(inner, name)) for name in known]
    return np.concatenate([[ranker.outcome_.value, ranker.outcome_.bound], *parts])


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", CONVEX)
def test_a_shift_changes_nothing(name, shift):
    X, y = sample()
    plain, shifted = CONVEX[name]().fit(X, y), CONVEX[name]().fit(X + shift, y)
    if name == "RankRLSCV":
        np.testing.assert_array_equal(shifted.scores_, plain.scores_)
    np.testing.assert_allclose(learned(shifted), learned(plain), rtol=1e-5, atol=1e-6)
    assert shifted.outcome_.value == pytest.approx(plain.outcome_.value, rel=1e-8)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("make", BY_QUERY)
def test_queries_may_lie_far_from_each_other(make, shift):
    X, y = sample(n=60)
    qid = np.arange(60) % 3
    far = X + shift * np.array([-1.0, 0.0, 2.0])[qid][:, np.newaxis]
    plain, shifted = make().fit(X, y, qid=qid), make().fit(far, y, qid=qid)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-6)
    assert shifted.outcome_.bound == pytest.approx(plain.outcome_.bound, rel=1e-6)


@pytest.mark.parametrize(
    "make", [RankRLS, lambda: RankSVM(tol=1e-9), lambda: PNormPush(tol=1e-12), TopPush, PatMat]
)
def test_a_column_of_sparse_rows_may_lie_far_away(make):
    """One column is a time stamp, the others are mostly empty."""
    rng = np.random.default_rng(0)
    X, y = sample(n=80, d=1)
    rest = np.where(rng.random((80, 9)) < 0.1, 1.0, 0.0)
    near, far = np.hstack([X, rest]), np.hstack([X + 1e12, rest])
    plain, shifted = make().fit(near, y), make().fit(sp.csr_matrix(far), y)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-5)
    assert shifted.outcome_.bound == pytest.approx(plain.outcome_.bound, rel=1e-5)


SOLVED = ["RankSVM", "RankSVM squared", "RankRLS", "PNormPush", "InfinitePush", "TopPush", "TopPushK"]


def objective(X, y, name):
    """The optimum of the unshifted problem, from an independent solver."""
    w = cp.Variable(X.shape[1])
    up, down = X[y == 1] @ w, X[y == 0] @ w
    pairs = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, X.shape[1]) @ w
    t = cp.max(down)
    loss = {
        "RankSVM": lambda: cp.sum(cp.pos(1 - pairs)) / pairs.size,
        "RankSVM squared": lambda: cp.sum_squares(cp.pos(1 - pairs)) / pairs.size,
        "RankRLS": lambda: cp.sum_squares((y - y.mean()) - (X - X.mean(axis=0)) @ w) / (2 * len(y)),
        "PNormPush": lambda: (
            cp.log_sum_exp(-up) - np.log(up.size) + (cp.log_sum_exp(4 * down) - np.log(down.size)) / 4
        ),
        "InfinitePush": lambda: cp.sum(cp.pos(1 + t - up)) / up.size,
        "TopPush": lambda: cp.sum_squares(cp.pos(1 + t - up)) / up.size,
        "TopPushK": lambda: cp.sum_squares(cp.pos(1 + cp.sum_largest(down, 3) / 3 - up)) / up.size,
    }[name]()
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + loss))
    if name == "PNormPush":
        problem.solve(solver=cp.CLARABEL)  # exponential cones take no tighter tolerances than the default
    else:
        solve_precisely(problem)
    return problem.value


@pytest.mark.parametrize(
    "name", ["RankSVM", "RankSVM squared", "RankRLS", "PNormPush", "InfinitePush", "TopPush", "TopPushK"]
)
@pytest.mark.filterwarnings("ignore::toprank.rankers.parts.top_push.ZeroOptimumWarning")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_bound_is_never_above_the_optimum(name, seed):
    X, y = sample(seed)
    optimum = objective(X, y, name)
    for shift in (0.0, *SHIFTS):
        outcome = CONVEX[name]().fit(X + shift, y).outcome_
        assert outcome.bound <= optimum + 1e-7 * abs(optimum)
        assert outcome.value == pytest.approx(optimum, rel=1e-6)
