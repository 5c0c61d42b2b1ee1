"""Features that turn a kernel method into a linear one, exactly or nearly.

With the Gram matrix K = Z Z^T, a linear method on the rows of Z is the kernel method: 1/2 |w|^2 is half the
squared norm of f in the kernel's space, and f(x) = sum_k beta_k K(x_k, x) with beta = Z (Z^T Z)^-1 w. For
many rows, Nystroem's landmarks or random Fourier features stand in for Z. The methods compare rows with each
other, so K is centred: what all rows have in common changes nothing and costs digits. For kernels of
differences, and the linear one, the rows themselves are taken relative to their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from toprank.control import Seed, legacy_seed, warn_user
from toprank.convex.algebra.design import Origin, dense

__all__ = ["EXACT_LIMIT", "SHIFTABLE", "KernelMap"]

Floats = NDArray[np.float64]
EXACT_LIMIT = 10_000
SHIFTABLE = ("linear", "rbf", "laplacian")
"""Kernels with which rankers do not notice a shift of all rows."""
SPARSE = (None, "linear", "rbf", "poly", "polynomial", "sigmoid", "cosine", "precomputed")
"""Kernels that scikit-learn computes from sparse rows of any kind."""


class KernelMap:
    """Learns features of a kernel from training rows and scores new rows with them.

    Parameters
    ----------
    kernel : str or callable
        Any kernel of `sklearn.metrics.pairwise.pairwise_kernels`, a callable of two rows, or "precomputed".
    parameters : dict
        gamma, degree, coef0, ... of the kernel.
    approximation : {None, "nystroem", "fourier"}
        None is exact, for up to 10,000 rows.
    n_components : int
        Features of an approximation.
    random_state : int, Generator, RandomState or None
        Which landmarks or frequencies an approximation draws.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> kernel = KernelMap("rbf", {"gamma": 1.0})
    >>> Z = kernel.fit(X)
    >>> (Z @ Z.T).round(3)
    array([[ 0.316, -0.316],
           [-0.316,  0.316]])
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any],
        parameters: dict[str, Any] | None = None,
        *,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.parameters = parameters or {}
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = legacy_seed(random_state)

    def fit(self, X: Any) -> Floats:
        """The features of the training rows, one row each."""
        self._origin = Origin(X) if self.kernel in SHIFTABLE else None
        X = self._near(X)
        if self.approximation is not None:
            self._sampler = self._make_sampler(X.shape[0])
            self._sampler.fit(X)
            if self.approximation == "fourier" and self._origin is not None:
                # The waves stay where they are: what rows lose to the origin their phases gain.
                self._sampler.random_offset_ += self._origin.scores(self._sampler.random_weights_)
            return np.asarray(dense(self._sampler.transform(X)), dtype=np.float64)
        self._check_exact(X)
        # A copy: kernels of a matrix with itself are rounded differently from those with an equal one.
        self._rows = None if self.kernel == "precomputed" else X.copy()
        gram = self._gram(X)
        gram = gram - gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, np.newaxis]
        values, vectors = eigh((gram + gram.T) / 2.0)
        largest = max(float(values[-1]), 0.0)
        if values[0] < -1e-6 * largest:
            warn_user(
                f"kernel={self.kernel!r} is not positive semidefinite on these rows (eigenvalues"
                f" {values[0]:.3g} to {largest:.3g}); its negative part is left out."
            )
        kept = values > len(values) * np.finfo(np.float64).eps * largest
        roots = np.sqrt(values[kept])
        self._dual_basis = vectors[:, kept] / roots
        return np.asarray(vectors[:, kept] * roots)

    def finish(self, coef: Floats) -> Floats:
        """Turn coefficients of the features into what `scores` wants, and forget what only fitting needs.

        For an exact kernel these are the weights of the training rows in f(x) = sum_k beta_k K(x_k, x).
        """
        if self.approximation is not None:
            return coef
        beta = np.asarray(self._dual_basis @ coef)
        del self._dual_basis
        return beta - beta.mean()

    def scores(self, X: Any, finished: Floats) -> Floats:
        """Scores f of new rows (for a precomputed kernel, of their kernel values with the training rows)."""
        X = self._near(X)
        rows = self._gram(X) if self.approximation is None else self._sampler.transform(X)
        return np.asarray(rows @ finished, dtype=np.float64)

    def _near(self, X: Any) -> Any:
        """Rows relative to where the training rows lie, for kernels that allow it."""
        if self.kernel not in SPARSE:
            X = dense(X)
        return X if self._origin is None else self._origin.shifted(X)

    def _gram(self, X: Any) -> Floats:
        from sklearn.metrics.pairwise import pairwise_kernels

        if self.kernel == "precomputed":
            return np.asarray(dense(X), dtype=np.float64)
        parameters = self.parameters if callable(self.kernel) else {"filter_params": True, **self.parameters}
        gram = pairwise_kernels(X, self._rows, metric=self.kernel, **parameters)
        return np.asarray(dense(gram), dtype=np.float64)

    def _check_exact(self, X: Any) -> None:
        n_rows, n_columns = X.shape
        if self.kernel == "precomputed" and n_rows != n_columns:
            raise ValueError(
                "kernel='precomputed' needs a square matrix of kernel values to fit,"
                f" got {n_rows} x {n_columns}."
            )
        if n_rows > EXACT_LIMIT:
            raise ValueError(
                f"An exact kernel for {n_rows} rows is too large; use approximation='nystroem' or 'fourier'."
            )

    def _make_sampler(self, n_rows: int) -> Any:
        from sklearn.kernel_approximation import Nystroem, RBFSampler

        if self.approximation == "fourier":
            if self.kernel != "rbf":
                raise ValueError(f"approximation='fourier' needs kernel='rbf', not {self.kernel!r}.")
            gamma = self.parameters.get("gamma")
            return RBFSampler(
                gamma=1.0 if gamma is None else gamma,
                n_components=self.n_components,
                random_state=self.random_state,
            )
        if self.approximation != "nystroem" or self.kernel == "precomputed":
            raise ValueError(
                f"approximation={self.approximation!r} must be None, 'nystroem' or 'fourier', and None for a"
                " precomputed kernel."
            )
        parameters = {name: value for name, value in self.parameters.items() if value is not None}
        shared = {name: parameters.pop(name) for name in ("gamma", "degree", "coef0") if name in parameters}
        return Nystroem(
            self.kernel,
            **shared,
            kernel_params=parameters or None,
            n_components=min(self.n_components, n_rows),
            random_state=self.random_state,
        )
