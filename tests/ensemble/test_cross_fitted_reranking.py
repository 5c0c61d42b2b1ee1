"""RankThenRerank over a flexible base: out-of-fold scores, scores passed on, bags, wide tops, what counts."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from toprank import DirectRanker, ExactRanker, RankSVM, RankThenRerank, TreeRank, statistics
from toprank.ensemble.calibration import calibrated
from toprank.ensemble.rank_then_rerank import TopWidenedWarning
from toprank.exact import verify

QUICK = DirectRanker("dcg", n_restarts=1)


def data(n=240, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n) > 1.2).astype(int)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label of every row it has seen, and scores others by their first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.label_ = {row.tobytes(): float(label) for row, label in zip(X, y, strict=True)}
        return self

    def decision_function(self, X):
        return np.array([100 * self.label_.get(row.tobytes(), 0.0) + row[0] for row in np.asarray(X)])


def test_base_scores_of_training_rows_come_from_copies_that_never_saw_them():
    X, y = data()
    unseen = RankThenRerank(Memory(), QUICK, top=40, random_state=0).fit(X, y)
    assert np.array_equal(unseen.base_scores_, X[:, 0])
    assert unseen.top_rows_.tolist() == np.flatnonzero(X[:, 0] >= np.sort(X[:, 0])[-40]).tolist()
    assert unseen.threshold_ == np.sort(X[:, 0])[-40], "new rows are unseen too: they meet this cut"
    seen = RankThenRerank(Memory(), QUICK, top=100, cv=None, fewest_of_a_class=0, random_state=0).fit(X, y)
    assert np.array_equal(seen.base_scores_, 100 * y + X[:, 0])


def test_a_list_that_was_learned_by_heart_is_reranked_all_the_same():
    """In sample the base's order is perfect, and nothing could be learned from it."""
    X, y = data(400)
    new, truth = data(2000, seed=1)
    cross = RankThenRerank(DecisionTreeClassifier(random_state=0), QUICK, top=100, random_state=0).fit(X, y)
    auc = statistics.get("auc")
    inside = cross.base_.predict_proba(new)[:, 1] >= cross.threshold_
    assert auc(truth[inside], cross.decision_function(new)[inside]) > 0.5


def test_a_fitted_base_is_used_as_it_is():
    X, y = data()
    other, labels = data(seed=5)
    base = LogisticRegression().fit(other, labels)
    coef = base.coef_.copy()
    for given in (base, FrozenEstimator(base)):
        ranker = RankThenRerank(given, QUICK, top=40, cv="prefit", random_state=0).fit(X, y)
        assert ranker.base_ is base
        assert np.array_equal(base.coef_, coef)
        assert np.allclose(ranker.base_scores_, base.decision_function(X))


def test_a_base_that_is_not_fitted_or_ranks_the_other_way_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match=r'cv="prefit": the base is not fitted'):
        RankThenRerank(LogisticRegression(), QUICK, cv="prefit").fit(X, y)
    names = np.array(["fraud", "legit"])[1 - y]
    base = LogisticRegression().fit(X, names)
    with pytest.raises(ValueError, match="the base puts 'legit' at the top"):
        RankThenRerank(base, QUICK, cv="prefit", pos_label="fraud").fit(X, names)


@pytest.mark.parametrize(
    "options, word",
    [
        ({"cv": "all"}, "cv="),
        ({"n_bags": 0}, "n_bags="),
        ({"pass_score": "no"}, "pass_score="),
        ({"cv": 1}, "cv=1"),
    ],
)
def test_senseless_parameters_are_named(options, word):
    with pytest.raises(ValueError, match=word):
        RankThenRerank(reranker=QUICK, **options).fit(*data())


def test_the_score_of_a_base_that_is_not_linear_is_passed_on():
    X, y = data()
    forest = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)
    ranker = RankThenRerank(forest, QUICK, top=60, random_state=0).fit(X, y)
    assert ranker.passes_score_
    assert ranker.reranker_.coef_.shape == (4,)
    # By hand: the last feature is the score, less the cut, in units of the spread of all scores.
    scores = ranker.base_.predict_proba(X)[:, 1]
    column = (scores - ranker.threshold_) / ranker.base_scores_.std()
    top = np.flatnonzero(scores >= ranker.threshold_)
    by_hand = np.column_stack((X, column))[top] @ ranker.reranker_.coef_
    final = ranker.decision_function(X)[top]
    assert np.argsort(by_hand).tolist() == np.argsort(final).tolist()
    assert not RankThenRerank(LogisticRegression(), QUICK, top=60).fit(X, y).passes_score_
    assert RankThenRerank(LogisticRegression(), QUICK, top=60, pass_score=True).fit(X, y).passes_score_


def test_with_its_score_the_order_of_the_base_is_within_reach():
    """The search begins with it, so that it never ends below: no base order is kept."""
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            base = RandomForestClassifier(10, random_state=seed)
            assert RankThenRerank(base, QUICK, top=80, random_state=0).fit(X, y).reranked_


