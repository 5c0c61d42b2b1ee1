"""A mixed-integer program as plain arrays, whoever solves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.control import Run
from toprank.exact.problem import RankingProblem

__all__ = ["OWN_MARGIN", "BuildStopped", "MixedIntegerProgram", "ProgramBuilder", "with_margin"]

Floats = NDArray[np.float64]
OWN_MARGIN = 1e-6
"""Share of a pair's length by which it must be won where no margin is asked for: solvers know no strict
inequality, and decide nothing below their tolerances."""


def with_margin(problem: RankingProblem) -> RankingProblem:
    """The problem a mixed-integer program can be made of: the same, or with a margin where it has none.

    >>> problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1])
    >>> problem.margin, with_margin(problem).margin
    (0.0, 1e-06)
    """
    return problem if problem.margin > 0 else replace(problem, margin=OWN_MARGIN)


class BuildStopped(Exception):
    """The run said stop while a program was still being built."""


@dataclass(frozen=True, eq=False)
class MixedIntegerProgram:
    """Maximise ``offset + objective @ x`` with ``row_lower <= rows @ x <= row_upper``, bounds, integrality.

    Parameters
    ----------
    name : str
        Which formulation this is.
    objective, lower, upper : arrays, one entry for each variable
    integer : array of bool
        Which variables are whole numbers.
    rows, row_lower, row_upper : CSR matrix and arrays
    blocks : mapping
        Variable block name -> slice of the variables; ``"w"`` holds the coefficients.
    row_blocks : mapping
        Constraint block name, as in the paper where it is the paper's -> slice of the rows.
    offset : float
        Constant part of the objective.
    scaling : float
        Differences of the scaled features were divided by this, so that the constraint
        "z <= difference + 1 - eps" forbids nothing but what it is meant to.
    epsilon : float
        The margin after that division.
    encode : callable
        A full solution vector from coefficients of the scaled features: a start for the solver.
    slack : float
        The problem's optimum is at most the program's plus this.
    about : tuple of str
        What a certificate must say about the program's bound.
    """

    name: str
    objective: Floats
    offset: float
    rows: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    blocks: Mapping[str, slice]
    row_blocks: Mapping[str, slice]
    scaling: float
    epsilon: float
    encode: Callable[[Floats], Floats]
    slack: float = 0.0
    about: tuple[str, ...] = ()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.objective)

    @property
    def n_rows(self) -> int:
        """Number of constraints, bounds not counted."""
        return len(self.row_lower)

    @property
    def whole_coefficients(self) -> bool:
        """Whether the coefficients are whole numbers: the points of a score card."""
        return bool(self.integer[self.blocks["w"]].all())

    def decode(self, x: Floats) -> Floats:
        """Coefficients of the scaled features from a solution, cleaned of the solver's tolerances."""
        block = self.blocks["w"]
        w = np.clip(x[block], self.lower[block], self.upper[block])
        if self.whole_coefficients:
            return np.asarray(np.round(w) + 0.0)
        w[np.abs(w) <= 1e-9] = 0.0
        if "gamma" in self.blocks:
            w[x[self.blocks["gamma"]] < 0.5] = 0.0  # not counted, so not there
        return w

    def variable_names(self) -> list[str]:
        """Names such as ``z[17]``, for a solver's own log or an LP file."""
        return [f"{block}[{i}]" for block, part in self.blocks.items() for i in range(part.stop - part.start)]

    def violation(self, x: Floats) -> float:
        """Largest amount by which a vector misses a bound, a row or integrality."""
        activity = self.rows @ x
        gaps = (self.lower - x, x - self.upper, self.row_lower - activity, activity - self.row_upper)
        broken = max((float(gap.max(initial=0.0)) for gap in gaps), default=0.0)
        whole = x[self.integer]
        return max(broken, float(np.abs(whole - np.round(whole)).max(initial=0.0)))


class ProgramBuilder:
    """Collects blocks of variables, then blocks of rows over them; stops when the run says so."""

    def __init__(self, name: str, run: Run | None = None) -> None:
        self.name = name
        self._run = run
        self.blocks: dict[str, slice] = {}
        self.row_blocks: dict[str, slice] = {}
        self._objective: list[Floats] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []
        self._integer: list[NDArray[np.bool_]] = []
        self._rows: list[dict[str, sp.csr_array]] = []
        self._row_lower: list[Floats] = []
        self._row_upper: list[Floats] = []

    def variables(
        self,
        block: str,
        count: int,
        *,
        lower: float | Floats = 0.0,
        upper: float | Floats = 1.0,
        integer: bool = True,
        objective: float | Floats = 0.0,
    ) -> None:
        """Add a block of variables."""
        start = sum(len(part) for part in self._objective)
        self.blocks[block] = slice(start, start + count)
        self._objective.append(np.broadcast_to(np.asarray(objective, dtype=np.float64), count))
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), count))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), count))
        self._integer.append(np.full(count, integer))

    def constrain(
        self,
        name: str,
        parts: Mapping[str, Any],
        *,
        lower: float | Floats = -np.inf,
        upper: float | Floats = np.inf,
    ) -> None:
        """Add rows: a matrix over each variable block that takes part, all with the same number of rows."""
        self._look_at_the_clock()
        matrices = {block: sp.csr_array(part) for block, part in parts.items()}
        counts = {matrix.shape[0] for matrix in matrices.values()}
        (count,) = counts
        start = sum(len(part) for part in self._row_lower)
        self.row_blocks[name] = slice(start, start + count)
        self._rows.append(matrices)
        self._row_lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), count))
        self._row_upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), count))

    def build(
        self,
        encode: Callable[[Floats], Floats],
        *,
        offset: float = 0.0,
        scaling: float = 1.0,
        epsilon: float = 0.0,
        slack: float = 0.0,
        about: tuple[str, ...] = (),
    ) -> MixedIntegerProgram:
        """The program in one piece."""
        self._look_at_the_clock()
        widths = {block: part.stop - part.start for block, part in self.blocks.items()}
        grid = [
            [matrices.get(block, sp.csr_array((_height(matrices), width))) for block, width in widths.items()]
            for matrices in self._rows
        ]
        return MixedIntegerProgram(
            self.name,
            np.concatenate(self._objective),
            offset,
            sp.csr_array(sp.block_array(grid, format="csr")),
            np.concatenate(self._row_lower),
            np.concatenate(self._row_upper),
            np.concatenate(self._lower),
            np.concatenate(self._upper),
            np.concatenate(self._integer),
            dict(self.blocks),
            dict(self.row_blocks),
            scaling,
            epsilon,
            encode,
            slack,
            about,
        )

    def _look_at_the_clock(self) -> None:
        if self._run is not None and self._run.should_stop():
            raise BuildStopped


def _height(matrices: Mapping[str, sp.csr_array]) -> int:
    return int(next(iter(matrices.values())).shape[0])
