"""What a user chose for a search, and what its proof has used and shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toprank.exact.search.errands import Recruit

__all__ = ["Account", "Options"]


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
