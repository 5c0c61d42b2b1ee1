"""Dask clusters: a client that is running, an address, or processes of this machine."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from toprank.errors import InputError
from toprank.scale.extras import needed

__all__ = ["LOCAL", "connected"]

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
            f"cluster={cluster!r} must be the address of a Dask scheduler, 'local', or a distributed.Client."
        )
    elif cluster == LOCAL:
        # Any free port: the usual one may be in use, by another cluster on this machine.
        settings = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with distributed.LocalCluster(n_workers=workers, **settings) as here, distributed.Client(here) as one:
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
            f"No Dask scheduler answers at cluster={address!r} ({type(error).__name__}); start one with"
            " `dask scheduler` and workers with `dask worker ADDRESS`."
        ) from None
