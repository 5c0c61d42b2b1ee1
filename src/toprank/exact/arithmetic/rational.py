"""Scores without rounding: every float is a whole number times a power of two.

Sums of products of such numbers are exact in Python's integers, so comparing two scores is exact too,
and a list of n items costs n dot products and one sort rather than all pairs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.exact.rounding import UNIT

__all__ = [
    "exact_scores",
    "is_sparse",
    "score_error_bound",
    "whole_numbers",
]


def is_sparse(rows: Any) -> bool:
    """Whether rows come as a SciPy sparse matrix or array."""
    return bool(sp.issparse(rows))


def whole_numbers(values: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Python integers `z` and one exponent `e` with ``values == z * 2**e`` exactly.

    >>> z, e = whole_numbers(np.array([0.75, -2.0]))
    >>> [int(i) * 2.0**e for i in z]
    [0.75, -2.0]
    """
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    nonzero = digits != 0
    if not nonzero.any():
        return np.zeros(values.shape, dtype=object), 0
    smallest = int(exponent[nonzero].min())
    shift = np.where(nonzero, exponent - smallest, 0).astype(object)
    return np.left_shift(digits.astype(object), shift), smallest


def exact_scores(rows: Any, coef: NDArray[np.float64]) -> tuple[list[int], int]:
    """Integers `s` and one exponent `e`: the score of row i is exactly ``s[i] * 2**e``.

    >>> s, e = exact_scores(np.array([[0.1, 0.2], [0.3, 0.0]]), np.array([1.0, 1.0]))
    >>> s[0] > s[1]  # 0.1 + 0.2 > 0.3 in floats, and the floats' exact sum decides here
    True
    """
    weights, weight_exponent = whole_numbers(np.asarray(coef, dtype=np.float64))
    if is_sparse(rows):
        entries, exponent = whole_numbers(np.asarray(rows.data, dtype=np.float64))
        products = entries * weights[rows.indices]
        ends = rows.indptr
        scores = [sum(products[a:b].tolist()) for a, b in pairwise(ends)]
        return scores, exponent + weight_exponent
    entries, exponent = whole_numbers(np.asarray(rows, dtype=np.float64))
    return entries.dot(weights).tolist(), exponent + weight_exponent


def score_error_bound(rows: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far a score computed in floats can be from the exact one, row by row.

    The classical bound gamma_d * sum_j |x_j w_j|, with room for the rounding of the bound itself and of the
    entries, and for what underflows.
    """
    magnitude = np.asarray(abs(rows) @ np.abs(coef), dtype=np.float64)
    terms = 2 * rows.shape[1] + 8
    return terms * UNIT * magnitude * 1.01 + 1e-150
