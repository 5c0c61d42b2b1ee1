"""Scores of any estimator; other packages' loops over small tables run in one thread."""

import numpy as np
import pytest
import sklearn.utils._openmp_helpers  # noqa: F401 - loads scikit-learn's own OpenMP library
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info, threadpool_limits

from toprank.base import fit_copy, positive_share, ranking_scores
from toprank.base.data import RankingData
from toprank.control import Run
from toprank.control.threads import FEW_CELLS


class Threads(BaseEstimator):
    """Says how many OpenMP threads it was given, wherever it is called."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        self.fitted_in_ = _threads()
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], 2), _threads(), dtype=float)


class Decides(Threads):
    def decision_function(self, X):
        return np.full(X.shape[0], _threads(), dtype=float)


def _threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp")


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(limits=2, user_api="openmp"):
        yield


@pytest.mark.parametrize("score", [ranking_scores, positive_share])
def test_small_tables_are_scored_in_one_thread_and_large_ones_are_not(score):
    small, large = np.zeros((5, 2)), np.zeros((FEW_CELLS // 10, 10))
    assert score(Threads(), small).tolist() == [1.0] * 5
    assert score(Threads(), large)[0] == 2.0
    assert _threads() == 2


def test_a_fit_has_one_thread_as_well():
    data = RankingData(np.array([[0.0], [1.0]]), np.array([0, 1], dtype=np.int8))
    fitted = fit_copy(Decides(), data, Run(rng=0))
    assert fitted.fitted_in_ == 1
    assert ranking_scores(fitted, data.X).tolist() == [1.0, 1.0]


def test_rows_in_a_list_have_scores():
    assert len(ranking_scores(Decides(), np.zeros((3, 1)))) == 3
    with pytest.raises(ValueError, match="one score for each row"):
        ranking_scores(type("Three", (), {"predict": lambda self, X: np.zeros((3, 3))})(), [[0.0]] * 3)
