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

from toprank.control import Progress as SearchProgress

__all__ = ["Bars", "announce_compilation"]

NOTE_EVERY = 60.0
"""Seconds between two lines of progress in a log."""


class Bars:
    """Progress bars that go away when the work is done; a `Watch` for the workflows.

    Bars are drawn on a terminal only; elsewhere the stages pass in silence.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
        )
        self._bars = Progress(
            *columns, console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self._task: Any = None
        # A log has no bars; it gets a line now and then instead.
        self._spoken = not quiet and not console.is_terminal
        self._last_note = -math.inf
        self._seconds: float | None = None

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._bars.stop()

    def stage(self, text: str, *, steps: int | None = None, seconds: float | None = None) -> None:
        """Replace the bar by one for the next piece of work."""
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._seconds = seconds
        self._task = self._bars.add_task(text, total=steps, detail="")

    def step(self) -> None:
        """Move the bar by one step."""
        self._bars.advance(self._task)

    def note(self, text: str) -> None:
        """Say something beside the bar; where there is no terminal, a line a minute."""
        self._bars.update(self._task, detail=text)
        if self._spoken and time.monotonic() - self._last_note >= NOTE_EVERY:
            self._last_note = time.monotonic()
            print(text, file=sys.stderr, flush=True)

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
    """Say once, on standard error, that kernels are being compiled, if they are.

    Numba tells when it begins to compile; kernels found in its cache do not count.
    """
    from numba.core import event

    class Announcer(event.Listener):
        said = False

        def on_start(self, happened: Any) -> None:
            if not self.said:
                self.said = True
                print("Compiling kernels; this happens once and takes some seconds.", file=sys.stderr)

        def on_end(self, happened: Any) -> None:
            """Only the beginning is of interest."""

    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call]
