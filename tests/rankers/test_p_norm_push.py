import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import pairwise_oracles as oracle
from toprank.control import Status
from toprank.rankers.p_norm_push import PNormPush
from toprank.rankers.rank_boost import RankBoost


def toy(n=150, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0.5).astype(int)


@pytest.mark.parametrize("p", [1, 4, 64])
def test_optimum_agrees_with_clarabel(p):
    X, y = toy(70)
    ranker = PNormPush(p, C=20.0, tol=1e-9).fit(X, y)
    assert ranker.outcome_.status is Status.OPTIMAL
    assert ranker.outcome_.value == pytest.approx(oracle.push_optimum(X, y, 20.0, p)[0], rel=1e-6)


def test_p_one_is_rank_boost():
    X, y = toy()
    boosted = RankBoost(n_estimators=3000, tol=1e-11).fit(X, y)
    newton = PNormPush(p=1, C=1e7, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(boosted.coef_, newton.coef_, atol=1e-5)
    same = PNormPush(p=1, solver="boosting", n_estimators=3000, tol=1e-11).fit(X, y)
    np.testing.assert_array_equal(same.coef_, boosted.coef_)


def test_queries_and_weights():
    rng = np.random.default_rng(1)
    X, y = toy(60)
    qid, weight = rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    ranker = PNormPush(4, C=10.0, tol=1e-10).fit(X, y, sample_weight=weight, qid=qid)

    def objective(w):
        return 0.5 * w @ w + 10.0 * oracle.push(X @ w, y, 4, qid, weight)

    np.testing.assert_allclose(oracle.numerical_gradient(objective, ranker.coef_), 0.0, atol=1e-4)
    assert ranker.outcome_.value == pytest.approx(objective(ranker.coef_))


@pytest.mark.parametrize("p", [0.5, 0, -1, np.nan, np.inf, "4"])
def test_p_below_one_is_refused(p):
    with pytest.raises(ValueError, match="must be a finite number of at least 1"):
        PNormPush(p).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("C", [0, np.inf])
def test_impossible_C_is_refused(C):
    with pytest.raises(ValueError, match="must be a positive finite number"):
        PNormPush(C=C).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "ranker", [PNormPush(64, C=1e6), RankBoost(), RankBoost(weak_rankers="stumps")], ids=str
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_extreme_data_stay_finite(ranker, make):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    for rows, y in (
        (X, (X[:, 0] > 0).astype(int)),
        (X, np.eye(30, dtype=int)[0]),
        (X, 1 - np.eye(30, dtype=int)[0]),
        (np.ones((30, 2)), rng.integers(0, 2, 30)),
        (X * [1e6, 1.0, 1e-6], rng.integers(0, 2, 30)),
    ):
        ranker.fit(make(rows), y)
        assert np.isfinite(ranker.decision_function(make(rows))).all()
        assert ranker.outcome_.status.finished


def test_separable_data_end_the_boosting_with_a_note():
    X = np.r_[np.zeros((5, 1)), np.ones((5, 1))]
    ranker = RankBoost().fit(X, np.repeat([0, 1], 5))
    assert ranker.n_iter_ < 100
    assert "nothing is left to gain" in ranker.outcome_.notes[0]


def test_early_stopping_keeps_the_best_round():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 40)), rng.integers(0, 2, 120)
    ranker = RankBoost(
        weak_rankers="stumps", n_estimators=500, validation_fraction=0.3, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert ranker.n_iter_ < 100
    assert len(ranker.stump_weights_) == len(ranker.losses_)
    grouped = RankBoost(validation_fraction=0.5, random_state=0).fit(X, y, qid=np.arange(120) % 6)
    assert np.isfinite(grouped.coef_).all()
    with pytest.raises(ValueError, match="only one class"):
        RankBoost(validation_fraction=0.5).fit(X[:3], [0, 0, 1])
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        RankBoost(validation_fraction=1.5).fit(X, y)


@pytest.mark.parametrize("queries", [False, True])
def test_early_stopping_by_a_statistic_keeps_the_round_that_is_best_by_it(queries):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 12))
    y = (X[:, 0] + X[:, 1] + 2 * rng.normal(size=160) > 0.5).astype(int)
    qid = np.arange(160) % 8 if queries else None
    learn, watch = np.flatnonzero(np.arange(160) % 8 < 4), np.flatnonzero(np.arange(160) % 8 >= 4)
    options = {"weak_rankers": "stumps", "n_estimators": 40}
    rounds = RankBoost(**options).fit(X[learn], y[learn], qid=None if qid is None else qid[learn])
    stopped = RankBoost(**options, validation_statistic="auc", n_iter_no_change=40).fit(
        X[learn],
        y[learn],
        qid=None if qid is None else qid[learn],
        X_val=X[watch],
        y_val=y[watch],
        qid_val=None if qid is None else qid[watch],
    )
    votes = X[watch][:, rounds.stump_features_] > rounds.stump_thresholds_
    found = []
    for used in range(len(rounds.stump_weights_) + 1):
        scores = votes[:, :used] @ rounds.stump_weights_[:used]
        groups = [np.ones(len(watch), dtype=bool)] if qid is None else [qid[watch] == q for q in range(4, 8)]
        found.append(np.mean([_pairs_won(y[watch][g], scores[g]) for g in groups]))
    best = int(np.argmax(np.round(found, 12)))
    assert 0 < best < 40
    assert stopped.n_iter_ == best
    with pytest.raises(ValueError, match="nonsense"):
        RankBoost(validation_fraction=0.5, validation_statistic="nonsense").fit(X, y)


