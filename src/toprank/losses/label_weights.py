"""How much each kind of pair matters at the top of the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["swap_costs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_GRADES = 64


def swap_costs(grade: Floats, qid: Ints | None = None, *, top: int = 10) -> dict[tuple[float, float], float]:
    """What it costs to swap an item of one grade with an item of a lower one, by the two grades.

    The mean over queries of the loss of NDCG@top when, in a perfect list, a random item of the upper grade
    trades places with a random item of the lower one: the weights of Cao et al. (2006). Gains are
    ``2^grade - 1`` counted from the lowest grade.

    Parameters
    ----------
    grade : array of shape (n,)
    qid : array of shape (n,), optional
    top : int
        How much of the list counts.

    Examples
    --------
    >>> swap_costs(np.array([2.0, 1.0, 0.0]), top=1)
    {(1.0, 0.0): 0.0, (2.0, 0.0): 1.0, (2.0, 1.0): 0.666...}
    """
    grades, code = np.unique(grade, return_inverse=True)
    if len(grades) > MAX_GRADES:
        raise ValueError(
            f"weighting='top' weighs each pair of grades, but y has {len(grades)} of them;"
            f" use at most {MAX_GRADES}."
        )
    query = np.zeros(len(code), dtype=np.int64) if qid is None else np.unique(qid, return_inverse=True)[1]
    gains = np.exp2(grades - grades[0]) - 1.0
    discount = _perfect_discounts(query, code, top)
    n_queries, cell = int(query.max()) + 1, query * len(grades) + code
    counts = np.bincount(cell, minlength=n_queries * len(grades)).reshape(n_queries, -1)
    sums = np.bincount(cell, weights=discount, minlength=counts.size).reshape(n_queries, -1)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    ideal = sums @ gains
    costs = {}
    for upper in range(1, len(grades)):
        for lower in range(upper):
            both = (counts[:, upper] > 0) & (counts[:, lower] > 0)
            if both.any():
                drop = (gains[upper] - gains[lower]) * (means[both, upper] - means[both, lower]) / ideal[both]
                costs[(float(grades[upper]), float(grades[lower]))] = float(drop.mean())
    return costs


def _perfect_discounts(query: Ints, code: Ints, top: int) -> Floats:
    """The discount of each item's position when every query is in perfect order."""
    order = np.lexsort((-code, query))
    sizes = np.bincount(query)
    position = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    discount = np.empty(len(order))
    discount[order] = np.where(position < top, 1.0 / np.log2(2.0 + position), 0.0)
    return discount
