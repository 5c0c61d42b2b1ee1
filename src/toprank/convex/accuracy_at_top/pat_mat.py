"""Pat&Mat: minimise 1/2 |w|^2 + C * mean over positives of loss(t - w.x_i), t the surrogate quantile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.design import Design
from toprank.losses.pat_mat import PatMatLoss, PatMatPoint

__all__ = ["PatMatByQuery", "PatMatLists", "PatMatProblem"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PatMatProblem:
    """The loss as a function of X w, and its weight C: what `smooth.minimise` wants."""

    design: Design
    y: NDArray[np.int8]
    weight: Floats
    C: float
    loss: PatMatLoss

    def at(self, scores: Floats) -> PatMatPoint:
        """The loss at given scores."""
        return self.loss.at(scores, self.y, self.weight)

    def hessian(self, point: PatMatPoint) -> Floats:
        """The spread of the rows around the mean row of the threshold."""
        stiffness = point.stiffness
        matrix = self.design.gram(stiffness)
        threshold = self.design.combine(point.shares)
        cross = np.outer(self.design.combine(stiffness), threshold)
        matrix -= cross
        matrix -= cross.T
        matrix += float(stiffness.sum()) * np.outer(threshold, threshold)
        return matrix


@dataclass(frozen=True)
class PatMatLists:
    """The mean over lists of their losses, at one vector of scores."""

    points: tuple[PatMatPoint, ...]
    start: NDArray[np.intp]

    @cached_property
    def value(self) -> float:
        """The mean loss."""
        return sum(point.value for point in self.points) / len(self.points)

    @cached_property
    def gradient(self) -> Floats:
        """Derivative with respect to the scores."""
        return np.concatenate([point.gradient for point in self.points]) / len(self.points)

    @cached_property
    def curvature(self) -> Floats:
        """An upper bound on the diagonal of the Hessian with respect to the scores."""
        return np.concatenate([point.curvature for point in self.points]) / len(self.points)

    def curvature_product(self, direction: Floats) -> Floats:
        """The Hessian with respect to the scores times a direction."""
        parts = [direction[begin:end] for begin, end in pairwise(self.start)]
        products = [point.curvature_product(part) for point, part in zip(self.points, parts, strict=True)]
        return np.concatenate(products) / len(self.points)


@dataclass(frozen=True)
class PatMatByQuery:
    """The same with a threshold for each query, averaged over queries; rows are sorted by query."""

    design: Design
    y: NDArray[np.int8]
    weight: Floats
    start: NDArray[np.intp]
    C: float
    loss: PatMatLoss

    @classmethod
    def from_labels(
        cls, X: Any, y: NDArray[np.int8], query: NDArray[np.int64], weight: Floats, C: float, loss: PatMatLoss
    ) -> PatMatByQuery:
        """The problem of labelled rows; every query has rows of both classes."""
        order = np.argsort(query, kind="stable")
        start = np.append(np.flatnonzero(np.diff(query[order], prepend=-1)), len(order))
        number = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(Design(X[order], number), y[order], weight[order], start, C, loss)

    def at(self, scores: Floats) -> PatMatLists:
        """The loss at given scores."""
        points = (
            self.loss.at(scores[begin:end], self.y[begin:end], self.weight[begin:end])
            for begin, end in pairwise(self.start)
        )
        return PatMatLists(tuple(points), self.start)

    def hessian(self, point: PatMatLists) -> Floats:
        """The spread of the rows of each query around the mean row of its threshold."""
        stiffness = np.concatenate([one.stiffness for one in point.points])
        matrix = self.design.gram(stiffness)
        level = self.design.combine_lists(np.concatenate([one.shares for one in point.points]), self.start)
        cross = self.design.combine_lists(stiffness, self.start).T @ level
        matrix -= cross
        matrix -= cross.T
        stiff = np.array([one.stiffness.sum() for one in point.points])[:, np.newaxis]
        matrix += level.T @ (stiff * level)
        return np.asarray(matrix / len(point.points))
