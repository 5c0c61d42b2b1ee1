"""What boosting and networks lower: losses of the scores by name, with gradient and curvature by row.

docs/extending.md makes one of one's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.losses.cross_entropy import CrossEntropy
from toprank.losses.ndcg_pairs import NDCGPairs
from toprank.losses.p_norm_push import PNormPushItems
from toprank.losses.pairs import Pairs
from toprank.losses.pairwise import pairwise_loss
from toprank.losses.pairwise_logistic import pairwise_logistic
from toprank.losses.pat_mat import PatMatLoss
from toprank.losses.smoothed_top_push import SmoothedTopPush
from toprank.losses.top_push import QuantileMean, SquaredHinge

__all__ = ["Labels", "LossPoint", "Objective", "OwnLoss", "make_objective"]

Floats = NDArray[np.float64]
WIDTH = 1.0
"""Over which the threshold of the highest negatives is rounded, in units of the margin."""


@dataclass(frozen=True)
class LossPoint:
    """A loss at one vector of scores: its value, its gradient and the diagonal of its Hessian, or a bound.

    >>> LossPoint(0.5, np.array([-0.5, 0.5]), np.array([0.25, 0.25])).value
    0.5
    """

    value: float
    gradient: Floats
    curvature: Floats


Objective = Callable[[Floats], LossPoint]
"""A loss of given rows, as a function of their scores."""


@dataclass(frozen=True)
class Labels:
    """What a loss needs to know of the rows.

    Parameters
    ----------
    grade : array
        The higher, the nearer to the top.
    qid, weight : arrays or None

    Examples
    --------
    >>> Labels(np.array([2.0, 0.0, 1.0])).take([0, 2]).grade.tolist()
    [2.0, 1.0]
    """

    grade: Floats
    qid: NDArray[np.int64] | None = None
    weight: Floats | None = None

    def take(self, rows: Any) -> Labels:
        """Those of some rows."""
        qid = None if self.qid is None else self.qid[rows]
        return Labels(self.grade[rows], qid, None if self.weight is None else self.weight[rows])


OwnLoss = Callable[[Labels], Objective]
"""A loss that has no name here: what it is of these rows, as a function of their scores."""


def make_objective(
    labels: Labels,
    loss: str | OwnLoss,
    *,
    p: float = 4.0,
    negative_share: float | None = None,
    top_share: float = 0.1,
    k: int = 10,
    unit: float = 1.0,
) -> Objective:
    """The loss by name, or one of the caller's own, as a function of the scores.

    Parameters
    ----------
    labels : Labels
    loss : {"hinge", "squared_hinge", "logistic", "cross_entropy", "p_norm", "top_push", "at_top", "ndcg"}
        "cross_entropy" is that of all pairs with targets from the differences of labels; "at_top" that of
        `PatMatLoss`, "ndcg" that of `NDCGPairs`. A callable makes the objective of the labels itself.
    p : float
        Of the p-norm push.
    negative_share : float or None
        The highest negatives that a positive is compared with: pairs with the others are left out, or they
        have no part in the threshold. None is all of them; for the threshold, the highest alone.
    top_share : float
        Of "at_top": the share of the list above the threshold.
    k : int
        Of "ndcg": positions that count.
    unit : float
        Of "cross_entropy": the difference of labels that makes a target of sigmoid(1).

    Examples
    --------
    >>> loss = make_objective(Labels(np.array([1.0, 0.0])), "hinge")
    >>> loss(np.array([0.25, 0.0])).value
    0.75
    """
    if callable(loss):
        return loss(labels)
    if loss == "p_norm":
        sides = PNormPushItems.from_labels(labels.grade, qid=labels.qid, sample_weight=labels.weight)
        return lambda scores: _point(sides.at(scores, p))
    if loss == "top_push":
        return _by_query(labels, lambda part: _top_push(part, negative_share))
    if loss == "at_top":
        return _by_query(labels, lambda part: _at_top(part, top_share))
    if loss in ("ndcg", "cross_entropy"):
        items: Any = (
            NDCGPairs.from_labels(labels.grade, labels.qid, k=k)
            if loss == "ndcg"
            else CrossEntropy.from_labels(
                labels.grade, unit=unit, qid=labels.qid, sample_weight=labels.weight
            )
        )
        return lambda scores: _point(items.at(scores))
    over_pairs = _pairwise(loss)
    if negative_share is None:
        pairs = _pairs(labels, slice(None))
        return lambda scores: _point(over_pairs(pairs, scores))
    return _Localized(labels, over_pairs, negative_share)


def _point(found: Any) -> LossPoint:
    return LossPoint(float(found.value), found.gradient, found.curvature)


def _pairwise(loss: str) -> Callable[[Pairs, Floats], Any]:
    if loss == "logistic":
        return pairwise_logistic
    return lambda pairs, scores: pairwise_loss(pairs, scores, loss=loss)


def _pairs(labels: Labels, rows: Any) -> Pairs:
    part = labels.take(rows)
    return Pairs.from_labels(part.grade, qid=part.qid, sample_weight=part.weight, weighting="queries")


def _at_top(labels: Labels, share: float) -> Objective:
    weight = np.ones(len(labels.grade)) if labels.weight is None else labels.weight
    upper, loss = (labels.grade > 0).astype(np.int8), PatMatLoss(share)
    return lambda scores: _point(loss.at(scores, upper, weight))


def _top_push(labels: Labels, negative_share: float | None) -> Objective:
    weight = np.ones(len(labels.grade)) if labels.weight is None else labels.weight
    up, down = np.flatnonzero(labels.grade > 0), np.flatnonzero(labels.grade <= 0)
    caps = None if negative_share is None else QuantileMean(negative_share).caps(weight[down])
    push = SmoothedTopPush(up, down, weight[up] / weight[up].sum(), caps, SquaredHinge(), WIDTH)
    return lambda scores: _point(push.at(scores))


def _by_query(labels: Labels, of_one_list: Callable[[Labels], Objective]) -> Objective:
    """A loss of one list where there are no queries; else the mean over the queries with both labels."""
    if labels.qid is None:
        return of_one_list(labels)
    order = np.argsort(labels.qid, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels.qid[order])) + 1)
    weight = np.ones(len(order)) if labels.weight is None else labels.weight
    groups = [rows for rows in groups if _both_labels(labels.grade[rows][weight[rows] > 0])]
    if not groups:
        raise ValueError("There is no query with items of both classes and positive weight to order.")
    return _MeanOverQueries(groups, [of_one_list(replace(labels.take(rows), qid=None)) for rows in groups])


def _both_labels(grade: Floats) -> bool:
    return bool(0 < np.count_nonzero(grade > 0) < len(grade))


class _MeanOverQueries:
    """Each query has its own threshold, and all count the same."""

    def __init__(self, groups: list[NDArray[np.intp]], objectives: list[Objective]) -> None:
        self._groups, self._objectives = groups, objectives

    def __call__(self, scores: Floats) -> LossPoint:
        value, gradient, curvature = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
        share = 1.0 / len(self._groups)
        for rows, objective in zip(self._groups, self._objectives, strict=True):
            point = objective(scores[rows])
            value += share * point.value
            gradient[rows], curvature[rows] = share * point.gradient, share * point.curvature
        return LossPoint(value, gradient, curvature)


class _Localized:
    """Pairs of all positives with the highest negatives of their query, at these scores.

    The mean over the highest is the largest mean over any set of so many: a convex loss stays convex
    (Narasimhan & Agarwal 2013, the partial AUC).
    """

    def __init__(self, labels: Labels, over_pairs: Callable[[Pairs, Floats], Any], share: float) -> None:
        self._labels, self._over_pairs, self._share = labels, over_pairs, share
        self._query = np.zeros(len(labels.grade), dtype=np.int64) if labels.qid is None else labels.qid
        self._down = np.flatnonzero(labels.grade <= 0)
        self._up = np.flatnonzero(labels.grade > 0)
        n = np.bincount(self._query[self._down], minlength=int(self._query.max()) + 1)
        self._wanted = np.ceil(share * n).astype(np.int64)

    def __call__(self, scores: Floats) -> LossPoint:
        query = self._query[self._down]
        order = np.lexsort((-scores[self._down], query))
        first = np.searchsorted(query[order], query[order], side="left")
        highest = self._down[order[np.arange(len(order)) - first < self._wanted[query[order]]]]
        rows = np.sort(np.concatenate((self._up, highest)))
        found = _point(self._over_pairs(_pairs(self._labels, rows), scores[rows]))
        gradient, curvature = np.zeros(len(scores)), np.zeros(len(scores))
        gradient[rows], curvature[rows] = found.gradient, found.curvature
        return LossPoint(found.value, gradient, curvature)
