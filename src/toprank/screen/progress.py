"""Progress bars on standard error, and a word when kernels have to be compiled."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from toprank.control import Progress as SearchProgress
from toprank.exact.search.methods import METHODS

__all__ = ["Bars", "announce_compilation"]

NOTE_EVERY = 60.0
"""Seconds between two lines of progress in a log."""
SECONDS_JUDGED_BY = 600.0
"""How far back the speed is looked at that the remaining time follows from: steps differ in length."""


def _proof(method: str) -> str:
    return f"the proof by {method}, about a minute"


COMPILED = {
    "exact.climb": "the search for good linear scores, about ten seconds",
    "statistics": "the statistics, a few seconds",
    "losses": "the losses of the convex rankers, a few seconds",
    "convex": "the solvers of the convex rankers, some seconds",
    **{f"exact.{name}": _proof(name) for name in METHODS},
}
"""By the beginning of a kernel's module: what it belongs to, and how long that takes to compile."""


class Bars:
    """Progress bars that go away when the work is done; a `Watch` for the workflows.

    Bars are drawn on a terminal only; elsewhere the stages pass in silence.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        # What ASCII has no sign for would be written as escapes, longer than the line.
        ascii_only = console.options.ascii_only
        cut = Column(no_wrap=True, overflow="crop" if ascii_only else "ellipsis")
        columns = (
            SpinnerColumn("line" if ascii_only else "dots", table_column=cut),
            TextColumn("{task.description}", table_column=cut),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}", table_column=cut),
            TimeElapsedColumn(table_column=cut),
            TextColumn("left:", table_column=cut),
            TimeRemainingColumn(table_column=cut),
        )
        self._bars = Progress(
            *columns,
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
            speed_estimate_period=SECONDS_JUDGED_BY,
        )
        self._task: Any = None
        # A log has no bars; it gets a line now and then instead.
        self._spoken = not quiet and not console.is_terminal
        self._last_note = -math.inf
        self._stage = ""
        self._seconds: float | None = None

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *about: object) -> None:
        if not self._bars.disable:  # older rich ends even a display that never began, with an empty line
            self._bars.stop()

    def stage(self, text: str, *, steps: int | None = None, seconds: float | None = None) -> None:
        """Replace the bar by one for the next piece of work."""
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._stage, self._seconds = text, seconds
        self._task = self._bars.add_task(text, total=steps, detail="")

    def step(self, size: float = 1.0) -> None:
        """Move the bar by one step, or such a part of one."""
        self._bars.advance(self._task, size)

    def note(self, text: str) -> None:
        """Say something beside the bar; where there is no terminal, a line a minute."""
        self._bars.update(self._task, detail=text)
        if self._spoken and time.monotonic() - self._last_note >= NOTE_EVERY:
            self._last_note = time.monotonic()
            print(f"{self._stage}: {text}", file=sys.stderr, flush=True)

    def search(self, progress: SearchProgress) -> None:
        """Move the bar with the clock and show the best value so far."""
        # Blends and bags have no value before their end; what they are at says more.
        detail = progress.phase if math.isnan(progress.value) else f"value {progress.value:.5g}"
        if math.isfinite(progress.bound):
            detail += f", gap {progress.gap:.1%}"
        self._bars.update(
            self._task,
            completed=min(progress.seconds, self._seconds or 0),
            total=self._seconds,
            detail=detail,
        )


def announce_compilation() -> None:
    """Say on standard error, once for each, what is being compiled and how long that takes.

    Numba tells when it begins to compile; kernels found in its cache do not count. What other processes
    compile is told by the search that waits for them.
    """
    from numba.core import event

    from toprank.exact.search.compiling import LISTENERS

    announcer = _Announcer()

    class Heard(event.Listener):
        def on_start(self, happened: Any) -> None:
            announcer.begins(happened.data["dispatcher"].py_func.__module__)

        def on_end(self, happened: Any) -> None:
            """Only the beginning is of interest."""

    event.register("numba:compile", Heard())  # type: ignore[no-untyped-call]
    LISTENERS.append(announcer.tells)


class _Announcer:
    """What was said about compiling, and how it is said."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def begins(self, module: str) -> None:
        """A kernel of this module is compiled in this process."""
        group = next((group for group in COMPILED if module.startswith(f"toprank.{group}")), None)
        if group is not None:
            self._say(_sentence(group))

    def tells(self, what: str, seconds: float | None) -> None:
        """A method of proof begins to be compiled, or is done."""
        name = what.removeprefix("done: ")
        if what != name:
            self._say(f"The proof by {name} is compiled ({seconds:.0f} s).")
            return
        last = "about a minute" if seconds is None else f"{seconds:.0f} s the last time"
        self._said.add(_sentence(f"exact.{name}"))  # said here, should it have to be compiled in this process
        self._say(f"Compiling the proof by {name}: once on this machine, {last}; it climbs meanwhile.")

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            print(sentence, file=sys.stderr, flush=True)


def _sentence(group: str) -> str:
    what = COMPILED.get(group) or _proof(group.removeprefix("exact."))  # a method added since
    return f"Compiling {what}: once on this machine."
