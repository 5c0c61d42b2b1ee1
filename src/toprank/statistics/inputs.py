"""Read what a statistic is given; the errors name the argument and say what to do."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.labels import top_label

__all__ = [
    "WHOLE_WEIGHTS",
    "as_vector",
    "read_classes",
    "read_list",
    "read_sample_weight",
    "read_scores",
    "read_values",
    "repeated",
]

Array = NDArray[Any]
WHOLE_WEIGHTS = "takes whole-number sample_weight only (a weight is a number of copies)"


def as_vector(values: ArrayLike, name: str) -> Array:
    """One-dimensional array from anything array-like; nothing is dropped in silence.

    Numbers kept as Python objects become an array of numbers. Masked values, missing values among objects and
    complex numbers, which have no order, are errors that name the argument.
    """
    if isinstance(values, np.ma.MaskedArray) and bool(np.ma.getmaskarray(values).any()):
        raise ValueError(f"{name} has masked values; remove those rows (np.asarray would unmask them)")
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; pass one value per item")
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least two items are needed to rank anything")
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be real numbers, got complex ones; pass .real or np.abs() of them")
    if array.dtype.kind in "mM" and bool(np.isnat(array).any()):
        raise ValueError(f"{name} contains NaT; every item needs a value")
    return array


def _from_objects(array: Array, name: str) -> Array:
    """Objects as numbers where all of them are; other objects as they are, none of them missing."""
    if all(isinstance(value, (bool, np.bool_, Real, Decimal)) for value in array):
        if all(isinstance(value, (bool, np.bool_)) for value in array):
            return array.astype(np.bool_)
        if all(isinstance(value, Integral) for value in array):
            return _whole_numbers(array, name)
        return array.astype(np.float64)
    missing = [number for number, value in enumerate(array) if _is_missing(value)]
    if missing:
        raise ValueError(f"{name} has no value at index {missing[0]}; remove or impute it")
    if any(isinstance(value, (complex, np.complexfloating)) for value in array):
        return array.astype(np.complex128)
    return array


def _whole_numbers(array: Array, name: str) -> Array:
    try:
        return array.astype(np.int64)
    except OverflowError:
        raise ValueError(f"{name} holds whole numbers beyond 2**63; rescale them") from None


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA, told without importing pandas."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _as_floats(array: Array, name: str, hint: str = "") -> NDArray[np.float64]:
    """Float64 from real numbers; text that looks like numbers, and times, are not numbers."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers{hint}, got dtype {array.dtype}; convert them first")
    if array.dtype.kind in "iu" and max(-int(array.min()), int(array.max())) > 2**53:
        raise ValueError(f"{name} holds whole numbers beyond 2**53, which float64 would tie; rescale them")
    return np.ascontiguousarray(array, dtype=np.float64)


def read_scores(scores: ArrayLike, n: int | None = None, name: str = "scores") -> NDArray[np.float64]:
    """Scores as float64, higher is better; infinite scores are allowed, NaN is not.

    Examples
    --------
    >>> read_scores([3, 1, 2])
    array([3., 1., 2.])
    """
    array = as_vector(scores, name)
    if n is not None and array.size != n:
        raise ValueError(f"{name} has {array.size} values but y has {n}; they must match, item by item")
    result = _as_floats(array, name)
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
    result = _as_floats(as_vector(y, name), name, " here")
    # NaN is the minimum of anything that holds it: two passes, nothing allocated.
    if not (np.isfinite(result.min()) and np.isfinite(result.max())):
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


def read_list(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.intp] | slice]:
    """Arguments as arrays, and the rows that count; those of no weight must not even tell the labels."""
    y = as_vector(y, "y")
    values = read_scores(scores, y.size)
    weight = read_sample_weight(sample_weight, y.size)
    if weight is not None and weight.min() == 0:
        return y, values, weight, np.flatnonzero(weight)
    return y, values, weight, slice(None)


def repeated(labels: Array, scores: Array, weight: Array | None, name: str) -> tuple[Array, Array]:
    """Rows as often as their whole weights say.

    >>> repeated(np.array([1, 0]), np.array([0.5, 0.2]), np.array([2.0, 1.0]), "mine")[0]
    array([1, 1, 0])
    """
    if weight is None:
        return labels, scores
    if bool((weight != np.floor(weight)).any()):
        raise ValueError(f"{name} {WHOLE_WEIGHTS}")
    copies = weight.astype(np.intp)
    return np.repeat(labels, copies), np.repeat(scores, copies)
