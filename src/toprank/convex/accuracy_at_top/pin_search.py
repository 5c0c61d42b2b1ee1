"""Solve Accuracy at the Top for all pins, or for those that matter, in as many processes as there are.

The pins are handed out in small batches through joblib, so any joblib backend serves. A batch that is lost
with its process is solved again. Every answer depends on its pin alone: neither the number of processes nor
an interruption changes it.
"""

from __future__ import annotations

import time
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from multiprocessing import TimeoutError as NoAnswerError
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from toprank.control import Progress, Run
from toprank.convex.accuracy_at_top.pins import Items, PinTable, choose, examine, excluded
from toprank.output import archive_bytes, read_archive, write_whole

__all__ = ["Choice", "Progressed", "search_all", "search_screened"]

Floats = NDArray[np.float64]
Pins = NDArray[np.intp]
_REMEDY = "Delete it to begin anew, or name another file."
BATCH_SECONDS = 0.25
BATCHES_PER_JOB = 4
LOOSE = 5e-2
LEVELS = (1e-2, 1e-3)
"""Gaps of the further passes over what is left open."""
AFFORDABLE = 0.2
"""Pins that screening leaves open are all solved when they are at most this share of all."""
ROUNDED = 1e-7
"""Where rounding leaves a larger relative gap than this (and than asked for), nothing is certified."""
BREAKDOWNS = 3
SILENCE = 600.0
"""Seconds without an answer after which workers are held for lost: not every back end says so itself."""
LATE = 20.0
"""The same, counted from the time limit: workers keep it themselves, and may still be starting."""
SAVE_EVERY = 5.0


@dataclass(frozen=True)
class Choice:
    """The chosen pin, and what is known of all of them.

    Attributes
    ----------
    pin : int
    table : PinTable
    exact : array of bool
        Which pins were solved to the full tolerance.
    certified : bool
        Whether the choice is proved to be the one that solving every pin exactly would make.
    """

    pin: int
    table: PinTable
    exact: NDArray[np.bool_]
    certified: bool


@dataclass
class Progressed:
    """Where answers are collected, and kept on disk when a path is given.

    Parameters
    ----------
    items : Items
    tol : float
    path : Path or None
        A file to continue from and to write to.
    """

    items: Items
    tol: float
    path: Path | None = None
    tables: dict[str, PinTable] = field(default_factory=dict)
    _saved: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        for name in ("exact", "loose"):
            self.tables[name] = PinTable.empty(len(self.items))
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def _fingerprint(self) -> str:
        return f"{self.items.fingerprint()} {self.tol!r}"

    def _load(self, path: Path) -> None:
        try:
            stored = read_archive(path)
            same = str(stored["fingerprint"]) == self._fingerprint()
            for name, table in self.tables.items() if same else ():
                table.numbers[:] = stored[name]
        except (ValueError, KeyError) as error:
            why = "it was written by something else" if isinstance(error, KeyError) else error
            raise ValueError(
                f"checkpoint={str(path)!r} is not a file of solved pins: {why}. {_REMEDY}"
            ) from None
        if not same:
            raise ValueError(f"checkpoint={str(path)!r} belongs to other data or parameters. {_REMEDY}")

    def save(self, *, force: bool = False) -> None:
        """Write what is solved so far, now and then; a crash leaves the previous file."""
        if self.path is None or (not force and time.perf_counter() - self._saved < SAVE_EVERY):
            return
        numbers = {name: table.numbers for name, table in self.tables.items()}
        write_whole({self.path: archive_bytes({"fingerprint": np.array(self._fingerprint()), **numbers})})
        self._saved = time.perf_counter()


def search_all(state: Progressed, run: Run, n_jobs: int | None) -> Choice | None:
    """Solve every pin exactly and choose; None when time ran out before the first answer."""
    table = state.tables["exact"]
    _solve(state, "exact", np.flatnonzero(~table.solved), run, n_jobs)
    if not table.solved.any():
        return None
    certified = bool(table.solved.all()) and _accurate(table, state.tol)
    return Choice(choose(table), table, table.solved, certified)


def search_screened(
    state: Progressed, run: Run, n_jobs: int | None, *, candidates: int, certify: bool
) -> Choice | None:
    """Solve every pin roughly, the promising ones exactly, and say whether that settles the choice.

    With `certify` the pins left open are solved more and more exactly until the choice is settled; without,
    only when they are few.
    """
    loose, exact = state.tables["loose"], state.tables["exact"]
    _solve(state, "loose", np.flatnonzero(~loose.solved), run, n_jobs)
    if not loose.solved.any():
        return None
    promising = np.lexsort([loose.value, loose.distance])[:candidates]
    _solve(state, "exact", promising[~exact.solved[promising] & loose.solved[promising]], run, n_jobs)
    if not exact.solved.any():
        return Choice(choose(loose), loose, exact.solved, False)
    remaining = _open(loose, exact)
    if certify:
        for level in LEVELS:
            _solve(state, "loose", remaining, run, n_jobs, tol=level)
            remaining = _open(loose, exact)
    if certify or len(remaining) <= max(candidates, AFFORDABLE * len(loose.value)):
        _solve(state, "exact", remaining, run, n_jobs)
        remaining = _open(loose, exact)
    numbers = np.where(exact.solved[:, np.newaxis], exact.numbers, loose.numbers)
    certified = len(remaining) == 0 and _accurate(exact, state.tol)
    return Choice(choose(exact), PinTable(numbers), exact.solved, certified)


