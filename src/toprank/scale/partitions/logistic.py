"""Logistic regression of partitioned rows, or of batches: one pass a step of Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from toprank.scale.newton import LossSums, Newton, NotConvergedWarning
from toprank.scale.partitions.blocks import aligned_blocks, delayed, is_partitioned, reduced

__all__ = [
    "Batches",
    "NotConvergedWarning",
    "batches_of",
    "check_block",
    "logistic_regression",
    "parts_of",
]

Floats = NDArray[np.float64]
Batches = Callable[[], Iterable[tuple[Any, ...]]]


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