def _pairs_won(y, scores):
    """Share of the pairs in which the positive is above; ties are lost."""
    return np.mean(scores[y == 1][:, None] > scores[y == 0][None, :] + 1e-12)


def test_larger_p_pushes_the_highest_negatives_down():
    rng = np.random.default_rng(4)
    # Most negatives are low on the first feature, but a few sit at its top and give way on the second.
    X = np.r_[
        rng.normal([2, 1], 0.3, (100, 2)), rng.normal([0, 1], 0.3, (100, 2)), rng.normal([3, -1], 0.1, (5, 2))
    ]
    y = np.repeat([1, 0], [100, 105])
    highest = []
    for p in (1, 64):
        scores = PNormPush(p, C=100.0).fit(X, y).decision_function(X)
        highest.append(np.mean(scores[y == 1] > scores[y == 0].max()))
    assert highest[1] >= highest[0]


def cut_objective(w, X, y, p, C):
    """Half the squared length plus C times the mean over cuts of log R_p, written out."""
    values = []
    for cut in np.unique(y)[1:]:
        scores = X @ w
        apart = np.exp(-(scores[y >= cut][:, None] - scores[y < cut][None, :]))
        values.append(np.log(np.mean(apart.mean(axis=0) ** p)) / p)
    return 0.5 * w @ w + C * np.mean(values)


@pytest.mark.parametrize("p", [1.0, 4.0])
def test_grades_are_pushed_at_every_cut_between_them(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=40), [-0.5, 0.5]) * 10
    ranker = PNormPush(p, C=2.0, tol=1e-9).fit(X, y)
    assert ranker.kind_ == "ordinal"
    found = minimize(cut_objective, np.zeros(2), args=(X, y, p, 2.0), options={"gtol": 1e-9})
    assert ranker.outcome_.value == pytest.approx(found.fun, rel=1e-8)
    np.testing.assert_allclose(ranker.coef_, found.x, atol=1e-5)
    boosted = PNormPush(p, solver="boosting", n_estimators=400).fit(X, y)
    assert boosted.outcome_.value == pytest.approx(
        cut_objective(boosted.coef_, X, y, p, 1.0) - 0.5 * boosted.coef_ @ boosted.coef_
    )
    with pytest.raises(ValueError, match=r"PNormPush does not learn from continuous labels, for every cut"):
        PNormPush().fit(X, X[:, 0])
