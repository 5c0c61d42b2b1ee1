"""`AccuracyAtTop` in several processes: same answer as in one, also when workers die or stay away."""

import importlib.util
import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest

from toprank.control import SearchStoppedWarning, Status
from toprank.convex.accuracy_at_top import pin_search
from toprank.rankers.accuracy_at_top import AccuracyAtTop

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed"
)


def sample(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 3.0
    score = X[:, 0] - X[:, 1] / 2 + rng.normal(size=n)
    return X, (score > np.quantile(score, 0.6)).astype(int)


@pytest.fixture(scope="module")
def many():
    """Enough rows for several rounds, and the answer of this process alone."""
    X, y = sample(2, n=900)
    return X, y, AccuracyAtTop(0.25, 0.01).fit(X, y)


def test_two_processes_and_threads_give_the_same_coefficients():
    X, y = sample(1, n=60)
    here = AccuracyAtTop(0.25, 0.01).fit(X, y)
    two = AccuracyAtTop(0.25, 0.01, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.coef_, here.coef_)
    np.testing.assert_allclose(two.pins_.numbers, here.pins_.numbers, rtol=1e-9, atol=1e-9)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        threads = AccuracyAtTop(0.25, 0.01).fit(X, y)
    np.testing.assert_array_equal(threads.coef_, here.coef_)


@pytest.mark.wall_clock
def test_a_killed_worker_costs_time_not_the_result(many):
    X, y, here = many
    killed = []

    def kill_one(progress):
        if not killed and progress.iterations > 0:
            from joblib.externals.loky import get_reusable_executor

            worker = next(iter(get_reusable_executor(reuse=True)._processes))
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)

    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = AccuracyAtTop(0.25, 0.01, callback=kill_one).fit(X, y)
    assert killed
    assert there.certified_
    np.testing.assert_array_equal(there.coef_, here.coef_)


@pytest.mark.wall_clock
def test_workers_that_never_answer_are_given_up(many, monkeypatch):
    """They sleep here, as a cluster that lost its last worker does; the fit ends up in this process."""
    X, y, here = many
    me = threading.get_ident()
    solve_batch, rounds = pin_search._solve_batch, []

    def asleep(*arguments):
        assert threading.get_ident() != me
        rounds.append(1)
        time.sleep(0.5)
        return solve_batch(*arguments)

    monkeypatch.setattr(pin_search, "_solve_batch", asleep)
    monkeypatch.setattr(pin_search, "SILENCE", 0.1)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        there = AccuracyAtTop(0.25, 0.01).fit(X, y)
    assert len(rounds) >= pin_search.BREAKDOWNS
    np.testing.assert_array_equal(there.coef_, here.coef_)


# -- a real cluster of two processes, on the loopback interface -------------------------------------


@pytest.fixture
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        yield client


def solved_by(client):
    """How many batches of pins each worker has solved."""

    def count(dask_worker):
        return sum("_solve_batch" in str(entry) and "memory" in str(entry) for entry in dask_worker.state.log)

    return client.run(count)


@needs_dask
def test_a_dask_cluster_gives_the_same_coefficients(many, cluster):
    X, y, here = many
    before = 0
    for n_jobs in (None, 2):
        seen = []
        there = AccuracyAtTop(0.25, 0.01, n_jobs=n_jobs, callback=seen.append).fit(X, y)
        np.testing.assert_array_equal(there.coef_, here.coef_)
        np.testing.assert_allclose(there.pins_.numbers, here.pins_.numbers, rtol=1e-9, atol=1e-9)
        assert there.certified_
        solved = min(solved_by(cluster).values())
        assert solved > before
        before = solved
        assert [progress.iterations for progress in seen] == sorted(progress.iterations for progress in seen)
        assert len(seen) > 1


@pytest.mark.slow
@pytest.mark.wall_clock
@needs_dask
def test_a_dask_worker_killed_midway_costs_time_not_the_result(many, cluster):
    X, y, here = many
    processes = cluster.run(os.getpid)
    killed = []

    def kill_a_busy_one():
        while not killed:
            busy = [worker for worker, tasks in cluster.processing().items() if tasks]
            for worker in busy[:1]:
                os.kill(processes[worker], signal.SIGKILL)
                killed.append(worker)

    killer = threading.Thread(target=kill_a_busy_one, daemon=True)
    killer.start()
    there = AccuracyAtTop(0.25, 0.01).fit(X, y)
    killer.join()
    assert killed
    assert set(processes) != set(cluster.run(os.getpid))
    assert there.certified_
    np.testing.assert_array_equal(there.coef_, here.coef_)


@pytest.mark.wall_clock
@needs_dask
def test_a_time_limit_holds_on_a_cluster_that_lost_its_workers(cluster, monkeypatch):
    X, y = sample(3, n=2000)
    monkeypatch.setattr(pin_search, "LATE", 1.0)

    def send_home(progress):
        if progress.iterations > 0 and cluster.cluster.plan:
            cluster.cluster.scale(0)

    began = time.perf_counter()
    with pytest.warns(SearchStoppedWarning, match="time_limit"):
        ranker = AccuracyAtTop(0.25, 0.01, time_limit=4.0, callback=send_home).fit(X, y)
    assert time.perf_counter() - began < 10
    assert ranker.outcome_.status is Status.TIME_LIMIT
    assert 0 < ranker.pins_.solved.sum() < len(X)
