"""Nystroem's approximation of a kernel, cut to the directions that matter most."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels

__all__ = ["LowRankNystroem"]


class LowRankNystroem(Nystroem):
    """Features from many landmarks, but only a few of them: the best `rank` of the landmarks' kernel matrix.

    Of the m landmarks' kernel matrix the `rank` largest eigenvalues D and their eigenvectors U are kept;
    the features of x are K(x, landmarks) U D^(-1/2) (Chen et al. 2017; Werner 2020, Section 3.1). More
    landmarks than features describe the kernel better at the same cost of learning.

    Parameters
    ----------
    kernel, gamma, coef0, degree, kernel_params, n_components, random_state
        As in scikit-learn's `Nystroem`; `n_components` is the number of landmarks.
    rank : int
        How many features there are; fewer where the matrix has no more directions.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> LowRankNystroem("rbf", gamma=1.0, n_components=4, rank=2, random_state=0).fit_transform(rows).shape
    (4, 2)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        rank: int = 50,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            coef0=coef0,
            degree=degree,
            kernel_params=kernel_params,
            n_components=n_components,
            random_state=random_state,
        )
        self.rank = rank

    def fit(self, X: Any, y: Any = None) -> LowRankNystroem:
        """Draw the landmarks and keep the best directions of their kernel matrix."""
        super().fit(X, y)
        landmarks = self.components_
        gram = pairwise_kernels(
            landmarks, metric=self.kernel, filter_params=True, **self._get_kernel_params()
        )
        values, vectors = eigh((gram + gram.T) / 2.0)
        values, vectors = values[::-1][: self.rank], vectors[:, ::-1][:, : self.rank]
        kept = values > len(gram) * np.finfo(np.float64).eps * max(float(values[0]), 0.0)
        kept[0] = True  # a kernel that is zero everywhere has one feature that says nothing
        roots = np.sqrt(np.maximum(values[kept], np.finfo(np.float64).tiny))
        self.normalization_ = np.asarray((vectors[:, kept] / roots).T)
        self._n_features_out = len(roots)
        return self
