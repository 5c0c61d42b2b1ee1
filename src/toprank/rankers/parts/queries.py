"""Which queries there is something to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["divided_queries"]


def divided_queries(
    y: NDArray[Any], query: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which queries have rows of both classes that count; a ValueError where none has.

    >>> divided_queries(np.array([1, 0, 1]), np.array([0, 0, 1]), np.ones(3))
    array([ True, False])
    """
    n_queries = int(query.max()) + 1
    counts = [np.bincount(query[(y == one) & (weight > 0)], minlength=n_queries) for one in (0, 1)]
    both = (counts[0] > 0) & (counts[1] > 0)
    if not both.any():
        raise ValueError("qid: no query has rows of both classes, so there is nothing to order.")
    return np.asarray(both)
