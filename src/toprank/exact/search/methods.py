"""The methods of proof: what each looks like to the driver, where its files are, and which one to choose.

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
from numpy.typing import NDArray

from toprank.control import Run
from toprank.exact.climb.local_search import local_search
from toprank.exact.pairs import PairArrays
from toprank.exact.problem import RankingProblem
from toprank.exact.sharing import Crew

__all__ = [
    "METHODS",
    "Method",
    "MethodEntry",
    "check_applies",
    "check_method",
    "checked",
    "choose",
    "companion",
    "compile_climb",
    "compile_for",
    "compile_kernels",
    "device_for",
    "kernels_for",
    "make_method",
    "method_from_plan",
    "replay_log",
    "resume_method",
    "within_reach",
]

Floats = NDArray[np.float64]
MOST_ENTRIES = 12_000_000
"""Pairs times features beyond which no proof is tried: the differences alone would fill 100 MB."""
BOXES_UP_TO = 3
"""Features up to which boxes are always the better method."""
MANY_ZEROS, ZEROS_UP_TO = 0.05, 3000
"""Share of pairs that agree in some feature from which, without a margin, many change sides at the same
directions; up to so many pairs the cells then take a second where boxes may take minutes."""
BOXES_SMOOTH_UP_TO = 9
"""Features up to which they are where each of them takes more than a few values."""
FEW_VALUES, MOST_LOOKED_AT = 9, 2000
"""A feature takes few values with so many or fewer differences among so many pairs: flags, small counts."""
HARD_FROM, HARD_PAIRS = 7, (1000, 50_000)
"""Features from which, and pairs between which, neither method is sure to get through: both take turns."""
CARD_FROM, CARD_UP_TO = 5, 12
"""Features from which a graphics card is worth its start, and up to which boxes get through at all."""
BOXES_HARD_UP_TO, FEW_POSITIVES = 7, 20
"""There boxes go first up to so many features, or for so few positives; otherwise the cells do."""


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
    replay : str
        A callable ``(arrays, log, bound)`` that lists what a log fails to show.
    why_not : str or None
        A callable that says of `PairArrays` why the method does not apply to them, or None; by default it
        always does.
    """

    search: str
    resume: str
    replay: str
    why_not: str | None = None


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
}


def check_method(name: str) -> None:
    """Whether a user may ask for this method, else a ValueError that says for which ones."""
    if name != "auto" and name not in METHODS:
        raise ValueError(f"method={name!r} must be one of {', '.join(['auto', *METHODS])}.")


def check_applies(name: str, arrays: PairArrays) -> None:
    """Whether a method asked for by name applies to a problem, else a ValueError that says why not."""
    entry = METHODS.get(name)
    reason = None if entry is None or entry.why_not is None else _find(entry.why_not)(arrays)
    if reason is not None:
        raise ValueError(f'method={name!r} does not apply: {reason}. Use method="auto", which chooses.')


ON_A_CARD = MethodEntry(
    search="toprank.exact.gpu.search:GpuSearch",
    resume="toprank.exact.gpu.search:GpuSearch.resume",
    replay="toprank.exact.slices.replay:replay",
    why_not="toprank.exact.gpu.search:why_not",
)
"""Slices on a graphics card: what they leave behind is what the slices leave."""
DEVICES = ("auto", "cpu", "gpu")


def device_for(device: str, method: str, problem: RankingProblem) -> str:
    """Where to search, "cpu" or "gpu"; a ValueError says why the graphics card asked for cannot be used.

    >>> problem = RankingProblem.from_labels(np.eye(9, 4), np.arange(9) % 3 == 0, "dcg")
    >>> device_for("auto", "boxes", problem)
    'cpu'
    """
    if device not in DEVICES:
        raise ValueError(f"device={device!r} must be one of {', '.join(DEVICES)}.")
    if device == "cpu" or (device == "auto" and not (method == "auto" and _worth_a_card(problem))):
        return "cpu"
    reason = None if method in ("auto", "slices") else f"method={method!r} runs on the CPU"
    reason = reason or ("the list is too long" if not within_reach(problem) else None)
    reason = reason or _find("toprank.exact.gpu.device:why_no_card")()
    reason = reason or _find(str(ON_A_CARD.why_not))(problem.arrays())
    if reason is not None and device == "gpu":
        raise ValueError(f'device="gpu": {reason}. Use device="auto", which takes the CPU then.')
    return "cpu" if reason is not None else "gpu"


def checked(problem: RankingProblem, method: str, device: str, *, shared: bool = False) -> tuple[str, str]:
    """How and where to search, else a ValueError that says what cannot be; `shared`: others search."""
    check_method(method)
    if within_reach(problem):
        check_applies(method, problem.arrays())
    if shared and device == "gpu":
        raise ValueError('device="gpu": the workers of a cluster search on CPUs; leave out one of the two.')
    device = "cpu" if shared else device_for(device, method, problem)
    return "slices" if device == "gpu" else method, device


def _worth_a_card(problem: RankingProblem) -> bool:
    """Where a card is known to be the quicker one: some features, none of which takes few values only."""
    return (
        CARD_FROM <= problem.n_features <= CARD_UP_TO
        and within_reach(problem)
        and _smooth(problem.arrays().differences)
    )


def make_method(name: str, arrays: PairArrays, *, device: str = "cpu", **options: Any) -> Method:
    """A fresh search by name."""
    entry = ON_A_CARD if device == "gpu" else METHODS[name]
    made: Method = _find(entry.search)(arrays, **options)
    return made


