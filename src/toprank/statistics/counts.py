"""Statistics that are sums over the positives of g(j, c): what the exact methods can maximise.

Positives are sorted by how many negatives stand at or above them; the j-th of them, from 0, with c negatives
at or above it is worth g(j, c). Position weights are the special case in which g depends on j + c alone.

A sum over the negatives of some h(b), b the positives at or below a negative, is of this form too. The v-th
best negative has as many positives at or below it as there are j with c_(j) > v, so with h(0) = 0 the sum is
that over j of c_(j) (h(m - j) - h(m - j - 1)), m the number of positives.

With more than two labels a statistic may be a sum over pairs of items with different labels (`PairSum`), or a
sum of such sums over lists of two classes, "labels from some grade on" and the rest (`GradeSum`). Ties are
the worst way in all of them at once: the smallest label first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["CountTable", "GradeSum", "GradedForm", "PairSum"]

Floats = NDArray[np.float64]
Whole = NDArray[np.integer]
MOST_ENTRIES = 200_000_000
"""Of a table that has no shorter form: 1.6 GB."""


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """What the j-th best positive of a list is worth when c negatives stand at or above it.

    ``g(j, c) = factor[j] * values[stride * j + c]``. Rows may overlap: position weights have stride 1, and
    where j does not matter the stride is 0 and there is one row. What exact methods need is that g(j, c) is
    finite and never increases in c, for every j by itself; how it changes with j does not matter. Then
    the sum over j of g(j, c_(j)) never gains when a pair is lost: one count grows, and sorted counts with it.

    Parameters
    ----------
    values : array
    stride : int
    factor : array of n_pos numbers, not below zero; or None
        None: all one.

    Examples
    --------
    >>> CountTable.by_position(np.array([1.0, 0.5, 0.25])).at(np.array([0, 1]), np.array([0, 1]))
    array([1.  , 0.25])
    """

    values: Floats
    stride: int = 1
    factor: Floats | None = None

    @classmethod
    def by_position(cls, weights: Floats) -> Self:
        """Weights of positions: g(j, c) = weights[j + c]."""
        return cls(np.asarray(weights, dtype=np.float64))

    @classmethod
    def by_count(cls, values: Floats, factor: Floats | None = None) -> Self:
        """Values of counts, perhaps times something that depends on j: g(j, c) = factor[j] * values[c]."""
        return cls(np.asarray(values, dtype=np.float64), 0, factor)

    @classmethod
    def of(cls, n_pos: int, n_neg: int, function: Callable[[Whole, Whole], Floats]) -> Self:
        """The table of any function of arrays j and c."""
        if n_pos * (n_neg + 1) > MOST_ENTRIES:
            raise ValueError(
                f"a table of {n_pos} positives times {n_neg + 1} counts is too large; use fewer rows."
            )
        grid = function(np.arange(n_pos)[:, None], np.arange(n_neg + 1)[None, :])
        return cls(np.asarray(grid, dtype=np.float64).reshape(-1), n_neg + 1)

    @property
    def linear(self) -> bool:
        """Whether the value is a sum of position weights."""
        return self.stride == 1 and self.factor is None

    def at(self, j: Whole, c: Whole) -> Floats:
        """The values g(j, c), elementwise."""
        found = self.values[self.stride * j + c]
        return np.asarray(found if self.factor is None else self.factor[j] * found)

    def plain(self, n_pos: int, n_neg: int) -> Self:
        """The same without a factor, row after row where there was one."""
        if self.factor is None:
            return self
        return self.of(n_pos, n_neg, self.at)

    def head(self, n_pos: int, n_neg: int) -> Self:
        """The part that a list of fewer positives and negatives reads."""
        size = max(0, self.stride * (n_pos - 1) + n_neg + 1)
        return type(self)(
            self.values[:size], self.stride, None if self.factor is None else self.factor[:n_pos]
        )

    def divided(self, number: float) -> Self:
        """Everything divided by a number above zero."""
        return type(self)(self.values / number, self.stride, self.factor)

    def complaint(self, n_pos: int, n_neg: int) -> str | None:
        """What keeps a list of this shape from being maximised by the table; None if nothing does."""
        needed = self.stride * (n_pos - 1) + n_neg + 1
        if self.values.ndim != 1 or len(self.values) < needed:
            return f"a list of {n_pos + n_neg} items needs {needed} values, got {self.values.shape}"
        if not np.isfinite(self.values).all():
            return "values must be finite"
        if self.factor is not None and (
            self.factor.shape != (n_pos,) or not np.isfinite(self.factor).all() or (self.factor < 0).any()
        ):
            return f"factor must be {n_pos} finite numbers, none below zero"
        steps = np.diff(self.values[:needed])
        if self.stride > n_neg:  # the last value of a row and the first of the next have nothing to do
            steps = steps[np.arange(len(steps)) % self.stride < n_neg]
        return "values must never increase with the number of negatives above" if (steps > 0).any() else None


@dataclass(frozen=True, slots=True, eq=False)
class GradeSum:
    """A sum over grades of lists of two classes: items from that grade on, and the rest.

    Parameters
    ----------
    grades : array
        From which on the items of each list are positives.
    tables : tuple of CountTable
        What they are worth.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import statistics
    >>> statistics.get("dcg").graded_form(np.array([0.0, 1.0, 2.0])).grades
    array([1., 2.])
    """

    grades: Floats
    tables: tuple[CountTable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PairSum:
    """A sum over the pairs of items with different labels that are in the right order.

    Parameters
    ----------
    levels : array
        The different labels, rising.
    worth : array of shape (levels, levels)
        What a pair is worth whose upper item has the level of the row and whose lower one that of the column.
    offset : float
        The value when no pair is in the right order.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import statistics
    >>> statistics.get("kendall_tau").graded_form(np.array([0.0, 1.0, 2.0])).offset
    -1.0
    """

    levels: Floats
    worth: Floats
    offset: float = 0.0

    @classmethod
    def of(cls, y: Floats, worth: Callable[[Whole, Whole, Floats], Floats], offset: float = 0.0) -> Self:
        """From a function of the numbers of the two levels and of how many items each level has.

        >>> PairSum.of(np.array([0.0, 2.0, 2.0]), lambda upper, lower, masses: 1.0 / masses[upper]).worth
        array([[0. , 0. ],
               [0.5, 0. ]])
        """
        levels, masses = np.unique(y, return_counts=True)
        number = np.arange(len(levels))
        found = worth(number[:, None], number[None, :], masses.astype(np.float64))
        return cls(levels, np.where(number[:, None] > number[None, :], found, 0.0), offset)

    def pairs(self, y: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Rows (upper, lower) of the pairs that are worth something, and how much."""
        level = np.searchsorted(self.levels, y)
        each = self.worth[level[:, None], level[None, :]]
        upper, lower = np.nonzero(each > 0)
        return np.column_stack((upper, lower)).astype(np.int64), each[upper, lower]


GradedForm = GradeSum | PairSum
"""What a statistic of more than two labels is, where it can be maximised exactly."""
