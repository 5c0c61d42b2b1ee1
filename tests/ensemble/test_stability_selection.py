"""`StabilitySelection`: probabilities counted by hand, both rules, every kind of sparse ranker."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from toprank import GradientFreeBoosting, GreedyRankRLS, LogitBoost, RankSVM, StabilitySelection, TreeRank

QUICK = GradientFreeBoosting(n_estimators=20, singular_every=5)


def rows(n=300, d=12, seed=0):
    """Three columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + 0.8 * X[:, 4] - 0.7 * X[:, 7] + 0.7 * rng.normal(size=n) > 0.8
    return X, y.astype(int)


@pytest.mark.parametrize("rule", ["loss", "threshold"])
def test_columns_that_matter_are_found(rule):
    X, y = rows(600)
    ranker = StabilitySelection(QUICK, rule=rule, n_subsamples=20, random_state=0).fit(X, y)
    assert {0, 4, 7} <= set(np.flatnonzero(ranker.support_))
    assert ranker.support_.sum() <= 6
    assert (ranker.coef_ != 0).sum() <= ranker.support_.sum()
    assert not ranker.coef_[~ranker.support_].any()
    np.testing.assert_allclose(ranker.stable_ranker_.coef_, ranker.coef_[ranker.support_])
    assert ranker.stable_ranker_.n_features_in_ == ranker.support_.sum()


def test_paths_are_shares_of_the_subsamples():
    X, y = rows()
    ranker = StabilitySelection(QUICK, rule="threshold", n_subsamples=8, random_state=0).fit(X, y)
    assert ranker.paths_.shape == (20, 12)
    assert ranker.path_values_.tolist() == list(range(1, 21))
    assert (ranker.paths_[0].sum(), ranker.outcome_.iterations) == (1.0, 8)  # one step takes one column
    assert (np.diff(ranker.paths_, axis=0) >= 0).all()
    np.testing.assert_allclose(ranker.paths_ * 8, np.round(ranker.paths_ * 8))
    np.testing.assert_array_equal(ranker.probabilities_, ranker.paths_.max(axis=0))
    # q^2 / ((2 threshold - 1) p); the paths end with all a subsample took.
    q = ranker.paths_[-1].sum()
    assert ranker.false_selections_bound_ == pytest.approx(q**2 / (0.2 * 12))


def test_the_smallest_of_the_best_sets_is_taken():
    X, y = rows(150)
    ranker = StabilitySelection(QUICK, n_subsamples=10, random_state=1).fit(X, y)
    best = ranker.held_out_values_.min()  # a loss
    assert ranker.support_.sum() == min(ranker.sizes_[ranker.held_out_values_ == best])
    assert (np.diff(ranker.sizes_) > 0).all()


def test_only_the_best_subsamples_vote():
    X, y = rows(120)
    ranker = StabilitySelection(QUICK, rule="threshold", n_subsamples=12, best_share=0.25, random_state=0)
    paths = ranker.fit(X, y).paths_
    np.testing.assert_allclose(paths * 3, np.round(paths * 3))
    assert ranker.outcome_.iterations == 12


@pytest.mark.parametrize(
    "sparse, options",
    [
        (GreedyRankRLS(), {}),
        (LogitBoost("column", n_estimators=20), {}),
        (RankSVM(norm="l1", loss="squared_hinge", C=10.0), {"values": [0.1, 10.0]}),
        (LogisticRegression(solver="liblinear", penalty="l1"), {"parameter": "C", "values": [0.05, 0.1]}),
        (GradientFreeBoosting(family="multi_logit", n_estimators=10), {}),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore:.*penalty.*:FutureWarning")
@pytest.mark.filterwarnings("ignore:Inconsistent values")
def test_any_sparse_ranker(sparse, options):
    X, y = rows(200)
    ranker = StabilitySelection(sparse, n_subsamples=4, random_state=0, **options).fit(X, y)
    assert ranker.support_[[0, 4, 7]].all()
    assert abs(ranker.score(X, y)) <= 1.0


def test_the_same_seed_gives_the_same_paths_on_any_number_of_threads():
    X, y = rows(120)
    one, two = (
        StabilitySelection(QUICK, n_subsamples=6, n_jobs=jobs, random_state=3).fit(X, y) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.paths_, two.paths_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_no_column_is_stable():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 30)), np.arange(80) % 2
    ranker = StabilitySelection(
        GradientFreeBoosting(n_estimators=1, singular_every=None),
        rule="threshold",
        threshold=1.0,
        n_subsamples=10,
        random_state=0,
    ).fit(X, y)
    assert ranker.support_.sum() == 1
    assert "most stable one" in ranker.outcome_.notes[0]


@pytest.mark.parametrize(
    "wrong, named",
    [
        ({"rule": "luck"}, "rule='luck'"),
        ({"rule": "threshold", "threshold": 0.5}, "threshold=0.5"),
        ({"sample_share": 1.0}, "sample_share=1.0"),
        ({"parameter": "depth"}, "depth"),
        ({"parameter": "n_estimators"}, "n_estimators.* needs values"),
        ({"values": []}, "values is empty"),
        ({"ranker": TreeRank()}, "TreeRank has no C"),
        (
            {"ranker": TreeRank(), "parameter": "max_depth", "values": [1], "statistic": "auc"},
            "TreeRank has no coef_",
        ),
    ],
)
def test_wrong_parameters_are_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        StabilitySelection(**{"ranker": QUICK, "n_subsamples": 2, **wrong}).fit(*rows(60))


def test_grades_and_a_response():
    X, _ = rows(300)
    z = X[:, 0] + 0.8 * X[:, 4] - 0.7 * X[:, 7]
    for y in (np.digitize(z, [-1, 0, 1]), np.exp(z)):
        ranker = StabilitySelection(QUICK, rule="threshold", n_subsamples=6, random_state=0).fit(X, y)
        assert {0, 4, 7} <= set(np.flatnonzero(ranker.support_))
        assert ranker.score(X, y) == -ranker.outcome_.value
    with pytest.raises(ValueError, match="LogitBoost in StabilitySelection does not learn from continuous"):
        StabilitySelection(LogitBoost("column")).fit(X, z)
