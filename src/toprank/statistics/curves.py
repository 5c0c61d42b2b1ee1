"""Curves of a ranked list as arrays: ROC and its left corner, precision-recall, cumulative gain, lift.

Equal scores are one step: a curve has a vertex at the end of each group of ties and runs straight between
them. Nothing here draws; `toprank.report` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.inputs import read_classes, read_sample_weight, read_scores

__all__ = [
    "GainCurve",
    "LiftCurve",
    "PrecisionRecallCurve",
    "RocCurve",
    "cumulative_gain_curve",
    "left_corner_roc_curve",
    "lift_curve",
    "precision_recall_curve",
    "roc_curve",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """True positive rate against false positive rate, from (0, 0) to the right.

    Werner (2020), Definition 2.3.

    Parameters
    ----------
    fpr, tpr : arrays of float64
        Share of the negatives and of the positives scored at or above each threshold.
    thresholds : array of float64
        Distinct scores, highest first, after an infinite one that nothing reaches.

    Examples
    --------
    >>> roc_curve([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats

    @property
    def area(self) -> float:
        """Area under the curve; for a left corner, only up to its last false positive rate."""
        return float(np.diff(self.fpr) @ (self.tpr[1:] + self.tpr[:-1]) / 2.0)

    def distance(self, other: RocCurve) -> tuple[float, float]:
        """How far apart two curves are: the area between them, d_1, and the largest difference, d_inf.

        Werner (2020), Section 3.3. Where one of them rises straight up, both ends count.

        Examples
        --------
        >>> best, ours = roc_curve([1, 1, 0, 0], [4, 3, 2, 1]), roc_curve([1, 0, 1, 0], [4, 3, 2, 1])
        >>> best.distance(ours)
        (0.25, 0.5)
        """
        if self.fpr[-1] != other.fpr[-1]:
            raise ValueError(
                f"the curves end at false positive rates {self.fpr[-1]:g} and {other.fpr[-1]:g};"
                " cut them alike"
            )
        rates = np.union1d(self.fpr, other.fpr)
        begins = self._beside(rates[:-1], "right") - other._beside(rates[:-1], "right")
        ends = self._beside(rates[1:], "left") - other._beside(rates[1:], "left")
        same = begins * ends >= 0
        # Between two rates both curves are straight: a trapezium, or two triangles where they cross.
        crossed = (begins**2 + ends**2) / (2.0 * np.where(same, 1.0, np.abs(begins) + np.abs(ends)))
        areas = np.diff(rates) * np.where(same, np.abs(begins + ends) / 2.0, crossed)
        highest = max(float(np.abs(begins).max()), float(np.abs(ends).max()))
        return float(areas.sum()), highest

    def _beside(self, rates: Floats, side: Literal["left", "right"]) -> Floats:
        """The height just to the left or to the right of each rate, where the curve may rise straight up."""
        if side == "right":
            place = np.searchsorted(self.fpr, rates, side="right") - 1
            nearest, further = place, np.minimum(place + 1, self.fpr.size - 1)
        else:
            place = np.searchsorted(self.fpr, rates, side="left")
            nearest, further = place, np.maximum(place - 1, 0)
        width = self.fpr[further] - self.fpr[nearest]
        share = np.divide(rates - self.fpr[nearest], width, out=np.zeros(rates.size), where=width != 0)
        return np.asarray(self.tpr[nearest] + share * (self.tpr[further] - self.tpr[nearest]))

    def up_to(self, max_fpr: float) -> RocCurve:
        """Cut the curve at a false positive rate, interpolating on its last piece.

        A tie group that straddles the limit is cut where the limit falls; the threshold of the last point
        is then that group's score.
        """
        if not 0.0 < max_fpr <= 1.0:
            raise ValueError(f"max_fpr must be above 0 and at most 1, got {max_fpr}")
        stop = int(np.searchsorted(self.fpr, max_fpr, side="right"))
        if stop == self.fpr.size:
            return self
        tpr = float(np.interp(max_fpr, self.fpr[stop - 1 : stop + 1], self.tpr[stop - 1 : stop + 1]))
        if self.fpr[stop - 1] == max_fpr:
            return RocCurve(self.fpr[:stop], self.tpr[:stop], self.thresholds[:stop])
        return RocCurve(
            np.append(self.fpr[:stop], max_fpr),
            np.append(self.tpr[:stop], tpr),
            self.thresholds[: stop + 1],
        )


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallCurve:
    """Precision against recall, in scikit-learn's order.

    Parameters
    ----------
    precision, recall : arrays of float64
        At each threshold, then the end point (precision 1, recall 0).
    thresholds : array of float64
        Distinct scores, lowest first; one entry fewer than `precision`.
    prevalence : float
        Share of positives: the precision of a random list.

    Examples
    --------
    >>> precision_recall_curve([1, 0, 1], [3.0, 2.0, 1.0]).precision
    array([0.66666667, 0.5 , 1. , 1. ])
    """

    precision: Floats
    recall: Floats
    thresholds: Floats
    prevalence: float


@dataclass(frozen=True, slots=True, eq=False)
class GainCurve:
    """Share of the positives found against the share of the list examined, from (0, 0) to (1, 1).

    Parameters
    ----------
    depth, gain : arrays of float64
    thresholds : array of float64
        Distinct scores, highest first, after an infinite one.
    prevalence : float
        Share of positives; a perfect list has found all of them at this depth.

    Examples
    --------
    >>> cumulative_gain_curve([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]).gain
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    depth: Floats
    gain: Floats
    thresholds: Floats
    prevalence: float


@dataclass(frozen=True, slots=True, eq=False)
class LiftCurve:
    """How many times more positives than in a random list, against the share of the list examined.

    Parameters
    ----------
    depth, lift : arrays of float64
        One entry for each threshold.
    thresholds : array of float64
        Distinct scores, highest first.
    prevalence : float
        Share of positives; the lift is at most one over it.

    Examples
    --------
    >>> lift_curve([1, 0, 0, 0], [4.0, 3.0, 2.0, 1.0]).lift
    array([4. , 2. , 1.33333333, 1. ])
    """

    depth: Floats
    lift: Floats
    thresholds: Floats
    prevalence: float


def roc_curve(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> RocCurve:
    """ROC curve with a vertex at each distinct score.

    The same points as ``sklearn.metrics.roc_curve(..., drop_intermediate=False)``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two values; the larger one is positive.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> curve = roc_curve([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    >>> curve.fpr, curve.tpr
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))
    >>> curve.area
    0.875
    """
    thresholds, positives, negatives = _cumulated(y, scores, sample_weight)
    return RocCurve(
        _from_zero(negatives) / negatives[-1],
        _from_zero(positives) / positives[-1],
        np.concatenate(([np.inf], thresholds)),
    )


def left_corner_roc_curve(
    y: ArrayLike, scores: ArrayLike, *, max_fpr: float = 0.1, sample_weight: ArrayLike | None = None
) -> RocCurve:
    """ROC curve up to a false positive rate: the part that shows the top of the list.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two values; the larger one is positive.
    scores : array-like of shape (n,)
    max_fpr : float
        Where to stop, above 0 and at most 1.
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> curve = left_corner_roc_curve([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1], max_fpr=0.25)
    >>> curve.fpr, curve.tpr
    (array([0.  , 0.  , 0.25]), array([0.  , 0.5 , 0.75]))
    """
    return roc_curve(y, scores, sample_weight=sample_weight).up_to(max_fpr)


def precision_recall_curve(
    y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> PrecisionRecallCurve:
    """Precision and recall at each distinct score.

    The same points as ``sklearn.metrics.precision_recall_curve``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two values; the larger one is positive.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> curve = precision_recall_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> curve.recall
    array([1. , 1. , 0.5, 0.5, 0. ])
    """
    thresholds, positives, negatives = _cumulated(y, scores, sample_weight)
    precision = positives / (positives + negatives)
    recall = positives / positives[-1]
    return PrecisionRecallCurve(
        np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1], float(precision[-1])
    )


def cumulative_gain_curve(
    y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> GainCurve:
    """Share of the positives found when so much of the list has been examined.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two values; the larger one is positive.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> curve = cumulative_gain_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> curve.gain
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    thresholds, positives, negatives = _cumulated(y, scores, sample_weight)
    examined = positives + negatives
    return GainCurve(
        _from_zero(examined) / examined[-1],
        _from_zero(positives) / positives[-1],
        np.concatenate(([np.inf], thresholds)),
        float(positives[-1] / examined[-1]),
    )


def lift_curve(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> LiftCurve:
    """Precision at each depth over the share of positives in the whole list.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two values; the larger one is positive.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> lift_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]).lift
    array([2.        , 1.        , 1.33333333, 1.        ])
    """
    thresholds, positives, negatives = _cumulated(y, scores, sample_weight)
    examined = positives + negatives
    prevalence = float(positives[-1] / examined[-1])
    return LiftCurve(examined / examined[-1], positives / examined / prevalence, thresholds, prevalence)


def _cumulated(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Distinct scores, highest first, and the mass of positives and of negatives at or above each."""
    positive = read_classes(y)
    values = read_scores(scores, positive.size)
    weight = read_sample_weight(sample_weight, positive.size)
    if weight is not None and weight.min() == 0:
        kept = np.flatnonzero(weight > 0)
        positive, values, weight = positive[kept], values[kept], weight[kept]
    if positive.size == 0 or bool(positive.all()) or not bool(positive.any()):
        raise ValueError("y has one class only; a curve needs positives and negatives")
    order = np.argsort(-values, kind="stable")
    ranked, positive = values[order], positive[order]
    mass = np.ones(ranked.size) if weight is None else weight[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), ranked.size - 1)
    positives = np.cumsum(np.where(positive, mass, 0.0))[ends]
    negatives = np.cumsum(np.where(positive, 0.0, mass))[ends]
    return ranked[ends], positives, negatives


def _from_zero(cumulated: Floats) -> Floats:
    return np.concatenate(([0.0], cumulated))
