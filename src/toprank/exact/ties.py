"""Breaking ties without touching anything else: Lemma 2 of Rudin & Wang (2018)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.exact.arithmetic.rational import exact_scores
from toprank.exact.rounding import UNIT

__all__ = ["break_ties"]

_MOST_TRIES = 60


def break_ties(X: Any, coef: ArrayLike, *, rng: np.random.Generator | int | None = 0) -> NDArray[np.float64]:
    """Coefficients that give the same order with no ties left, except between rows equal where it counts.

    A random step on the non-zero coefficients, smaller than Lemma 2's bound
    ``min(margin / (2 M sqrt(d)), min |w_j|)``, with margin the smallest positive score difference and M the
    largest feature. It keeps every strict order and the support, and is checked in exact arithmetic; where
    floating point leaves no room for such a step, the coefficients come back unchanged. Rows that are equal
    in all columns with a coefficient stay tied, whatever the other columns hold.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    coef : array-like of shape (d,)
    rng : numpy Generator or int
        Source of the random step.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> scores = X @ break_ties(X, [1.0, 1.0])
    >>> bool(scores[0] != scores[1]), bool(scores[:2].min() > scores[2])
    (True, True)
    """
    weights = np.asarray(coef, dtype=np.float64)
    support = np.flatnonzero(weights)
    before, _ = exact_scores(X, weights)
    distinct = _same_rows(X, support)
    if not len(support) or _resolved(before, distinct):
        return weights
    generator = np.random.default_rng(rng)
    step = _largest_step(X, weights, support)
    for _ in range(_MOST_TRIES):
        direction = generator.normal(size=len(support))
        moved = weights.copy()
        moved[support] += 0.5 * step * direction / np.linalg.norm(direction)
        after, _ = exact_scores(X, moved)
        if moved[support].all() and _keeps_order(before, after) and _resolved(after, distinct):
            return moved
        step /= 4
    return weights


def _largest_step(X: Any, weights: NDArray[np.float64], support: NDArray[np.intp]) -> float:
    """Lemma 2's bound, its margin taken from scores in floats; the exact check has the last word."""
    smallest = float(np.abs(weights[support]).min())
    # Divided by powers of two, so that no product overflows and nothing is rounded.
    row_unit, unit = (np.ldexp(1.0, int(np.frexp(v)[1]) - 1) for v in (abs(X).max(), np.abs(weights).max()))
    scores = np.asarray((X / row_unit) @ (weights / unit), dtype=np.float64)
    gaps = np.diff(np.unique(scores))
    gaps = gaps[gaps > 4 * len(weights) * UNIT]  # what is smaller may be the rounding of a tie
    if not len(gaps):
        return smallest
    return min(float(gaps.min()) / (2 * np.sqrt(len(weights))) * float(unit), smallest)


def _same_rows(X: Any, support: NDArray[np.intp]) -> list[bytes]:
    """A key for each row; equal rows, as far as the support sees them, share it."""
    part = X[:, support]
    dense = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64) + 0.0
    return [row.tobytes() for row in dense]


def _resolved(scores: list[int], keys: list[bytes]) -> bool:
    """Whether only equal rows share a score."""
    ranked = sorted(zip(scores, keys, strict=True))
    return all(a[0] != b[0] or a[1] == b[1] for a, b in pairwise(ranked))


def _keeps_order(before: list[int], after: list[int]) -> bool:
    """Whether every strict order among the old scores holds among the new ones."""
    highest_so_far: int | None = None
    groups: dict[int, list[int]] = {}
    for old, new in zip(before, after, strict=True):
        groups.setdefault(old, []).append(new)
    for old in sorted(groups):
        if highest_so_far is not None and min(groups[old]) <= highest_so_far:
            return False
        highest_so_far = max(groups[old])
    return True
