"""The methods of proof: what each looks like to the driver, and where its files are.

A method lives in a folder of its own and is known by one entry in `METHODS`; whoever searches, resumes or
replays asks for it by name, and nothing of the others is ever imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Run
from toprank.exact.climb.local_search import local_search
from toprank.exact.problem import RankingProblem
from toprank.exact.sharing import Crew

__all__ = [
    "METHODS",
    "ON_A_CARD",
    "Method",
    "MethodEntry",
    "check_applies",
    "check_method",
    "compile_climb",
    "compile_kernels",
    "find",
    "hand_over",
    "make_method",
    "method_from_plan",
    "replay_log",
    "resume_method",
]

Floats = NDArray[np.float64]


class Method(Protocol):
    """A branch and bound that is advanced in chunks, on as many threads as it was made with.

    Attributes
    ----------
    bound : float
        No coefficients not yet excluded reach more; never rises.
    candidates : list of arrays
        Coefficients in the box, found on the way; the driver takes them out.
    should_stop : callable
        Asked now and then while `advance` works: whether to be done as soon as that can be.
    """

    bound: float
    candidates: list[Floats]
    should_stop: Callable[[], bool]

    @property
    def name(self) -> str:
        """What `resume_method` and the replay of the log know it by."""

    @property
    def log(self) -> dict[bytes, bytes] | None:
        """The partition searched so far, where it is kept."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def nodes(self) -> int:
        """Nodes so far."""

    @property
    def unresolved(self) -> float:
        """Largest bound of what cannot be decided in floating point; minus infinity, as a rule."""

    def advance(self, max_seconds: float, target: float) -> None:
        """Work for about so long; what cannot reach the target is left out for good."""

    def checkpoint(self) -> dict[str, Any]:
        """Arrays and numbers from which the registry's `resume` goes on."""

    def rehearse(self) -> None:
        """Call what is called in rare cases only, so that it is compiled before the clock starts."""

    def plan(self) -> dict[str, Any]:
        """Plain values of which the registry's class makes the same search elsewhere."""

    def share(self, crew: Crew) -> None:
        """From now on leave the searching to others."""

    def dismiss(self) -> None:
        """Have nothing searched by others any more."""


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """Where a method's parts are, as ``"module:name"``.

    Parameters
    ----------
    search : str
        A class that is a `Method`, made of `PairArrays` and ``target, direction, n_jobs, keep_log``, or by
        its ``from_plan`` of `PairArrays` and what `Method.plan` gave.
    resume : str
        A callable ``(arrays, saved, n_jobs=...)`` that goes on from what `Method.checkpoint` gave.
    replay : str or None
        A callable ``(arrays, log, bound)`` that lists what a log fails to show; None: no log is kept.
    why_not : str or None
        A callable that says of `PairArrays` why the method does not apply to them, or None; by default it
        always does.
    hand_over : str or None
        A callable that makes of a problem and some columns what the method reads in the place of
        `PairArrays`, for one that lists no pairs; `why_not` is then asked about the problem.
    """

    search: str
    resume: str
    replay: str | None
    why_not: str | None = None
    hand_over: str | None = None


METHODS: dict[str, MethodEntry] = {
    "boxes": MethodEntry(
        search="toprank.exact.boxes.search:BoxSearch",
        resume="toprank.exact.boxes.search:BoxSearch.resume",
        replay="toprank.exact.boxes.replay:replay",
    ),
    "cells": MethodEntry(
        search="toprank.exact.cells.search:CellSearch",
        resume="toprank.exact.cells.search:CellSearch.resume",
        replay="toprank.exact.cells.replay:replay_cells",
    ),
    "slices": MethodEntry(
        search="toprank.exact.slices.search:SliceSearch",
        resume="toprank.exact.slices.search:SliceSearch.resume",
        replay="toprank.exact.slices.replay:replay",
        why_not="toprank.exact.slices.search:why_not",
    ),
    "rows": MethodEntry(
        search="toprank.exact.rows.search:RowSearch",
        resume="toprank.exact.rows.search:RowSearch.resume",
        replay=None,
        why_not="toprank.exact.rows.listed:why_not",
        hand_over="toprank.exact.rows.listed:list_rows",
    ),
    "angles": MethodEntry(
        search="toprank.exact.angles.search:AngleSearch",
        resume="toprank.exact.angles.search:AngleSearch.resume",
        replay=None,
        why_not="toprank.exact.angles.listed:why_not",
        hand_over="toprank.exact.angles.listed:angle_rows",
    ),
}


