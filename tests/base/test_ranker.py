"""What `BaseRanker` does for every ranker: labels, thresholds, order, scores, errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

from toprank import statistics
from toprank.base import LinearRanker, RankingData, best_first, query_codes, ranking_scores
from toprank.control import Outcome, Progress, SearchStoppedWarning, Status


class First(LinearRanker):
    """Ranks by the first feature and keeps what it was given."""

    def __init__(self, statistic="auc", time_limit=None, callback=None, verbose=0, status=Status.FINISHED):
        self.statistic = statistic
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose
        self.status = status

    def _fit(self, data, run):
        self.data_ = data
        self.coef_ = np.eye(data.X.shape[1])[0]
        run.report(Progress(1.0, 2.0, phase="looking"))
        return Outcome(1.0, status=self.status)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.ranker_tags.queries = True
        return tags


X = np.array([[3.0, 0.0], [1.0, 5.0], [2.0, 1.0], [0.0, 1.0]])


def test_fit_gets_clean_data():
    ranker = First().fit(X.tolist(), ["yes", "no", "yes", "no"], qid=["u", "v", "v", "u"])
    data = ranker.data_
    assert isinstance(data, RankingData)
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.qid.tolist() == [0, 1, 1, 0]
    assert ranker.classes_.tolist() == ["no", "yes"]
    assert ranker.n_features_in_ == 2
    assert sp.issparse(First().fit(sp.coo_matrix(X), [1, 0, 1, 0]).data_.X)


def test_order_and_labels():
    ranker = First().fit(X, [1, 0, 1, 0])
    assert ranker.rank(X).tolist() == [0, 2, 1, 3]
    assert ranker.first(X, 2).tolist() == [0, 2]
    assert ranker.first(X, 0).tolist() == []
    assert ranker.predict(X).tolist() == [1, 0, 1, 0]
    assert ranker.rank(np.zeros((3, 2))).tolist() == [0, 1, 2], "ties keep the order of the rows"
    for k in (-1, 5):
        with pytest.raises(ValueError, match="between 0 and the number of rows, 4"):
            ranker.first(X, k)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 1e300, -1e300, 5e-324]), min_size=2, max_size=12),
    st.data(),
)
def test_as_many_rows_are_called_positive_as_there_are_unless_tied(values, data):
    n_pos = data.draw(st.integers(1, len(values) - 1))
    rows = np.array(values)[:, None]
    y = np.arange(len(values)) < n_pos
    positive = int((First().fit(rows, y).predict(rows)).sum())
    cut = sorted(values, reverse=True)[n_pos - 1]
    tied = sum(value >= cut for value in values) > n_pos
    assert positive <= n_pos
    assert positive == (sum(value > cut for value in values) if tied else n_pos)


def test_score_is_the_statistic_and_losses_are_turned_round():
    y = np.array([0, 1, 1, 0])
    for name in ("auc", "dcg", "pairwise_misranking_error"):
        ranker = First(name).fit(X, y)
        statistic = statistics.get(name)
        value = statistic(y, X[:, 0])
        assert ranker.score(X, y) == pytest.approx(value if statistic.greater_is_better else -value)


def test_errors_name_the_trouble():
    with pytest.raises(ValueError, match="one class only"):
        First().fit(X, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="3 different values"):
        First().fit(X, [0, 1, 2, 2])
    with pytest.raises(ValueError, match="inconsistent"):
        First().fit(X, [0, 1, 1, 0], qid=[1, 2])
    with pytest.raises(ValueError, match="NaN"):
        First().fit(np.where(X == 3, np.nan, X), [0, 1, 1, 0])
    with pytest.raises(NotFittedError):
        First().rank(X)
    with pytest.raises(ValueError, match="features"):
        First().fit(X, [0, 1, 1, 0]).rank(X[:, :1])


def test_progress_is_printed_when_asked(capsys):
    First(verbose=1).fit(X, [0, 1, 1, 0])
    assert "looking" in capsys.readouterr().out
    First().fit(X, [0, 1, 1, 0])
    assert capsys.readouterr().out == ""


def test_a_fit_cut_short_warns_where_the_user_stands():
    with pytest.warns(SearchStoppedWarning, match="First kept the best answer") as caught:
        First(status=Status.TIME_LIMIT).fit(X, [0, 1, 1, 0])
    assert caught[0].filename == __file__


def test_scores_of_any_estimator():
    y = np.array([0, 1, 1, 0])
    for estimator in (
        LogisticRegression(),
        RandomForestClassifier(5),
        KNeighborsRegressor(1),
        LinearRegression(),
        First(),
    ):
        assert ranking_scores(estimator.fit(X, y), X).shape == (4,)
    forest = RandomForestClassifier(5).fit(X, [0, 1, 2, 0])
    with pytest.raises(ValueError, match=r"one score for each row"):
        ranking_scores(forest, X)


def test_small_helpers():
    assert best_first(np.array([1.0, np.inf, 1.0, -np.inf])).tolist() == [1, 0, 2, 3]
    assert query_codes([30, 10, 30]).tolist() == [1, 0, 1]
