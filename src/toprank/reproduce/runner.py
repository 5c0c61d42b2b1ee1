"""Computing cells in parallel, each kept on disk as soon as it is done."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, delayed, parallel_config

from toprank.control import worker_count
from toprank.errors import InputError
from toprank.reproduce.cells import Cell
from toprank.reproduce.compute import compute
from toprank.reproduce.rows import missing_data
from toprank.reproduce.store import Record, Results, Store
from toprank.workflow.watch import Silent, Watch

__all__ = ["RunSummary", "run_cells"]


@dataclass
class RunSummary:
    """What one call did.

    Parameters
    ----------
    results : Results
        Everything known afterwards.
    computed, kept, unavailable : int
        Cells computed now, found on disk, and left out because their data are not there.
    failures : list of (cell, message)
    interrupted : bool
        Whether Ctrl-C ended it; the cells finished by then are kept.
    seconds : float
    """

    results: Results
    computed: int = 0
    kept: int = 0
    unavailable: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0


def run_cells(
    cells: Sequence[Cell],
    store: Store,
    *,
    jobs: int = -1,
    cluster: Any = None,
    watch: Watch | None = None,
) -> RunSummary:
    """Compute what is not on disk yet, longest cells first.

    Parameters
    ----------
    cells : sequence of Cell
    store : Store
        Every finished cell is on disk before the next is looked at: Ctrl-C, a crash or a power cut loses at
        most the cells that were running.
    jobs : int
        Processes, each with one thread; -1 for one per processor.
    cluster : distributed.Client, str or None
        Workers of a Dask cluster compute instead: see `toprank.scale.cluster.connected`.
    watch : Watch or None
        Told about progress and time to go.
    """
    began = time.perf_counter()
    summary = RunSummary(store.read())
    available = [cell for cell in cells if not missing_data(cell.experiment.source)]
    todo = [cell for cell in available if summary.results.get(cell) is None]
    summary.unavailable = len(cells) - len(available)
    summary.kept = len(available) - len(todo)
    if todo:
        workers = min(len(todo), worker_count(jobs))
        clock = _Clock(todo, workers, watch or Silent())
        with store.writing() as writer:
            try:
                for cell, record in _computed(todo, workers, cluster):
                    writer.write(record)
                    summary.results.add(record)
                    summary.computed += 1
                    if "error" in record:
                        summary.failures.append((cell.name, record["error"]))
                    clock.done(cell)
            except KeyboardInterrupt:
                summary.interrupted = True
    summary.seconds = time.perf_counter() - began
    return summary


def _computed(cells: Sequence[Cell], workers: int, cluster: Any) -> Iterator[tuple[Cell, Record]]:
    """Cells and their records as they are done."""
    if cluster is not None:
        from toprank.scale.cluster import connected, spread

        with connected(cluster, workers=workers) as client:
            yield from ((cells[number], record) for number, record in spread(_record, cells, client))
        return
    if workers == 1:
        yield from ((cell, _in_thread(cell)) for cell in cells)
        return
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    tasks = (delayed(_in_worker)(number, cell) for number, cell in enumerate(cells))
    with parallel_config(backend="loky", inner_max_num_threads=1):
        # One cell at a time to each worker: what is handed out early is lost when the power goes.
        parallel = Parallel(
            n_jobs=workers, batch_size=1, pre_dispatch=workers, return_as="generator_unordered"
        )
        try:
            for number, record in parallel(tasks):
                yield cells[number], record
        except TerminatedWorkerError:
            raise InputError(
                "A worker process was ended from outside, perhaps because memory ran out; what was finished"
                " is kept. Call again to go on, with a smaller `jobs` if need be."
            ) from None


def _in_thread(cell: Cell) -> Record:
    """Compute beside the main thread, where a fit would take Ctrl-C for itself."""
    found: list[Record] = []
    worker = threading.Thread(target=lambda: found.append(_record(cell)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)
    return found[0]


def _in_worker(number: int, cell: Cell) -> tuple[int, Record]:
    # Ctrl-C reaches every process of a terminal; the parent decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return number, _record(cell)


def _record(cell: Cell) -> Record:
    """A finished cell as it is stored; one that failed says why and does not stop the others."""
    record: Record = {
        "key": cell.key,
        "paper": cell.paper,
        "experiment": cell.experiment.name,
        "arm": cell.arm.name,
        "split": cell.split,
        "budget": cell.budget,
    }
    try:
        record.update(compute(cell))
    except Exception as error:  # whatever a ranker raises belongs into the page, not across the run
        record["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return record


class _Clock:
    """Tells the watch how much is done and guesses the time to go from the cells so far."""

    def __init__(self, cells: Sequence[Cell], workers: int, watch: Watch) -> None:
        self._began = time.perf_counter()
        self._workers = workers
        self._count = len(cells)
        self._expected = sum(cell.expected_seconds for cell in cells)
        self._done_expected = 0.0
        self._done = 0
        self._watch = watch
        watch.stage("Reproducing", steps=len(cells))
        watch.note(f"0 of {self._count} cells, about {_duration(self._expected / workers)} to go")

    def done(self, cell: Cell) -> None:
        """One more is finished."""
        self._done += 1
        self._done_expected += cell.expected_seconds
        self._watch.step()
        left = self._expected - self._done_expected
        spent = time.perf_counter() - self._began
        # Early on there is little to judge our guesses by: trust them, and the clock more and more.
        pace = (spent + self._expected / self._workers * 0.1) / (
            (self._done_expected + self._expected * 0.1) / self._workers
        )
        self._watch.note(
            f"{self._done} of {self._count} cells, about {_duration(left / self._workers * pace)} to go"
        )


def _duration(seconds: float) -> str:
    """A time for people.

    >>> _duration(40), _duration(400), _duration(9000)
    ('40 s', '7 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
