"""RankThenRerank: the top is reranked, the rest keeps its order, and the whole is one estimator."""

import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import DirectRanker, RankThenRerank, statistics
from toprank.base import LinearRanker
from toprank.control import Outcome, Progress, SearchStoppedWarning, Status, keep_best_on_interrupt
from toprank.ensemble.rank_then_rerank import OneClassTopWarning
from toprank.rankers.parts.starts import linear_direction


class Given(ClassifierMixin, BaseEstimator):
    """Scores each row by one of its columns, whatever that column holds."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, self.column].astype(float)


def data(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 1).astype(int)
    return X, y


def by_hand(base, again, threshold):
    """The order the definition asks for: top by the second score, then the rest by the first."""
    inside = [i for i in range(len(base)) if base[i] >= threshold]
    outside = [i for i in range(len(base)) if base[i] < threshold]
    return sorted(inside, key=lambda i: -again[i]) + sorted(outside, key=lambda i: -base[i])


def test_new_items_above_the_threshold_are_reranked_and_stay_above_the_rest():
    X, y = data()
    ranker = RankThenRerank(Given(0), Given(1), top=30).fit(X, y)
    new = np.random.default_rng(1).normal(size=(300, 4))
    expected = by_hand(new[:, 0], new[:, 1], ranker.threshold_)
    assert ranker.rank(new).tolist() == expected
    assert np.argsort(-ranker.decision_function(new), kind="stable").tolist() == expected
    assert ranker.n_top_ == 30
    assert ranker.threshold_ == np.sort(X[:, 0])[-30]


def test_the_first_rows_are_the_head_of_the_list():
    X, y = data()
    ranker = RankThenRerank(Given(0), Given(1), top=30).fit(X, y)
    assert ranker.first(X, 3).tolist() == by_hand(X[:, 0], X[:, 1], ranker.threshold_)[:3]


hostile = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e100, max_value=1e100)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(hostile, hostile), min_size=4, max_size=12), st.integers(1, 12))
def test_hostile_scores_keep_their_order(pairs, top):
    X = np.array(pairs)
    y = np.arange(len(X)) % 2
    with np.errstate(over="ignore"):
        try:
            ranker = RankThenRerank(Given(0), Given(1), top=top, fewest_of_a_class=0, pass_score=False).fit(
                X, y
            )
        except OneClassTopWarning:
            return
        scores = ranker.decision_function(X)
    assert np.isfinite(scores).all()
    assert ranker.rank(X).tolist() == by_hand(X[:, 0], X[:, 1], ranker.threshold_)
    inside = X[:, 0] >= ranker.threshold_
    # Rounding may join neighbours, but never turns an order round.
    ranked = scores[ranker.rank(X)]
    assert (np.diff(ranked) <= 0).all()
    if (~inside).any():
        assert scores[inside].min() > scores[~inside].max()


@pytest.mark.parametrize(("top", "count"), [(25, 25), (0.1, 20), (1000, 200), (0.001, 1)])
def test_top_as_count_and_share(top, count):
    X, y = data()
    y[np.argsort(-X[:, 0])[:2]] = 0, 1
    if count == 1:
        with pytest.warns(OneClassTopWarning):
            ranker = RankThenRerank(Given(0), Given(1), top=top, fewest_of_a_class=0).fit(X, y)
    else:
        ranker = RankThenRerank(Given(0), Given(1), top=top, fewest_of_a_class=0).fit(X, y)
    assert ranker.n_top_ == count


def test_top_as_score():
    X, y = data()
    ranker = RankThenRerank(Given(0), Given(1), threshold=0.5).fit(X, y)
    assert ranker.threshold_ == 0.5
    assert ranker.n_top_ == (X[:, 0] >= 0.5).sum()


@pytest.mark.parametrize("top", [0, -3, 1.5, "ten", 0.0])
def test_senseless_tops_are_named(top):
    X, y = data()
    with pytest.raises(ValueError, match="top="):
        RankThenRerank(top=top).fit(X, y)


def test_one_class_on_top_keeps_the_base_order_and_says_so():
    X, _ = data()
    y = (X[:, 0] > np.quantile(X[:, 0], 0.8)).astype(int)
    with pytest.warns(OneClassTopWarning, match="one class only"):
        ranker = RankThenRerank(Given(0), Given(1), top=20, fewest_of_a_class=0).fit(X, y)
    assert ranker.reranker_ is None
    assert "base order is kept" in ranker.outcome_.notes[0]
    assert ranker.rank(X).tolist() == np.argsort(-X[:, 0], kind="stable").tolist()


def test_reranking_beats_the_base_on_the_training_top():
    X, y = data(n=400)
    ranker = RankThenRerank(top=60, random_state=0).fit(X, y)
    dcg = statistics.get("dcg")
    top = ranker.base_.decision_function(X) >= ranker.threshold_
    assert dcg(y[top], ranker.decision_function(X)[top]) >= dcg(
        y[top], ranker.base_.decision_function(X)[top]
    )
    assert ranker.score(X, y) == dcg(y, ranker.decision_function(X))
    assert isinstance(ranker.outcome_, Outcome)


@pytest.mark.filterwarnings("ignore::toprank.ensemble.rank_then_rerank.BaseOrderKeptWarning")
@pytest.mark.parametrize(
    "base",
    [RandomForestClassifier(20, random_state=0), LinearRegression(), LogisticRegression()],
)
def test_any_base_that_scores_will_do(base):
    X, y = data()
    ranker = RankThenRerank(base, top=40, random_state=0).fit(X, y)
    assert sorted(ranker.rank(X).tolist()) == list(range(len(X)))


def test_sparse_rows_give_the_dense_order():
    X, y = data(n=120)
    X[np.abs(X) < 0.5] = 0.0
    dense = RankThenRerank(top=40, random_state=0).fit(X, y)
    sparse = RankThenRerank(top=40, random_state=0).fit(sp.csr_matrix(X), y)
    assert np.allclose(dense.decision_function(X), sparse.decision_function(sp.csr_matrix(X)))


def test_pipelines_grids_and_folds():
    X, y = data()
    pipeline = make_pipeline(
        StandardScaler(), RankThenRerank(reranker=DirectRanker(n_restarts=0), random_state=0)
    )
    assert np.isfinite(cross_val_score(pipeline, X, y, scoring=statistics.scorer("ndcg@10"), cv=3)).all()
    grid = GridSearchCV(pipeline, {"rankthenrerank__top": [20, 40]}, cv=3).fit(X, y)
    assert grid.best_params_["rankthenrerank__top"] in (20, 40)
    assert clone(grid.best_estimator_).get_params()["rankthenrerank__top"] in (20, 40)


class Listening(LinearRanker):
    """Keeps what it hears of the run it is fitted in."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def _fit(self, data, run):
        self.coef_ = np.zeros(data.X.shape[1]) if data.start is None else data.start
        self.remaining_, self.draw_ = run.remaining(), run.rng.integers(2**31)
        self.went_on_ = run.report(Progress(1.0, phase="listening"), force=True)
        return Outcome(1.0, status=run.stopped_by or Status.FINISHED)


