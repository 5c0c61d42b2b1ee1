"""Scores without rounding, and which pairs they win.

Every float is a whole number times a power of two. Sums of products of such numbers are exact in Python's
integers, so comparing two scores is exact too, and a list of n items costs n dot products and one sort rather
than all pairs. Pairs are counted in floats where rounding cannot matter and in whole numbers where it can.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.exact.objective import Query
from toprank.exact.pairs import lengths
from toprank.exact.rounding import UNIT

__all__ = [
    "Scores",
    "exact_scores",
    "is_sparse",
    "lost_counts",
    "score_error_bound",
    "simplest_between",
    "whole_numbers",
    "won_pairs",
]

Floats = NDArray[np.float64]
Matrix = Floats | sp.csr_matrix | sp.csr_array
Rows = NDArray[np.int64]
PAIRS_AT_A_TIME = 1 << 16
ENTRIES_FOR_ONE = 300
"""Settling one positive by itself takes as long as the exact scores of rows with so many entries: 0.1 ms."""


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


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator strictly between two others.

    >>> simplest_between(Fraction(31, 10), Fraction(16, 5))
    Fraction(19, 6)
    """
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # Between whole and high <= whole + 1: whole + 1/n for the first n that fits.
        return whole + Fraction(1, int(1 / (high - whole)) + 1)
    inner = simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / inner


# -- pairs --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scores:
    """Linear scores of all rows, in floats and as exactly as wanted.

    Parameters
    ----------
    rows : (n, d) array or CSR matrix
        The features as given.
    coef : (d,) array
        Their coefficients.
    scales : (d,) array
        Powers of two that bring columns to a common size.
    shifted : (n, d) array or CSR matrix
        Rows divided by the scales, less any vector: each entry within one unit of rounding.
    margin : float
        Least score difference that wins a pair, relative to its length and the largest scaled coefficient.
    """

    rows: Matrix
    coef: Floats
    scales: Floats
    shifted: Matrix
    margin: float

    def scaled_coef(self) -> Floats:
        """Coefficients of the scaled features, brought to a largest magnitude near 1 by a power of two."""
        mantissa, exponent = np.frexp(self.coef)
        exponent = exponent + np.frexp(self.scales)[1]
        return np.ldexp(mantissa, exponent - exponent[mantissa != 0].max())

    def floats(self) -> tuple[Floats, Floats]:
        """Scores up to a common shift, and how far each is from the exact one at most."""
        coef = self.scaled_coef()
        return np.asarray(self.shifted @ coef, dtype=np.float64), score_error_bound(self.shifted, coef)

    def exact(self, chosen: Rows) -> list[int]:
        """Whole numbers that compare as the exact scores of some rows do."""
        return exact_scores(self.rows[chosen], self.coef)[0]


def lost_counts(scores: Scores, queries: Sequence[Query], *, exact: bool = False) -> list[Rows]:
    """For each query the number of negatives each positive fails to beat, sorted ascending.

    A positive beats a negative when its score is higher (by the margin, where there is one).
    """
    if not scores.coef.any():
        return [np.full(len(upper), len(lower)) for upper, lower, _ in queries]
    if scores.margin > 0:
        return [_margin_counts(scores, query, exact) for query in queries]
    if exact:
        return [_exact_counts(scores, upper, lower) for upper, lower, _ in queries]
    near = scores.floats()
    return [_counts(scores, query, *near) for query in queries]


def _counts(scores: Scores, query: Query, near: Floats, error: Floats) -> Rows:
    """Lost pairs of one query by two searches in the sorted negatives, doubtful ones settled exactly."""
    upper, lower, _ = query
    order = np.argsort(near[lower], kind="stable")
    lower, ranked = lower[order], near[lower][order]
    # Errors differ wildly where one value is an outlier: each rival is searched for at both of its ends.
    low, high = np.sort(near[lower] - error[lower]), np.sort(near[lower] + error[lower])
    own = near[upper]
    surely_won = np.searchsorted(high, own - error[upper] * (1 + 8 * UNIT), side="left")
    maybe_won = np.searchsorted(low, own + error[upper] * (1 + 8 * UNIT), side="right")
    if (maybe_won > surely_won).sum() == 0:
        return np.sort(len(lower) - surely_won)
    doubtful, rows = np.flatnonzero(maybe_won > surely_won), len(upper) + len(lower)
    many = ENTRIES_FOR_ONE * len(doubtful) > rows * scores.rows.shape[1]
    if many or (maybe_won - surely_won).sum() > 20 * rows:
        return _exact_counts(scores, upper, lower)
    won = surely_won.copy()
    for i in doubtful:
        gap = np.abs(ranked - own[i]) <= (error[lower] + error[upper[i]]) * (1 + 8 * UNIT)
        won[i] = int((ranked[~gap] < own[i]).sum())
        mine, *rivals = scores.exact(np.concatenate(([upper[i]], lower[gap])))
        won[i] += sum(mine > rival for rival in rivals)
    return np.sort(len(lower) - won)


