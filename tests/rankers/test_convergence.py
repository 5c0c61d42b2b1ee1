"""A fit that ends with a gap above tol says so, and features of any size are no reason to end there."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from toprank import (
    AccuracyAtTop,
    GreedyRankRLS,
    InfinitePush,
    PatMat,
    PNormPush,
    RankerCV,
    RankRLS,
    RankSVM,
    TauFPL,
    TopPush,
    TopPushK,
)
from toprank.control import Outcome, SearchStoppedWarning, Status, warn_if_cut_short

CONVEX = {
    "RankSVM": lambda **options: RankSVM(**options),
    "RankSVM squared": lambda **options: RankSVM(loss="squared_hinge", **options),
    "RankSVM l1": lambda **options: RankSVM(norm="l1", **options),
    "RankSVM rbf": lambda **options: RankSVM(kernel="rbf", **options),
    "RankRLS": lambda **options: RankRLS(**options),
    "PNormPush": lambda **options: PNormPush(**options),
    "PNormPush 64": lambda **options: PNormPush(64, **options),
    "PatMat": lambda **options: PatMat(**options),
    "PatMat logistic": lambda **options: PatMat(loss="logistic", **options),
    "InfinitePush": lambda **options: InfinitePush(**options),
    "TopPush": lambda **options: TopPush(**options),
    "TopPush logistic": lambda **options: TopPush(loss="logistic", **options),
    "TopPushK": lambda **options: TopPushK(**options),
    "TauFPL": lambda **options: TauFPL(0.2, **options),
    "TauFPL hinge": lambda **options: TauFPL(0.2, loss="hinge", **options),
    "RankerCV": lambda **options: RankerCV(RankSVM(**options), Cs=[1.0], cv=2, random_state=0),
}
SCALE_FREE = [
    "RankSVM",
    "RankSVM squared",
    "RankRLS",
    "PNormPush",
    "PNormPush 64",
    "PatMat",
    "PatMat logistic",
]


def sample(noise, n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0.8).astype(int)


def fit_and_listen(ranker, X, y):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        ranker.fit(X, y)
    return [str(one.message) for one in heard if issubclass(one.category, SearchStoppedWarning)]


@pytest.mark.parametrize("C", [1.0, 1e8])
@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("name", CONVEX)
def test_no_gap_above_tol_without_a_warning(name, noise, C):
    """Far too large features, so that some fits have to give up; which ones does not matter here."""
    X, y = sample(noise, n=60)
    options = {} if name == "RankerCV" else {"C": C}
    ranker = CONVEX[name](time_limit=3.0, **options)
    heard = fit_and_listen(ranker, X * 10.0 ** np.array([-6, -3, 0, 6, 9]), y)
    gap, tol = ranker._reached()
    assert bool(heard) == (gap > tol or not ranker.outcome_.status.finished)
    if gap > tol:
        assert "above tol" in heard[0]
        assert ranker.outcome_.status is not Status.OPTIMAL


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_no_scale_breaks_a_factorisation(seed, loss, sparse):
    """Where nothing positive definite is left the best answer comes out, with a warning."""
    X, y = sample(0.0, seed=seed)
    rows = sp.csr_matrix(X * 1e6) if sparse else X * 1e6
    ranker = TopPush(1e6, loss=loss, time_limit=5.0)
    heard = fit_and_listen(ranker, rows, y)
    assert np.isfinite(ranker.coef_).all()
    assert bool(heard) == (ranker.outcome_.gap > ranker.tol)


def test_the_warning_names_gap_tol_and_remedy():
    outcome = Outcome(1.0, 0.9, Status.FINISHED, 2.0)
    with pytest.warns(SearchStoppedWarning, match=r"gap 0\.1 above tol=1e-06\); rounding .* raise tol"):
        warn_if_cut_short(outcome, "RankSVM", (0.1, 1e-6))
    warn_if_cut_short(outcome, "RankSVM", (1e-7, 1e-6))


def test_greedy_selection_and_accuracy_at_the_top_say_what_they_reached():
    X, y = sample(0.7, n=40)
    assert GreedyRankRLS().fit(X, y)._reached()[0] <= 1e-10
    gap, tol = AccuracyAtTop(0.2).fit(X, y)._reached()
    assert gap <= tol


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("name", SCALE_FREE)
def test_features_of_a_million(name, noise, C):
    """With features s times as large and C s^2 times as small the answer is the same, but for its scale."""
    X, y = sample(noise)
    large = CONVEX[name](C=C).fit(X * 1e6, y)
    assert large.outcome_.status is Status.OPTIMAL
    assert large.outcome_.gap <= large.tol
    plain = CONVEX[name](C=C * 1e12).fit(X, y)
    assert large.outcome_.value == pytest.approx(plain.outcome_.value / 1e12, rel=3 * large.tol)


@pytest.mark.parametrize("column", [0, 4])
@pytest.mark.parametrize("name", SCALE_FREE)
def test_one_feature_of_a_million(name, column):
    X, y = sample(0.7)
    X[:, column] *= 1e6
    assert CONVEX[name]().fit(X, y).outcome_.status is Status.OPTIMAL


@pytest.mark.parametrize("n, d", [(20, 2), (100, 2), (300, 5)])
def test_separable_rows_with_large_features_end_soon(n, d):
    """The optimum is 1e-11 of the loss at zero: the bound must not drown in the rounding of that."""
    X, y = sample(0.0, n=n, d=d, seed=3)
    plain = RankSVM(1e12).fit(X, y).outcome_
    outcome = RankSVM().fit(X * 1e6, y).outcome_
    assert outcome.status is Status.OPTIMAL
    assert outcome.iterations < 100
    assert outcome.value == pytest.approx(plain.value / 1e12, rel=1e-5)


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("make", [InfinitePush, RankSVM])
def test_the_default_step_of_gradient_projection_converges(make, C):
    for seed in range(3):
        X, y = sample(0.5, n=13, d=3, seed=seed)
        y[:2] = 0, 1
        reference = make(C).fit(X, y) if seed != 2 or make is RankSVM else None
        slow = make(C, solver="gradient_projection", max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # w = 0 may be optimal on so few rows
            slow.fit(X, y)
        assert slow.outcome_.gap <= 1e-6
        if reference is not None:
            assert slow.outcome_.value == pytest.approx(reference.outcome_.value, rel=1e-5)
