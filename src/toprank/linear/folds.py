"""Deal rows to folds so that every fold can be ranked: labels spread evenly, queries kept whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranking_folds"]

Ints = NDArray[np.int64]


def ranking_folds(
    grade: NDArray[np.float64], qid: Ints | None, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Rows to learn from and rows to judge by, for each fold.

    Without queries the rows are sorted by label, shuffled within each label, and dealt in turn, so that
    every fold gets its share of every label. With queries whole queries are dealt.

    Parameters
    ----------
    grade : array of shape (n,)
    qid : array of shape (n,) or None
    n_folds : int
        At least 2; lowered to the number of rows of the rarest of two labels.
    rng : numpy Generator

    Examples
    --------
    >>> folds = ranking_folds(np.array([0.0, 0.0, 1.0, 1.0]), None, 2, np.random.default_rng(0))
    >>> [sorted(np.array([0, 0, 1, 1])[test].tolist()) for train, test in folds]
    [[0, 1], [0, 1]]
    """
    units = grade if qid is None else np.arange(int(qid.max()) + 1, dtype=np.float64)
    most = len(units)
    if qid is None and len(np.unique(grade)) == 2:
        most = int(np.unique(grade, return_counts=True)[1].min())
    if n_folds < 2 or most < 2:
        raise ValueError(
            f"cv={n_folds} folds cannot be made: at least 2 folds, and 2 rows of each label (2 queries),"
            " are needed."
        )
    shuffled = rng.permutation(len(units))
    if qid is None:
        shuffled = shuffled[np.argsort(units[shuffled], kind="stable")]
    dealt = np.empty(len(units), dtype=np.int64)
    dealt[shuffled] = np.arange(len(units)) % min(n_folds, most)
    fold = dealt if qid is None else dealt[qid]
    for number in range(int(dealt.max()) + 1):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