def _exact_counts(scores: Scores, upper: Rows, lower: Rows) -> Rows:
    values = scores.exact(np.concatenate((upper, lower)))
    rivals = sorted(values[len(upper) :])
    lost = [len(lower) - bisect_left(rivals, own) for own in values[: len(upper)]]
    return np.sort(np.array(lost, dtype=np.int64))


def _margin_counts(scores: Scores, query: Query, exact: bool) -> Rows:
    """Lost pairs of one query, every pair by itself: each has its own length."""
    upper, lower, _ = query
    pairs = np.column_stack((np.repeat(upper, len(lower)), np.tile(lower, len(upper))))
    won = _won_by_margin(scores, pairs, exact)
    return np.sort((~won).reshape(len(upper), len(lower)).sum(axis=1))


def won_pairs(scores: Scores, pairs: Rows, *, exact: bool = False) -> NDArray[np.bool_]:
    """Whether the upper row of each pair scores higher than the lower one (by the margin, if any)."""
    if not scores.coef.any():
        return np.zeros(len(pairs), dtype=bool)
    if scores.margin > 0:
        return _won_by_margin(scores, pairs, exact)
    near, error = scores.floats()
    upper, lower = pairs.T
    lead = near[upper] - near[lower]
    slack = (error[upper] + error[lower]) * (1 + 8 * UNIT) + 4 * UNIT * np.abs(lead)
    won = np.asarray(lead > 0)
    doubtful = np.arange(len(pairs)) if exact else np.flatnonzero(np.abs(lead) <= slack)
    if len(doubtful):
        used, number = np.unique(pairs[doubtful], return_inverse=True)
        values = scores.exact(used)
        won[doubtful] = [values[i] > values[k] for i, k in number.reshape(-1, 2)]
    return won


def _won_by_margin(scores: Scores, pairs: Rows, exact: bool) -> NDArray[np.bool_]:
    """Whether each pair is won by the margin times its length times the largest scaled coefficient."""
    coef, won = scores.scaled_coef(), np.zeros(len(pairs), dtype=bool)
    largest = float(np.abs(coef).max())
    for begin in range(0, len(pairs), PAIRS_AT_A_TIME):
        upper, lower = pairs[begin : begin + PAIRS_AT_A_TIME].T
        D = _dense(scores.rows, upper) / scores.scales - _dense(scores.rows, lower) / scores.scales
        D = np.ldexp(D, -lengths(D)[:, None])
        lead, need = D @ coef, scores.margin * largest
        doubt = (2 * len(coef) + 8) * UNIT * (np.abs(D) @ np.abs(coef) + need) + 1e-150
        block = D.any(axis=1) & (lead >= need)
        unsure = D.any(axis=1) & (exact | (np.abs(lead - need) <= doubt))
        for p in np.flatnonzero(unsure):
            block[p] = _wins_exactly(scores, int(upper[p]), int(lower[p]))
        won[begin : begin + PAIRS_AT_A_TIME] = block
    return won


def _wins_exactly(scores: Scores, upper: int, lower: int) -> bool:
    """The same in fractions."""
    x, z = (_dense(scores.rows, np.array([i]))[0] for i in (upper, lower))
    length = Fraction(2) ** int(lengths((x / scores.scales - z / scores.scales)[None])[0])
    w = [Fraction(c) for c in scores.coef.tolist()]
    largest = max(abs(a) * Fraction(s) for a, s in zip(w, scores.scales.tolist(), strict=True))
    lead = sum((Fraction(a) - Fraction(b)) * c for a, b, c in zip(x.tolist(), z.tolist(), w, strict=True))
    return lead >= Fraction(scores.margin) * length * largest


def _dense(rows: Matrix, chosen: Rows) -> Floats:
    part: Any = rows[chosen]
    return np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
