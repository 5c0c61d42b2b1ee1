"""Logistic regression over rows that do not fit into memory: Newton's method, one pass a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from toprank.control import warn_user
from toprank.scale.partitions import aligned_blocks, delayed, is_partitioned, reduced

__all__ = [
    "Batches",
    "LossSums",
    "Newton",
    "NotConvergedWarning",
    "batches_of",
    "check_block",
    "logistic_regression",
    "parts_of",
]

Floats = NDArray[np.float64]
Batches = Callable[[], Iterable[tuple[Any, ...]]]
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


def logistic_regression(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    C: float = 1.0,
    tol: float = 1e-12,
    max_passes: int = 100,
) -> LogisticRegression:
    """The logistic regression of partitioned rows, as scikit-learn's own would be of the same rows in memory.

    It minimises ``|w|^2 / 2 + C * loss`` as scikit-learn does, the intercept not penalised. Each step of
    Newton's method takes one pass over the rows; no more than a partition for each worker is in memory.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features), or callable
        Or a function without arguments that gives batches ``(X, y)`` or ``(X, y, sample_weight)``, the same
        ones each time it is called; `y` is then left out.
    y : dask array, series or array-like of shape (n_samples,)
        Two labels; the larger one gets the positive scores.
    sample_weight : dask array, series or array-like, optional
    C : float
        Inverse of the strength of regularisation.
    tol : float
        It ends when the next step would gain less than this share of the objective. Steps being Newton's,
        the coefficients are then right to about the square root of that, and after that last step, which is
        taken, to rounding.
    max_passes : int
        A `NotConvergedWarning` says when they did not suffice.

    Returns
    -------
    sklearn.linear_model.LogisticRegression
        Fitted; `n_iter_` is the number of passes.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = logistic_regression(da.from_array(rows, chunks=2), np.array([0, 1, 0, 1]))
    >>> model.predict(rows)
    array([0, 0, 1, 1])
    """
    passes = _Passes.over(X, y, sample_weight)
    classes, width = passes.look()
    objective = _Objective(passes, classes[1])
    search = Newton(width, C=C, tol=tol, max_passes=max_passes)
    while not search.done:
        search.told(objective(search.asked))
    return search.model(classes)


class _Passes:
    """Rows that can be gone through again and again, block by block."""

    def __init__(self, mapped: Callable[[Callable[..., Any], Callable[[list[Any]], Any]], Any]) -> None:
        self.mapped = mapped
        """A function of every block, and how its values join into one."""

    @classmethod
    def over(cls, X: Any, y: Any, weight: Any) -> _Passes:
        batches = batches_of(X)
        if batches is not None:
            return cls(lambda each, join: _folded((each(*parts_of(one)) for one in batches()), join))
        blocks = aligned_blocks(X, y, weight)
        return cls(lambda each, join: reduced([delayed(each)(*block) for block in blocks], join))

    def look(self) -> tuple[NDArray[Any], int]:
        """The two labels and the number of features, from a first pass that checks every block."""
        labels, width = self.mapped(check_block, _same_kind)
        if len(labels) != 2:
            raise ValueError(
                f"y must have two classes, got {len(labels)}: {', '.join(map(str, labels[:3]))}."
            )
        return np.array(labels), int(width)


def batches_of(X: Any) -> Batches | None:
    """A function that gives batches, if that is what this is; None for arrays."""
    if isinstance(X, Iterator):
        raise ValueError(
            "batches are gone through several times, and an iterator only once: give a function without"
            " arguments that makes it anew."
        )
    return X if callable(X) and not is_partitioned(X) else None


def parts_of(batch: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Rows, labels and weights of a batch; None where it has no weights."""
    X, y, *weight = batch
    return X, y, weight[0] if weight else None


def _folded(values: Iterable[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Join values as they come, so that no more than two are there at a time."""
    so_far = None
    for value in values:
        so_far = value if so_far is None else join([so_far, value])
    if so_far is None:
        raise ValueError("there are no batches; the function must give the same ones each time it is called.")
    return so_far


def check_block(X: Any, y: Any, weight: Any) -> tuple[list[Any], int]:
    """Up to three labels of a block and its width, if there is nothing wrong with it."""
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or len(rows) != len(labels):
        raise ValueError(f"X of shape {rows.shape} and y of shape {labels.shape} do not fit.")
    if not np.isfinite(rows).all():
        column = int(np.argmax(~np.isfinite(rows).all(axis=0)))
        raise ValueError(f"X holds a value that is missing or infinite in column {column}; fill it in first.")
    if weight is not None:
        mass = np.asarray(weight, dtype=np.float64)
        if len(mass) != len(rows) or not np.isfinite(mass).all() or (mass < 0).any():
            raise ValueError("sample_weight must be a finite number for each row, none below zero.")
        labels = labels[mass > 0]
    return np.unique(labels)[:3].tolist(), rows.shape[1]


def _same_kind(some: list[tuple[list[Any], int]]) -> tuple[list[Any], int]:
    widths = {width for _, width in some}
    if len(widths) > 1:
        raise ValueError(f"batches have different numbers of columns: {sorted(widths)}.")
    return sorted({label for labels, _ in some for label in labels})[:3], widths.pop()


@dataclass(frozen=True)
class _Objective:
    """The loss, its gradient and its second derivatives, at the price of a pass."""

    passes: _Passes
    positive: Any

    def __call__(self, weights: Floats) -> LossSums:
        positive = self.positive  # so that the objective itself does not travel

        def each(X: Any, y: Any, mass: Any) -> LossSums:
            return LossSums.of(X, np.asarray(y) == positive, mass, weights)

        found: LossSums = self.passes.mapped(each, _added)
        return found


def _added(some: list[LossSums]) -> LossSums:
    total = some[0]
    for one in some[1:]:
        total = total + one
    return total


class Newton:
    """Newton's method as questions and answers: it asks for the sums at one point, is told, and asks on.

    Several can thus share a pass over the rows. Steps are halved where a whole one does not go down.

    Parameters
    ----------
    width : int
        Number of features.
    C, tol, max_passes
        As in `logistic_regression`.

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
