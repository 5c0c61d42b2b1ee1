"""`OrdinalDecomposition`: the problems and the sums by hand, judged by VUS, C and U."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from toprank import OrdinalDecomposition, RankSVM, TreeRank, statistics
from toprank.control import SearchStoppedWarning

SCHEMES = ["frank-hall", "pairwise", "one-versus-rest"]


def rows(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.7, 0.0, 1.0])


def by_hand(X, y, scheme, weighting):
    """Sums of probabilities of logistic regressions, fitted here one by one."""
    total, weights = np.zeros(len(y)), 0.0
    if scheme == "frank-hall":
        problems = [(np.arange(len(y)), y >= k, 1) for k in (1, 2, 3)]
    elif scheme == "one-versus-rest":
        problems = [(np.arange(len(y)), y == k, k) for k in (1, 2, 3)]
    else:
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        problems = [(np.flatnonzero((y == i) | (y == j)), None, (i, j)) for i, j in pairs]
    for use, above, what in problems:
        label = y[use] == what[1] if above is None else above
        counts = 1.0 if isinstance(what, tuple) else what
        if weighting == "pairs":
            counts *= label.sum() * (~label).sum()
        total += counts * LogisticRegression().fit(X[use], label).predict_proba(X)[:, 1]
        weights += counts
    return total / weights


@pytest.mark.parametrize("weighting", ["equal", "pairs"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_scores_are_sums_of_probabilities(scheme, weighting):
    X, y = rows()
    ranker = OrdinalDecomposition(scheme=scheme, weighting=weighting).fit(X, y)
    expected = by_hand(X, y, scheme, weighting)
    np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, expected, atol=1e-9)
    assert len(ranker.estimators_) == (6 if scheme == "pairwise" else 3)
    assert ranker.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_list_that_can_be_perfect(scheme):
    """Three levels along a line: VUS, C and U are one."""
    X, y = np.arange(12.0)[:, None], np.repeat([10, 20, 40], 4)
    for statistic in ("vus", "c_index", "ordinal_auc"):
        ranker = OrdinalDecomposition(scheme=scheme, statistic=statistic).fit(X, y)
        assert ranker.score(X, y) == ranker.outcome_.value == pytest.approx(1.0)
    assert ranker.predict(X).tolist() == y.tolist()
    assert (
        ranker.problems_.tolist()
        == {
            "frank-hall": [[0, 1], [1, 2]],
            "pairwise": [[0, 1], [0, 2], [1, 2]],
            "one-versus-rest": [[-1, 1], [-1, 2]],
        }[scheme]
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_labels_are_one_problem(scheme):
    X, y = rows()
    ranker = OrdinalDecomposition(scheme=scheme).fit(X, y > 1)
    assert len(ranker.estimators_) == 1
    expected = LogisticRegression().fit(X, y > 1).decision_function(X)
    assert ranker.rank(X).tolist() == np.argsort(-expected, kind="stable").tolist()


@pytest.mark.parametrize("estimator", [RankSVM(), TreeRank(), GaussianNB()], ids=repr)
def test_any_ranker_or_classifier(estimator):
    X, y = rows(300)
    ranker = OrdinalDecomposition(estimator, "pairwise").fit(X[:200], y[:200])
    assert ranker.score(X[200:], y[200:]) > 0.75


def test_rankers_count_alike_whatever_their_scale():
    X, y = rows()
    ranker = OrdinalDecomposition(RankSVM(C=1.0)).fit(X, y)
    spread = [
        weight * one.decision_function(X).std()
        for one, weight in zip(ranker.estimators_, ranker.weights_, strict=True)
    ]
    np.testing.assert_allclose(spread, spread[0])


def test_weights_are_repetitions():
    X, y = rows(60)
    weight = np.random.default_rng(0).integers(0, 3, 60)
    one = OrdinalDecomposition(weighting="pairs").fit(X, y, weight).decision_function(X)
    two = OrdinalDecomposition(weighting="pairs").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one, two.decision_function(X), atol=1e-5)


def test_stopped_after_the_first_problem():
    X, y = rows()
    with pytest.warns(SearchStoppedWarning):
        ranker = OrdinalDecomposition(callback=lambda progress: False).fit(X, y)
    assert len(ranker.estimators_) == ranker.outcome_.iterations == 1
    assert statistics.get("c_index")(y, ranker.decision_function(X)) > 0.6


def test_what_it_cannot_do_is_said():
    X, y = rows(60)
    with pytest.raises(ValueError, match="scheme='one-versus-one'"):
        OrdinalDecomposition(scheme="one-versus-one").fit(X, y)
    with pytest.raises(ValueError, match="weighting='odd'"):
        OrdinalDecomposition(weighting="odd").fit(X, y)
    with pytest.raises(ValueError, match="does not learn from continuous"):
        OrdinalDecomposition().fit(X, X[:, 0])
    assert len(OrdinalDecomposition(levels="ordinal").fit(X[:10], X[:10, 0]).estimators_) == 9
