"""Features as whole numbers that rise with their values: what trees are grown from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix
from toprank.control import Run

__all__ = ["Codes", "code_type", "encode"]

Floats = NDArray[np.float64]
SAMPLE = 200_000
"""So many rows tell where the bins of a feature lie."""
BYTE = 256
"""Codes that fit into a byte."""


@dataclass(frozen=True, slots=True)
class Codes:
    """A code for each row and feature: 0 where the value is missing, else 1, 2, ... by rising value.

    Parameters
    ----------
    codes : array of shape (n_features, n_rows), uint8 or int32
    n_codes : array of shape (n_features,)
        One more than the largest code.
    cuts : array
        ``cuts[cut_start[feature] + c]`` lies between the values of code c and of code c + 1.
    cut_start : array of shape (n_features,)
    """

    codes: NDArray[Any]
    n_codes: NDArray[np.int64]
    cuts: Floats
    cut_start: NDArray[np.int64]


def encode(X: Matrix, max_bins: int | None = None, run: Run | None = None) -> Codes:
    """Codes of all columns: one for each value, or at most `max_bins` with about as many rows each.

    Columns that are not reached before `run` is told to stop have the same code in all rows.

    >>> made = encode(np.array([[3.0], [1.0], [np.nan], [3.0]]))
    >>> made.codes.tolist(), made.cuts.tolist()
    ([[2, 1, 0, 2]], [-inf, 2.0])
    """
    n_rows, n_features = X.shape
    columns: Any = X if isinstance(X, np.ndarray) else X.tocsc()
    codes: NDArray[Any] = np.ones((n_features, n_rows), dtype=code_type(max_bins))
    edges = [np.empty(0)] * n_features
    for feature in range(n_features):
        if run is not None and run.should_stop():
            break
        values = _column(columns, feature)
        edges[feature] = _edges(values, max_bins)
        codes[feature] = np.searchsorted(edges[feature], values, side="left") + 1
        codes[feature, np.isnan(values)] = 0
    n_codes = np.array([len(one) + 2 for one in edges], dtype=np.int64)
    # Nothing is below a missing value: the first cut of each feature stands for it.
    lists = [np.concatenate(([-np.inf], one)) for one in edges]
    start = np.cumsum([0, *(len(one) for one in lists[:-1])]).astype(np.int64)
    return Codes(codes, n_codes, np.concatenate(lists), start)


def code_type(max_bins: int | None) -> type:
    """What codes are kept in: bytes where so many bins and the missing values fit."""
    return np.uint8 if max_bins is not None and max_bins < BYTE else np.int32


def _column(columns: Any, feature: int) -> Floats:
    if isinstance(columns, np.ndarray):
        return columns[:, feature]
    return np.asarray(columns[:, [feature]].toarray(), dtype=np.float64).ravel()


def _edges(values: Floats, max_bins: int | None) -> Floats:
    """The numbers between neighbouring codes of one column; a value equal to one belongs below it."""
    known = values[~np.isnan(values)]
    if max_bins is not None and len(known) > SAMPLE:
        known = known[np.linspace(0, len(known) - 1, SAMPLE).astype(np.int64)]
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) < 2:
        return np.empty(0)
    below, above = distinct[:-1], distinct[1:]
    middle = below + 0.5 * (above - below)
    # Halves first where the difference overflows; never up to the value above, by rounding.
    middle = np.where(np.isfinite(middle), middle, 0.5 * below + 0.5 * above)
    middle = np.where(middle < above, middle, below)
    if max_bins is None or len(distinct) <= max_bins:
        return middle
    wanted = np.arange(1, max_bins) * (counts.sum() / max_bins)
    chosen = np.searchsorted(np.cumsum(counts)[:-1], wanted, side="left")
    return middle[np.unique(np.minimum(chosen, len(middle) - 1))]
