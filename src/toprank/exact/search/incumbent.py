"""The best answer so far, the bound on all others, and how the two came together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.problem import RankingProblem
from toprank.exact.widest import perfect_order

__all__ = ["Incumbent", "placed"]

Floats = NDArray[np.float64]
IMPROVEMENT = 1e-10
"""Relative size of the smallest improvement that is looked for."""
LONGEST_HISTORY = 1000
"""Events that are kept; a longer history is thinned."""


class Incumbent:
    """The best coefficients found for a problem, between their value and the bound on any others.

    Parameters
    ----------
    problem : RankingProblem
        Which decides what coefficients are worth.

    Attributes
    ----------
    coef : array
        Coefficients of the original features.
    value, bound : float
        What they reach, and what no others exceed; the bound never rises, except to a value reached.
    history : list of (seconds, value, bound)

    Examples
    --------
    >>> best = Incumbent(RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc"))
    >>> best.offer([-1.0]), best.offer([1.0]), best.value, best.closed
    (False, True, 1.0, True)
    """

    def __init__(self, problem: RankingProblem) -> None:
        self.problem = problem
        self.coef: Floats = np.zeros(problem.n_features)
        self.value = problem.floor
        self.bound = problem.trivial_bound
        self.history: list[tuple[float, float, float]] = []
        self._widest = False

    def offer(self, coef: ArrayLike, *, widest: bool = False) -> bool:
        """Take coefficients of the original features if they are better.

        Parameters
        ----------
        coef : array-like
        widest : bool
            Whether they are known to win what they win by the widest margin of all on these features.
        """
        values = np.asarray(coef, dtype=np.float64)
        value = self.problem.evaluate(values)
        better = value > self.value
        if better:
            self.coef, self.value = values, value
            self.bound = max(self.bound, value)
            # Where a feature is left out, the others alone may do better.
            self._widest = widest and bool(values.all())
        return better

    def replace(self, coef: ArrayLike) -> None:
        """Take coefficients that are as good instead."""
        values = np.asarray(coef, dtype=np.float64)
        if self.problem.evaluate(values) >= self.value:
            self.offer(values)
            self.coef, self._widest = values, False

    def widen(self, seconds: float) -> None:
        """Move to the middle of the answer's cell: the same pairs won by the widest margin.

        Where that is depends on the pairs won and not on how they were found.
        """
        problem, columns = self.problem, np.flatnonzero(self.coef)
        if not len(columns) or self._widest:
            return
        arrays = problem.arrays(columns)
        won = problem.won(self.coef, np.column_stack((arrays.upper, arrays.lower)))
        w = perfect_order(arrays.differences[won], arrays.margin, seconds) if won.any() else None
        if w is not None:
            wider = placed(w / problem.scales[columns], columns, problem.n_features)
            value = problem.evaluate(wider)
            if value >= self.value:
                self.coef, self.value = wider, value

    def lower(self, bound: float) -> None:
        """Take a better bound."""
        self.bound = max(self.value, min(self.bound, bound))

    @property
    def target(self) -> float:
        """What an answer must reach to count as better."""
        return self.value + IMPROVEMENT * max(1.0, abs(self.value))

    @property
    def closed(self) -> bool:
        """Whether nothing can be better."""
        return self.value >= self.bound

    def note(self, seconds: float) -> None:
        """Remember value and bound; a long history is thinned."""
        if not self.history or self.history[-1][1:] != (self.value, self.bound):
            self.history.append((seconds, self.value, self.bound))
        if len(self.history) > LONGEST_HISTORY:
            del self.history[1:-1:2]

    # -- files --------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """What JSON knows."""
        return {"coef": self.coef.tolist(), "bound": self.bound, "history": self.history}

    def restore(self, plain: dict[str, Any]) -> None:
        """Take over what `to_plain` wrote; the value is worked out anew."""
        self.offer(np.array(plain["coef"], dtype=np.float64))
        self.bound = max(self.value, float(plain["bound"]))
        self.history = [(float(s), float(v), float(b)) for s, v, b in plain["history"]]


def placed(coef: Floats, columns: NDArray[np.int64], n_features: int) -> Floats:
    """Coefficients of all features from those of some columns.

    >>> placed(np.array([2.0]), np.array([1]), 3)
    array([0., 2., 0.])
    """
    whole = np.zeros(n_features)
    whole[columns] = coef
    return whole
