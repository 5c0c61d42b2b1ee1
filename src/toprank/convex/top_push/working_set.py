"""Which rows are still undecided: the others sit at the lower or the upper end of their dual interval.

A row at its lower end has no influence, a row at its upper end a known one; only undecided rows enter the
interior-point method. After each solve, rows whose end was wrong come in and rows that clearly belong at an
end leave; a row that keeps coming back is kept longer and longer, so the set settles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["FREE", "LOWER", "UPPER", "WorkingSet", "pick_worst"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
LOWER, FREE, UPPER = 0, 1, 2
CLEAR = 1e-2
WIDE = 16


class WorkingSet:
    """The state of each row of one class: at its lower end, free, or at its upper end.

    >>> rows = WorkingSet(np.array([LOWER, FREE, UPPER]))
    >>> rows.free, rows.upper
    (array([1]), array([2]))
    """

    def __init__(self, state: NDArray[np.int8]) -> None:
        self.state = np.asarray(state, dtype=np.int8)
        self._idle = np.zeros(len(state), dtype=np.int32)
        self._patience = np.ones(len(state), dtype=np.int32)

    @property
    def free(self) -> Rows:
        """The undecided rows."""
        return np.flatnonzero(self.state == FREE)

    @property
    def upper(self) -> Rows:
        """The rows at their upper end."""
        return np.flatnonzero(self.state == UPPER)

    def wrong(self, lack: Floats) -> Floats:
        """How wrong the end of each decided row is, given that rows with lack > 0 belong at the upper end."""
        return np.where(self.state == LOWER, lack, np.where(self.state == UPPER, -lack, -np.inf))

    def admit(self, rows: Rows) -> None:
        """Make rows undecided."""
        self.state[rows] = FREE

    def release(self, rows: Rows, share: Floats, lack: Floats, *, may_be_upper: bool = True) -> int:
        """Let undecided rows go to an end once they are clearly there; returns how many went.

        Parameters
        ----------
        rows : array of row numbers
        share : array, the rows' dual variables as parts of their intervals, in [0, 1]
        lack : array, positive where the row belongs at its upper end
        """
        low = share < -CLEAR * lack
        high = (1.0 - share < CLEAR * lack) & may_be_upper
        self._idle[rows] = np.where(low | high, self._idle[rows] + 1, 0)
        leaves = self._idle[rows] >= self._patience[rows]
        gone = rows[leaves]
        self._patience[gone] *= 2
        self._idle[gone] = 0
        self.state[rows[low & leaves]] = LOWER
        self.state[rows[high & leaves]] = UPPER
        return len(gone)


def pick_worst(wrong: Floats, limit: int, *, distinct: bool = False) -> Rows:
    """At most `limit` rows with wrong > 0: half of them the worst, half spread over the next worst.

    With `distinct`, one of several equally wrong rows is taken: they are mostly copies of each other, and of
    copies whose intervals have no upper end one is enough.

    >>> pick_worst(np.array([3.0, -1.0, 3.0, 1.0]), 5, distinct=True)
    array([0, 3])
    """
    rows = np.flatnonzero(wrong > 0)
    if len(rows) > WIDE * limit:
        rows = rows[np.argpartition(-wrong[rows], WIDE * limit)[: WIDE * limit]]
    if distinct:
        rows = rows[np.unique(-wrong[rows], return_index=True)[1]]
    else:
        rows = rows[np.argsort(-wrong[rows], kind="stable")]
    if len(rows) <= limit:
        return rows
    half = limit // 2
    spread = np.linspace(half, len(rows) - 1, limit - half).astype(np.intp)
    return np.concatenate([rows[:half], rows[np.unique(spread)]])
