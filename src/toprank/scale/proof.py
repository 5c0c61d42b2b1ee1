"""A proof shared by the workers of a Dask cluster: errands as tasks, news by broadcast.

Dask runs a task again that was lost with its worker. The problem is a task's result too, and not scattered:
when the last worker that holds it is gone, it is made again from what the scheduler knows.
"""

from __future__ import annotations

import asyncio
import queue
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from toprank import __version__
from toprank.exact.search.errands import Assignment, Recruit, hear, run_errand
from toprank.exact.sharing import CrewLost, Errand, Findings
from toprank.scale.cluster import connected

__all__ = ["recruiting"]

SECONDS_BETWEEN_COUNTS = 1.0
"""Until workers that came or went are noticed."""
SECONDS_TO_TELL = 2.0
"""All workers that a search is over."""
MOST_IN_VAIN = 10
"""Errands in a row that may come to nothing; then something other than bad luck is at work."""


@contextmanager
def recruiting(cluster: Any, *, workers: int | None = None) -> Iterator[Recruit]:
    """Find those who take part in a search among the workers of a cluster: see `connected`."""
    with connected(cluster, workers=workers) as client:
        yield lambda assignment: DaskCrew(client, assignment)


class DaskCrew:
    """The workers of a Dask cluster, each thread of which runs an errand at a time.

    Parameters
    ----------
    client : distributed.Client
    assignment : Assignment
        What is searched.

    Attributes
    ----------
    log : list of (float, float, int)
        Of each errand that came back: seconds between sending and return, seconds it was searched, nodes.
    """

    def __init__(self, client: Any, assignment: Assignment) -> None:
        self._client, self._token = client, assignment.token
        self._inbox: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._sent: dict[int, float] = {}
        self._in_vain = 0
        self._over = False
        self._address = client.scheduler.address
        self._hands, self._counted = 0, -SECONDS_BETWEEN_COUNTS
        self.log: list[tuple[float, float, int]] = []
        self._assignment = self._submit(_handed_on, assignment)

    def _submit(self, function: Any, *args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a large problem is sent once, as it must be
            return self._client.submit(function, *args, pure=False, retries=1)

    # -- a crew ---------------------------------------------------------------------------------------------

    def hands(self) -> int:
        """Threads of all workers there are."""
        if time.monotonic() - self._counted > SECONDS_BETWEEN_COUNTS:
            self._counted = time.monotonic()
            self._client.loop.add_callback(self._count)
        return self._hands

    def send(self, errand: Errand) -> None:
        """Have an errand run."""
        future = self._submit(_errand, __version__, self._assignment, errand)
        self._futures[errand.serial], self._sent[errand.serial] = future, time.perf_counter()
        self._client.loop.add_callback(self._fetch, errand.serial, future)

    def returned(self, seconds: float) -> list[tuple[int, Findings | None]]:
        """What came back."""
        back: list[tuple[int, Findings | None]] = []
        with suppress(queue.Empty):
            back.append(self._opened(*self._inbox.get(timeout=seconds)))
            while True:
                back.append(self._opened(*self._inbox.get_nowait()))
        self._check_connection()
        return back

    def tell(self, target: int, recalled: int) -> None:
        """Let all know."""
        self._client.loop.add_callback(self._broadcast, target, recalled, False)

    def dismiss(self) -> None:
        """End what is under way."""
        if self._over:
            return
        self._over = True
        futures, self._futures = list(self._futures.values()), {}
        if self._client.status == "running":
            with suppress(OSError):  # whoever does not hear it in time works on for some seconds
                self._client.cancel([*futures, self._assignment])
                self._client.sync(self._broadcast, 0, 0, True, callback_timeout=SECONDS_TO_TELL)

    # -- what came back -------------------------------------------------------------------------------------

    def _opened(self, serial: int, answer: Any) -> tuple[int, Findings | None]:
        self._futures.pop(serial, None)
        away = time.perf_counter() - self._sent.pop(serial)
        if isinstance(answer, Findings):
            self._in_vain = 0
            self.log.append((away, answer.seconds, answer.nodes))
            return serial, answer
        self._in_vain += 1
        self._check_connection()
        if not _bad_luck(answer):
            raise answer
        if self._in_vain > MOST_IN_VAIN:
            raise CrewLost(f"the workers of the cluster at {self._address} are lost again and again")
        return serial, None

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise CrewLost(f"the Dask scheduler at {self._address} is gone")

    # -- in the client's own thread -------------------------------------------------------------------------

    async def _fetch(self, serial: int, future: Any) -> None:
        try:
            answer = (await self._client.gather([future], asynchronous=True))[0]
        except (Exception, asyncio.CancelledError) as error:
            answer = error
        self._inbox.put((serial, answer))

    async def _count(self) -> None:
        with suppress(Exception):  # a scheduler that is gone is noticed elsewhere
            self._hands = sum((await self._client.scheduler.ncores(workers=None)).values())

    async def _broadcast(self, target: int, recalled: int, over: bool) -> None:
        with suppress(Exception):  # workers that do not hear it find out with their next errand
            await self._client._run(hear, self._token, target, recalled, over, wait=False, on_error="ignore")


def _handed_on(assignment: Assignment) -> Assignment:
    return assignment


def _errand(version: str, assignment: Assignment, errand: Errand) -> Findings:
    """What a worker runs."""
    if version != __version__:
        raise RuntimeError(f"This worker has toprank {__version__}, the search is by {version}.")
    return run_errand(assignment, errand)


def _bad_luck(error: BaseException) -> bool:
    """Whether an errand was lost on the way; everything else is an error of its own."""
    return isinstance(error, asyncio.CancelledError) or type(error).__name__ in {
        "CancelledError",
        "FutureCancelledError",
        "KilledWorker",
        "CommClosedError",
    }
