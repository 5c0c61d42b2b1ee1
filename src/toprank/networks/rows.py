"""Rows as a network sees them: standardised, and dealt into mini-batches of rows or of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix, RankingData, strata

__all__ = ["Dealer", "Scaling"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Scaling:
    """Each column less its mean, in units of its standard deviation; constant columns become zero.

    Parameters
    ----------
    mean, scale : arrays of shape (n_features,)

    Examples
    --------
    >>> Scaling.of(np.array([[1.0, 5.0], [3.0, 5.0]]), None).apply(np.array([[3.0, 5.0]]))
    array([[1., 0.]])
    """

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Matrix, weight: Floats | None) -> Scaling:
        """The mean and the deviation of the rows, each counted by its weight."""
        rows: Any = X
        share = np.full(rows.shape[0], 1.0) if weight is None else weight
        share = share / share.sum()
        mean = np.asarray(share @ rows, dtype=np.float64).ravel()
        if isinstance(rows, np.ndarray):
            square = share @ (rows - mean) ** 2
        else:
            square = np.asarray(share @ rows.multiply(rows)).ravel() - mean**2
        # Where the deviation is rounding there is none.
        spread = np.sqrt(np.maximum(square, 0.0))
        flat = spread <= 1e-9 * (1.0 + np.abs(mean))
        return cls(mean, np.where(flat, np.inf, spread))

    @classmethod
    def none(cls, n_features: int) -> Scaling:
        """Columns as they are."""
        return cls(np.zeros(n_features), np.ones(n_features))

    def apply(self, X: Matrix) -> Floats:
        """Rows as a network sees them, dense."""
        rows: Any = X
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return np.asarray((dense - self.mean) / self.scale)


class Dealer:
    """Deals the rows that teach something into mini-batches, anew for each pass over them.

    Without queries every batch holds labels in about the same shares, and at least two different ones: rows
    of rare labels are spread evenly, and there are no more batches than they reach for. With queries a
    batch is whole queries; those of one label only have nothing to order and are left out.

    Parameters
    ----------
    data : RankingData
    batch_size : int
        Rows in a batch, about; a query that is longer is a batch of its own.
    """

    def __init__(self, data: RankingData, batch_size: int) -> None:
        counted = np.ones(len(data.y), dtype=bool) if data.sample_weight is None else data.sample_weight > 0
        if data.qid is not None:
            rows = np.flatnonzero(counted)
            self._lists = _mixed_queries(rows, data.qid[rows], data.y[rows])
            self.rows = np.sort(np.concatenate(self._lists))
        else:
            self.rows = np.flatnonzero(counted)
            self._strata = _commonest_first(strata(data)[self.rows])
            common = int((self._strata == 0).sum())
            most = max(1, min(common, len(self.rows) - common))
            self._n_batches = min(-(-len(self.rows) // batch_size), most)
        self._by_query, self._size = data.qid is not None, batch_size
        self.fixed = len(self.rows) <= batch_size if self._by_query else self._n_batches == 1
        """Whether every pass has the same single batch."""

    def passes(self, rng: np.random.Generator) -> Iterator[Ints]:
        """The batches of one pass over the rows."""
        if self.fixed:
            yield self.rows
        elif self._by_query:
            yield from self._queries(rng)
        else:
            shuffled = np.lexsort((rng.random(len(self.rows)), self._strata))
            for batch in rng.permutation(self._n_batches):
                yield np.sort(self.rows[shuffled[batch :: self._n_batches]])

    def _queries(self, rng: np.random.Generator) -> Iterator[Ints]:
        batch: list[Ints] = []
        for one in rng.permutation(len(self._lists)):
            rows = self._lists[one]
            if batch and sum(map(len, batch)) + len(rows) > self._size:
                yield np.sort(np.concatenate(batch))
                batch = []
            batch.append(rows)
        yield np.sort(np.concatenate(batch))


def _mixed_queries(rows: Ints, query: NDArray[np.int64], y: NDArray[Any]) -> list[Ints]:
    """The rows of every query that holds two different labels."""
    order = np.argsort(query, kind="stable")
    cuts = np.flatnonzero(np.diff(query[order])) + 1
    parts = np.split(order, cuts)
    mixed = [rows[one] for one in parts if len(one) and y[one].min() < y[one].max()]
    if not mixed:
        raise ValueError(
            "qid: no query holds rows of two different labels (with positive weight), so that there is"
            " nothing to order; give queries of several rows each, or fit without qid."
        )
    return mixed


def _commonest_first(alike: NDArray[np.int64]) -> NDArray[np.int64]:
    """Strata numbered anew, the largest 0."""
    counts = np.bincount(alike)
    place = np.empty(len(counts), dtype=np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.asarray(place[alike])
