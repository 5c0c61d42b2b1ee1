"""Rows that are held out, and a model that is followed on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix, RankingData, strata, take
from toprank.boosting.componentwise import Columns, Judge
from toprank.boosting.families import Family

__all__ = ["Watcher", "hold_out", "parts_of"]

Floats = NDArray[np.float64]


def hold_out(
    data: RankingData, share: float | None, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
    """Rows to learn from and rows to watch (or None), of like labels each; rows without weight in neither."""
    weight = data.sample_weight
    counted = np.arange(len(data.y)) if weight is None else np.flatnonzero(weight > 0)
    if share is None:
        return counted, None
    if not 0 < share < 1:
        raise ValueError(f"validation_fraction={share!r} must lie between 0 and 1, or be None.")
    held, alike = np.zeros(len(counted), dtype=bool), strata(data)[counted]
    for stratum in np.unique(alike):
        rows = rng.permutation(np.flatnonzero(alike == stratum))
        # A label that only one row has is learned from.
        held[rows[: min(max(1, round(share * len(rows))), len(rows) - 1)]] = True
    for part, use in ((held, "watch"), (~held, "learn from")):
        if len(np.unique(data.y[counted[part]])) < 2:
            raise ValueError(
                f"validation_fraction={share} leaves only one class to {use}; use None or more rows."
            )
    return counted[~held], counted[held]


def parts_of(
    data: RankingData, share: float | None, rng: np.random.Generator
) -> tuple[RankingData, RankingData | None]:
    """Rows to learn from and rows to watch: those the user brought, else a share of the rows, or None."""
    learn, watch = hold_out(data, share if data.watch is None else None, rng)
    return take(data, learn), data.watch if watch is None else take(data, watch)


class Watcher:
    """Follows the worth of the scores of held-out rows and says when it has not grown for long enough."""

    def __init__(self, columns: Columns, family: Family, X: Matrix, judge: Judge, patience: int) -> None:
        rows: Any = X
        self._X = rows if isinstance(rows, np.ndarray) else rows.tocsc()
        self._columns, self._family, self._judge, self._patience = columns, family, judge, patience
        self._values = np.tile(family.start(), (rows.shape[0], 1))
        self.values: list[float] = []
        self.best = 0
        self._best_value = -np.inf

    def __call__(self, feature: int, slope: Floats, intercept: Floats) -> bool:
        """One more step: whether to go on."""
        column = (
            self._X[:, feature] if isinstance(self._X, np.ndarray) else self._X[:, [feature]].toarray()[:, 0]
        )
        scaled = (column - self._columns.shift[feature]) / self._columns.scale[feature]
        self._values = self._values + intercept + np.outer(scaled, slope)
        self.values.append(self._judge(self._family.scores(self._values)))
        if self.values[-1] > self._best_value:
            self._best_value, self.best = self.values[-1], len(self.values)
        return len(self.values) - self.best < self._patience