def resume_method(name: str, arrays: PairArrays, saved: dict[str, Any], n_jobs: int) -> Method:
    """The search that a checkpoint was taken from."""
    resumed: Method = _find(METHODS[name].resume)(arrays, saved, n_jobs=n_jobs)
    return resumed


def method_from_plan(name: str, arrays: PairArrays, plan: dict[str, Any]) -> Any:
    """The search that a plan was made of, without nodes: to take part in it elsewhere, on one thread."""
    return _find(METHODS[name].search).from_plan(arrays, plan)


def replay_log(name: str, arrays: PairArrays, log: dict[bytes, bytes], bound: float) -> list[str]:
    """What a search's log fails to show of the claim that nothing reaches the bound."""
    if name not in METHODS:
        return [f"the log of the method {name!r} cannot be replayed"]
    complaints: list[str] = _find(METHODS[name].replay)(arrays, log, bound)
    return complaints


def _find(place: str) -> Any:
    """What stands at ``"module:name"``; the module is imported only now."""
    module, _, path = place.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


# -- which one ----------------------------------------------------------------------------------------


def within_reach(problem: RankingProblem) -> bool:
    """Whether a proof is tried at all: the differences of all pairs must fit in memory."""
    return problem.n_pairs * problem.n_features <= MOST_ENTRIES


def choose(method: str, arrays: PairArrays) -> str:
    """The method to use on these pairs: boxes, unless there are many features, or some with few values.

    Features with few values (flags, one-hot columns) make many pairs change sides at the same directions,
    which boxes never separate; the cells between the pairs' hyperplanes do not mind. Nor do they mind pairs
    that agree in some features and not in others (mostly zeros, say). On hard problems the
    cells' bound falls at once and then slowly, that of boxes late and then fast, soonest where positives
    are few; see `companion`.

    >>> X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    >>> smooth, coarse = (RankingProblem.from_labels(Z, y).arrays() for Z in (X, np.sign(X)))
    >>> choose("auto", smooth), choose("auto", coarse), choose("boxes", coarse)
    ('boxes', 'cells', 'boxes')
    """
    if method != "auto":
        return method
    d = arrays.differences.shape[1]
    if d > 2 and _meets_at_axes(arrays):
        return "cells"
    if d <= BOXES_UP_TO or (d <= BOXES_SMOOTH_UP_TO and _boxes_first(arrays)):
        return "boxes"
    return "cells"


def companion(method: str, arrays: PairArrays) -> str | None:
    """The method to take turns with the one chosen, where it is not clear which will get further.

    >>> X, y = np.random.default_rng(0).normal(size=(200, 8)), np.arange(200) % 20 == 0
    >>> arrays = RankingProblem.from_labels(X, y).arrays()
    >>> choose("auto", arrays), companion("auto", arrays), companion("boxes", arrays)
    ('boxes', 'cells', None)
    """
    if method != "auto" or not _hard(arrays):
        return None
    return "cells" if choose(method, arrays) == "boxes" else "boxes"


def _hard(arrays: PairArrays) -> bool:
    pairs, d = arrays.differences.shape
    return HARD_FROM <= d <= BOXES_SMOOTH_UP_TO and HARD_PAIRS[0] <= pairs <= HARD_PAIRS[1]


def _meets_at_axes(arrays: PairArrays) -> bool:
    """Whether many of a few pairs are decided by some features alone, with no margin to tell them apart."""
    D = arrays.differences
    if arrays.margin > 0 or len(D) > ZEROS_UP_TO:
        return False
    partly = (D == 0).any(axis=1) & D.any(axis=1)
    return bool(partly.mean() > MANY_ZEROS)


def _boxes_first(arrays: PairArrays) -> bool:
    """Whether boxes are the better bet with a moderate number of features."""
    smooth = _smooth(arrays.differences)
    if not _hard(arrays):
        return smooth
    few = not arrays.objective.by_pairs and arrays.objective.n_items <= FEW_POSITIVES
    return few or (smooth and arrays.differences.shape[1] <= BOXES_HARD_UP_TO)


def _smooth(differences: Floats) -> bool:
    """Whether no column takes few values only."""
    return all(len(np.unique(column)) > FEW_VALUES for column in differences[:MOST_LOOKED_AT].T)


# -- compiling ----------------------------------------------------------------------------------------


def kernels_for(problem: RankingProblem, method: str = "auto") -> tuple[list[str], list[str]]:
    """Methods that a search of this problem begins with, and those that may be called in later."""
    check_method(method)
    if not within_reach(problem):
        return [], []
    arrays = problem.arrays()
    first = {choose(method, arrays)}
    if method == "auto" and problem.penalty:
        first.add("boxes")  # for the small supports
    other = companion(method, arrays)
    return sorted(first), [] if other is None or other in first else [other]


def compile_for(problem: RankingProblem, method: str = "auto") -> None:
    """Have all compiled, or read from disk, that a search of this problem may call."""
    for names in kernels_for(problem, method):
        for name in names:
            compile_kernels(name)


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
        local_search(toy, [np.ones(toy.n_features)], Run(rng=0), max_iter=50)
        found = make_method(method, toy.arrays(), target=toy.floor, direction=np.ones(toy.n_features))
        while not found.done:
            found.advance(1.0, toy.floor)
    # One that is stopped on the way, for what is only needed then.
    longer = RankingProblem.from_labels(rng.normal(size=(120, 5)), np.arange(120) % 3 == 0, "dcg")
    stopped = make_method(method, longer.arrays())
    stopped.advance(1e-3, longer.floor + 1e-6)
    stopped.checkpoint()
    stopped.rehearse()
