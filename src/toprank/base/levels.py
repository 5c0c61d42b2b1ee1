"""Labels with an order: what judges them, and from scores back to them by cuts or by a rising curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from toprank import statistics
from toprank.labels import LabelKind
from toprank.statistics import RankStatistic

__all__ = ["grade_cuts", "response_curve", "suited", "upper_part"]

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""Scores that differ by less, relative to the largest, are as good as equal."""
ALIKE = 1e-8
"""Scores that differ by less, relative to the largest, get one mean response: the curve is never too steep
for the last digits of a score to show."""


def suited(statistic: Any, kind: LabelKind) -> RankStatistic:
    """The statistic, by name or as it is; the concordance index where it is meant for labels of other kinds.

    >>> str(suited("auc", "binary")), str(suited("auc", "ordinal")), str(suited("ndcg@5", "ordinal"))
    ('auc', 'c_index', 'ndcg@5')
    """
    own = statistics.get(statistic)
    return own if kind in own.labels else statistics.get("c_index")


def upper_part(y: Floats, kind: LabelKind, weight: Floats | None) -> NDArray[np.int8]:
    """1 for the labels whose rows should score above zero: those above the lowest grade; the upper half.

    >>> upper_part(np.array([0.0, 1.0, 2.0]), "ordinal", None)
    array([0, 1, 1], dtype=int8)
    >>> upper_part(np.array([0.1, 0.4, 0.9, 5.0]), "continuous", None)
    array([0, 0, 1, 1], dtype=int8)
    """
    counted = y if weight is None else y[weight > 0]
    if kind == "ordinal":
        return (y > counted.min()).astype(np.int8)
    middle = float(np.median(counted))
    upper = y > middle if (counted > middle).any() else y >= middle
    return np.asarray(upper, dtype=np.int8)


def grade_cuts(scores: Floats, grades: Floats, weight: Floats | None = None) -> Floats:
    """One cut below each grade but the lowest, in the middle of the gap between the scores around it.

    As many rows, or as much weight, lie below a cut as the lower grades have.

    >>> grade_cuts(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 2.0]))
    array([1.5, 2.5])
    """
    weight = np.ones(len(scores)) if weight is None else weight
    rising = np.argsort(scores, kind="stable")
    ordered, mass = scores[rising], np.cumsum(weight[rising])
    below = np.cumsum(np.bincount(np.unique(grades, return_inverse=True)[1], weights=weight))[:-1]
    slack = 1e-12 * mass[-1]
    last = np.minimum(np.searchsorted(mass, below - slack), len(scores) - 1)
    # Rows that tie across a cut stay below it, well below, for `predict` may round them differently.
    higher = ordered[last] + ROUNDING * float(np.abs(ordered).max())
    distinct = np.searchsorted(ordered, higher, side="right")
    following = np.maximum(np.searchsorted(mass, below + slack), distinct)
    above = np.append(ordered, ordered[-1] + 1.0)[np.minimum(following, len(scores))]
    return np.asarray(ordered[last] + (above - ordered[last]) / 2)


def response_curve(scores: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """The rising curve nearest to the responses in squares (isotonic regression): scores, responses there.

    Between its points the curve is straight, beyond them level.

    >>> response_curve(np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0, 3.0])).tolist()
    [[0.0, 1.0, 2.0], [1.0, 4.0, 4.0]]
    """
    unit = ALIKE * float(np.abs(scores).max()) or 1.0
    _, alike = np.unique(np.round(scores / unit), return_inverse=True)
    weights = np.ones(len(y)) if weight is None else weight
    place = np.bincount(alike, weights=scores) / np.bincount(alike)
    fitted = IsotonicRegression(out_of_bounds="clip").fit(place[alike], y, weights)
    return np.stack([fitted.X_thresholds_, fitted.y_thresholds_]).astype(np.float64)
