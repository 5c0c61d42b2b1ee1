"""Statistics as scikit-learn scorers."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

from toprank.statistics import AUC, get, names, scorer
from toprank.statistics.base import registered


@pytest.fixture(scope="module")
def data():
    return make_classification(n_samples=120, weights=[0.8], flip_y=0.1, random_state=3)


def test_equals_the_statistic_on_the_decision_function(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    expected = get("ndcg@10")(y, model.decision_function(X))
    assert scorer("ndcg@10")(model, X, y) == expected


def test_uses_the_probability_of_the_larger_class(data):
    X, y = data
    labels = np.where(y == 1, "ill", "healthy")
    model = GaussianNB().fit(X, labels)
    probability = model.predict_proba(X)[:, list(model.classes_).index("ill")]
    assert scorer("auc", pos_label="ill")(model, X, labels) == pytest.approx(roc_auc_score(y, probability))


class Predictor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def test_falls_back_on_predict(data):
    X, y = data
    assert scorer("auc")(Predictor().fit(X, y), X, y) == AUC()(y, X[:, 0])


@pytest.mark.parametrize("name", ["infinite_push_loss", "p_norm_push_loss", "pairwise_misranking_error"])
def test_losses_are_negated(name, data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    assert scorer(name)(model, X, y) == -get(name)(y, model.decision_function(X)) <= 0


def test_every_statistic_works_in_cross_validation(data):
    X, y = data
    specs = [spec for name in names() for spec in (registered()[name].examples or (name,))]
    found = cross_validate(LogisticRegression(), X, y, scoring={spec: scorer(spec) for spec in specs}, cv=3)
    assert all(np.isfinite(found[f"test_{spec}"]).all() for spec in specs)


def test_grid_search_picks_the_smaller_loss(data):
    X, y = data
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=scorer("infinite_push_loss"), cv=3
    )
    search.fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0


def test_a_constant_scorer_is_no_good_unless_ties_are_forgiven(data):
    X, y = data
    constant = DummyClassifier(strategy="prior").fit(X, y)
    assert scorer("auc")(constant, X, y) == 0
    assert scorer("auc", ties="mean")(constant, X, y) == 0.5
    assert scorer("auc", ties="best")(constant, X, y) == 1


def test_sample_weight_reaches_the_statistic(data):
    X, y = data
    weight = np.arange(1.0, y.size + 1)
    model = LogisticRegression().fit(X, y)
    expected = get("dcg@20")(y, model.decision_function(X), sample_weight=weight)
    assert scorer("dcg@20")(model, X, y, sample_weight=weight) == expected
    assert expected != scorer("dcg@20")(model, X, y)


class Queries(ClassifierMixin, BaseEstimator):
    """Fits nothing; scores by the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_queries_are_routed(data):
    X, y = data
    qid = np.arange(y.size) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        by_query = scorer("auc").set_score_request(qid=True)
        values = cross_val_score(Queries(), X, y, scoring=by_query, params={"qid": qid}, cv=2)
        plain = cross_val_score(Queries(), X, y, scoring=scorer("auc"), cv=2)
    assert (values != plain).any()


def test_pickles_and_says_its_name():
    copy = pickle.loads(pickle.dumps(scorer("ndcg@5")))
    assert "ndcg@5" in repr(copy)
    assert "greater_is_better=False" in repr(scorer("infinite_push_loss"))


def test_bad_arguments():
    with pytest.raises(ValueError, match="unknown statistic"):
        scorer("nonsense")
    with pytest.raises(ValueError, match="ties must be one of"):
        scorer("auc", ties="never")
