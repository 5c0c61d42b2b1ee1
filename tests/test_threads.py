"""Threads of the linear algebra: few for small matrices, given back, never more than the caller allows."""

from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import toprank
from toprank.control import threads
from toprank.control.threads import threads_for, wanted_threads


class Library:
    """Stands for a BLAS library with three threads: how many a real one has depends on where tests run."""

    prefix = "libblas"
    num_threads = 3

    @property
    def lib_controllers(self):
        return [self]

    @contextmanager
    def limit(self, limits):
        before, self.num_threads = self.num_threads, limits[self.prefix]
        try:
            yield
        finally:
            self.num_threads = before


@pytest.fixture
def library(monkeypatch):
    one = Library()
    monkeypatch.setattr(threads, "_blas", lambda: one)
    return one


def real_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.mark.parametrize("processors", [1, 2, 3, 16, 256])
def test_larger_matrices_never_get_fewer_threads(processors):
    sizes = [wanted_threads(side, processors) for side in (1, 149, 150, 1499, 1500, 10**6)]
    counts = [np.inf if size is None else size for size in sizes]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert min(counts) >= 1


def test_small_matrices_get_one_thread_and_the_others_come_back(library):
    with threads_for(10):
        assert library.num_threads == 1
        with threads_for(20):
            assert library.num_threads == 1
        assert library.num_threads == 1
    assert library.num_threads == 3
    with pytest.raises(KeyError), threads_for(10):
        raise KeyError
    assert library.num_threads == 3


def test_large_matrices_get_what_the_caller_allows(library):
    with threads_for(threads.LARGE):
        assert library.num_threads == 3


@pytest.mark.parametrize("allowed", [1, 2, 8])
def test_a_limit_of_the_callers_is_not_raised(library, allowed, monkeypatch):
    monkeypatch.setattr(threads, "worker_count", lambda n_jobs: 64)
    library.num_threads = allowed
    with threads_for(500):
        assert library.num_threads == min(allowed, threads.A_FEW)


def test_the_real_libraries_follow():
    before = real_threads()
    assert before
    with threads_for(10):
        assert set(real_threads()) == {1}
    assert real_threads() == before


RANKERS = [
    toprank.AccuracyAtTop(0.3),
    toprank.GreedyRankRLS(1),
    toprank.Grill(0.3),
    toprank.InfinitePush(),
    toprank.PatMat(0.3),
    toprank.PNormPush(),
    toprank.RankBoost(n_estimators=3),
    toprank.RankRLS(kernel="rbf"),
    toprank.RankSVM(),
    toprank.TauFPL(0.3),
    toprank.TopPush(kernel="rbf", approximation="nystroem", n_components=5),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_every_convex_ranker_fits_small_data_in_one_thread(ranker, library):
    """Whatever a run is asked during the fit, it is asked inside the limit; the limit ends with the fit."""
    inside, after = set(), set()

    class Watched(type(ranker)):
        def _make_run(self):
            run = super()._make_run()
            stop = run.should_stop
            run.should_stop = lambda: inside.add(library.num_threads) or stop()
            return run

        def _finish(self, data):
            after.add(library.num_threads)
            super()._finish(data)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[y == 1] += 3.0
    Watched(**ranker.get_params()).fit(X, y)
    assert inside == {1}
    assert after == {3}
