"""Logistic regression over rows that do not fit into memory: Newton's method, one pass a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from toprank.control import warn_user
from toprank.scale.partitions import aligned_blocks, delayed, is_partitioned, reduced

__all__ = ["NotConvergedWarning", "logistic_regression"]

Floats = NDArray[np.float64]
Batches = Callable[[], Iterable[tuple[Any, ...]]]
CHUNK = 1 << 14
"""Rows of a block that are weighed at once: what is made of them on the way stays small."""
_ARMIJO = 1e-4
_MOST_HALVINGS = 30


class NotConvergedWarning(UserWarning):
    """The passes that were allowed did not reach the tolerance."""


@dataclass(frozen=True)
class _Sums:
    """Loss, gradient and second derivatives at one point, summed over rows; the intercept comes last."""

    loss: float
    gradient: Floats
    curvature: Floats

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.loss + other.loss, self.gradient + other.gradient, self.curvature + other.curvature)


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
    objective = _Objective(passes, classes[1], C)
    weights, taken = _minimised(objective, width, tol, max_passes)
    model = LogisticRegression(C=C, tol=tol, max_iter=max_passes)
    model.classes_, model.n_features_in_ = classes, width
    model.coef_, model.intercept_ = weights[None, :-1], weights[-1:]
    model.n_iter_ = np.array([taken], dtype=np.int32)
    return model


class _Passes:
    """Rows that can be gone through again and again, block by block."""

    def __init__(self, mapped: Callable[[Callable[..., Any], Callable[[list[Any]], Any]], Any]) -> None:
        self.mapped = mapped
        """A function of every block, and how its values join into one."""

    @classmethod
    def over(cls, X: Any, y: Any, weight: Any) -> _Passes:
        if callable(X) and not is_partitioned(X):
            batches: Batches = X
            return cls(lambda each, join: _folded((each(*_three(one)) for one in batches()), join))
        blocks = aligned_blocks(X, y, weight)
        return cls(lambda each, join: reduced([delayed(each)(*block) for block in blocks], join))

    def look(self) -> tuple[NDArray[Any], int]:
        """The two labels and the number of features, from a first pass that checks every block."""
        labels, width = self.mapped(_looked_at, _same_kind)
        if len(labels) != 2:
            raise ValueError(
                f"y must have two classes, got {len(labels)}: {', '.join(map(str, labels[:3]))}."
            )
        return np.array(labels), int(width)


def _three(batch: Sequence[Any]) -> tuple[Any, Any, Any]:
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


def _looked_at(X: Any, y: Any, weight: Any) -> tuple[list[Any], int]:
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
    """The penalised loss, its gradient and its second derivatives, at the price of a pass."""

    passes: _Passes
    positive: Any
    C: float

    def __call__(self, weights: Floats) -> _Sums:
        positive = self.positive  # so that the objective itself does not travel

        def each(X: Any, y: Any, mass: Any) -> _Sums:
            return _block_sums(X, y, mass, weights, positive)

        found = self.passes.mapped(each, _added)
        penalised = np.append(weights[:-1], 0.0)
        return _Sums(
            self.C * found.loss + float(penalised @ penalised) / 2.0,
            self.C * found.gradient + penalised,
            self.C * found.curvature + np.diag(np.append(np.ones(len(weights) - 1), 0.0)),
        )


def _added(some: list[_Sums]) -> _Sums:
    total = some[0]
    for one in some[1:]:
        total = total + one
    return total


def _block_sums(X: Any, y: Any, mass: Any, weights: Floats, positive: Any) -> _Sums:
    """The sums over the rows of a block."""
    width = len(weights)
    total = _Sums(0.0, np.zeros(width), np.zeros((width, width)))
    labels = np.asarray(y) == positive
    for begin in range(0, len(labels), CHUNK):
        part = slice(begin, begin + CHUNK)
        rows = np.asarray(X[part], dtype=np.float64)
        rows = np.column_stack((rows, np.ones(len(rows))))
        own = labels[part].astype(np.float64)
        much = np.ones(len(rows)) if mass is None else np.asarray(mass[part], dtype=np.float64)
        scores = rows @ weights
        chance = expit(scores)
        loss = float(much @ (np.logaddexp(0.0, scores) - own * scores))
        curved = rows * (much * chance * (1.0 - chance))[:, None]
        total = total + _Sums(loss, rows.T @ (much * (chance - own)), rows.T @ curved)
    return total


def _minimised(objective: _Objective, width: int, tol: float, max_passes: int) -> tuple[Floats, int]:
    """Newton's method with halved steps where a whole one does not go down; weights and passes."""
    weights = np.zeros(width + 1)
    here, passes = objective(weights), 1
    while passes < max_passes:
        step = -cho_solve(_factor(here.curvature), here.gradient)
        gain = -float(here.gradient @ step)
        length, there = 1.0, here
        for _ in range(_MOST_HALVINGS):
            there = objective(weights + length * step)
            passes += 1
            # Near the end the objective is flat within its own rounding.
            slack = 4.0 * np.finfo(np.float64).eps * abs(here.loss)
            if there.loss <= here.loss - _ARMIJO * length * gain + slack or passes >= max_passes:
                break
            length /= 2.0
        if there.loss <= here.loss + 4.0 * np.finfo(np.float64).eps * abs(here.loss):
            weights, here = weights + length * step, there
        if gain / 2.0 <= tol * max(abs(here.loss), 1.0):
            return weights, passes
    warn_user(
        f"logistic regression did not reach tol={tol} in {max_passes} passes; raise max_passes, or scale X",
        NotConvergedWarning,
    )
    return weights, passes


def _factor(curvature: Floats) -> Any:
    """Of second derivatives; where rounding left them singular, with the least that makes them definite."""
    scale = float(np.trace(curvature)) / len(curvature)
    for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        try:
            return cho_factor(curvature + ridge * scale * np.eye(len(curvature)))
        except np.linalg.LinAlgError:
            continue
    raise ValueError("X has columns of sizes too different to work with; scale them first.")
