"""One fit's clock, random numbers, callback and stop button.

Every iterative method gets one `Run` and asks it two things: how much time is left, and whether to go on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from types import TracebackType
from typing import Any, Self

import numpy as np

from toprank.control.interrupts import Interrupts
from toprank.control.outcome import Progress, Status
from toprank.control.seeds import Seed, generator

__all__ = ["Callback", "Run", "check_time_limit", "worker_count"]

Callback = Callable[[Progress], Any]
"""What a `callback` is: it gets each `Progress`; returning False stops the fit with what it has. All else,
None (of a function that returns nothing) and True included, lets it go on."""


class Run:
    """One fit's clock, random numbers, callback and stop button.

    Use it as a context manager around the whole fit: inside it, Ctrl-C sets a flag (in the main thread; a
    second Ctrl-C raises as usual), so a method that asks `should_stop` or `report` often enough can store
    its best answer. At the end of the outermost run KeyboardInterrupt goes on to the caller, unless it is
    within `keep_best_on_interrupt`. Runs in other threads see the flag and do not raise.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now; None or infinity means no limit.
    callback : callable or None
        Called with a `Progress`, at most every `interval` seconds; returning False stops the fit.
        Any other return value, None included, lets it go on.
    rng : int, numpy Generator, RandomState or None
        Source of all random choices of the fit.
    interval : float
        Seconds between two calls of the callback.

    Examples
    --------
    >>> with Run(time_limit=60, rng=0) as run:
    ...     run.report(Progress(value=1.0)), run.should_stop()
    (True, False)
    """

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        callback: Callback | None = None,
        rng: Seed = None,
        interval: float = 0.1,
    ) -> None:
        self._start = time.perf_counter()
        self._deadline = self._start + check_time_limit(time_limit)
        if callback is not None and not callable(callback):
            raise TypeError(f"callback={callback!r} must be a function of one Progress, or None.")
        self._callback = callback
        self._interval = interval
        self._last_report = -math.inf
        self._parent: Run | None = None
        self._relays = False
        self._stopped_by: Status | None = None
        self._failure: Exception | None = None
        self._interrupts = Interrupts.current
        self._outermost = False
        self.rng = generator(rng)
        self.seeded = rng is not None
        """Whether the same random numbers come again."""

    # -- the clock ---------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Seconds since this run began."""
        return time.perf_counter() - self._start

    def remaining(self) -> float:
        """Seconds left, never negative; infinity without a time limit."""
        return max(0.0, self._deadline - time.perf_counter())

    # -- the stop button ---------------------------------------------------------------------

    @property
    def stopped_by(self) -> Status | None:
        """Why the run was told to stop (time limit, interrupt, callback), or None."""
        if self._stopped_by is None and self._interrupted:
            self._stopped_by = Status.INTERRUPTED
        if self._stopped_by is None and self._parent is not None and self._parent.flagged:
            self._stopped_by = self._parent.stopped_by
        if self._stopped_by is None and time.perf_counter() >= self._deadline:
            self._stopped_by = Status.TIME_LIMIT
        return self._stopped_by

    @property
    def flagged(self) -> bool:
        """Whether Ctrl-C or the callback asked to stop (the clock does not count)."""
        own = self._interrupted or self._stopped_by in (Status.INTERRUPTED, Status.STOPPED)
        return own or (self._parent is not None and self._parent.flagged)

    @property
    def _interrupted(self) -> bool:
        # Those the run began under, which may be over for a thread that lives on, and those of now.
        return any(one is not None and one.pending for one in (self._interrupts, Interrupts.current))

    def should_stop(self) -> bool:
        """Whether time is up, Ctrl-C was pressed or the callback said stop."""
        return self.stopped_by is not None

    def stop(self, reason: Status = Status.STOPPED) -> None:
        """Ask the run to stop at its next look."""
        if self._stopped_by is None:
            # A callback that says stop may say so because of Ctrl-C.
            self._stopped_by = Status.INTERRUPTED if self._interrupted else reason

    def fail(self, error: Exception) -> None:
        """Stop with the best answer so far; the end of the outermost run raises the error."""
        self.stop(Status.LOST)
        outermost = self
        while outermost._parent is not None:
            outermost = outermost._parent
        outermost._failure = outermost._failure or error

    def report(self, progress: Progress, *, force: bool = False) -> bool:
        """Tell the callback, throttled; False means stop now.

        A progress without a time gets this run's.
        """
        if self._relays and self._parent is not None:
            self._parent.report(progress, force=force)
        now = time.perf_counter()
        if self._callback is not None and (force or now - self._last_report >= self._interval):
            self._last_report = now
            if progress.seconds == 0.0:
                progress = Progress(
                    progress.value, progress.bound, self.seconds, progress.iterations, progress.phase
                )
            answer = self._callback(progress)
            if answer is False or (isinstance(answer, np.bool_) and not answer):
                self.stop(Status.STOPPED)
        return not self.should_stop()

    # -- inner solves ------------------------------------------------------------------------

    def part(
        self,
        fraction: float = 1.0,
        *,
        silent: bool = False,
        time_limit: float | None = None,
        callback: Callback | None = None,
        rng: Seed = None,
    ) -> Run:
        """A run for an inner solve: the same deadline or an earlier one, random numbers of its own.

        Parameters
        ----------
        fraction : float
            Share of the remaining time the inner solve may use.
        silent : bool
            Whether to keep its progress from the callback.
        time_limit : float, optional
            Seconds it may use, where that is less.
        callback : callable, optional
            Told of its progress instead of this run's; returning False stops the inner solve alone, whereas
            this run's callback stops both.
        rng : int, numpy Generator, RandomState or None
            Its random numbers; drawn from this run's by default.
        """
        seeds = self.rng.spawn(1)[0] if rng is None else rng
        inner = Run(callback=callback, rng=seeds, interval=self._interval)
        inner._deadline = inner._start + min(self.remaining() * fraction, check_time_limit(time_limit))
        inner.seeded = self.seeded or rng is not None
        inner._parent = self
        inner._relays = not silent and callback is None
        return inner

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """What takes place within does not count against the time limit: compiling kernels, say."""
        began = time.perf_counter()
        try:
            yield
        finally:
            elapsed, run = time.perf_counter() - began, self
            while True:
                run._deadline += elapsed
                if run._parent is None:
                    break
                run = run._parent

    # -- Ctrl-C ------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._interrupts = Interrupts.current or Interrupts()
        self._outermost = self._interrupts.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outermost:
            interrupts = self._interrupts
            assert interrupts is not None
            self._outermost = False
            interrupts.close()
            # An error does not hide it: a loop that skips failed fits should stop all the same.
            if interrupts.pending and (error is None or isinstance(error, Exception)):
                interrupts.hand_on()
        if self._failure is not None and error is None:
            raise self._failure


def check_time_limit(time_limit: object) -> float:
    """Seconds as a number, infinity for None; anything but a positive number is an error.

    >>> check_time_limit(None), check_time_limit(2)
    (inf, 2.0)
    """
    if time_limit is None:
        return math.inf
    if isinstance(time_limit, bool) or not isinstance(time_limit, Real) or not float(time_limit) > 0:
        raise ValueError(f"time_limit={time_limit!r} must be seconds above 0, or None for no limit.")
    return float(time_limit)


def worker_count(n_jobs: int) -> int:
    """How many threads or processes `n_jobs` asks for; -1 is one for each processor this process may use.

    >>> worker_count(3), worker_count(-1) >= 1
    (3, True)
    """
    from joblib import cpu_count

    if n_jobs != -1 and n_jobs < 1:
        raise ValueError(f"n_jobs={n_jobs} must be at least 1, or -1 for one per processor.")
    return int(cpu_count() if n_jobs == -1 else n_jobs)
