"""Newton's method for logistic regression over rows that do not fit into memory: one pass a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from toprank.control import warn_user

__all__ = ["LossSums", "Newton", "NotConvergedWarning"]

Floats = NDArray[np.float64]
CHUNK = 1 << 12
"""Rows of a block that are weighed at once: what is made of them on the way stays small."""
_ARMIJO = 1e-4
_MOST_HALVINGS = 30


class NotConvergedWarning(UserWarning):
    """The passes that were allowed did not reach the tolerance."""


@dataclass(frozen=True)
class LossSums:
    """Loss, gradient and second derivatives at one point, summed over rows; the intercept comes last."""

    loss: float
    gradient: Floats
    curvature: Floats

    @classmethod
    def of(cls, X: Any, positive: NDArray[np.bool_], mass: Any, weights: Floats) -> LossSums:
        """Over the rows of a block, each as heavy as its mass (None: all alike)."""
        width = len(weights)
        total = cls(0.0, np.zeros(width), np.zeros((width, width)))
        for begin in range(0, len(positive), CHUNK):
            part = slice(begin, begin + CHUNK)
            rows = np.asarray(X[part], dtype=np.float64)
            own = positive[part].astype(np.float64)
            much = np.ones(len(rows)) if mass is None else np.asarray(mass[part], dtype=np.float64)
            scores = rows @ weights[:-1] + weights[-1]
            chance = expit(scores)
            loss = float(much @ (np.logaddexp(0.0, scores) - own * scores))
            missed, bend = much * (chance - own), much * chance * (1.0 - chance)
            total.gradient[:-1] += rows.T @ missed
            total.gradient[-1] += missed.sum()
            total.curvature[:-1, :-1] += rows.T @ (rows * bend[:, None])
            total.curvature[-1, :-1] += bend @ rows
            total.curvature[-1, -1] += bend.sum()
            total = cls(total.loss + loss, total.gradient, total.curvature)
        total.curvature[:-1, -1] = total.curvature[-1, :-1]
        return total

    def __add__(self, other: LossSums) -> LossSums:
        return LossSums(
            self.loss + other.loss, self.gradient + other.gradient, self.curvature + other.curvature
        )


class Newton:
    """Newton's method as questions and answers: it asks for the sums at one point, is told, and asks on.

    Several can thus share a pass over the rows. Steps are halved where a whole one does not go down.

    Parameters
    ----------
    width : int
        Number of features.
    C, tol, max_passes
        As in `toprank.scale.logistic_regression`.

    Examples
    --------
    >>> rows, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([False, True, False, True])
    >>> search = Newton(1)
    >>> while not search.done:
    ...     search.told(LossSums.of(rows, labels, None, search.asked))
    >>> search.model(np.array([0, 1])).predict(rows)
    array([0, 0, 1, 1])
    """

    def __init__(self, width: int, *, C: float = 1.0, tol: float = 1e-12, max_passes: int = 100) -> None:
        self.C, self.tol, self.max_passes = C, tol, max_passes
        self.asked = np.zeros(width + 1)
        """Where the next sums are wanted; the intercept comes last."""
        self.done = False
        self.passes = 0
        self._weights = self.asked
        self._here: LossSums | None = None
        self._step, self._length, self._gain = self.asked, 1.0, 0.0
        self._halvings = 0

    def told(self, sums: LossSums) -> None:
        """The answer to what was asked."""
        there = self._penalised(sums, self.asked)
        self.passes += 1
        if self._here is None:
            self._here = there
            self._ask()
            return
        before = self._here.loss
        # Near the end the objective is flat within its own rounding.
        slack = 4.0 * np.finfo(np.float64).eps * abs(before)
        good = there.loss <= before - _ARMIJO * self._length * self._gain + slack
        self._halvings += 1
        if not good and self.passes < self.max_passes and self._halvings < _MOST_HALVINGS:
            self._length /= 2.0
            self.asked = self._weights + self._length * self._step
            return
        if there.loss <= before + slack:
            self._weights, self._here = self.asked, there
        if self._gain / 2.0 <= self.tol * max(abs(self._here.loss), 1.0):
            self.done = True
        else:
            self._ask()

    def model(self, classes: NDArray[Any]) -> LogisticRegression:
        """What was found, as a fitted estimator."""
        model = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_passes)
        model.classes_, model.n_features_in_ = classes, len(self._weights) - 1
        model.coef_, model.intercept_ = self._weights[None, :-1], self._weights[-1:]
        model.n_iter_ = np.array([self.passes], dtype=np.int32)
        return model

    def _ask(self) -> None:
        """A new step, unless the passes are spent."""
        if self.passes >= self.max_passes:
            self.done = True
            warn_user(
                f"logistic regression did not reach tol={self.tol} in {self.max_passes} passes; raise"
                " max_passes, or scale X",
                NotConvergedWarning,
            )
            return
        assert self._here is not None  # told before
        self._step = -cho_solve(_factor(self._here.curvature), self._here.gradient)
        self._gain = -float(self._here.gradient @ self._step)
        self._length, self._halvings = 1.0, 0
        self.asked = self._weights + self._step

    def _penalised(self, found: LossSums, weights: Floats) -> LossSums:
        penalised = np.append(weights[:-1], 0.0)
        return LossSums(
            self.C * found.loss + float(penalised @ penalised) / 2.0,
            self.C * found.gradient + penalised,
            self.C * found.curvature + np.diag(np.append(np.ones(len(weights) - 1), 0.0)),
        )


def _factor(curvature: Floats) -> Any:
    """Of second derivatives; where rounding left them singular, with the least that makes them definite."""
    scale = float(np.trace(curvature)) / len(curvature)
    for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        try:
            return cho_factor(curvature + ridge * scale * np.eye(len(curvature)))
        except np.linalg.LinAlgError:
            continue
    raise ValueError("X has columns of sizes too different to work with; scale them first.")
