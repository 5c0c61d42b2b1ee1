"""Fits inside fits: time, seed, callback and start reach whoever can use them, and nobody else."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController

from toprank import DirectRanker, RankSVM, TreeRank, regularisation_path
from toprank.base import LinearRanker, RankingData, abilities, fit_copy
from toprank.control import Outcome, Progress, Run, SearchStoppedWarning, Status, worker_count
from toprank.control import threads as threads_module

ROWS = np.random.default_rng(0).normal(size=(30, 2))
LABELS = (np.arange(30) % 3 == 0).astype(np.int8)


class Listening(LinearRanker):
    """Keeps what it hears of the run it is fitted in."""

    def __init__(self, time_limit=None, random_state=None, callback=None):
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback

    def _fit(self, data, run):
        self.data_, self.left_, self.draw_ = data, run.remaining(), int(run.rng.integers(2**31))
        self.coef_ = np.zeros(data.X.shape[1]) if data.start is None else data.start
        self.went_on_ = run.report(Progress(1.0), force=True)
        return Outcome(1.0, status=run.stopped_by or Status.FINISHED)


class Stranger(ClassifierMixin, BaseEstimator):
    """Not one of ours, but with a time limit and a callback."""

    def __init__(self, time_limit=None, callback=None):
        self.time_limit = time_limit
        self.callback = callback

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.limit_, self.went_on_ = self.time_limit, self.callback is None or self.callback(Progress(1.0))
        return self

    def decision_function(self, X):
        return X[:, 0]


def data(**more):
    return RankingData(ROWS, LABELS, **more)


def test_the_less_of_both_limits_counts():
    run = Run(time_limit=50.0, rng=0)
    assert 49 < Listening().fit_within(ROWS, LABELS, run).left_ <= 50
    assert Listening(time_limit=5.0).fit_within(ROWS, LABELS, run).left_ <= 5
    assert 49 < Listening(time_limit=500.0).fit_within(ROWS, LABELS, run).left_ <= 50
    with pytest.raises(ValueError, match="time_limit"):
        Listening(time_limit=-1).fit_within(ROWS, LABELS, run)


def test_own_seeds_stand_and_others_come_from_the_run():
    first, second = (Listening().fit_within(ROWS, LABELS, Run(rng=4)).draw_ for _ in range(2))
    assert first == second
    own = Listening(random_state=7).fit_within(ROWS, LABELS, Run(rng=4)).draw_
    assert own == Listening(random_state=7).fit(ROWS, LABELS).draw_ != first


def test_the_callback_of_the_whole_stops_the_whole_and_an_own_one_only_its_ranker():
    heard = []
    run = Run(callback=lambda progress: heard.append(progress))
    assert Listening().fit_within(ROWS, LABELS, run).went_on_
    assert len(heard) == 1
    stopped = Run(callback=lambda progress: False)
    assert not Listening().fit_within(ROWS, LABELS, stopped).went_on_
    assert stopped.stopped_by is Status.STOPPED
    outer = Run(callback=lambda progress: heard.append(progress))
    ranker = Listening(callback=lambda progress: False).fit_within(ROWS, LABELS, outer)
    assert ranker.outcome_.status is Status.STOPPED
    assert not outer.should_stop()
    assert len(heard) == 1


def test_being_cut_short_inside_is_for_the_outer_one_to_say():
    run = Run(callback=lambda progress: False)
    Listening().fit_within(ROWS, LABELS, run)  # warnings are errors here
    with pytest.warns(SearchStoppedWarning):
        Listening(callback=lambda progress: False).fit(ROWS, LABELS)


def test_a_start_reaches_the_search():
    assert Listening().fit_within(ROWS, LABELS, Run(), start=[3.0, 4.0]).coef_.tolist() == [3.0, 4.0]
    stuck = DirectRanker(n_restarts=0, max_iter=1, random_state=0)
    worst = stuck.fit_within(ROWS, LABELS, Run(), start=[1.0, 0.0])
    assert np.isfinite(worst.coef_).all()
    with pytest.raises(ValueError, match="2 finite coefficients"):
        stuck.fit_within(ROWS, LABELS, Run(), start=[1.0])


def test_strangers_get_time_and_the_stop_button_and_keep_neither():
    run = Run(time_limit=9.0, callback=lambda progress: False)
    fitted = fit_copy(Stranger(), data(), run)
    assert 0 < fitted.limit_ <= 9.0
    assert fitted.went_on_ is False
    assert run.stopped_by is Status.STOPPED
    assert (fitted.time_limit, fitted.callback) == (None, None)
    assert fit_copy(Stranger(time_limit=2.0), data(), Run(time_limit=9.0)).limit_ == 2.0
    assert fit_copy(Stranger(), data(), Run()).limit_ is None


def test_pipelines_are_fitted_within_too():
    fitted = fit_copy(make_pipeline(StandardScaler(), Listening()), data(), Run(time_limit=9.0, rng=0))
    assert 0 < fitted[-1].left_ <= 9.0
    assert np.allclose(fitted[-1].data_.X, StandardScaler().fit_transform(ROWS))
    assert fitted.decision_function(ROWS).shape == (30,)
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    assert fit_copy(forest, data(), Run(rng=0))[-1].random_state is not None


def test_what_cannot_be_used_is_refused_by_name():
    with pytest.raises(ValueError, match="sample_weight: KNeighborsClassifier takes no weights"):
        fit_copy(KNeighborsClassifier(), data(sample_weight=np.ones(30)), Run())
    with pytest.raises(ValueError, match="qid: TreeRank learns from one list"):
        fit_copy(TreeRank(), data(qid=np.arange(30) % 2), Run())
    fit_copy(KNeighborsClassifier(), data(qid=np.arange(30) % 2), Run())  # looks at rows one by one


def test_abilities_of_strangers_are_what_their_fit_takes():
    assert abilities(RandomForestClassifier()).weights
    assert not abilities(KNeighborsClassifier()).weights
    assert abilities(make_pipeline(StandardScaler(), DirectRanker())).queries


def test_paths_share_their_time():
    weight = np.ones(30)
    path = regularisation_path(RankSVM(), ROWS, LABELS, [0.1, 1.0], sample_weight=weight, time_limit=60.0)
    assert path.coefs.shape == (2, 2)
    assert [outcome.status.finished for outcome in path.outcomes] == [True, True]


def test_compiling_does_not_count():
    import time

    run = Run(time_limit=10.0)
    inner = run.part()
    with inner.uncounted():
        time.sleep(0.2)
    assert run.remaining() > 9.9
    assert inner.remaining() > 9.9


class Watched(ClassifierMixin, BaseEstimator):
    """Says how many OpenMP threads it would have had."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.threads_ = _openmp_effective_n_threads()
        return self


@pytest.mark.skipif(worker_count(-1) < 2, reason="there is one processor")
@pytest.mark.parametrize("cells, threads", [(10**9, 1), (10, 2)])
def test_small_tables_are_learned_from_in_one_thread(cells, threads, monkeypatch):
    monkeypatch.setattr(threads_module, "FEW_CELLS", cells)
    with ThreadpoolController().limit(limits=2, user_api="openmp"), Run() as run:
        fitted = fit_copy(Watched(), data(), run)
        assert fitted.threads_ == threads
        assert _openmp_effective_n_threads() == 2
