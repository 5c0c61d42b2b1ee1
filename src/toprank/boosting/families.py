"""What component-wise boosting fits: working responses and weights of squares and of logistic losses."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

__all__ = ["FAMILIES", "Family", "Logit", "MultiLogit", "Squares", "make_family"]

Floats = NDArray[np.float64]
LEAST = 1e-5
"""The least curvature of a row, so that the step stays finite where a probability is nearly 0 or 1."""
FAMILIES = ["l2", "logit", "multi_logit"]


class Family(Protocol):
    """A loss of one or several functions of the rows, one column each."""

    columns: int

    def start(self) -> Floats:
        """The best constants."""
        ...

    def working(self, values: Floats) -> tuple[Floats, Floats]:
        """What the next learners should be, and how much each row counts: Newton's step, row by row."""
        ...

    def loss(self, values: Floats) -> float:
        """The mean loss."""
        ...

    def adjusted(self, step: Floats) -> Floats:
        """What is added, given what was learned, function by function."""
        ...

    def scores(self, values: Floats) -> Floats:
        """What rows are ranked by."""
        ...


class Squares:
    """The squared error of the labels as numbers (L2-boosting; Bühlmann & Yu 2003)."""

    columns = 1

    def __init__(self, y: Floats, weight: Floats) -> None:
        self._y, self._weight = y[:, None], (weight / weight.sum())[:, None]

    def start(self) -> Floats:
        return np.array([float((self._weight * self._y).sum())])

    def working(self, values: Floats) -> tuple[Floats, Floats]:
        return self._y - values, self._weight

    def loss(self, values: Floats) -> float:
        return float((self._weight * (self._y - values) ** 2).sum())

    def adjusted(self, step: Floats) -> Floats:
        return step

    def scores(self, values: Floats) -> Floats:
        return values[:, 0]


class Logit:
    """log2(1 + exp(-2 Y s)) of two classes, Y = -1 or 1, s half of the logarithm of the odds (LogitBoost)."""

    columns = 1

    def __init__(self, y: Floats, weight: Floats) -> None:
        self._y, self._weight = (y > y.min()).astype(np.float64)[:, None], (weight / weight.sum())[:, None]

    def start(self) -> Floats:
        share = float((self._weight * self._y).sum())
        return np.array([np.log(share / (1.0 - share))])

    def working(self, values: Floats) -> tuple[Floats, Floats]:
        p = expit(values)
        curvature = np.maximum(p * (1.0 - p), LEAST)
        return (self._y - p) / curvature, self._weight * curvature

    def loss(self, values: Floats) -> float:
        return float((self._weight * np.logaddexp(0.0, (1.0 - 2.0 * self._y) * values)).sum() / np.log(2.0))

    def adjusted(self, step: Floats) -> Floats:
        return step

    def scores(self, values: Floats) -> Floats:
        return values[:, 0]


class MultiLogit:
    """-log2 of the probability of a row's own level, one function a level (LogitBoost for several classes).

    Rows are ranked by the level that is expected.
    """

    def __init__(self, y: Floats, weight: Floats) -> None:
        levels, codes = np.unique(y, return_inverse=True)
        self.columns = len(levels)
        self._hot = np.eye(self.columns)[codes]
        self._weight = (weight / weight.sum())[:, None]

    def start(self) -> Floats:
        # Levels without weight have a tiny probability instead of none.
        logs = np.log(np.maximum((self._weight * self._hot).sum(axis=0), LEAST))
        return np.asarray(logs - logs.mean())

    def working(self, values: Floats) -> tuple[Floats, Floats]:
        p = softmax(values, axis=1)
        curvature = np.maximum(p * (1.0 - p), LEAST)
        return (self._hot - p) / curvature, self._weight * curvature

    def loss(self, values: Floats) -> float:
        highest = values.max(axis=1, keepdims=True)
        total = highest[:, 0] + np.log(np.exp(values - highest).sum(axis=1))
        own = (self._hot * values).sum(axis=1)
        return float((self._weight[:, 0] * (total - own)).sum() / np.log(2.0))

    def adjusted(self, step: Floats) -> Floats:
        # Only differences between the functions count: their mean is taken out.
        share = (self.columns - 1.0) / self.columns
        return np.asarray(share * (step - step.mean(axis=-1, keepdims=True)))

    def scores(self, values: Floats) -> Floats:
        return expected_level(values)


def expected_level(values: Floats) -> Floats:
    """The mean number of the level under the probabilities of the functions.

    >>> expected_level(np.zeros((1, 3)))
    array([1.])
    """
    return np.asarray(softmax(values, axis=1) @ np.arange(values.shape[1], dtype=np.float64))


def make_family(name: str, y: Floats, weight: Floats | None) -> Family:
    """The loss by name, of labels and weights."""
    mass = np.ones(len(y)) if weight is None else weight
    found: dict[str, type] = {"l2": Squares, "logit": Logit, "multi_logit": MultiLogit}
    family: Family = found[name](y, mass)
    return family
