"""A problem by its rows, for methods that never list its pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.arithmetic.rational import is_sparse
from toprank.exact.objective import Objective
from toprank.exact.problem import RankingProblem
from toprank.exact.rounding import Scale, value_scale

__all__ = ["ByRows", "restricted_rows"]

Floats = NDArray[np.float64]
VALUE_BITS = 60
"""Sums of what positives are worth fit into 61 bits."""


@dataclass(frozen=True, eq=False)
class ByRows:
    """What lost pairs cost in a problem whose pairs are not listed.

    Parameters
    ----------
    problem : RankingProblem
        On the columns searched, without a price on coefficients.
    """

    problem: RankingProblem

    @property
    def objective(self) -> Objective:
        """What lost pairs cost."""
        return self.problem.objective

    @cached_property
    def scale(self) -> Scale:
        """Between values and whole numbers."""
        return value_scale(self.objective.size, VALUE_BITS)

    def sure_value(self, coef: Floats) -> Fraction:
        """A value that coefficients of the scaled features have at least."""
        value = self.problem.evaluate(self.problem.unscale(coef))
        return Fraction(math.nextafter(value, -math.inf))


def restricted_rows(problem: RankingProblem, columns: ArrayLike | None) -> tuple[RankingProblem, Floats]:
    """A problem on some columns without a price on coefficients, and its scaled features.

    >>> problem = RankingProblem.from_labels([[0.0, 1.0], [1.0, 0.0]], [0, 1], "auc")
    >>> restricted_rows(problem, [1])[1].shape
    (2, 1)
    """
    kept = np.arange(problem.n_features) if columns is None else np.asarray(columns, dtype=np.int64)
    if problem.penalty or len(kept) < problem.n_features:
        problem = problem.restricted(kept)
    scaled: Any = problem.scaled
    # Minus zero is zero.
    return problem, np.asarray(scaled.toarray() if is_sparse(scaled) else scaled) + 0.0
