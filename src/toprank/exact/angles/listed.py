"""What a search over angles reads of a problem: its different rows, and whose items they are in what list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.by_rows import ByRows, restricted_rows
from toprank.exact.problem import RankingProblem

if TYPE_CHECKING:
    from toprank.exact.angles._angle_kernels import Lists

__all__ = ["MOST_FEATURES", "AngleRows", "angle_rows", "why_not"]

Floats = NDArray[np.float64]
MOST_FEATURES = 2
"""A direction is one angle."""


def why_not(problem: RankingProblem) -> str | None:
    """Why a problem cannot be searched by angles, or None."""
    if problem.n_features > MOST_FEATURES:
        return f"it is for one or two features, and this problem has {problem.n_features}"
    if problem.pairs is not None:
        return "it is for lists, and this problem has weighted pairs"
    if problem.margin > 0:
        return "it knows no margin"
    return None


@dataclass(frozen=True, eq=False)
class AngleRows(ByRows):
    """Lists by their different rows; equal ones are one row with several items.

    Parameters
    ----------
    problem : RankingProblem
        On the columns searched, without a price on coefficients.
    rows : (n, 2) array
        The different rows, scaled features; of one feature the second column is zero.
    upper, lower : arrays of int64
        Row of each positive and of each negative, rising.
    upper_list, lower_list : arrays of int32
        The lists of these.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [1.0], [2.0]], [0, 1, 0, 1], "auc")
    >>> listed = angle_rows(problem)
    >>> listed.rows[:, 0].tolist(), listed.upper.tolist(), listed.lower.tolist()
    ([0.0, 1.0, 2.0], [1, 2], [0, 1])
    """

    rows: Floats
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper_list: NDArray[np.int32]
    lower_list: NDArray[np.int32]

    @cached_property
    def lists(self) -> Lists:
        """What the kernels read."""
        from toprank.exact.angles._angle_kernels import Lists

        n = len(self.rows)
        values, start, stride, factor = self.objective.short_tables
        ups, lows = (np.concatenate(([0], np.cumsum(side))) for side in self.objective.shapes)
        return Lists(
            up_begin=np.searchsorted(self.upper, np.arange(n + 1)),
            low_begin=np.searchsorted(self.lower, np.arange(n + 1)),
            up_list=self.upper_list,
            low_list=self.lower_list,
            up_start=ups.astype(np.int64),
            low_start=lows.astype(np.int64),
            # Powers of two: a product with a factor is rounded as it would be without them.
            values=np.ldexp(values, self.scale.exponent),
            start=start,
            stride=stride,
            factor=factor,
        )


def angle_rows(problem: RankingProblem, columns: ArrayLike | None = None) -> AngleRows:
    """The lists of a problem by their rows, restricted to some columns when asked."""
    problem, scaled = restricted_rows(problem, columns)
    both = np.zeros((len(scaled), MOST_FEATURES))
    both[:, : scaled.shape[1]] = scaled
    rows, number = _different(both)
    upper, upper_list = _items(number, [upper for upper, _, _ in problem.queries])
    lower, lower_list = _items(number, [lower for _, lower, _ in problem.queries])
    return AngleRows(problem, rows, upper, lower, upper_list, lower_list)


def _different(rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The different rows, and the number of each row among them."""
    order = np.lexsort(rows.T)
    ranked = rows[order]
    new = np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1))
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ranked[new]), number


def _items(
    number: NDArray[np.int64], sides: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Row and list of each item of one side of all lists, by rising rows."""
    rows = number[np.concatenate(sides)]
    of_list = np.repeat(np.arange(len(sides), dtype=np.int32), [len(side) for side in sides])
    order = np.argsort(rows, kind="stable")
    return rows[order], of_list[order]
