"""`GradientFreeBoosting`: every step against regressions done one by one, singular ones against all pairs."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from toprank import GradientFreeBoosting
from toprank.control import SearchStoppedWarning, Status


def rows(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.array([1.0, 10.0, 0.1, 1.0, 3.0])[:d] + 5.0
    y = (X[:, 0] - 0.1 * X[:, 1] + 5 * X[:, 2] + rng.standard_cauchy(n) > 5.5).astype(int)
    y[:2] = 0, 1
    return X, y


def lost_pairs(y, scores):
    """Pairs of a positive and a negative that are not in the right order, one by one."""
    return sum(scores[i] <= scores[j] for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0))


def by_hand(X, y, steps, rate, every):
    """The same, with a line fitted to every column by numpy, and the list judged by all pairs."""
    fitted, taken = np.full(len(y), y.mean()), []
    for step in range(1, steps + 1):
        lines = [np.polyval(np.polyfit(column, y - fitted, 1), column) for column in X.T]
        if every is not None and step % every == 0:
            costs = [lost_pairs(y, fitted + rate * line) for line in lines]
        else:
            costs = [((y - fitted - line) ** 2).sum() for line in lines]
        taken.append(int(np.argmin(costs)))
        fitted = fitted + rate * lines[taken[-1]]
    return fitted, taken


@pytest.mark.parametrize("every", [None, 1, 3])
def test_every_step_is_the_best_there_is(every):
    X, y = rows()
    ranker = GradientFreeBoosting(singular_every=every, n_estimators=12, learning_rate=0.3).fit(X, y)
    fitted, taken = by_hand(X, y, 12, 0.3, every)
    assert ranker.features_.tolist() == taken
    scores = ranker.decision_function(X)
    np.testing.assert_allclose(scores - scores.mean(), fitted - fitted.mean(), atol=1e-10)
    assert ranker.losses_[-1] == pytest.approx(np.mean((y - fitted) ** 2))
    assert ranker.outcome_.value == pytest.approx(lost_pairs(y, fitted) / (y.sum() * (1 - y).sum()))
    np.testing.assert_allclose(ranker.selection_frequencies_, np.bincount(taken, minlength=5) / 12)


def test_a_singular_step_may_serve_the_top_alone():
    """The first column fits best and puts a negative on top; the second one finds the two positives."""
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    X = np.array([[7, 6, 8, 5, 4, 3, 2, 1], [9, 8, 1, 7, 6, 5, 4, 3]], dtype=float).T
    local = GradientFreeBoosting("weak_ranking_loss@2", singular_every=1, n_estimators=1).fit(X, y)
    assert local.features_.tolist() == [1]
    assert local.outcome_.value == 0.0
    assert local.ranker_tags.at_top
    assert not GradientFreeBoosting().ranker_tags.at_top


def test_logit_ends_at_logistic_regression():
    X, y = rows(200, 3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ranker = GradientFreeBoosting(
        family="logit", singular_every=None, n_estimators=3000, learning_rate=0.5
    ).fit(X, y)
    expected = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(X, y).coef_[0]
    np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-4, atol=1e-4)
    odds = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(X, y).predict_proba(X)
    loss = -np.log2(odds[np.arange(len(y)), y]).mean()
    assert ranker.losses_[-1] == pytest.approx(loss, rel=1e-6)


def test_two_functions_of_two_levels_rank_as_one():
    X, y = rows()
    options = {"n_estimators": 10, "singular_every": 3}
    one = GradientFreeBoosting(family="logit", **options).fit(X, y)
    two = GradientFreeBoosting(family="multi_logit", **options).fit(X, y)
    assert one.features_.tolist() == two.features_.tolist()
    assert one.rank(X).tolist() == two.rank(X).tolist()
    assert two.coef_.shape == (2, 5)
    np.testing.assert_allclose(two.coef_.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("family", ["l2", "logit", "multi_logit"])
def test_a_weight_is_a_repetition(family):
    X, y = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    ranker = GradientFreeBoosting(family=family, n_estimators=12, singular_every=4)
    weighted = ranker.fit(X, y, weight).coef_
    repeated = ranker.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", ["l2", "multi_logit"])
def test_sparse_rows_are_fitted_as_dense_ones(family):
    X, y = rows()
    X = np.where(np.abs(X) > 4.5, X, 0.0)
    options = {"family": family, "n_estimators": 15, "singular_every": 5}
    dense, sparse = (GradientFreeBoosting(**options).fit(one, y) for one in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-9)


def test_steps_after_the_best_are_dropped():
    X, y = rows(300)
    options = {"n_estimators": 200, "learning_rate": 0.5, "singular_every": 5}
    ranker = GradientFreeBoosting(validation_fraction=0.3, random_state=0, **options).fit(X, y)
    values = ranker.validation_values_
    assert len(values) < 200
    assert ranker.n_iter_ == 1 + int(np.argmin(values))  # a loss: the smaller the better
    assert len(values) == ranker.n_iter_ + 10


def test_constant_columns_are_never_taken():
    X, y = rows()
    X[:, 0], X[:, 3] = 1e9, 0.0
    ranker = GradientFreeBoosting(singular_every=2, n_estimators=10).fit(X, y)
    assert not {0, 3} & set(ranker.features_)
    nothing = GradientFreeBoosting().fit(np.full((len(y), 2), 0.1), y)
    assert nothing.coef_.tolist() == [0.0, 0.0]
    assert nothing.n_iter_ == 1
    assert np.isfinite(nothing.decision_function([[0.1, 0.1]])).all()


def test_one_column_and_huge_values():
    X, y = rows(40)
    X = X[:, :1]
    assert GradientFreeBoosting(n_estimators=3).fit(X, y).features_.tolist() == [0, 0, 0]
    small = GradientFreeBoosting(n_estimators=3).fit(X, y)
    large = GradientFreeBoosting(n_estimators=3).fit(X * 1e200, y)
    assert large.rank(X * 1e200).tolist() == small.rank(X).tolist()


def test_time_that_runs_out_leaves_a_model():
    X, y = rows()
    ranker = GradientFreeBoosting(n_estimators=10**6, callback=lambda progress: progress.iterations < 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        ranker.fit(X, y)
    assert ranker.outcome_.status is Status.STOPPED
    assert 1 <= ranker.n_iter_ < 10**6


@pytest.mark.parametrize(
    "wrong, named",
    [
        ({"family": "probit"}, "family='probit'"),
        ({"singular_every": 0}, "singular_every=0"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"learning_rate": -1}, "learning_rate=-1"),
        ({"validation_fraction": 2.0}, "validation_fraction=2.0"),
        ({"statistic": "nonsense"}, "nonsense"),
    ],
)
def test_wrong_parameters_are_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        GradientFreeBoosting(**wrong).fit(*rows())


# -- grades and a response --------------------------------------------------------------------------

WERNER_Y = np.array([-3, 10.3, -8, 12, 14, -0.5, 29, -1.1, -5.7, 119])
WERNER_FITTED = np.array([0.02, 0.6, 0.1, 0.47, 0.82, 0.04, 0.77, 0.09, 0.01, 0.79])


@pytest.mark.parametrize(
    "statistic, printed",
    [
        ("hard_ranking_loss", 16 / 90),
        ("weak_ranking_loss@4", 0.2),
        ("weak_ranking_loss@4(standardize=true)", 0.25),
        ("localized_ranking_loss@4", 37 / 225),
        ("localized_ranking_loss@5", 1 / 15),
    ],
)
def test_example_of_the_review(statistic, printed):
    """Werner 2020, Example 2.1: the fitted values as the one column that a step takes."""
    other = np.array([1.0, 0, 0, 1, 0, 1, 0, 0, 1, 0])
    X = np.stack((other, WERNER_FITTED), axis=1)
    ranker = GradientFreeBoosting(statistic, singular_every=1, n_estimators=1).fit(X, WERNER_Y)
    assert ranker.features_.tolist() == [1]
    assert ranker.outcome_.value == pytest.approx(printed)
    assert ranker.score(X, WERNER_Y) == pytest.approx(-printed)


def test_a_response_is_fitted_as_numbers():
    X, _ = rows(80)
    y = X @ [1.0, 0.0, 3.0, 0.0, 0.0] + 0.1 * np.random.default_rng(0).normal(size=80)
    ranker = GradientFreeBoosting(singular_every=None, n_estimators=3000, learning_rate=0.5).fit(X, y)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(ranker.coef_, expected, atol=1e-6)


def test_levels_end_at_multinomial_regression():
    X, _ = rows(200)
    X = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    y = np.digitize(X[:, 0] + np.random.default_rng(0).normal(size=200), [-0.5, 0.5])
    ranker = GradientFreeBoosting(
        family="multi_logit", singular_every=None, n_estimators=3000, learning_rate=0.3
    ).fit(X, y)
    expected = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(
        ranker.coef_ - ranker.coef_.mean(axis=0), expected.coef_ - expected.coef_.mean(axis=0), atol=1e-3
    )
    level = expected.predict_proba(X) @ [0, 1, 2]
    np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, level, atol=1e-3)


def test_families_name_the_labels_they_cannot_use():
    X, y = rows(60)
    with pytest.raises(ValueError, match=r"does not learn from ordinal labels.*odds of two labels"):
        GradientFreeBoosting(family="logit").fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"does not learn from continuous labels.*function for each level"):
        GradientFreeBoosting(family="multi_logit").fit(X, y + 0.01 * np.arange(60))
