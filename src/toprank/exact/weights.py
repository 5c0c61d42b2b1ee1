"""Position weights of every query from a statistic or from plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.statistics import LinearRankStatistic, get

__all__ = ["PositionWeights", "position_weights"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PositionWeights:
    """The weights of each query's positions, and what to call the sum they make.

    Parameters
    ----------
    lists : tuple of arrays
        One for each query, in the order of the queries' labels; best position first, never increasing. They
        are used as they are and summed over queries.
    name : str
    """

    lists: tuple[Floats, ...]
    name: str

    def __str__(self) -> str:
        return self.name


def position_weights(
    statistic: str | LinearRankStatistic | Floats | Any,
    labels: NDArray[np.int8],
    qid: NDArray[np.int64],
    queries: Literal["sum", "mean"],
) -> tuple[Floats, NDArray[np.int64], str]:
    """Weights of all queries end to end, where each begins, and the statistic's name.

    A query with one class only gets no weights: it cannot be ranked rightly or wrongly.
    """
    if queries not in ("sum", "mean"):
        raise ValueError(f'queries must be "sum" or "mean", got {queries!r}.')
    sizes = np.bincount(qid)
    n_pos = np.bincount(qid, weights=labels).astype(np.int64)
    mixed = (n_pos > 0) & (n_pos < sizes)
    if isinstance(statistic, PositionWeights):
        found: list[Any] = _given_lists(statistic, sizes)
    else:
        source = _source(statistic, int(sizes.max()))
        found = [
            source(int(n), int(m)) if both else None for n, m, both in zip(sizes, n_pos, mixed, strict=True)
        ]
    parts = [
        _checked(part, int(n)) if both else np.empty(0)
        for part, n, both in zip(found, sizes, mixed, strict=True)
    ]
    start = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)
    weights = np.concatenate(parts)
    if queries == "mean" and not isinstance(statistic, PositionWeights):
        weights = weights / np.count_nonzero(mixed)
    return weights, start, _name(statistic)


def _name(statistic: Any) -> str:
    """One spelling for one statistic: "DCG" and "dcg" are the same claim."""
    if isinstance(statistic, np.ndarray | list | tuple):
        return "position weights"
    return str(get(statistic) if isinstance(statistic, str) else statistic)


def _given_lists(given: PositionWeights, sizes: NDArray[np.int64]) -> list[Floats]:
    if len(given.lists) != len(sizes):
        raise ValueError(
            f"statistic: weights for {len(sizes)} queries are needed, got {len(given.lists)} lists."
        )
    return [weights[:n] for weights, n in zip(given.lists, sizes, strict=True)]


def _source(statistic: Any, longest: int) -> Any:
    """A function (n, n_pos) -> weights."""
    if isinstance(statistic, np.ndarray | list | tuple):
        given = np.asarray(statistic, dtype=np.float64)
        if given.ndim != 1 or len(given) < longest:
            raise ValueError(
                f"statistic: {longest} position weights are needed, got an array of shape {given.shape}."
            )
        return lambda n, n_pos: given[:n]
    found = get(statistic) if isinstance(statistic, str) else statistic
    if not isinstance(found, LinearRankStatistic):
        raise ValueError(
            f"statistic {str(found)!r} is not a linear rank statistic (a sum of position weights):"
            " it cannot be maximised directly;"
            ' "dcg", "auc", "ndcg@10" and "precision@10" are.'
        )
    return found.weights


def _checked(weights: Floats, n: int) -> Floats:
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(f"statistic: a list of {n} items needs {n} finite position weights.")
    if (np.diff(values) > 0).any():
        raise ValueError("statistic: position weights must never increase, best position first.")
    return values
