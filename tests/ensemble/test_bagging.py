"""Bags: samples keep labels and queries apart, the mean score is the mean of the rankers'."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from toprank import BaggedRanker, DirectRanker
from toprank.base import RankingData
from toprank.ensemble.bagging import bootstrap


def noisy(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0.8).astype(int)


def quick(**options):
    return BaggedRanker(DirectRanker("dcg@10", max_iter=60), random_state=0, **options)


def test_samples_keep_the_number_of_positives():
    X, y = noisy()
    sample = bootstrap(RankingData(X, y.astype(np.int8)), np.random.default_rng(1))
    assert sample.y.sum() == y.sum()
    assert len(sample.y) == len(y)
    assert len(np.unique(sample.X[:, 0])) < len(y)  # with replacement


def test_a_query_drawn_twice_is_two_queries():
    X, y = noisy(40)
    qid = np.repeat(np.arange(10), 4)
    sample = bootstrap(RankingData(X, y.astype(np.int8), qid), np.random.default_rng(2))
    for query in np.unique(sample.qid):
        rows = sample.X[sample.qid == query]
        assert len(rows) == 4
        assert len(np.unique(rows, axis=0)) == 4
        assert 0 < sample.y[sample.qid == query].sum() < 4


def test_scores_are_the_mean_of_scores_of_unit_spread():
    X, y = noisy()
    ranker = quick(n_bags=3).fit(X, y)
    expected = np.mean([X @ r.coef_ / (X @ r.coef_).std() for r in ranker.rankers_], axis=0)
    scores = ranker.decision_function(X)
    assert np.allclose(scores - scores.mean(), expected - expected.mean())
    assert np.allclose(X @ ranker.coef_ - (X @ ranker.coef_).mean(), expected - expected.mean())


def test_what_has_no_coefficients_says_so():
    X, y = noisy()
    ranker = BaggedRanker(DecisionTreeClassifier(max_depth=2), n_bags=2, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="DecisionTreeClassifier"):
        _ = ranker.coef_


def test_the_scale_of_a_feature_does_not_matter():
    X, y = noisy()
    stretched = X * np.array([1.0, 1024.0, 2.0**-10])
    plain, scaled = quick(n_bags=2).fit(X, y), quick(n_bags=2).fit(stretched, y)
    assert plain.rank(X).tolist() == scaled.rank(stretched).tolist()


@pytest.mark.parametrize("n_bags", [0, 1.5, "many"])
def test_a_bad_number_of_bags_is_named(n_bags):
    with pytest.raises(ValueError, match="n_bags"):
        quick(n_bags=n_bags).fit(*noisy())
