"""`RankOver`: corners followed by hand, sets inside each other, thresholds at a rate, hostile rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from toprank import RankOver
from toprank.control import SearchStoppedWarning


def rows(n=400, seed=0):
    """P(y = 1) rises with |x0|: no linear score will do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(3 - 3 * np.abs(X[:, 0])))).astype(int)


def test_followed_by_hand():
    """One feature, one threshold a classifier.

    Negatives at 1, 2, 3, 4 and positives at 2.5, 3.5, 4.5, 4.6. Half-way between 0 and 1 a set may hold two
    negatives: x > 2 holds 3 and 4 and all positives, a corner at (1/2, 1). Left of it, half-way, one
    negative: x > 3 holds 4 and three positives, (1/4, 3/4), above the line by a quarter. Right of it nothing
    is above the line.
    """
    X = np.array([[1], [2], [3], [4], [2.5], [3.5], [4.5], [4.6]], dtype=float)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    ranker = RankOver(DecisionTreeClassifier(), max_depth=2, tol=0.01)
    # Fully grown trees know every row: the first corner is (0, 1), and there is nothing left to gain.
    assert ranker.fit(X, y).roc_[1].tolist() == [0.0, 1.0, 1.0]
    assert (ranker.outcome_.value, len(ranker.classifiers_)) == (1.0, 1)
    by_line = RankOver(LogisticRegression(C=1e3), max_depth=2, tol=0.01).fit(X, y)
    alpha, beta = by_line.roc_
    assert alpha.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert beta.tolist() == [0.0, 0.75, 1.0, 1.0]
    assert by_line.outcome_.value == pytest.approx(0.25 * 0.375 + 0.25 * 0.875 + 0.5)
    assert by_line.decision_function(X).tolist() == pytest.approx(
        (np.array([0, 0, 1, 2, 1, 2, 2, 2]) + by_line.intercept_).tolist()
    )


def test_the_curve_is_that_of_the_scores():
    X, y = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for given in (None, weight):
        ranker = RankOver(random_state=0).fit(X, y, given)
        scores = ranker.decision_function(X)
        assert ranker.outcome_.value == pytest.approx(roc_auc_score(y, scores, sample_weight=given))
        assert len(np.unique(scores)) <= len(ranker.classifiers_) + 1


def test_it_sees_what_no_line_does():
    X, y = rows()
    fresh, labels = rows(2000, seed=1)
    ranker = RankOver(random_state=0).fit(X, y)
    assert roc_auc_score(labels, ranker.decision_function(fresh)) > 0.8
    line = LogisticRegression().fit(X, y)
    assert roc_auc_score(labels, line.decision_function(fresh)) < 0.6


def test_deeper_means_more_corners():
    X, y = rows()
    sizes = [len(RankOver(max_depth=d, tol=0, random_state=0).fit(X, y).classifiers_) for d in (1, 2, 4)]
    assert sizes[0] == 1
    assert sizes[0] < sizes[1] <= 3
    assert sizes[1] < sizes[2] <= 15


@pytest.mark.parametrize(
    "X", [np.zeros((40, 2)), np.repeat([[1.0], [2.0]], 20, axis=0)], ids=["constant", "two rows"]
)
def test_rows_that_cannot_be_told_apart(X):
    y = np.arange(40) % 2
    ranker = RankOver().fit(X, y)
    assert ranker.outcome_.value == pytest.approx(0.5)
    assert np.isfinite(ranker.decision_function(X)).all()


def test_stopped_after_the_first_corner():
    X, y = rows()
    with pytest.warns(SearchStoppedWarning):
        ranker = RankOver(callback=lambda progress: False, random_state=0).fit(X, y)
    assert len(ranker.classifiers_) == ranker.outcome_.iterations == 1
