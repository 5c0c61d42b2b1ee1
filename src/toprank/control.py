"""How long, how far, stop now: the clock, the progress and the outcome of one fit.

Every iterative method gets one `Run` and asks it two things: how much time is left, and
whether to go on. Every result speaks the same five words: value, bound, gap, status, seconds.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

import numpy as np

__all__ = [
    "Callback",
    "Outcome",
    "Progress",
    "Run",
    "SearchStoppedWarning",
    "Seed",
    "Status",
    "check_time_limit",
    "generator",
    "keep_best_on_interrupt",
    "legacy_seed",
    "relative_gap",
    "warn_if_cut_short",
    "warn_user",
    "worker_count",
]

Seed = int | np.random.Generator | np.random.RandomState | None
"""What every random_state takes."""
NOT_THE_USER = frozenset({"toprank", "sklearn", "joblib", "threadpoolctl"})
"""Packages whose lines a warning never points at."""


class Status(StrEnum):
    """Why a method came back.

    >>> Status("time_limit").finished
    False
    """

    OPTIMAL = "optimal"
    """The answer is proved best, up to the tolerance the outcome states."""
    FINISHED = "finished"
    """The method ran to its end; it makes no claim of optimality."""
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    INTERRUPTED = "interrupted"
    """Ctrl-C; the answer is the best so far."""
    STOPPED = "stopped"
    """The callback asked to stop; the answer is the best so far."""

    @property
    def finished(self) -> bool:
        """Whether the method ended by itself, so that the same seed gives the same answer again."""
        return self in (Status.OPTIMAL, Status.FINISHED, Status.ITERATION_LIMIT)


class SearchStoppedWarning(UserWarning):
    """A fit was cut short; the best answer so far was kept."""


def relative_gap(value: float, bound: float) -> float:
    """Distance between value and bound relative to the larger of the two (0 when they meet).

    >>> relative_gap(9.0, 10.0)
    0.1
    >>> relative_gap(1.0, float("inf"))
    inf
    """
    if value == bound:
        return 0.0
    if not (math.isfinite(value) and math.isfinite(bound)):
        return math.inf
    return abs(bound - value) / max(abs(value), abs(bound))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running fit has come, as handed to the callback.

    Parameters
    ----------
    value : float
        The best value found so far, in the units of what is optimised.
    bound : float
        No answer is better than this; `nan` where the method knows no bound.
    seconds : float
        Time since the fit began.
    iterations : int
        Iterations, rounds or nodes, whatever the method counts.
    phase : str
        What the method is doing, in a few words for a progress bar.
    """

    value: float
    bound: float = math.nan
    seconds: float = 0.0
    iterations: int = 0
    phase: str = ""

    @property
    def gap(self) -> float:
        """Relative distance between value and bound."""
        return relative_gap(self.value, self.bound)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fit achieved: the same words for every method.

    >>> Outcome(value=9.0, bound=10.0, status=Status.TIME_LIMIT, seconds=1.0).gap
    0.1
    """

    value: float
    bound: float = math.nan
    status: Status = Status.FINISHED
    seconds: float = 0.0
    iterations: int = 0
    notes: tuple[str, ...] = field(default=())
    """Plain sentences a user should know about this answer."""

    @property
    def gap(self) -> float:
        """Relative distance between value and bound."""
        return relative_gap(self.value, self.bound)


Callback = Callable[[Progress], Any]


class _Interrupts:
    """Ctrl-C between two moments: remembered, shown to every run, and handed on at the end.

    Only the outermost of nested scopes catches: what falls into an inner fit is known to the outer one too.
    """

    current: ClassVar[_Interrupts | None] = None

    def __init__(self) -> None:
        self.pending = False
        self._previous: Any = None
        self._closing = False

    def open(self) -> bool:
        """Catch from now on, if nobody does and the caller's choice of a handler leaves us to."""
        if threading.current_thread() is not threading.main_thread() or _Interrupts.current is not None:
            return False
        self._previous = signal.getsignal(signal.SIGINT)
        # A caller that ignores SIGINT, or set it outside Python (None), keeps its choice.
        if not callable(self._previous):
            return False
        signal.signal(signal.SIGINT, self._catch)
        _Interrupts.current = self
        return True

    def close(self) -> None:
        """Give the handler back; from here on Ctrl-C is the caller's."""
        self._closing = True  # what comes before the handler is back must not keep it from coming back
        try:
            signal.signal(signal.SIGINT, self._previous)
        finally:
            _Interrupts.current = None

    def hand_on(self) -> None:
        """Do what the caller's handler does, which as a rule is to raise KeyboardInterrupt."""
        self._previous(signal.SIGINT, None)

    def _catch(self, signum: int, frame: FrameType | None) -> None:
        again, self.pending = self.pending, True
        if again and not self._closing:
            self._previous(signum, frame)