def test_bags_of_the_reranker():
    X, y = data()
    ranker = RankThenRerank(reranker=QUICK, top=60, n_bags=3, random_state=0).fit(X, y)
    assert len(ranker.reranker_.rankers_) == 3
    assert not hasattr(ranker, "certificate_")
    assert ranker.statistic == "dcg"
    assert all(one.statistic == "dcg" for one in ranker.reranker_.rankers_)
    in_queries = RankThenRerank(reranker=QUICK, top=10, n_bags=2, random_state=0)
    assert np.isfinite(in_queries.fit(X, y, qid=np.arange(len(y)) % 6).decision_function(X)).all()
    # Weights of the whole list's positions reach the bags of a single list.
    share = RankThenRerank(reranker=DirectRanker("precision@5%", n_restarts=1), top=60, n_bags=2)
    assert share.fit(X, y).reranker_.rankers_[0].statistic == "precision@5%"


def test_a_top_of_one_class_is_widened_until_it_can_teach():
    X, _ = data()
    y = (X[:, 0] > np.quantile(X[:, 0], 0.8)).astype(int)  # 48 positives, all first
    base = LogisticRegression()
    with pytest.warns(TopWidenedWarning, match="the top 20 of .* so the top 80 are reranked"):
        ranker = RankThenRerank(base, QUICK, top=20, cv=None, random_state=0).fit(X, y)
    assert (ranker.top, ranker.top_, ranker.n_top_) == (20, 80, 80)
    options = {"top": 0.1, "fewest_of_a_class": 30, "cv": None, "random_state": 0}
    with pytest.warns(TopWidenedWarning, match="fewer than 30 .* the top 0.4 are"):
        share = RankThenRerank(base, QUICK, **options).fit(X, y)
    assert share.n_top_ == 96
    rare = np.zeros(len(y), dtype=int)
    rare[np.argsort(X[:, 0])[:2]] = 1  # two positives, both last: all rows are needed to have them
    with pytest.warns(TopWidenedWarning, match="top 240 are"):
        RankThenRerank(reranker=QUICK, top=20, threshold=None, cv="prefit", base=first_feature(X)).fit(
            X, rare
        )


def first_feature(X):
    base = LogisticRegression().fit(X, X[:, 0] > 0)
    base.coef_ = np.eye(X.shape[1])[:1]
    return base


def test_missing_values_are_taken_where_the_base_takes_them():
    X, y = data()
    X[::5, 1] = np.nan
    ranker = RankThenRerank(HistGradientBoostingClassifier(max_iter=20), QUICK, top=60, random_state=0).fit(
        X, y
    )
    assert np.isfinite(ranker.decision_function(X)).all()
    # A row with a gap is reranked as one with the median there.
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    scores = ranker.base_.decision_function(X)
    top = np.flatnonzero(scores >= ranker.threshold_)
    column = (scores - ranker.threshold_) / ranker.base_scores_.std()
    by_hand = np.column_stack((filled, column))[top] @ ranker.reranker_.coef_
    assert np.argsort(by_hand).tolist() == np.argsort(ranker.decision_function(X)[top]).tolist()
    with pytest.raises(ValueError, match="NaN"):
        RankThenRerank(reranker=QUICK).fit(X, y)


def test_weights_reach_base_and_reranker_or_are_refused_by_name():
    X, y = data()
    weight = np.where(X[:, 1] > 0, 4.0, 1.0)
    ranker = RankThenRerank(LogisticRegression(), RankSVM(), top=60, cv=None).fit(X, y, weight)
    base = LogisticRegression().fit(X, y, weight)
    assert np.allclose(ranker.base_.coef_, base.coef_)
    top = ranker.top_rows_
    assert np.allclose(ranker.reranker_.coef_, RankSVM().fit(X[top], y[top], weight[top]).coef_, rtol=1e-3)
    with pytest.raises(ValueError, match="sample_weight: DirectRanker in RankThenRerank takes no weights"):
        RankThenRerank(reranker=QUICK).fit(X, y, weight)
    with pytest.raises(ValueError, match="qid: TreeRank in RankThenRerank"):
        RankThenRerank(reranker=TreeRank()).fit(X, y, qid=np.arange(len(y)) % 3)


