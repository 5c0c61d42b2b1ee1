"""Which pairs are won: in floats where rounding cannot matter, in whole numbers where it can."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toprank.exact.inputs import Matrix
from toprank.exact.rational import UNIT_ROUNDOFF, exact_scores, exact_threshold, score_error_bound

__all__ = ["lost_counts", "won_pairs"]

Floats = NDArray[np.float64]
Query = tuple[NDArray[np.int64], NDArray[np.int64], Floats]


def lost_counts(
    rows: Matrix, coef: Floats, margin: float, queries: Sequence[Query], *, exact: bool = False
) -> list[NDArray[np.int64]]:
    """For each query the number of negatives each positive fails to beat, sorted ascending.

    A positive beats a negative when its score is higher by at least ``margin * max|coef|``. Queries without
    position weights are passed over (an empty array).
    """
    if not coef.any():
        return [np.full(len(upper) if len(w) else 0, len(lower)) for upper, lower, w in queries]
    if exact:
        return [_exact_counts(rows, coef, margin, upper[: len(w)], lower) for upper, lower, w in queries]
    scores = np.asarray(rows @ coef, dtype=np.float64)
    error = score_error_bound(rows, coef)
    needed = margin * float(np.abs(coef).max())
    return [
        _counts(rows, coef, margin, needed, query, scores, error) if len(query[2]) else np.empty(0, np.int64)
        for query in queries
    ]


def _counts(
    rows: Matrix, coef: Floats, margin: float, needed: float, query: Query, scores: Floats, error: Floats
) -> NDArray[np.int64]:
    """Lost pairs of one query by two searches in the sorted negatives, doubtful ones settled exactly."""
    upper, lower, _ = query
    order = np.argsort(scores[lower], kind="stable")
    lower, ranked = lower[order], scores[lower][order]
    worst = error[lower].max() + error[upper] + 8 * UNIT_ROUNDOFF * (np.abs(scores[upper]) + needed)
    surely_won = np.searchsorted(ranked, scores[upper] - needed - worst, side="left")
    maybe_won = np.searchsorted(ranked, scores[upper] - needed + worst, side="right")
    if (maybe_won - surely_won).sum() > 20 * (len(upper) + len(lower)):
        return _exact_counts(rows, coef, margin, upper, lower)
    won = surely_won.copy()
    for i in np.flatnonzero(maybe_won > surely_won):
        doubtful = np.concatenate(([upper[i]], lower[surely_won[i] : maybe_won[i]]))
        (own, *rivals), exponent = exact_scores(rows[doubtful], coef)
        threshold = exact_threshold(margin, coef, exponent)
        won[i] += sum(own - rival >= threshold for rival in rivals)
    return np.sort(len(lower) - won)


def _exact_counts(
    rows: Matrix, coef: Floats, margin: float, upper: NDArray[np.int64], lower: NDArray[np.int64]
) -> NDArray[np.int64]:
    scores, exponent = exact_scores(rows[np.concatenate((upper, lower))], coef)
    threshold = exact_threshold(margin, coef, exponent)
    rivals = sorted(scores[len(upper) :])
    lost = [len(lower) - bisect_left(rivals, own - threshold + 1) for own in scores[: len(upper)]]
    return np.sort(np.array(lost, dtype=np.int64))


def won_pairs(
    rows: Matrix, coef: Floats, margin: float, pairs: NDArray[np.int64], *, exact: bool = False
) -> NDArray[np.bool_]:
    """Whether the upper row of each pair scores higher than the lower one by ``margin * max|coef|``."""
    if not coef.any():
        return np.zeros(len(pairs), dtype=bool)
    needed = margin * float(np.abs(coef).max())
    scores = np.asarray(rows @ coef, dtype=np.float64)
    error = score_error_bound(rows, coef)
    upper, lower = pairs.T
    lead = scores[upper] - scores[lower] - needed
    slack = (
        error[upper]
        + error[lower]
        + 8 * UNIT_ROUNDOFF * (np.abs(scores[upper]) + np.abs(scores[lower]) + needed)
    )
    won = np.asarray(lead > 0)
    doubtful = np.arange(len(pairs)) if exact else np.flatnonzero(np.abs(lead) <= slack)
    if len(doubtful):
        used, number = np.unique(pairs[doubtful], return_inverse=True)
        values, exponent = exact_scores(rows[used], coef)
        threshold = exact_threshold(margin, coef, exponent)
        number = number.reshape(-1, 2)
        won[doubtful] = [values[i] - values[k] >= threshold for i, k in number]
    return won
