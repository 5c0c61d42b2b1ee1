"""What a mixed-integer back end takes and gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.control import Progress, Run, Status
from toprank.exact.mip.program import MixedIntegerProgram

__all__ = ["Backend", "BackendUnavailableError", "RawSolution", "Watch", "own_decision", "stop_status"]

_CLOCK_DIFFERENCE = 0.05


class BackendUnavailableError(ImportError):
    """A solver is not installed, or its licence does not allow this model."""


@dataclass(frozen=True)
class RawSolution:
    """What a solver says, in its own tolerances; nothing here is checked yet.

    Parameters
    ----------
    x : array or None
        The best solution, if any.
    value, bound : float
        Its objective and the solver's bound, the program's offset included.
    status : Status
    nodes : int
        Branch-and-bound nodes.
    infeasible : bool
        The solver claims that there is no solution.
    history : tuple of (seconds, value, bound)
        How value and bound moved.
    message : str
        Why it came back, in words, when neither a proof nor the run is the reason.

    Examples
    --------
    >>> nothing = RawSolution(None, -math.inf, math.inf, Status.TIME_LIMIT)
    >>> nothing.infeasible
    False
    """

    x: NDArray[np.float64] | None
    value: float
    bound: float
    status: Status
    nodes: int = 0
    infeasible: bool = False
    history: tuple[tuple[float, float, float], ...] = ()
    message: str = ""


class Backend(Protocol):
    """A mixed-integer solver.

    Examples
    --------
    >>> from toprank.exact.mip import backends
    >>> backends.get("highs").name
    'highs'
    """

    name: str

    def missing(self) -> str | None:
        """Why it cannot be used here, or None."""

    def solve(
        self, program: MixedIntegerProgram, start: NDArray[np.float64] | None, run: Run, *, threads: int
    ) -> RawSolution:
        """Solve until proved, or until the run says stop; report value and bound through the run."""


class Watch:
    """Takes a solver's reports: keeps what changed, tells the run, says whether to go on."""

    def __init__(self, run: Run, program: MixedIntegerProgram, name: str) -> None:
        self._run, self._offset, self._name = run, program.offset, name
        self._history: list[tuple[float, float, float]] = []

    def report(self, value: float, bound: float, nodes: int) -> bool:
        """Take value and bound without the program's offset; False means stop."""
        value, bound = value + self._offset, bound + self._offset
        shown = value if math.isfinite(value) else -math.inf
        if not self._history or self._history[-1][1:] != (shown, bound):
            self._history.append((self._run.seconds, shown, bound))
        return self._run.report(Progress(shown, bound, iterations=nodes, phase=self._name))

    @property
    def history(self) -> tuple[tuple[float, float, float], ...]:
        """Seconds, value and bound at every change."""
        return tuple(self._history)


def stop_status(run: Run) -> Status:
    """Why a solver that did not finish came back: what the run says, else by its own decision."""
    # A solver's clock may strike a moment before ours.
    return run.stopped_by or (Status.TIME_LIMIT if run.remaining() < _CLOCK_DIFFERENCE else Status.FINISHED)


def own_decision(run: Run, name: str, state: str) -> str:
    """What to tell the user when a solver neither finished nor was stopped."""
    given_up = stop_status(run) is Status.FINISHED
    return f"{name} gave up by itself, saying {state!r}" if given_up else ""
