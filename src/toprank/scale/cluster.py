"""Dask clusters: a client that is running, an address, or processes of this machine; work spread over it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from toprank.errors import InputError
from toprank.scale.extras import needed

__all__ = ["LOCAL", "connected", "spread", "threads_of"]

LOCAL = "local"
"""In the place of an address: processes of this machine."""
SECONDS_TO_ANSWER = 10
"""That a scheduler may take."""


@contextmanager
def connected(cluster: Any, *, workers: int | None = None) -> Iterator[Any]:
    """A client of a cluster; what is opened for it is closed at the end.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client that is running, which is left open; the address of a scheduler, such as
        ``tcp://10.0.0.5:8786``; or "local" for processes of this machine, which end with it.
    workers : int, optional
        Processes of a local cluster, each with one thread; one for each processor by default.
    """
    distributed = needed("distributed", extra="cluster", purpose="Clusters")
    if isinstance(cluster, distributed.Client):
        yield cluster
    elif not isinstance(cluster, str):
        raise InputError(
            f"`cluster={cluster!r}` must be the address of a Dask scheduler, 'local' or a distributed.Client."
        )
    elif cluster == LOCAL:
        # Any free port: the usual one may be in use, by another cluster on this machine. No profile: nobody
        # looks at it, and it takes a share of each processor.
        settings = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        quiet = needed("dask", extra="cluster", purpose="Clusters").config.set(
            {"distributed.worker.profile.enabled": False}
        )
        local = distributed.LocalCluster
        with quiet, local(n_workers=workers, **settings) as here, distributed.Client(here) as one:
            yield one
    else:
        with _client_of(distributed, cluster) as one:
            yield one


def _client_of(distributed: Any, address: str) -> Any:
    try:
        with warnings.catch_warnings():  # of versions that differ, and as errors of what was begun and failed
            warnings.simplefilter("ignore")
            return distributed.Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at `cluster={address!r}` ({type(error).__name__}); start one with"
            " dask scheduler, and workers with dask worker ADDRESS."
        ) from None


def threads_of(client: Any) -> int:
    """How many pieces of work a cluster does at a time: 1 at least, for workers may be on their way."""
    return max(1, sum(client.nthreads().values()))


def spread(function: Callable[[Any], Any], pieces: Iterable[Any], client: Any) -> Iterator[tuple[int, Any]]:
    """The number of each piece and what a function makes of it, as they are done; by joblib's Dask back end.

    A piece that is lost with its worker is done again by another. Whoever stops listening cancels the rest.

    Raises
    ------
    InputError
        When the scheduler is gone, or a piece was lost with several workers.
    """
    from distributed import CancelledError
    from distributed.scheduler import KilledWorker
    from joblib import Parallel, delayed, parallel_config

    address = client.scheduler.address
    with parallel_config(backend="dask", client=client):
        # One piece at a time: what is handed out early is lost with a worker.
        parallel = Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")
    tasks = (delayed(_numbered)(function, number, _Parcel(piece)) for number, piece in enumerate(pieces))
    try:
        yield from parallel(tasks)
    except KilledWorker:
        raise InputError(
            "Several workers of the cluster were ended at the same piece of work, perhaps because memory ran"
            " out; what was finished is kept."
        ) from None
    except (CancelledError, OSError):
        raise InputError(
            f"The Dask scheduler at {address} is gone; what was finished is kept. Call again to go on."
        ) from None


class _Parcel:
    """Travels with its task: what joblib would scatter is lost with the worker that holds it."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _numbered(function: Callable[[Any], Any], number: int, piece: _Parcel) -> tuple[int, Any]:
    return number, function(piece.content)
