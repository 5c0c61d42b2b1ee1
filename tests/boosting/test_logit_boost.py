"""`LogitBoost`: one stump by hand, the loss of the review, columns as in logistic regression."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from toprank import GradientFreeBoosting, LogitBoost


def ring(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, ((X[:, 0] ** 2 + X[:, 1] ** 2 > 1.2) ^ (rng.random(n) < 0.05)).astype(int)


def test_one_stump_by_hand():
    """Odds are even at the start: p = 1/2, response 2 or -2, weights alike; a stump's leaf is their mean."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    ranker = LogitBoost(n_estimators=1, learning_rate=0.5, min_samples_leaf=1).fit(X, y)
    scores = ranker.decision_function(X) - ranker.intercept_
    # The engine adds a thousandth of the mean curvature.
    np.testing.assert_allclose(scores, 0.5 * 2 / 1.001 * np.array([-1, -1, 1, 1]), rtol=1e-6)
    assert ranker.trees_.numbers[0] == 1.5
    assert ranker.losses_.tolist() == [1.0]  # log2(1 + exp(0))


def test_the_loss_is_that_of_the_review():
    X, y = ring()
    ranker = LogitBoost(n_estimators=31).fit(X, y)
    before = LogitBoost(n_estimators=30).fit(X, y)
    start = np.log(y.mean() / (1 - y.mean()))
    s = (before.decision_function(X) - before.intercept_ + start) / 2
    assert ranker.losses_[-1] == pytest.approx(np.mean(np.log2(1 + np.exp(-2 * (2 * y - 1) * s))))
    assert (np.diff(ranker.losses_) < 0).all()


def test_trees_see_a_ring_and_columns_do_not():
    X, y = ring()
    fresh, labels = ring(1000, seed=1)
    assert roc_auc_score(labels, LogitBoost(n_estimators=200).fit(X, y).decision_function(fresh)) > 0.9
    assert roc_auc_score(labels, LogitBoost("column").fit(X, y).decision_function(fresh)) < 0.7


def test_columns_end_at_logistic_regression():
    X, y = ring()
    y = (X[:, 0] + np.random.default_rng(0).normal(size=len(X)) > 0).astype(int)
    ranker = LogitBoost("column", n_estimators=2000, learning_rate=0.5).fit(X, y)
    expected = LogisticRegression(C=1e9, tol=1e-10).fit(X, y).coef_[0]
    np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-4, atol=1e-4)
    same = GradientFreeBoosting(
        family="logit", singular_every=None, n_estimators=2000, learning_rate=0.5
    ).fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, same.coef_)


@pytest.mark.parametrize("learner", ["tree", "column"])
def test_steps_after_the_best_are_dropped(learner):
    X, y = ring(200)
    ranker = LogitBoost(
        learner, n_estimators=500, learning_rate=1.0, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    assert ranker.n_iter_ < 500
    assert ranker.outcome_.iterations in (ranker.n_iter_ + 10, 500)


@pytest.mark.parametrize("learner", ["tree", "column"])
def test_nothing_to_learn_from(learner):
    X, y = np.full((20, 2), 3.0), np.arange(20) % 2
    ranker = LogitBoost(learner).fit(X, y)
    assert len(set(ranker.decision_function(X))) == 1
    assert ranker.outcome_.value == pytest.approx(1.0)
