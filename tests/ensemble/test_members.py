"""Members: seeds, time and weights handed on, log-odds, and scores of rows a copy never saw."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank.base import RankingData, fit_copy
from toprank.control import Run
from toprank.ensemble.members import cross_fitted, logit_scores


class Memory(ClassifierMixin, BaseEstimator):
    """Scores a row it was fitted to with 1, any other with 0."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = {row.tobytes() for row in X}
        return self

    def decision_function(self, X):
        return np.array([float(row.tobytes() in self.seen_) for row in X])


def data(n=30, **more):
    rng = np.random.default_rng(0)
    return RankingData(rng.normal(size=(n, 2)), (np.arange(n) % 3 == 0).astype(np.int8), **more)


def test_out_of_fold_scores_come_from_copies_that_never_saw_the_row():
    rows = data()
    fold = np.arange(30) % 5
    folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(5)]
    assert not cross_fitted(Memory(), rows, folds, Run(rng=0)).any()
    assert fit_copy(Memory(), rows, Run(rng=0)).decision_function(rows.X).all()


def test_seeds_are_handed_on_where_the_user_left_them_open():
    member = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3))
    fitted = fit_copy(member, data(), Run(rng=0))
    assert fitted.get_params()["randomforestclassifier__random_state"] is not None
    own = fit_copy(RandomForestClassifier(n_estimators=3, random_state=7), data(), Run(rng=0))
    assert own.random_state == 7


def test_weights_reach_the_last_step_of_a_pipeline():
    rows = data()
    weight = np.where(rows.X[:, 0] > 0, 5.0, 1.0)
    weighted = RankingData(rows.X, rows.y, None, weight)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    ours = fit_copy(pipeline, weighted, Run(rng=0))
    theirs = pipeline.fit(rows.X, rows.y, logisticregression__sample_weight=weight)
    assert np.allclose(ours.decision_function(rows.X), theirs.decision_function(rows.X))
    with pytest.raises(ValueError, match="KNeighborsClassifier"):
        fit_copy(KNeighborsClassifier(), weighted, Run(rng=0))


def test_log_odds():
    rows = data()
    bayes = GaussianNB().fit(rows.X, rows.y)
    share = bayes.predict_proba(rows.X)[:, 1]
    assert np.allclose(logit_scores(bayes, rows.X), np.log(share / (1 - share)))
    forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(rows.X, rows.y)
    scores = logit_scores(forest, rows.X)
    assert np.isfinite(scores).all()
    assert scores.max() <= np.log(20.5 / 0.5) + 1e-9  # all of 20 trees: no more certain than that
