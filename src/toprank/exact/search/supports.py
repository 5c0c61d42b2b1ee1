"""Which coefficients may be non-zero: the supports, searched exactly where each has a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Support", "SupportTree"]


@dataclass(frozen=True, slots=True)
class Support:
    """All sets of columns between `columns` and its first `kept` ones.

    Parameters
    ----------
    columns : array of int
        Columns that may be used.
    kept : int
        The first so many must be used: what uses fewer is looked at elsewhere.
    bound : float
        No coefficients on these sets are worth more, prices paid.
    """

    columns: NDArray[np.int64]
    kept: int
    bound: float

    def price(self, penalty: float) -> float:
        """The least any of these sets pays."""
        return penalty * max(1, self.kept)


class SupportTree:
    """Sets of columns still to look at, the one with the largest bound first.

    Every set of columns is below exactly one waiting support: removing the column at some place fixes those
    before it. With the largest statistic F(S) of any coefficients on S known, no subset that keeps k columns
    is worth more than ``F(S) - penalty * k``, and S itself no more than ``F(S) - penalty * |S|``.

    Parameters
    ----------
    n_features : int
    penalty : float
        Price of each non-zero coefficient; at zero the whole set is the only one.
    bound : float
        Of the problem as a whole.

    Examples
    --------
    >>> tree = SupportTree(2, 0.5, bound=3.0)
    >>> whole = tree.pop()
    >>> tree.branch(whole, statistic=2.5)
    >>> [(support.columns.tolist(), support.bound) for support in tree.waiting]
    [([1], 2.0), ([0], 2.0)]
    >>> tree.settled
    1.5
    """

    def __init__(self, n_features: int, penalty: float, bound: float) -> None:
        self._penalty = penalty
        self.waiting = [Support(np.arange(n_features), 0, bound)]
        self.settled = -np.inf
        """No coefficients on supports that are done with are worth more, prices paid."""

    @property
    def bound(self) -> float:
        """No coefficients on waiting supports are worth more."""
        return max((support.bound for support in self.waiting), default=-np.inf)

    def drop(self, target: float) -> None:
        """Leave out what cannot reach the target."""
        self.waiting = [support for support in self.waiting if support.bound >= target]

    def pop(self) -> Support:
        """The support with the largest bound."""
        best = max(range(len(self.waiting)), key=lambda place: self.waiting[place].bound)
        return self.waiting.pop(best)

    def branch(self, support: Support, statistic: float) -> None:
        """Put a searched support's subsets in line; `statistic` is the most any of its coefficients reach."""
        columns = support.columns
        if not self._penalty:
            self.settled = max(self.settled, statistic)
            return
        self.settled = max(self.settled, statistic - self._penalty * len(columns))
        for place in range(support.kept, len(columns) if len(columns) > 1 else 0):
            bound = min(support.bound, statistic - self._penalty * max(1, place))
            self.waiting.append(Support(np.delete(columns, place), place, bound))

    # -- files --------------------------------------------------------------------------------

    def to_plain(self, current: Support | None) -> dict[str, Any]:
        """What JSON knows; a support being searched goes back in line."""
        waiting = [*self.waiting, *([] if current is None else [current])]
        return {
            "settled": self.settled,
            "waiting": [[support.columns.tolist(), support.kept, support.bound] for support in waiting],
        }

    def restore(self, plain: dict[str, Any]) -> None:
        """Take over what `to_plain` wrote."""
        self.settled = float(plain["settled"])
        self.waiting = [
            Support(np.array(columns, dtype=np.int64), int(kept), float(bound))
            for columns, kept, bound in plain["waiting"]
        ]