def test_time_seed_callback_and_start_reach_the_reranker():
    X, y = data()
    seen = []
    options = {"top": 40, "time_limit": 30.0, "random_state": 3}
    one, two = (RankThenRerank(None, Listening(), callback=seen.append, **options).fit(X, y) for _ in "12")
    heard = one.reranker_
    assert 0 < heard.remaining_ <= 30.0
    assert heard.draw_ == two.reranker_.draw_
    assert [progress.phase for progress in seen] == ["listening"] * 2
    assert np.allclose(heard.coef_, linear_direction(one.base_, 4))
    own = RankThenRerank(reranker=DirectRanker(random_state=7), top=40, random_state=3).fit(X, y)
    assert own.reranker_.random_state == 7
    assert one.reranker_.get_params().keys() == {"random_state"}
    with pytest.warns(SearchStoppedWarning, match=r"RankThenRerank \(Listening\).*callback"):
        stopped = RankThenRerank(None, Listening(), callback=lambda progress: False, **options).fit(X, y)
    assert not stopped.reranker_.went_on_


def test_same_seed_same_answer():
    X, y = data()
    first, second = (RankThenRerank(top=40, random_state=1).fit(X, y).decision_function(X) for _ in range(2))
    assert np.array_equal(first, second)


def test_the_direction_of_a_linear_base_is_found():
    X, y = data()
    base = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    expected = base[-1].coef_.ravel() / base[0].scale_
    assert np.allclose(linear_direction(base, 4), expected)
    assert linear_direction(RandomForestClassifier(5, random_state=0).fit(X, y), 4) is None


class Interrupted(Given):
    """A base during whose fit somebody presses Ctrl-C, once."""

    pressed = False

    def fit(self, X, y):
        if not Interrupted.pressed:
            Interrupted.pressed = True
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


@pytest.mark.parametrize("cv", [None, 5])
def test_ctrl_c_while_the_base_is_fitted_stops_the_reranker_too(cv):
    Interrupted.pressed = False
    X, y = data(n=2000, d=10)
    with keep_best_on_interrupt(), pytest.warns(SearchStoppedWarning):
        ranker = RankThenRerank(Interrupted(0), DirectRanker(n_restarts=10_000), top=500, cv=cv).fit(X, y)
    assert ranker.outcome_.status is Status.INTERRUPTED
    assert ranker.outcome_.seconds < 20


def test_a_fitted_one_pickles_whatever_the_callback_was():
    X, y = data()
    ranker = RankThenRerank(top=40, random_state=0, callback=None).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(ranker)).rank(X), ranker.rank(X))
    assert ranker.reranker_.callback is None