def test_coefficients_where_the_top_is_ordered_linearly():
    X, y = data()
    plain = RankThenRerank(reranker=QUICK, top=60, random_state=0).fit(X, y)
    assert np.array_equal(plain.coef_, plain.reranker_.coef_)
    top = X[plain.rank(X)[: plain.n_top_ // 2]]
    assert np.argsort(-(top @ plain.coef_), kind="stable").tolist() == list(range(len(top)))
    passed = RankThenRerank(reranker=QUICK, top=60, pass_score=True, random_state=0).fit(X, y)
    first = X[passed.rank(X)[: passed.n_top_ // 2]]
    assert np.argsort(-(first @ passed.coef_), kind="stable").tolist() == list(range(len(first)))
    with pytest.raises(AttributeError, match="not linear"):
        _ = RankThenRerank(RandomForestClassifier(5), QUICK, top=60).fit(X, y).coef_
    with pytest.raises((AttributeError, NotFittedError)):
        _ = RankThenRerank().coef_


def test_importances_are_shares():
    X, y = data()
    X = np.column_stack((X, np.zeros(len(X))))
    for base in (LogisticRegression(), RandomForestClassifier(20, random_state=0)):
        shares = RankThenRerank(base, QUICK, top=60, random_state=0).fit(X, y).feature_importances_
        assert shares.shape == (4,)
        assert shares.sum() == pytest.approx(1.0)
        assert (shares >= 0).all()
        assert shares[3] == 0, "a constant column decides nothing"


def test_where_importances_are_not_told_the_error_says_how_to_measure_them():
    X, y = data()
    X = np.column_stack((X, np.zeros(len(X))))
    boosting = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    ranker = RankThenRerank(boosting, QUICK, top=60, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match=r"sklearn\.inspection\.permutation_importance\(ranker, X, y\)"):
        _ = ranker.feature_importances_
    found = permutation_importance(ranker, X, y, random_state=0)
    assert found.importances_mean.shape == (4,)
    assert found.importances_mean.max() > 0
    assert found.importances_mean[3] == 0, "a constant column decides nothing"


def test_shap_explains_the_scores():
    shap = pytest.importorskip("shap")
    X, y = data(120)
    ranker = RankThenRerank(reranker=QUICK, top=40, random_state=0).fit(X, y)
    found = shap.Explainer(ranker.decision_function, X)(X[:5])
    assert found.values.shape == (5, 3)
    # Shares add up to the score.
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, ranker.decision_function(X[:5]), atol=1e-6
    )


def test_probabilities_rise_with_the_score_and_are_right_on_average():
    X, y = data(1000)
    new, truth = data(4000, seed=7)
    ranker = RankThenRerank(RandomForestClassifier(50, min_samples_leaf=5, random_state=0), QUICK, top=100)
    shares = ranker.set_params(random_state=0).fit(X, y).predict_proba(new)
    assert np.allclose(shares.sum(axis=1), 1.0)
    order = ranker.rank(new)
    assert (np.diff(shares[order, 1]) <= 1e-12).all()
    assert shares[:, 1].mean() == pytest.approx(truth.mean(), abs=0.03)
    # In tenths of the list what is promised is what is found, within three standard errors.
    for part in np.array_split(order, 10):
        error = np.sqrt(max(shares[part, 1].mean() * (1 - shares[part, 1].mean()), 0.01) / len(part))
        assert abs(shares[part, 1].mean() - truth[part].mean()) < 3 * error + 0.05
    assert not hasattr(RankThenRerank(RankSVM(), QUICK), "predict_proba")


def test_the_curves_are_those_of_least_loss():
    rng = np.random.default_rng(0)
    under = -rng.exponential(size=600)
    inside, unit = rng.random(600) < 0.3, rng.exponential(size=600)
    odds = np.where(inside, 0.5 + 0.7 * unit, -0.5 + 1.5 * under)
    y = (rng.random(600) < 1 / (1 + np.exp(-odds))).astype(np.int8)
    found = calibrated(under, inside, unit, y, None)
    shares = found.probabilities(under, inside, unit)
    assert (np.diff(shares[~inside][np.argsort(under[~inside])]) >= 0).all()
    assert shares[inside].min() > shares[~inside].max()
    labels = y[inside]
    target = np.where(labels == 1, (labels.sum() + 1) / (labels.sum() + 2), 1 / ((1 - labels).sum() + 2))

    def loss(step, above):
        z = found.top[0] + step + above * unit[inside]
        return np.sum(np.log1p(np.exp(z)) - target * z)

    for change in ((0.02, 0.0), (0.0, 0.02), (-0.02, 0.0), (0.0, -0.02)):
        step, above = found.top[1] + change[0], found.top[2] + change[1]
        if step >= 0:
            assert loss(step, above) >= loss(*found.top[1:]) - 1e-6


def test_repeated_rows_are_calibrated_as_weights():
    under, inside = np.array([-2.0, -1.0, -0.5, 0.0, 0.0]), np.array([False] * 3 + [True] * 2)
    unit, y = np.array([0.0, 0.0, 0.0, 1.0, 2.0]), np.array([0, 1, 0, 0, 1], dtype=np.int8)
    times = np.array([3, 2, 1, 2, 2])
    weighted = calibrated(under, inside, unit, y, times.astype(float))
    rows = np.repeat(np.arange(5), times)
    repeated = calibrated(under[rows], inside[rows], unit[rows], y[rows], None)
    ours, theirs = (one.probabilities(under, inside, unit) for one in (weighted, repeated))
    assert np.allclose(ours, theirs, atol=1e-5)


def test_the_certificate_is_about_the_rows_of_the_fit():
    X, y = data(80, d=2)
    ranker = RankThenRerank(reranker=ExactRanker(time_limit=20), top=25, random_state=0).fit(X, y)
    assert verify(ranker.problem(X, y), ranker.certificate_, seconds=0).failed == ()
    with pytest.raises(ValueError, match="rows of the fit"):
        ranker.problem(X[:10], y[:10])
