"""What a user may demand of the coefficients and of the top of the list, beyond the statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.rational import exact_scores
from toprank.exact.inputs import Matrix

__all__ = ["Constraints", "InfeasibleError", "TopGroup"]


class InfeasibleError(ValueError):
    """No linear score meets the constraints; the message names the one that cannot be met."""


@dataclass(frozen=True)
class TopGroup:
    """At least (or at most) so many of the first `top` items must come from a group.

    The first `top` items must be separated from the rest by the margin, so that ties cannot decide.

    Parameters
    ----------
    members : sequence of int
        Row numbers of the group.
    top : int
        Length of the part of the list that is looked at.
    at_least, at_most : int or None
        How many members may be there.

    Examples
    --------
    >>> TopGroup(members=(3, 5, 8), top=2, at_least=1).describe()
    'at least 1 of the top 2 from a group of 3 rows'
    """

    members: Sequence[int]
    top: int
    at_least: int | None = None
    at_most: int | None = None

    def describe(self) -> str:
        """The demand in words."""
        words = [
            f"at {name} {n}"
            for name, n in (("least", self.at_least), ("most", self.at_most))
            if n is not None
        ]
        return f"{' and '.join(words)} of the top {self.top} from a group of {len(self.members)} rows"

    def check(self, n: int) -> None:
        """Complain when no list of n items can meet this."""
        if not 1 <= self.top < n:
            raise ValueError(f"top={self.top} in a TopGroup must be at least 1 and less than the {n} rows.")
        if self.at_least is None and self.at_most is None:
            raise ValueError("a TopGroup needs at_least or at_most.")
        rows = np.asarray(self.members)
        if rows.size == 0 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
            raise ValueError(f"members of a TopGroup must be row numbers from 0 to {n - 1}.")
        if len(np.unique(rows)) != rows.size:
            raise ValueError("members of a TopGroup names a row twice.")
        most = min(self.top, rows.size)
        least = max(0, self.top - (n - rows.size))
        low = least if self.at_least is None else self.at_least
        high = most if self.at_most is None else self.at_most
        if low > most or high < least or low > high:
            raise InfeasibleError(
                f"{self.describe()}: impossible, between {least} and {most} of them can be there."
            )

    def met_by(self, scores: Sequence[int]) -> bool:
        """Whether the first `top` scores stand apart from the rest and hold as many members as asked."""
        ranked = sorted(scores, reverse=True)
        lowest = ranked[self.top - 1]
        inside = sum(scores[row] >= lowest for row in self.members)
        enough = self.at_least is None or inside >= self.at_least
        few = self.at_most is None or inside <= self.at_most
        return bool(lowest > ranked[self.top] and enough and few)


@dataclass(frozen=True)
class Constraints:
    """Demands on the coefficients and on the top of the list; none by default.

    Parameters
    ----------
    signs : sequence of {-1, 0, 1} or None
        Of each coefficient: not positive, free, not negative.
    max_features : int or None
        At most so many non-zero coefficients.
    integer_range : int or None
        Whole-number coefficients from minus this to this: a points-based score card. They apply to the
        columns as given, so the features should be on comparable scales.
    top_groups : sequence of TopGroup

    Examples
    --------
    More of the second feature must not lower an item, though here the best order wants it to:

    >>> from toprank import ExactRanker
    >>> X, y = [[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [0.5, 0.0]], [0, 0, 1, 1]
    >>> ExactRanker("auc", solver="mip").fit(X, y).outcome_.value
    1.0
    >>> ExactRanker("auc", solver="mip", constraints=Constraints(signs=(0, 1))).fit(X, y).outcome_.value
    0.75
    """

    signs: Sequence[int] | None = None
    max_features: int | None = None
    integer_range: int | None = None
    top_groups: Sequence[TopGroup] = field(default=())

    @property
    def empty(self) -> bool:
        """Whether nothing is demanded."""
        return not self.each()

    def check(self, n: int, d: int) -> None:
        """Complain, naming the argument, about demands that make no sense for n rows and d columns."""
        if self.signs is not None:
            signs = np.asarray(self.signs)
            if signs.shape != (d,) or not np.isin(signs, (-1, 0, 1)).all():
                raise ValueError(f"signs must hold -1, 0 or 1 for each of the {d} features.")
        if self.max_features is not None and self.max_features < 1:
            raise ValueError(f"max_features={self.max_features} leaves no feature to rank by; use 1 or more.")
        if self.integer_range is not None and self.integer_range < 1:
            raise ValueError(f"integer_range={self.integer_range} leaves only zero; use 1 or more.")
        for group in self.top_groups:
            group.check(n)

    def bounds(self, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper bounds of the coefficients: the box, or the points of a score card."""
        signs = np.zeros(d) if self.signs is None else np.asarray(self.signs)
        unit = float(self.integer_range or 1)
        return np.where(signs > 0, 0.0, -unit), np.where(signs < 0, 0.0, unit)

    def nearest(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Allowed coefficients near `w`, whose largest is 1; the top of the list is not looked at.

        >>> Constraints(signs=(1, 0, 0), max_features=1).nearest(np.array([-1.0, 0.6, -0.8]))
        array([ 0. ,  0. , -0.8])
        """
        lower, upper = self.bounds(len(w))
        allowed = np.clip(w * (self.integer_range or 1), lower, upper)
        if self.max_features is not None:
            allowed[np.argsort(-np.abs(allowed), kind="stable")[self.max_features :]] = 0.0
        return allowed if self.integer_range is None else np.round(allowed) + 0.0

    def unmet(self, rows: Matrix, coef: NDArray[np.float64]) -> list[str]:
        """The demands, in words, that coefficients do not meet on these rows; ties are settled exactly.

        >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        >>> Constraints(signs=(1, 1), max_features=1).unmet(rows, np.array([1.0, -1.0]))
        ['signs', 'max_features=1']
        """
        return [name for name, single in self.each() if not single._met(rows, coef)]

    def _met(self, rows: Matrix, coef: NDArray[np.float64]) -> bool:
        if self.signs is not None and bool((np.sign(coef) * np.asarray(self.signs) < 0).any()):
            return False
        if self.max_features is not None and np.count_nonzero(coef) > self.max_features:
            return False
        if self.integer_range is not None:
            whole = bool((coef == np.round(coef)).all())
            return whole and float(np.abs(coef).max()) <= self.integer_range
        return all(group.met_by(exact_scores(rows, coef)[0]) for group in self.top_groups)

    def each(self) -> list[tuple[str, Constraints]]:
        """Every single demand by itself, in words: to find the one that cannot be met."""
        found = []
        if self.signs is not None:
            found.append(("signs", Constraints(signs=self.signs)))
        if self.max_features is not None:
            found.append((f"max_features={self.max_features}", Constraints(max_features=self.max_features)))
        if self.integer_range is not None:
            found.append(
                (f"integer_range={self.integer_range}", Constraints(integer_range=self.integer_range))
            )
        found += [(group.describe(), Constraints(top_groups=(group,))) for group in self.top_groups]
        return found