def check_method(name: str) -> None:
    """Whether a user may ask for this method, else a ValueError that says for which ones."""
    if name != "auto" and name not in METHODS:
        raise ValueError(f"method={name!r} must be one of {', '.join(['auto', *METHODS])}.")


def check_applies(name: str, problem: RankingProblem) -> None:
    """Whether a method asked for by name applies to a problem, else a ValueError that says why not."""
    reason = _why_not(name, problem)
    if reason is not None:
        raise ValueError(f'method={name!r} does not apply: {reason}. Use method="auto", which chooses.')


def _why_not(name: str, problem: RankingProblem) -> str | None:
    """Why a method does not apply to a problem, or None."""
    entry = METHODS.get(name)
    if entry is None or entry.why_not is None:
        return None
    reason: str | None = find(entry.why_not)(problem if entry.hand_over is not None else problem.arrays())
    return reason


ON_A_CARD = MethodEntry(
    search="toprank.exact.gpu.search:GpuSearch",
    resume="toprank.exact.gpu.search:GpuSearch.resume",
    replay="toprank.exact.slices.replay:replay",
    why_not="toprank.exact.gpu.search:why_not",
)
"""Slices on a graphics card: what they leave behind is what the slices leave."""


def hand_over(name: str, problem: RankingProblem, columns: ArrayLike | None = None) -> Any:
    """What a method reads of a problem on some columns: its pairs, as a rule."""
    made_by = METHODS[name].hand_over if name in METHODS else None
    return problem.arrays(columns) if made_by is None else find(made_by)(problem, columns)


def make_method(name: str, arrays: Any, *, device: str = "cpu", **options: Any) -> Method:
    """A fresh search by name."""
    entry = ON_A_CARD if device == "gpu" else METHODS[name]
    made: Method = find(entry.search)(arrays, **options)
    return made


def resume_method(name: str, arrays: Any, saved: dict[str, Any], n_jobs: int) -> Method:
    """The search that a checkpoint was taken from."""
    resumed: Method = find(METHODS[name].resume)(arrays, saved, n_jobs=n_jobs)
    return resumed


def method_from_plan(name: str, arrays: Any, plan: dict[str, Any]) -> Any:
    """The search that a plan was made of, without nodes: to take part in it elsewhere, on one thread."""
    return find(METHODS[name].search).from_plan(arrays, plan)


def replay_log(name: str, arrays: Any, log: dict[bytes, bytes], bound: float) -> list[str]:
    """What a search's log fails to show of the claim that nothing reaches the bound."""
    replay = METHODS[name].replay if name in METHODS else None
    if replay is None:
        return [f"the log of the method {name!r} cannot be replayed"]
    complaints: list[str] = find(replay)(arrays, log, bound)
    return complaints


def find(place: str) -> Any:
    """What stands at ``"module:name"``; the module is imported only now."""
    module, _, path = place.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


# -- compiling ----------------------------------------------------------------------------------------


@cache
def compile_climb() -> None:
    """Have the kernels of the climb compiled, or read from disk, once a process."""
    toy = RankingProblem.from_labels(np.eye(9, 4), np.arange(9) % 3 == 0, "dcg")
    local_search(toy, [np.ones(4)], Run(rng=0), max_iter=2)


@cache
def compile_kernels(method: str) -> None:
    """Have the kernels of a method and of the climb compiled, or read from disk: toys, once a process."""
    rng = np.random.default_rng(0)
    # Small whole numbers have a margin of their own, which other kernels make use of.
    tables = (rng.normal(size=(16, 2)), rng.normal(size=(24, 4)), rng.integers(0, 3, (16, 2)))
    for X in tables:
        toy = RankingProblem.from_labels(X, np.arange(len(X)) % 3 == 0, "dcg")
        if _why_not(method, toy) is not None:
            continue
        local_search(toy, [np.ones(toy.n_features)], Run(rng=0), max_iter=50)
        start = np.ones(toy.n_features)
        found = make_method(method, hand_over(method, toy), target=toy.floor, direction=start)
        while not found.done:
            found.advance(1.0, toy.floor)
    # One that is stopped on the way, for what is only needed then.
    longer = RankingProblem.from_labels(rng.normal(size=(120, 5)), np.arange(120) % 3 == 0, "dcg")
    longer = longer if _why_not(method, longer) is None else longer.restricted([0, 1])
    stopped = make_method(method, hand_over(method, longer))
    stopped.advance(1e-3, longer.floor + 1e-6)
    stopped.checkpoint()
    stopped.rehearse()
