"""ROC curves of more than two labels as arrays: the integrated curve and the ROC surface.

As in `toprank.statistics.curves`, equal scores are one step and curves run straight across it. Nothing here
draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.statistics.curves import RocCurve, roc_curve
from toprank.statistics.inputs import read_sample_weight, read_scores, read_values

__all__ = ["IntegratedRocCurve", "RocSurface", "integrated_roc_curve", "roc_surface"]

Floats = NDArray[np.float64]
MOST_HEIGHTS = 200_000_000
"""Heights of single curves that one mean curve is made of: some seconds."""
MOST_VERTICES = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class IntegratedRocCurve:
    """The mean of the ROC curves of "label above t" against "label below t": the IROC.

    Werner (2020), Section 3.3, after Clémençon & Achab (2017).

    Parameters
    ----------
    fpr, tpr : arrays of float64
        Corners from (0, 0) to (1, 1); a rate that comes twice is where the curve rises straight up.

    Examples
    --------
    >>> integrated_roc_curve([1, 2, 3, 4], [1.0, 3.0, 2.0, 4.0]).area
    1.0
    """

    fpr: Floats
    tpr: Floats

    @property
    def area(self) -> float:
        """Area under the curve: the integrated AUC, ties in the mean."""
        return float(np.diff(self.fpr) @ (self.tpr[1:] + self.tpr[:-1]) / 2.0)


def integrated_roc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    rates: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> IntegratedRocCurve:
    """The integrated ROC curve of labels of any number of values.

    On a sample, the average over the rows i of the ROC curve of {Y > Y_i} against {Y < Y_i}, wherever both
    sides have items. Of two labels it is their ROC curve.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers; the larger, the nearer to the top.
    scores : array-like of shape (n,)
    rates : array-like, optional
        False positive rates to compute the curve at, rising. Without them it is computed at every corner of
        every curve, some n^2 / 4 of them where all labels differ: for some hundreds of different labels.
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> curve = integrated_roc_curve([1, 2, 3, 3], [1.0, 4.0, 3.0, 0.5])
    >>> curve.fpr, curve.tpr
    (array([0., 0., 1., 1.]), array([0. , 0.5, 0.5, 1. ]))
    """
    levels, labels, values, weight = _read(y, scores, sample_weight)
    masses = np.bincount(labels, weights=weight)
    if len(levels) == 2:
        curves, shares = [roc_curve(labels, values, sample_weight=weight)], np.ones(1)
    else:
        curves = [_around(level, labels, values, weight) for level in range(1, len(levels) - 1)]
        shares = masses[1:-1] / masses[1:-1].sum()
    places = _places(curves, rates)
    left, right = np.zeros(len(places)), np.zeros(len(places))
    for curve, share in zip(curves, shares, strict=True):
        left += share * curve._beside(places, "left")
        right += share * curve._beside(places, "right")
    if rates is not None:
        return IntegratedRocCurve(places, right)
    fpr, tpr = np.repeat(places, 2), np.column_stack([left, right]).ravel()
    kept = np.append(True, (np.diff(fpr) > 0) | (np.diff(tpr) > 0))
    return IntegratedRocCurve(fpr[kept], tpr[kept])


def _around(level: int, labels: NDArray[np.int64], values: Floats, weight: Floats) -> RocCurve:
    """The ROC curve of the rows above a level against those below it."""
    rows = labels != level
    return roc_curve(labels[rows] > level, values[rows], sample_weight=weight[rows])


def _places(curves: list[RocCurve], rates: ArrayLike | None) -> Floats:
    if rates is None:
        places = np.unique(np.concatenate([curve.fpr for curve in curves]))
        if len(places) * len(curves) > MOST_HEIGHTS:
            raise ValueError(
                f"y has {len(curves) + 2} different labels, whose curves have {len(places)} corners; pass"
                " rates=np.linspace(0, 1, 1001)"
            )
        return places
    places = read_scores(rates, name="rates")
    if places.min() < 0 or places.max() > 1 or bool((np.diff(places) < 0).any()):
        raise ValueError("rates must rise from 0 or more to 1 or less")
    return places


@dataclass(frozen=True, slots=True, eq=False)
class RocSurface:
    """The share of each level that lies between the thresholds of its place: the ROC surface.

    Of d levels and thresholds t_1 <= ... <= t_(d-1) the point (F_1(t_1), F_2(t_2) - F_2(t_1), ...,
    1 - F_d(t_(d-1))), F_k(t) the share of level k scored t or less (Werner 2020, Definition 2.5, after
    Clémençon et al. 2013). With two levels it is the ROC curve, in other coordinates.

    Parameters
    ----------
    levels : array
        The different labels, lowest first.
    thresholds : array of shape (m + 1,)
        An infinitely low one, then the distinct scores, lowest first.
    cumulated : array of shape (m + 1, d)
        F_k at each of them.

    Examples
    --------
    >>> surface = roc_surface([1, 2, 3, 2], [0.1, 0.5, 0.9, 0.05])
    >>> surface.at([0.1, 0.5])
    array([1. , 0.5, 1. ])
    >>> surface.volume
    0.5
    """

    levels: NDArray[Any]
    thresholds: Floats
    cumulated: Floats

    @property
    def n_levels(self) -> int:
        """How many coordinates a point has."""
        return len(self.levels)

    def at(self, thresholds: ArrayLike) -> Floats:
        """The points of thresholds, the last axis holding d - 1 of them that do not fall."""
        cuts = np.asarray(thresholds, dtype=np.float64)
        if cuts.ndim == 0 or cuts.shape[-1] != self.n_levels - 1:
            raise ValueError(
                f"{self.n_levels} levels have {self.n_levels - 1} thresholds, got shape {cuts.shape}"
            )
        if np.isnan(cuts).any() or bool((cuts[..., 1:] < cuts[..., :-1]).any()):
            raise ValueError("thresholds must be numbers that do not fall")
        return self._points(np.searchsorted(self.thresholds, cuts, side="right") - 1)

    def vertices(self) -> Floats:
        """All corners of the surface, a row each: one for each choice of thresholds that do not fall."""
        count = math.comb(len(self.thresholds) + self.n_levels - 2, self.n_levels - 1)
        if count > MOST_VERTICES:
            raise ValueError(
                f"{len(self.thresholds) - 1} distinct scores and {self.n_levels} levels make {count} corners;"
                " round the scores, or take the points of some thresholds with at()"
            )
        steps = range(len(self.thresholds))
        choices = combinations_with_replacement(steps, self.n_levels - 1)
        flat = np.fromiter((step for choice in choices for step in choice), dtype=np.int64)
        return self._points(flat.reshape(count, self.n_levels - 1))

    def _points(self, steps: NDArray[np.int64]) -> Floats:
        shape = (*steps.shape[:-1], self.n_levels)
        below, upto = np.zeros(shape), np.ones(shape)
        for level in range(self.n_levels - 1):
            upto[..., level] = self.cumulated[steps[..., level], level]
            below[..., level + 1] = self.cumulated[steps[..., level], level + 1]
        return upto - below

    @property
    def volume(self) -> float:
        """The volume under the surface, run straight across equal scores: the VUS, ties in the mean.

        The chance that scores drawn one from each level rise with them. L draws at one score are in
        the right order in one of L! cases.
        """
        shares = np.diff(self.cumulated, axis=0)
        chains = np.zeros(self.n_levels + 1)  # of the first k levels, up to the score at hand
        chains[0] = 1.0
        for here in shares:
            for k in range(self.n_levels, 0, -1):
                together = 1.0
                for length in range(1, k + 1):
                    together *= here[k - length] / length
                    chains[k] += chains[k - length] * together
        return float(chains[-1])


def roc_surface(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> RocSurface:
    """ROC surface with a corner at each choice of distinct scores as thresholds.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers; the larger, the nearer to the top.
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Examples
    --------
    >>> roc_surface([1, 2, 3], [0.1, 0.5, 0.9]).volume  # every chain of one item a level is in order
    1.0
    >>> roc_surface([1, 2, 3, 3], [0.1, 0.5, 0.9, 0.3]).volume
    0.5
    """
    levels, labels, values, weight = _read(y, scores, sample_weight)
    thresholds, step = np.unique(values, return_inverse=True)
    masses = np.zeros((len(thresholds), len(levels)))
    np.add.at(masses, (step, labels), weight)
    cumulated = np.vstack([np.zeros(len(levels)), np.cumsum(masses, axis=0) / masses.sum(axis=0)])
    return RocSurface(levels, np.concatenate(([-np.inf], thresholds)), cumulated)


def _read(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.int64], Floats, Floats]:
    """The levels, and of each row that weighs anything the number of its level, its score, its weight."""
    labels = read_values(y, "y")
    values = read_scores(scores, labels.size)
    given = read_sample_weight(sample_weight, labels.size)
    weight = np.ones(labels.size) if given is None else given
    rows = np.flatnonzero(weight > 0)
    levels, number = np.unique(labels[rows], return_inverse=True)
    if len(levels) < 2:
        raise ValueError("y has one label only; a curve needs two or more")
    return levels, number.astype(np.int64), values[rows], weight[rows]
