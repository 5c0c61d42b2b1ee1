"""Where the items of Accuracy at the Top live: features, a kernel's space, or an approximation of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.convex.accuracy_at_top.pins import Items
from toprank.convex.algebra.kernel_map import KernelMap, RowKernel
from toprank.rankers.parts.items import Prices, dense_rows, items_of_gram, items_of_points, items_of_root
from toprank.rankers.parts.kernels import KernelRanker

__all__ = ["Space", "space_of"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
NEGLIGIBLE = 1e-10


class Space(Protocol):
    """Makes items from rows, learned attributes from an answer, and scores from those.

    Items lie relative to their mean, so that their scores keep their digits: `offset` is what those lack,
    once an answer is kept.
    """

    train: Floats
    offset: float

    def items(self, rows: Rows, prices: Prices, *, local: bool) -> Items:
        """The items that these training rows stand for; with points where `local` is set."""
        ...

    def keep(self, ranker: Any, items: Items, weights: Floats) -> tuple[Floats, float]:
        """Set the learned attributes from the items' weights; the items' scores and |w|^2."""
        ...

    def keep_coef(self, ranker: Any, items: Items, coef: Floats) -> Floats:
        """Set the learned attributes from coefficients of the items' points; the items' scores."""
        ...

    def scores(self, ranker: Any, X: Any) -> Floats:
        """Scores of clean rows."""
        ...

    def squares(self, X: Any) -> Floats:
        """The squared norm of each clean row."""
        ...


def space_of(ranker: KernelRanker, X: Any) -> Space:
    """The space a ranker's parameters ask for."""
    kernel = ranker.kernel
    if kernel is None or (isinstance(kernel, str) and kernel == "linear" and ranker.approximation is None):
        return Features(dense_rows(X))
    map_ = ranker.kernel_map()
    if ranker.approximation is not None:
        return Features(np.ascontiguousarray(map_.fit(X)), map_)
    return Kernel(dense_rows(map_.kernel.learn_origin(X)), map_.kernel)


@dataclass
class Features:
    """Linear scores of features, or of the features of an approximated kernel."""

    train: Floats
    map_: KernelMap | None = None
    offset: float = 0.0

    def items(self, rows: Rows, prices: Prices, *, local: bool) -> Items:
        points = self.train[rows]
        self._center = points.mean(axis=0)
        points -= self._center
        self._basis: Floats | None = None
        if local and points.shape[1] > len(points):
            # Rotate into the space the rows span: no more features than rows.
            left, size, self._basis = np.linalg.svd(points, full_matrices=False)
            points = left * size
        self.train = np.zeros((0, 0))  # the training rows are not part of the model
        return items_of_points(points, prices)

    def keep(self, ranker: Any, items: Items, weights: Floats) -> tuple[Floats, float]:
        assert items.points is not None
        ranker.coef_ = weights @ items.points
        self.offset = float(self._center @ ranker.coef_)
        return items.points @ ranker.coef_, float(ranker.coef_ @ ranker.coef_)

    def keep_coef(self, ranker: Any, items: Items, coef: Floats) -> Floats:
        assert items.points is not None
        ranker.coef_ = coef if self._basis is None else coef @ self._basis
        self.offset = float(self._center @ ranker.coef_)
        return np.asarray(items.points @ coef)

    def scores(self, ranker: Any, X: Any) -> Floats:
        rows = X if self.map_ is None else self.map_.approximate(X)
        return np.asarray(rows @ ranker.coef_)

    def squares(self, X: Any) -> Floats:
        rows = dense_rows(X) if self.map_ is None else self.map_.approximate(X)
        return np.asarray((rows**2).sum(axis=1))


@dataclass
class Kernel:
    """Scores that are weighted sums of kernels with training rows."""

    train: Floats
    kernel: RowKernel
    offset: float = 0.0

    def items(self, rows: Rows, prices: Prices, *, local: bool) -> Items:
        self._rows = rows
        gram = self._between(self.train[rows], self.train[rows], rows)
        self._root: Floats | None = None
        if not local:
            return items_of_gram(gram, prices)
        size, directions = np.linalg.eigh(0.5 * (gram + gram.T))
        kept = size > NEGLIGIBLE * size.max()
        points = directions[:, kept] * np.sqrt(size[kept])
        self._root = directions[:, kept] / np.sqrt(size[kept])
        return items_of_root(points, prices)

    def keep(self, ranker: Any, items: Items, weights: Floats) -> tuple[Floats, float]:
        assert items.gram is not None
        self._set(ranker, weights)
        scores = items.gram @ weights
        return scores, float(weights @ scores)

    def keep_coef(self, ranker: Any, items: Items, coef: Floats) -> Floats:
        assert items.points is not None
        assert self._root is not None
        self._set(ranker, self._root @ coef)
        return items.points @ coef

    def _set(self, ranker: Any, weights: Floats) -> None:
        used = np.flatnonzero(np.abs(weights) > 0)
        ranker.support_, ranker.dual_coef_ = self._rows[used], weights[used]
        self._support = np.zeros((0, 0)) if self.kernel.precomputed else self.train[ranker.support_]
        self.train, self._root = np.zeros((0, 0)), None

    def scores(self, ranker: Any, X: Any) -> Floats:
        rows = dense_rows(self.kernel.near(X))
        return np.asarray(self._between(rows, self._support, ranker.support_) @ ranker.dual_coef_)

    def squares(self, X: Any) -> Floats:
        rows = dense_rows(self.kernel.near(X))
        if self.kernel.precomputed:
            if rows.shape[0] != rows.shape[1]:
                raise ValueError(
                    "kernel='precomputed' tells K(x, x) of the training rows only: pass their Gram matrix."
                )
            return np.diagonal(rows).copy()
        return np.array([self.kernel.between(row[np.newaxis], row[np.newaxis])[0, 0] for row in rows])

    def _between(self, left: Floats, right: Floats, columns: Rows) -> Floats:
        return left[:, columns] if self.kernel.precomputed else self.kernel.between(left, right)
