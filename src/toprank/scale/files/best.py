"""The best rows of a stream: only what can still be among them is kept."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Best", "Candidates"]

Floats = NDArray[np.float64]
SPARE = 256
"""So many candidates more than twice the wanted ones are gathered before the best are taken."""


@dataclass(frozen=True)
class Candidates:
    """Rows of one part of a stream that may be among the best.

    Parameters
    ----------
    row : array of int
        Their numbers in that part, rising.
    X : array
        Their features.
    low : array
        What their estimated scores are at least.
    cells : pyarrow.Table
        Their cells.
    """

    row: NDArray[np.int64]
    X: Any
    low: Floats
    cells: Any

    def take(self, chosen: NDArray[np.intp]) -> Candidates:
        """Some of them."""
        return Candidates(self.row[chosen], self.X[chosen], self.low[chosen], self.cells.take(chosen))

    def __len__(self) -> int:
        return len(self.row)


class Best:
    """The `wanted` best of all rows shown to it, by a ranker's own order; safe to use from several threads.

    Equal scores keep the order of the rows, whatever order the parts are shown in.

    Parameters
    ----------
    wanted : int
    order : callable
        Of features, to row numbers, best first.
    ceiling : float
        Estimates from here on tell nothing about the order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> best = Best(2, order=lambda X: np.argsort(-X[:, 0], kind="stable"))
    >>> scores = np.array([1.0, 5.0, 3.0, 4.0])
    >>> best.add(0, Candidates(np.arange(4), scores[:, None], scores, pa.table({"score": scores})))
    >>> best.settled()[0].row
    array([1, 3])
    """

    def __init__(
        self, wanted: int, *, order: Callable[[Any], NDArray[np.intp]], ceiling: float = math.inf
    ) -> None:
        self._wanted = wanted
        self._order = order
        self._ceiling = ceiling
        self._waiting: dict[int, list[Candidates]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self.cut = -math.inf
        """Rows whose estimate is surely below this are not among the best."""

    def add(self, part: int, some: Candidates) -> None:
        """Show it rows of a part, after all rows of that part with lower numbers."""
        if not len(some):
            return
        with self._lock:
            self._waiting.setdefault(part, []).append(some)
            self._count += len(some)
            if self._count >= 2 * self._wanted + SPARE:
                self._settle()

    def settled(self) -> dict[int, Candidates]:
        """The best of what was shown so far, by part, the parts in order."""
        with self._lock:
            if self._waiting:
                self._settle()
            return {part: some[0] for part, some in self._waiting.items()}

    def _settle(self) -> None:
        # In the order of the stream, by which equal scores go.
        parts = sorted(self._waiting)
        joined = [_joined(self._waiting[part]) for part in parts]
        inside = np.ones(sum(map(len, joined)), dtype=bool)
        if len(inside) > self._wanted:
            inside[:] = False
            inside[self._order(np.concatenate([one.X for one in joined]))[: self._wanted]] = True
        pieces = np.split(inside, np.cumsum([len(one) for one in joined])[:-1])
        kept = [one.take(np.flatnonzero(which)) for one, which in zip(joined, pieces, strict=True)]
        self._waiting = {part: [one] for part, one in zip(parts, kept, strict=True) if len(one)}
        self._count = int(inside.sum())
        if self._count == self._wanted:
            self.cut = min(min(float(one.low.min()) for one in kept if len(one)), self._ceiling)


def _joined(some: list[Candidates]) -> Candidates:
    if len(some) == 1:
        return some[0]
    import pyarrow as pa

    row, X, low = (np.concatenate([getattr(one, name) for one in some]) for name in ("row", "X", "low"))
    return Candidates(row, X, low, pa.concat_tables([one.cells for one in some]))