def _accurate(table: PinTable, tol: float) -> bool:
    """Whether every pin that was solved reached a gap at which its distance can be trusted."""
    done = table.solved
    return bool((table.value[done] - table.bound[done] <= max(tol, ROUNDED) * table.value[done]).all())


def _open(loose: PinTable, exact: PinTable) -> Pins:
    """Pins that are neither solved exactly nor excluded, the nearest first; a nan excludes nothing."""
    best = choose(exact)
    at_best = PinTable(loose.numbers.copy())
    at_best.numbers[best] = exact.numbers[best]
    remaining = np.flatnonzero(~exact.solved & ~excluded(at_best, best))
    return remaining[np.lexsort([loose.value[remaining], loose.distance[remaining]])]


# -- handing out pins -----------------------------------------------------------------------------


def _solve(
    state: Progressed, name: str, pins: Pins, run: Run, n_jobs: int | None, tol: float | None = None
) -> None:
    """Fill the table for some pins, as far as time allows; retry what a lost process took with it."""
    jobs = effective_n_jobs(n_jobs)
    if tol is None:
        tol = state.tol if name == "exact" else max(LOOSE, state.tol)
    todo, broken = list(map(int, pins)), 0
    while todo and not run.should_stop():
        if jobs == 1 or broken >= BREAKDOWNS or len(todo) == 1:
            _solve_here(state, name, todo, tol, run)
            continue
        try:
            _solve_elsewhere(state, name, todo, tol, run, n_jobs)
        except (BrokenExecutor, TimeoutError, NoAnswerError):
            broken += 1
        except KeyboardInterrupt:
            # The terminal interrupts the workers too; the run's own flag says what the user wanted.
            if not run.flagged:
                raise
    state.save(force=True)


def _solve_here(state: Progressed, name: str, todo: list[int], tol: float, run: Run) -> None:
    """One after the other, taking each solved pin off the list."""
    todo.reverse()
    while todo and _report(state, name, run):
        state.tables[name].numbers[todo[-1]] = examine(state.items, todo[-1], tol)
        todo.pop()
        state.save()
    _report(state, name, run)


def _solve_elsewhere(
    state: Progressed, name: str, todo: list[int], tol: float, run: Run, n_jobs: int | None
) -> None:
    """Rounds of small batches; between two rounds the clock and the user are asked."""
    # A cluster may have no worker at all for the moment; the batches then wait for the next one.
    table, size, jobs = state.tables[name], 1, max(1, effective_n_jobs(n_jobs))
    patience = min(run.remaining() + LATE, SILENCE)
    with Parallel(n_jobs=n_jobs, timeout=patience) as parallel:
        while todo and _report(state, name, run):
            count = min(jobs * BATCHES_PER_JOB, -(-len(todo) // size))
            batches = [todo[i * size : (i + 1) * size] for i in range(count)]
            began, left = time.perf_counter(), min(run.remaining(), 1e9)
            answers = parallel(delayed(_solve_batch)(state.items, batch, tol, left) for batch in batches)
            tried = np.concatenate(batches)
            numbers = np.concatenate(answers)
            done = ~np.isnan(numbers[:, 0])
            table.numbers[tried[done]] = numbers[done]
            todo[: len(tried)] = tried[~done].tolist()
            per_batch = (time.perf_counter() - began) / BATCHES_PER_JOB
            size = max(1, min(round(size * min(BATCH_SECONDS / per_batch, 8.0)), -(-len(todo) // jobs)))
            state.save()


def _solve_batch(items: Items, pins: list[int], tol: float, seconds: float) -> Floats:
    """What a worker does: one row of numbers a pin, nan where time ran out."""
    deadline = time.perf_counter() + seconds
    numbers = PinTable.empty(len(pins)).numbers
    for row, pin in enumerate(pins):
        if time.perf_counter() >= deadline:
            break
        numbers[row] = examine(items, pin, tol)
    return numbers


def _report(state: Progressed, name: str, run: Run) -> bool:
    table = state.tables[name]
    done = int(np.count_nonzero(table.solved))
    value = float(table.value[choose(table)]) if done else float("nan")
    what = "screening" if name == "loose" else "solving"
    phase = f"{what} pins, {done} of {len(table.value)}, objective"
    return run.report(Progress(value, iterations=done, phase=phase))
