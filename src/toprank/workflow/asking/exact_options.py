"""What can be asked of the exact ranker: a price of features, a margin, a program and its solver, demands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from toprank.datasets import InputError
from toprank.exact.mip import backends
from toprank.lineup import RERANK, RERANKER
from toprank.rankers.exact import Solver

__all__ = ["ExactOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactOptions:
    """Options of `ExactRanker`, of the whole list or as the reranker; None where nothing is said.

    Parameters
    ----------
    penalty : float or None
        Price of each feature that counts, in units of the statistic.
    margin : float or None
        By how much a pair must be won.
    solver, backend : str or None
        The geometric search or one of the mixed-integer programs, and who solves it.
    threshold : float or None
        Score of the first list from which items are reranked, instead of a number of them.
    constraints : Path or None
        A TOML file of demands, see `toprank.workflow.reading.demands`.

    Examples
    --------
    >>> ExactOptions(penalty=0.1).ranker, ExactOptions(constraints=Path("rules.toml")).ranker
    ('rerank', 'ExactRanker')
    >>> ExactOptions().ranker is None
    True
    """

    penalty: float | None = None
    margin: float | None = None
    solver: str | None = None
    backend: str | None = None
    threshold: float | None = None
    constraints: Path | None = None

    @property
    def given(self) -> list[str]:
        """What was said, as options."""
        return [f"--{name}" for name in self.__slots__ if getattr(self, name) is not None]

    @property
    def ranker(self) -> str | None:
        """The ranker that is meant where none is named: demands are about the whole list."""
        if not self.given:
            return None
        return RERANKER if self.constraints is not None else RERANK

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of `ExactRanker`; demands, which need the rows of a fit, left out."""
        named = ("penalty", "margin", "solver", "backend")
        said = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        return said | ({"solver": "mip"} if self.constraints is not None else {})

    def check(self, ranker: str, *, depth: int | None) -> None:
        """Refuse what does not fit, or does not fit together."""
        if self.given and ranker not in (RERANK, RERANKER):
            raise InputError(f"{self.given[0]} is for --ranker {RERANK} or {RERANKER}, not for {ranker}.")
        self._check_numbers()
        solvers = get_args(Solver)
        if self.solver is not None and self.solver not in solvers:
            raise InputError(f"--solver {self.solver!r} is not one of {', '.join(solvers)}.")
        if self.backend is not None:
            self._check_backend()
        if self.threshold is not None:
            if ranker != RERANK:
                raise InputError(f"--threshold says from where on to rerank: it is for --ranker {RERANK}.")
            if depth is not None:
                raise InputError("--threshold and --depth both say how far to rerank: give one of them.")
        if self.constraints is not None and ranker != RERANKER:
            raise InputError(
                "--constraints are about the whole list, and --ranker rerank orders its first items only: say"
                f" --ranker {RERANKER}."
            )
        if self.constraints is not None and self.solver not in (None, "mip"):
            raise InputError(f"--constraints need --solver mip, not {self.solver}; leave --solver out.")

    def _check_numbers(self) -> None:
        for flag, value in (("--penalty", self.penalty), ("--margin", self.margin)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{flag} {value:g}: give a number from 0.")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"--threshold {self.threshold:g}: give a number, a score of the first list.")

    def _check_backend(self) -> None:
        known = backends.available()
        if self.backend not in known:
            raise InputError(f"--backend {self.backend!r} is not one of {', '.join(known)}.")
        if self.constraints is None and self.solver in (None, "search"):
            raise InputError("--backend solves mixed-integer programs: add --solver mip.")
        reason = known[self.backend]
        if reason is not None:
            raise InputError(f"--backend {self.backend!r} cannot be used: {reason}")
