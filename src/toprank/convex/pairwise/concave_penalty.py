"""RankSVM with penalties that leave large coefficients alone: l_q, log, MCP and SCAD, by repeated l1.

A concave penalty lies below its tangents, so the weighted l1 problem of its slopes at the present
coefficients lies above the whole problem and touches it there: its minimum is no worse (Laporte et al. 2014,
"Nonconvex regularizations for feature selection in ranking with sparse SVM"). What comes out is a local
minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Run, Status
from toprank.convex.pairwise.rank_svm import PairLoss
from toprank.convex.pairwise.sparse_penalty import weighted_l1

__all__ = ["CONCAVE", "ConcavePenalty", "Log", "Lq", "Mcp", "Scad", "concave_rank_svm"]

Floats = NDArray[np.float64]
STAGES = 30
FLATTEST = 1e-3
"""Slope of a penalty where it has none: an l1 problem with a coefficient for nothing has no bound."""


class ConcavePenalty(Protocol):
    """A penalty of the size of one coefficient: zero at zero, rising, concave."""

    def value(self, size: Floats) -> Floats:
        """The penalty."""
        ...

    def slope(self, size: Floats) -> Floats:
        """Its derivative, or something near it where that is infinite."""
        ...

    @property
    def first_slope(self) -> float:
        """That of the l1 problem to begin with."""
        ...


@dataclass(frozen=True)
class Lq:
    """|w|^q, 0 < q < 1 (Tian et al. 2011).

    Near zero it has no tangent; sizes are offset by a thousandth of the largest, so that a dropped feature
    can come back.
    """

    q: float

    def value(self, size: Floats) -> Floats:
        return np.where(size > 0.0, np.maximum(size, np.finfo(float).tiny) ** self.q, 0.0)

    def slope(self, size: Floats) -> Floats:
        offset = 1e-3 * max(float(size.max(initial=0.0)), 1e-6)
        return np.asarray(self.q * (size + offset) ** (self.q - 1.0))

    @property
    def first_slope(self) -> float:
        return self.q


@dataclass(frozen=True)
class Log:
    """bend log(1 + |w| / bend): as |w| for small ones.

    >>> Log(1.0).value(np.array([0.0, np.e - 1.0]))
    array([0., 1.])
    """

    bend: float = 0.1
    first_slope: float = 1.0

    def value(self, size: Floats) -> Floats:
        return np.asarray(self.bend * np.log1p(size / self.bend))

    def slope(self, size: Floats) -> Floats:
        return np.asarray(1.0 / (1.0 + size / self.bend))


@dataclass(frozen=True)
class Mcp:
    """|w| - w^2 / (2 bend) up to the bend, and the same from there on (Zhang 2010).

    >>> Mcp(2.0).value(np.array([1.0, 2.0, 5.0]))
    array([0.75, 1.  , 1.  ])
    """

    bend: float = 3.0
    first_slope: float = 1.0

    def value(self, size: Floats) -> Floats:
        inside = np.minimum(size, self.bend)
        return np.asarray(inside - inside**2 / (2.0 * self.bend))

    def slope(self, size: Floats) -> Floats:
        return np.maximum(1.0 - size / self.bend, 0.0)


@dataclass(frozen=True)
class Scad:
    """|w| up to one, then a parabola up to the bend, and the same from there on (Fan & Li 2001).

    >>> Scad(3.0).value(np.array([1.0, 3.0, 5.0]))
    array([1., 2., 2.])
    """

    bend: float = 3.7
    first_slope: float = 1.0

    def value(self, size: Floats) -> Floats:
        inside = np.minimum(size, self.bend)
        parabola = (2.0 * self.bend * inside - inside**2 - 1.0) / (2.0 * (self.bend - 1.0))
        return np.where(size <= 1.0, size, parabola)

    def slope(self, size: Floats) -> Floats:
        falling = np.maximum(self.bend - size, 0.0) / (self.bend - 1.0)
        return np.where(size <= 1.0, 1.0, falling)


CONCAVE: dict[str, Callable[..., ConcavePenalty]] = {"log": Log, "mcp": Mcp, "scad": Scad}
"""Penalties with a bend, by name."""


def concave_rank_svm(
    problem: PairLoss,
    penalty: ConcavePenalty,
    run: Run,
    *,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
) -> tuple[Floats, Outcome]:
    """A local minimum of sum_k penalty(|w_k|) + C * mean pairwise loss, by repeated weighted l1 problems."""
    first = np.full(problem.design.n_features, penalty.first_slope)
    coef, outcome = weighted_l1(problem, first, run, tol=tol, max_iter=max_iter, start=start)
    value = _value(problem, penalty, coef)
    status, steps = outcome.status, outcome.iterations
    for _ in range(STAGES):
        if status not in (Status.OPTIMAL, Status.FINISHED):
            break
        slopes = np.maximum(penalty.slope(np.abs(coef)), FLATTEST)
        following, outcome = weighted_l1(problem, slopes, run, tol=tol, max_iter=max_iter, start=coef)
        steps += outcome.iterations
        status = outcome.status
        lower = _value(problem, penalty, following)
        if not lower < value - tol * abs(value):
            if lower < value:
                coef, value = following, lower
            break
        coef, value = following, lower
    final = Status.FINISHED if status is Status.OPTIMAL else status
    return coef, Outcome(value, status=final, seconds=run.seconds, iterations=steps)


def _value(problem: PairLoss, penalty: ConcavePenalty, coef: Floats) -> float:
    loss = problem.at(problem.design.scores(coef)).value
    return float(penalty.value(np.abs(coef)).sum()) + problem.C * loss
