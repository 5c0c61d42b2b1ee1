"""`LinearRanker`: scores that are a weighted sum of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base.data import Matrix
from toprank.base.ranker import BaseRanker

__all__ = ["LinearRanker"]


class LinearRanker(BaseRanker):
    """A ranker whose score is ``X @ coef_ + intercept_``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature.

    Examples
    --------
    >>> from toprank import PatMat
    >>> ranker = PatMat().fit([[3.0], [1.0], [2.0]], [1, 0, 0])
    >>> isinstance(ranker, LinearRanker), ranker.coef_.shape
    (True, (1,))
    """

    coef_: NDArray[np.float64]

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return np.asarray(X @ self.coef_, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.linear = True
        return tags
