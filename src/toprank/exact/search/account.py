"""What a user chose for a search, and what its proof has used and shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toprank.exact.problem import RankingProblem
from toprank.exact.search.errands import Recruit
from toprank.exact.search.methods import check_applies, check_method, device_for, within_reach

__all__ = ["Account", "Options", "checked"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a user chose."""

    n_jobs: int
    method: str
    path: Path | None
    keep_proof: bool
    recruit: Recruit | None = None
    device: str = "cpu"


@dataclass(slots=True)
class Account:
    """What the proof has used and shown so far.

    Parameters
    ----------
    used : str
        Who made the bound.
    nodes, spent : int
        Nodes in all, and those of supports that are done with.
    seconds_before : float
        Of earlier runs, after a resumption.
    parts : list
        What was shown of each set of columns, where that is kept.
    settled : bool
        Whether the problem has a margin because some regions were too thin to decide.
    """

    keep_proof: bool
    used: str = "trivial bound"
    nodes: int = 0
    spent: int = 0
    seconds_before: float = 0.0
    parts: list[dict[str, Any]] = field(default_factory=list)
    settled: bool = False
    notes: list[str] = field(default_factory=list)


def checked(problem: RankingProblem, options: Options) -> Options:
    """Options that can be had for a problem, else a ValueError that says which cannot."""
    check_method(options.method)
    if within_reach(problem):
        check_applies(options.method, problem.arrays())
    if options.recruit is not None:
        if options.device == "gpu":
            raise ValueError(
                'device="gpu": workers of a cluster search on their CPUs; leave out one of the two.'
            )
        return replace(options, device="cpu")
    device = device_for(options.device, options.method, problem)
    return replace(options, device=device, method="slices" if device == "gpu" else options.method)
