"""Random Fourier features of the Laplacian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils import check_random_state

__all__ = ["LaplacianSampler"]


class LaplacianSampler(RBFSampler):
    """Waves whose mean product is exp(-gamma |x - y|_1): frequencies are Cauchy's (Rahimi & Recht 2007).

    Parameters
    ----------
    gamma : float
    n_components : int
    random_state : int, RandomState or None

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0]])
    >>> features = LaplacianSampler(gamma=1.0, n_components=20_000, random_state=0).fit_transform(rows)
    >>> round(float(features[0] @ features[1]), 1)  # exp(-1) = 0.37
    0.4
    """

    def fit(self, X: Any, y: Any = None) -> LaplacianSampler:
        """Draw the frequencies; X says how many features there are."""
        super().fit(X, y)
        random = check_random_state(self.random_state)
        size = (X.shape[1], int(self.n_components))
        self.random_weights_ = float(self.gamma) * random.standard_cauchy(size).astype(np.float64)
        self.random_offset_ = random.uniform(0.0, 2.0 * np.pi, size=size[1])
        return self
