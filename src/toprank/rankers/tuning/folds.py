"""Deal rows to folds so that every fold can be ranked: labels spread evenly, queries kept whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["can_be_ranked", "ranking_folds"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def ranking_folds(
    grade: Floats, qid: Ints | None, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Rows to learn from and rows to judge by, for each fold; both parts can be ranked.

    Without queries the rows are sorted by label, shuffled within each label, and dealt in turn, so that
    every fold gets its share of every label. With queries whole queries are dealt, those with two different
    labels first, so that every fold gets its share of the ones that can be ranked.

    Parameters
    ----------
    grade : array of shape (n,)
    qid : array of shape (n,) or None
        Query numbers 0..q-1.
    n_folds : int
        At least 2; lowered to the number of rows beside those of the commonest label, or to the number of
        queries with two different labels, where these are fewer.
    rng : numpy Generator

    Examples
    --------
    >>> folds = ranking_folds(np.array([0.0, 0.0, 1.0, 1.0]), None, 2, np.random.default_rng(0))
    >>> [sorted(np.array([0, 0, 1, 1])[test].tolist()) for train, test in folds]
    [[0, 1], [0, 1]]
    """
    order, most = _by_label(grade, rng) if qid is None else _by_query(grade, qid, rng)
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} folds cannot be made: at least 2 are needed.")
    if most < 2:
        raise ValueError(f"cv={n_folds} folds cannot be made: {_lacking(qid, most)}.")
    dealt = np.empty(len(order), dtype=np.int64)
    dealt[order] = np.arange(len(order)) % min(n_folds, most)
    fold = dealt if qid is None else dealt[qid]
    for number in range(int(dealt.max()) + 1):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def can_be_ranked(grade: NDArray[Any], qid: Ints | None) -> bool:
    """Whether some list holds two different labels.

    >>> can_be_ranked(np.array([0.0, 1.0]), None), can_be_ranked(np.array([0.0, 1.0]), np.array([0, 1]))
    (True, False)
    """
    if qid is None:
        return bool(grade.min() < grade.max())
    return bool(_rankable(grade, qid).any())


def _by_label(grade: Floats, rng: np.random.Generator) -> tuple[Ints, int]:
    """Rows by label, those of the commonest one last, and the most folds that then all get two labels.

    With m rows of other labels and no more than m folds, each fold begins with one of these. It ends with
    one of the commonest label, or no label has as many rows as there are folds, and the next row dealt to
    the fold is of another label.
    """
    labels, codes, counts = np.unique(grade, return_inverse=True, return_counts=True)
    commonest = int(np.argmax(counts))
    codes = np.where(codes == commonest, len(labels), codes)
    shuffled = rng.permutation(len(grade))
    others = len(grade) - int(counts[commonest])
    return shuffled[np.argsort(codes[shuffled], kind="stable")], min(others, len(grade) // 2)


def _by_query(grade: Floats, qid: Ints, rng: np.random.Generator) -> tuple[Ints, int]:
    """Queries that can be ranked before those that cannot, and how many of the former there are."""
    rankable = _rankable(grade, qid)
    shuffled = rng.permutation(len(rankable))
    return shuffled[np.argsort(~rankable[shuffled], kind="stable")], int(np.count_nonzero(rankable))


def _rankable(grade: NDArray[Any], qid: Ints) -> NDArray[np.bool_]:
    """Whether each query holds two different labels; numbers without rows are no queries."""
    lowest, highest = np.full(int(qid.max()) + 1, np.inf), np.full(int(qid.max()) + 1, -np.inf)
    np.minimum.at(lowest, qid, grade)
    np.maximum.at(highest, qid, grade)
    return np.asarray(lowest < highest)


def _lacking(qid: Ints | None, most: int) -> str:
    if qid is None:
        return "2 rows beside those of the commonest label are needed"
    return (
        f"queries (qid) are held out whole, and {most or 'none'} of them can be ranked, having two different"
        " labels; at least 2 are needed: choose C yourself, or give fewer and longer queries"
    )
