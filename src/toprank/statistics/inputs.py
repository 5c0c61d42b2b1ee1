"""Read what a statistic is given; the errors name the argument and say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.labels import top_label

__all__ = [
    "as_vector",
    "iter_queries",
    "read_classes",
    "read_queries",
    "read_sample_weight",
    "read_scores",
    "read_values",
]

Array = NDArray[Any]


def as_vector(values: ArrayLike, name: str) -> Array:
    """One-dimensional array from anything array-like; the error names the argument."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; pass one value per item")
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least two items are needed to rank anything")
    return array


def read_scores(scores: ArrayLike, n: int | None = None, name: str = "scores") -> NDArray[np.float64]:
    """Scores as float64, higher is better; infinite scores are allowed, NaN is not.

    Examples
    --------
    >>> read_scores([3, 1, 2])
    array([3., 1., 2.])
    """
    array = as_vector(scores, name)
    if array.dtype.kind not in "biuf":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be numbers, got dtype {array.dtype}") from None
    if array.dtype.kind in "iu" and max(-int(array.min()), int(array.max())) > 2**53:
        raise ValueError(f"{name} holds whole numbers beyond 2**53, which float64 would tie; rescale them")
    if n is not None and array.size != n:
        raise ValueError(f"{name} has {array.size} values but y has {n}; they must match, item by item")
    result = np.ascontiguousarray(array, dtype=np.float64)
    # The minimum is NaN when anything is: one pass, nothing allocated.
    if np.isnan(result.min()):
        raise ValueError(
            f"{name} contains NaN (first at index {np.isnan(result).argmax()}); remove or impute it"
        )
    return result


def read_classes(y: ArrayLike, name: str = "y") -> NDArray[np.bool_]:
    """True for the positives: the larger of two numbers, the yes of yes and no; see `toprank.labels`.

    Any two values will do: 0/1, -1/1, False/True, two strings; those that do not say by themselves which is
    positive bring a warning. A single value is accepted only where it says by itself which class it is (0, 1,
    -1, False, True); the caller decides whether one class is enough.

    Examples
    --------
    >>> read_classes([-1, 1, 1])
    array([False,  True,  True])
    >>> read_classes(["no", "yes", "no"])
    array([False,  True, False])
    """
    array = as_vector(y, name)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf":
        return _classes_of_objects(array, name)
    low, high = array.min(), array.max()
    if np.isnan(low):
        raise ValueError(f"{name} contains NaN; every item needs a label")
    positive: NDArray[np.bool_] = array == high
    if low == high:
        if low not in (-1, 0, 1):
            raise ValueError(f"{name} has only one class (every value is {low}); both are needed")
        return np.full(array.size, bool(low == 1))
    if int(np.count_nonzero(positive)) + int(np.count_nonzero(array == low)) != array.size:
        found = np.unique(array)
        raise ValueError(f"{name} must have two classes, got {found.size} ({_few(found)}); binarise it first")
    return positive


def _classes_of_objects(array: Array, name: str) -> NDArray[np.bool_]:
    try:
        found = np.unique(array)
    except TypeError:
        raise ValueError(f"{name} mixes values that cannot be compared; use two values of one type") from None
    if found.size != 2:
        raise ValueError(f"{name} must have two classes, got {found.size} ({_few(found)})")
    top = top_label(found.tolist(), remedy="pass y == {}")
    return np.asarray(array == found[top], dtype=np.bool_)


def _few(values: Array) -> str:
    shown = ", ".join(str(value) for value in values[:5])
    return shown + (", ..." if values.size > 5 else "")


def read_values(y: ArrayLike, name: str = "y") -> NDArray[np.float64]:
    """Graded or real labels as float64; they must be finite numbers.

    Examples
    --------
    >>> read_values([0, 2, 1])
    array([0., 2., 1.])
    """
    array = as_vector(y, name)
    try:
        result = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers here, got dtype {array.dtype}") from None
    if not np.isfinite(result).all():
        bad = int(np.flatnonzero(~np.isfinite(result))[0])
        raise ValueError(f"{name} must be finite, got {result[bad]} at index {bad}")
    return result


def read_sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """Sample weights as float64, finite and not negative; None when every weight is one."""
    if sample_weight is None:
        return None
    weight = read_values(sample_weight, "sample_weight")
    if weight.size != n:
        raise ValueError(f"sample_weight has {weight.size} values but y has {n}; they must match")
    if weight.min() < 0 or weight.max() == 0:
        raise ValueError("sample_weight must not be negative, and not zero everywhere")
    return None if bool((weight == 1).all()) else weight


def read_queries(qid: ArrayLike, n: int) -> NDArray[np.intp]:
    """Query of each row as a number from 0 up.

    Examples
    --------
    >>> read_queries(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    array = as_vector(qid, "qid")
    if array.size != n:
        raise ValueError(f"qid has {array.size} values but y has {n}; they must match, item by item")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError("qid contains NaN; every item needs a query")
    return np.unique(array, return_inverse=True)[1]


def iter_queries(queries: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Row numbers of each query in turn; rows of a query need not be next to each other."""
    order = np.argsort(queries, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(queries[order])) + 1)
