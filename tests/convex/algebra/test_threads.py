"""Threads of the linear algebra: few for small matrices, given back, never more than the caller allows."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import toprank
from toprank.convex.algebra import threads
from toprank.convex.algebra.threads import threads_for, wanted_threads


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield


@pytest.mark.parametrize("processors", [1, 2, 3, 16, 256])
def test_larger_matrices_never_get_fewer_threads(processors):
    sizes = [wanted_threads(side, processors) for side in (1, 149, 150, 1499, 1500, 10**6)]
    counts = [np.inf if size is None else size for size in sizes]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert min(counts) >= 1


@pytest.mark.usefixtures("three_threads")
def test_small_matrices_get_one_thread_and_the_others_come_back():
    with threads_for(10):
        assert blas_threads() == {1}
        with threads_for(20):
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {3}
    with pytest.raises(KeyError), threads_for(10):
        raise KeyError
    assert blas_threads() == {3}


@pytest.mark.usefixtures("three_threads")
def test_large_matrices_get_what_the_caller_allows():
    with threads_for(threads.LARGE):
        assert blas_threads() == {3}


def test_a_limit_of_the_callers_is_not_raised(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 64)
    with threadpool_limits(2, user_api="blas"), threads_for(500):
        assert blas_threads() == {2}
    with threadpool_limits(8, user_api="blas"), threads_for(500):
        assert blas_threads() == {threads.A_FEW}


@pytest.mark.usefixtures("three_threads")
def test_fits_that_overlap_in_time_give_all_threads_back():
    inside, leave = threading.Barrier(2), threading.Event()

    def early():
        with threads_for(10):
            inside.wait(10)

    def late():
        with threads_for(10):
            inside.wait(10)
            leave.wait(10)

    both = [threading.Thread(target=work) for work in (early, late)]
    for one in both:
        one.start()
    both[0].join()
    leave.set()
    both[1].join()
    assert blas_threads() == {3}


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


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_every_convex_ranker_fits_small_data_in_one_thread(ranker):
    seen = []
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[y == 1] += 3.0
    original = type(ranker)._finish

    def look(self, data):
        seen.append(("after", blas_threads()))
        original(self, data)

    class Watched(type(ranker)):
        _finish = look

        def _make_run(self):
            run = super()._make_run()
            stop = run.should_stop
            run.should_stop = lambda: seen.append(("inside", blas_threads())) or stop()
            return run

    Watched(**ranker.get_params()).fit(X, y)
    assert all(counts == ({1} if when == "inside" else {3}) for when, counts in seen)
    assert "after" in {when for when, _ in seen}
