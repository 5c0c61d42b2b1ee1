"""One cluster of two processes for all tests that need one, and one whose scheduler can be closed."""

import gc
import warnings

import pytest

CLUSTERS = ("cluster", "fragile")


def pytest_collection_modifyitems(items):
    """A worker that is killed leaves sockets behind, which Dask's own code forgets to close."""
    for item in items:
        if set(CLUSTERS) & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


def forget_sockets():
    """Here and now, and not within a test to which they mean nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


def opened(**settings):
    from distributed import LocalCluster

    return LocalCluster(dashboard_address=":0", silence_logs=50, **settings)


@pytest.fixture(scope="session")
def _two_processes():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with opened(n_workers=2, threads_per_worker=1) as two, distributed.Client(two) as client:
        yield client
    forget_sockets()


@pytest.fixture
def cluster(_two_processes):
    """A client of two workers in processes of their own, of one thread each."""
    yield _two_processes
    forget_sockets()


@pytest.fixture
def fragile():
    """A cluster within this process, and a client of it; its scheduler is there to be closed."""
    dask = pytest.importorskip("dask", reason="dask is not installed")
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    here = opened(n_workers=1, threads_per_worker=2, processes=False, protocol="tcp")
    client = distributed.Client(here)
    yield here, client
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):  # there is nobody to wait for
        client.close()
        here.close()
    forget_sockets()
