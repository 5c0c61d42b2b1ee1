"""Passes over the parts of files: the same work on every part, on all cores, its results in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from toprank.control import worker_count
from toprank.scale.files.batches import Place
from toprank.scale.files.parts import Part

__all__ = ["Pass", "over_parts"]

Result = TypeVar("Result")
Told = Callable[[int], Any]


class Pass:
    """Hands out the batches of parts, until somebody says that it is over.

    Parameters
    ----------
    told : callable, optional
        Called with the number of rows of every batch.
    """

    def __init__(self, told: Told | None = None) -> None:
        self._stop = threading.Event()
        self._told = told or (lambda rows: None)

    def batches(self, part: Part, number: int, columns: Sequence[str]) -> Iterator[tuple[Any, Place]]:
        """The batches of a part that hold rows, each with its place."""
        first = 0
        for batch in part.batches(columns):
            if self._stop.is_set():
                return
            if len(batch):
                yield batch, Place(part, number, first)
                first += len(batch)
                self._told(len(batch))

    def stop(self) -> None:
        """No more batches: something went wrong, or Ctrl-C came."""
        self._stop.set()


def over_parts(
    parts: Sequence[Part],
    work: Callable[[Pass, Part, int], Result],
    *,
    n_jobs: int = -1,
    told: Told | None = None,
) -> list[Result]:
    """What a function makes of every part, in the order of the parts.

    Parameters
    ----------
    parts : sequence of Part
    work : callable
        Of the pass, which hands out batches, the part and its number.
    n_jobs : int
        Threads; -1: one for each processor.
    told : callable, optional
        Called with the number of rows of every batch, from any thread.
    """
    one = Pass(told)
    with ThreadPoolExecutor(worker_count(n_jobs)) as pool:
        waiting = [pool.submit(work, one, part, number) for number, part in enumerate(parts)]
        try:
            return [future.result() for future in waiting]
        except BaseException:
            one.stop()
            for future in waiting:
                future.cancel()
            raise
