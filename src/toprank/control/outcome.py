"""What a fit achieved, in the same words for every method: value, bound, gap, status, seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from toprank.control.warning import warn_user

__all__ = ["Outcome", "Progress", "SearchStoppedWarning", "Status", "relative_gap", "warn_if_cut_short"]


class Status(StrEnum):
    """Why a method came back.

    >>> [str(status) for status in Status]
    ['optimal', 'finished', 'time_limit', 'iteration_limit', 'interrupted', 'stopped', 'lost']
    >>> Status.OPTIMAL.finished, Status.TIME_LIMIT.finished
    (True, False)
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
    LOST = "lost"
    """Others who computed were lost, with their cluster; the answer is the best so far."""

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

    Examples
    --------
    >>> progress = Progress(10.2, 10.5, seconds=3.0, phase="boxes")
    >>> round(progress.gap, 4)  # at most 2.9 % below the best possible
    0.0286
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


STILL_COMPILING = (
    "the proof had not begun: its kernels are still being compiled, which goes on by itself and is done once"
)
"""A note where a machine's first proof had no time to begin: the bound is what holds for any data."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fit achieved: the same words for every method.

    >>> from toprank import RankSVM
    >>> outcome = RankSVM().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).outcome_
    >>> str(outcome.status), outcome.gap < 1e-6
    ('optimal', True)
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


def warn_if_cut_short(outcome: Outcome, name: str, reached: tuple[float, float] | None = None) -> None:
    """Warn, with the remedy, when a fit did not run to its end, or ended short of what it was asked for.

    Parameters
    ----------
    outcome : Outcome
    name : str
        Of the ranker.
    reached : pair of floats, optional
        The relative gap the fit ended with and the one it was asked for.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_if_cut_short(Outcome(1.0, 1.0, Status.OPTIMAL), "RankSVM")  # all is well: silence
    ...     warn_if_cut_short(Outcome(1.0, 2.0, Status.TIME_LIMIT, seconds=60.0), "RankSVM")
    >>> [str(warning.message) for warning in heard]
    ['RankSVM kept the best answer of 60.0 s (time_limit); raise time_limit for a better one.']
    """
    short = reached is not None and reached[0] > reached[1]
    gap = f", gap {reached[0]:.2g} above tol={reached[1]:g}" if reached is not None and short else ""
    remedy = {
        Status.TIME_LIMIT: "raise time_limit for a better one",
        Status.INTERRUPTED: "it was interrupted",
        Status.STOPPED: "the callback asked to stop",
        Status.LOST: "the cluster was lost",
        Status.ITERATION_LIMIT: "raise max_iter for a better one",
    }.get(outcome.status)
    if remedy is not None and STILL_COMPILING in outcome.notes:
        remedy = f"{STILL_COMPILING}: fit again in a minute"
    if remedy is None and short:
        remedy = "rounding leaves no way further: scale the features to similar ranges, lower C or raise tol"
    if remedy is not None:
        warn_user(
            f"{name} kept the best answer of {outcome.seconds:.1f} s ({outcome.status}{gap}); {remedy}.",
            SearchStoppedWarning,
        )