class keep_best_on_interrupt:  # reads as a statement: with keep_best_on_interrupt()
    """Within this context Ctrl-C ends fits with their best answer so far, and goes no further.

    Elsewhere a fit that is interrupted keeps its best answer too, and then raises KeyboardInterrupt, so that
    the loop around it stops. Here it returns as if time had run out; fits begun later in the context stop at
    once. A second Ctrl-C raises as usual. Does nothing outside the main thread.

    Examples
    --------
    >>> with keep_best_on_interrupt() as kept:
    ...     pass  # ranker.fit(X, y)
    >>> kept.interrupted
    False
    """

    def __enter__(self) -> Self:
        self._interrupts = _Interrupts.current or _Interrupts()
        self._outermost = self._interrupts.open()
        return self

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupts.pending

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outermost:
            self._interrupts.close()


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
        self._callback = callback
        self._interval = interval
        self._last_report = -math.inf
        self._parent: Run | None = None
        self._stopped_by: Status | None = None
        self._interrupts = _Interrupts.current
        self._outermost = False
        self.rng = generator(rng)

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
        return any(one is not None and one.pending for one in (self._interrupts, _Interrupts.current))

    def should_stop(self) -> bool:
        """Whether time is up, Ctrl-C was pressed or the callback said stop."""
        return self.stopped_by is not None

    def stop(self, reason: Status = Status.STOPPED) -> None:
        """Ask the run to stop at its next look."""
        if self._stopped_by is None:
            # A callback that says stop may say so because of Ctrl-C.
            self._stopped_by = Status.INTERRUPTED if self._interrupted else reason

    def report(self, progress: Progress, *, force: bool = False) -> bool:
        """Tell the callback, throttled; False means stop now.

        A progress without a time gets this run's.
        """
        now = time.perf_counter()
        if self._callback is not None and (force or now - self._last_report >= self._interval):
            self._last_report = now
            if progress.seconds == 0.0:
                progress = Progress(
                    progress.value, progress.bound, self.seconds, progress.iterations, progress.phase
                )
            if self._callback(progress) is False:
                self.stop(Status.STOPPED)
        return not self.should_stop()

    # -- inner solves ------------------------------------------------------------------------

    def part(self, fraction: float = 1.0, *, silent: bool = False) -> Run:
        """A run for an inner solve: the same deadline or an earlier one, random numbers of its own.

        Parameters
        ----------
        fraction : float
            Share of the remaining time the inner solve may use.
        silent : bool
            Whether to keep its progress from the callback.
        """
        inner = Run(
            callback=None if silent else self._callback, rng=self.rng.spawn(1)[0], interval=self._interval
        )
        inner._deadline = inner._start + self.remaining() * fraction
        inner._parent = self
        return inner

    # -- Ctrl-C ------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._interrupts = _Interrupts.current or _Interrupts()
        self._outermost = self._interrupts.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._outermost:
            return
        interrupts = self._interrupts
        assert interrupts is not None
        self._outermost = False
        interrupts.close()
        # An error does not hide it: a loop that skips failed fits should stop all the same.
        if interrupts.pending and (error is None or isinstance(error, Exception)):
            interrupts.hand_on()


def warn_if_cut_short(outcome: Outcome, name: str, reached: tuple[float, float] | None = None) -> None:
    """Warn, with the remedy, when a fit did not run to its end, or ended short of what it was asked for.

    Parameters
    ----------
    outcome : Outcome
    name : str
        Of the ranker.
    reached : pair of floats, optional
        The relative gap the fit ended with and the one it was asked for.
    """
    short = reached is not None and reached[0] > reached[1]
    gap = f", gap {reached[0]:.2g} above tol={reached[1]:g}" if reached is not None and short else ""
    remedy = {
        Status.TIME_LIMIT: "raise time_limit for a better one",
        Status.INTERRUPTED: "it was interrupted",
        Status.STOPPED: "the callback asked to stop",
        Status.ITERATION_LIMIT: "raise max_iter for a better one",
    }.get(outcome.status)
    if remedy is None and short:
        remedy = "rounding leaves no way further: scale the features to similar ranges, lower C or raise tol"
    if remedy is not None:
        warn_user(
            f"{name} kept the best answer of {outcome.seconds:.1f} s ({outcome.status}{gap}); {remedy}.",
            SearchStoppedWarning,
        )


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the line of the user's that led here: not one of this library or scikit-learn's."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


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


def legacy_seed(random_state: Seed) -> int | np.random.RandomState | None:
    """A random_state that scikit-learn takes, which knows no Generator: a number drawn from one instead.

    >>> legacy_seed(7), legacy_seed(None), 0 <= legacy_seed(np.random.default_rng(0)) < 2**31
    (7, None, True)
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return random_state


def generator(random_state: Seed) -> np.random.Generator:
    """A numpy Generator that can spawn others, from what scikit-learn calls random_state.

    >>> bool(generator(0).integers(10) == np.random.default_rng(0).integers(10))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    rng = np.random.default_rng(random_state)
    if hasattr(rng.bit_generator.seed_seq, "spawn"):
        return rng
    return np.random.default_rng(rng.integers(2**32, size=4))
