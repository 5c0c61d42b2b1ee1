"""Reading what users hand to an exact method: every complaint names the argument and says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from toprank.exact.arithmetic.rational import Matrix, is_sparse
from toprank.labels import top_label

__all__ = [
    "Matrix",
    "bytes_of",
    "default_scales",
    "read_grades",
    "read_margin",
    "read_penalty",
    "read_queries",
    "read_rows",
    "read_scales",
    "read_two_classes",
]

Floats = NDArray[np.float64]

_LARGEST = 1e150  # products of two such numbers, summed over the columns, stay finite


def read_rows(X: Any) -> Matrix:
    """A finite two-dimensional float64 array, or a CSR matrix without explicit zeros."""
    rows: Any
    if is_sparse(X):
        rows = sp.csr_matrix(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        values = rows.data
    else:
        rows = np.array(X, dtype=np.float64, order="C")
        values = rows
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; it has {rows.ndim}.")
    if 0 in rows.shape:
        raise ValueError(f"X of shape {rows.shape} is empty: at least one row and one column are needed.")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity: impute or remove those values first.")
    if np.abs(values).max(initial=0.0) > _LARGEST:
        raise ValueError(f"X contains values above {_LARGEST:g}: divide the column by a power of ten first.")
    return rows


def read_two_classes(y: ArrayLike, n: int) -> NDArray[np.int8]:
    """1 for the label that belongs at the top, the larger of two numbers, 0 for the other."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} rows of X; its shape is {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("y contains NaN: every row needs a label.")
    values, codes = np.unique(labels, return_inverse=True)
    if len(values) == 1:
        raise ValueError(
            f"y has one class only ({values.tolist()[0]!r}): nothing can be ranked above anything else."
        )
    if len(values) > 2:
        raise ValueError(
            f"y has {len(values)} different values: mark the items that belong at the top with the"
            " larger of two labels, or use RankingProblem.multipartite or .kendall."
        )
    return np.asarray(codes == top_label(values.tolist(), remedy="pass y == {}"), dtype=np.int8)


def read_grades(y: ArrayLike, n: int) -> NDArray[np.float64]:
    """One finite number for each row, not all the same."""
    values = np.asarray(y, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(f"y must hold one finite number for each of the {n} rows.")
    if n == 0 or values.min() == values.max():
        raise ValueError("y has one value only: no pair can be ranked.")
    return values


def read_queries(qid: ArrayLike | None, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Query numbers 0..q-1; all rows in one query without `qid`."""
    if qid is None:
        return np.zeros(len(labels), dtype=np.int64)
    names = np.asarray(qid)
    if names.shape != labels.shape:
        raise ValueError(
            f"qid must hold one query for each of the {len(labels)} rows; its shape is {names.shape}."
        )
    codes = np.unique(names, return_inverse=True)[1].astype(np.int64)
    lowest, highest = np.full(codes.max() + 1, np.inf), np.full(codes.max() + 1, -np.inf)
    np.minimum.at(lowest, codes, labels)
    np.maximum.at(highest, codes, labels)
    if not (lowest < highest).any():
        raise ValueError("y has one class only in every query (qid): no pair can be ranked.")
    return codes


def read_margin(margin: float) -> float:
    """A finite number that is not negative."""
    value = float(margin)
    if not 0 <= value < np.inf:
        raise ValueError(f"margin must be zero or more and finite, got {margin!r}.")
    return value


def read_penalty(penalty: float) -> float:
    """A finite number that is not negative."""
    value = float(penalty)
    if not 0 <= value < np.inf:
        raise ValueError(f"penalty must be zero or more and finite, got {penalty!r}.")
    return value


def read_scales(scales: ArrayLike | None, rows: Matrix) -> Floats:
    """One power of two for each column, near its usual spread unless given."""
    if scales is None:
        return default_scales(rows)
    values = np.array(scales, dtype=np.float64)
    if values.shape != (rows.shape[1],):
        raise ValueError(f"scales must hold one number for each of the {rows.shape[1]} columns of X.")
    if not (np.isfinite(values).all() and (values > 0).all() and (np.frexp(values)[0] == 0.5).all()):
        raise ValueError("scales must be powers of two, so that dividing by them is exact.")
    return values


def default_scales(rows: Any) -> Floats:
    """The power of two near the usual distance of a column's values from their median; 1 for constant ones.

    The usual distance is the median of those that are not zero, so that no single value moves it; of sparse
    columns, that of the entries from zero.

    >>> default_scales(np.array([[0.0, 5.0], [2.2, 5.0], [1.0, 5.0], [1e9, 5.0]]))
    array([1., 1.])
    """
    spread = np.array([_usual(column) for column in _distances(rows)])
    # The odd factor keeps the rounding away from values that data sets have (1, 2, 0.5, ...).
    exponent = np.floor(np.log2(np.where(spread > 0, spread, 1.0) * 1.3717))
    biggest: Any = abs(rows).max(axis=0)
    largest = np.frexp(biggest.toarray().ravel() if is_sparse(rows) else biggest)[1]
    # Whatever the column holds, dividing it by its scale does not overflow.
    return np.ldexp(1.0, np.maximum(exponent, largest - 400).astype(np.int64))


def _distances(rows: Any) -> Iterator[Floats]:
    """Of each column: how far its values are from the median (sparse: the entries from zero)."""
    if is_sparse(rows):
        columns = sp.csc_matrix(rows)
        for first, last in pairwise(columns.indptr):
            yield np.abs(columns.data[first:last])
        return
    middle = np.sort(rows, axis=0)[(len(rows) - 1) // 2]
    yield from np.abs(rows - middle).T


def _usual(distances: Floats) -> float:
    """Lower median of the distances that are not zero; 0 when all are."""
    away = np.sort(distances[distances > 0])
    return float(away[(len(away) - 1) // 2]) if len(away) else 0.0


def bytes_of(array: NDArray[Any]) -> bytes:
    """Shape, type and little-endian content; minus zero counts as zero."""
    plain = np.ascontiguousarray(array)
    if plain.dtype.kind == "f":
        plain = plain + 0.0
    return (
        repr((plain.shape, plain.dtype.kind)).encode() + plain.astype(plain.dtype.newbyteorder("<")).tobytes()
    )
