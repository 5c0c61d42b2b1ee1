"""Features that turn a kernel method into a linear one, exactly or nearly.

With the Gram matrix K = Z Z^T, a linear method on the rows of Z is the kernel method: 1/2 |w|^2 is half the
squared norm of f in the kernel's space, and f(x) = sum_k beta_k K(x_k, x) with beta = Z (Z^T Z)^-1 w. For
many rows, Nystroem's landmarks or random Fourier features stand in for Z. The methods compare rows with each
other, so K is centred: what all rows have in common changes nothing and costs digits. For kernels of
differences, and the linear one, the rows themselves are taken relative to their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from toprank.control import Seed, legacy_seed, warn_user
from toprank.convex.algebra.design import Origin, dense

__all__ = ["EXACT_LIMIT", "KernelMap", "RowKernel"]

Floats = NDArray[np.float64]
EXACT_LIMIT = 10_000
"""Rows whose Gram matrix (0.8 GB) and its eigenvectors still fit."""
SHIFTABLE = ("linear", "rbf", "laplacian")
"""Kernels with which rankers do not notice a shift of all rows."""
SPARSE = (None, "linear", "rbf", "poly", "polynomial", "sigmoid", "cosine", "precomputed")
"""Kernels that scikit-learn computes from sparse rows of any kind."""


class RowKernel:
    """The values of a kernel between rows.

    Parameters
    ----------
    kernel : str or callable
        Any kernel of `sklearn.metrics.pairwise.pairwise_kernels`, a callable of two rows, or "precomputed".
    parameters : dict
        gamma, degree, coef0; those that are None, or that the kernel does not have, are left out.
    extra : dict
        Further parameters, handed to the kernel as they are.

    Examples
    --------
    >>> kernel = RowKernel("rbf", {"gamma": 1.0, "degree": 3})
    >>> rows = kernel.learn_origin(np.array([[0.0], [1.0]]))
    >>> kernel.between(rows, rows).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any],
        parameters: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.extra = dict(extra or {})
        known = _parameters_of(kernel, self.extra)
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        self.shared = {name: given[name] for name in given if name in known and name not in self.extra}
        self._origin: Origin | None = None

    @property
    def precomputed(self) -> bool:
        """Whether rows are rows of kernel values already."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def learn_origin(self, X: Any) -> Any:
        """The training rows, relative to where they lie for kernels that allow it."""
        self._origin = Origin(X) if self.kernel in SHIFTABLE else None
        return self.near(X)

    def near(self, X: Any) -> Any:
        """Rows relative to where the training rows lie, for kernels that allow it."""
        if self.kernel not in SPARSE:
            X = dense(X)
        return X if self._origin is None else self._origin.shifted(X)

    def origin_scores(self, coef: Floats) -> Floats | float:
        """What rows lose in linear scores by being taken relative to their origin."""
        return 0.0 if self._origin is None else self._origin.scores(coef)

    def between(self, left: Any, right: Any) -> Floats:
        """K of each left row (from `near`) with each right one; rows of kernel values as they are."""
        from sklearn.metrics.pairwise import pairwise_kernels

        if self.precomputed:
            return dense(left)
        return dense(pairwise_kernels(left, right, metric=self.kernel, **self.shared, **self.extra))


def _parameters_of(kernel: str | Callable[..., Any], extra: Mapping[str, Any]) -> Collection[str]:
    """The parameters that a named kernel of scikit-learn's has; a callable gets none but the extra ones."""
    from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS

    if callable(kernel):
        return ()
    names = sorted([*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"])
    if kernel not in names:
        raise ValueError(f"kernel={kernel!r} is neither a callable nor one of {', '.join(map(repr, names))}.")
    known = KERNEL_PARAMS.get(kernel, ())
    if unknown := sorted(set(extra) - set(known)):
        has = ", ".join(map(repr, sorted(known))) or "none"
        raise ValueError(f"kernel_params: kernel={kernel!r} has no {unknown[0]!r}; its parameters: {has}.")
    return known


class KernelMap:
    """Learns features of a kernel from training rows and scores new rows with them.

    Parameters
    ----------
    kernel : RowKernel
    approximation : {None, "nystroem", "fourier"}
        None is exact, for up to 10,000 rows.
    n_components : int
        Features of an approximation.
    n_landmarks : int or None
        Rows that Nystroem's features are made of, the best `n_components` directions of them; None: as many.
    random_state : int, Generator, RandomState or None
        Which landmarks or frequencies an approximation draws.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> kernel = KernelMap(RowKernel("rbf", {"gamma": 1.0}))
    >>> Z = kernel.fit(X)
    >>> (Z @ Z.T).round(3)
    array([[ 0.316, -0.316],
           [-0.316,  0.316]])
    """

    def __init__(
        self,
        kernel: RowKernel,
        *,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.random_state = legacy_seed(random_state)

    def fit(self, X: Any) -> Floats:
        """The features of the training rows, one row each."""
        X = self.kernel.learn_origin(X)
        if self.approximation is not None:
            self._sampler = self._make_sampler(*X.shape)
            self._sampler.fit(X)
            if self.approximation == "fourier":
                # The waves stay where they are: what rows lose to the origin their phases gain.
                self._sampler.random_offset_ += self.kernel.origin_scores(self._sampler.random_weights_)
            return dense(self._sampler.transform(X))
        self._check_exact(X)
        # A copy: kernels of a matrix with itself are rounded differently from those with an equal one.
        self._rows = None if self.kernel.precomputed else X.copy()
        return self._roots(self.kernel.between(X, self._rows))

    def _roots(self, gram: Floats) -> Floats:
        """Features whose inner products are the Gram matrix, centred."""
        gram = gram - gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, np.newaxis]
        values, vectors = eigh((gram + gram.T) / 2.0)
        largest = max(float(values[-1]), 0.0)
        if values[0] < -1e-6 * largest:
            warn_user(
                f"kernel={self.kernel.kernel!r} is not positive semidefinite on these rows (eigenvalues"
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
        if self.approximation is not None:
            return np.asarray(self.approximate(X) @ finished, dtype=np.float64)
        return np.asarray(self.kernel.between(self.kernel.near(X), self._rows) @ finished)

    def approximate(self, X: Any) -> Floats:
        """The approximation's features of new rows."""
        return dense(self._sampler.transform(self.kernel.near(X)))

    def _check_exact(self, X: Any) -> None:
        n_rows, n_columns = X.shape
        if self.kernel.precomputed and n_rows != n_columns:
            raise ValueError(
                "kernel='precomputed' needs a square matrix of kernel values to fit,"
                f" got {n_rows} x {n_columns}."
            )
        if n_rows > EXACT_LIMIT:
            raise ValueError(
                f"An exact kernel for {n_rows} rows is too large; use approximation='nystroem' or 'fourier'."
            )

    def _make_sampler(self, n_rows: int, n_features: int) -> Any:
        from sklearn.kernel_approximation import Nystroem, RBFSampler

        from toprank.convex.algebra.fourier import LaplacianSampler
        from toprank.convex.algebra.landmarks import LowRankNystroem

        kernel = self.kernel
        if self.approximation == "fourier":
            make = LaplacianSampler if kernel.kernel == "laplacian" else RBFSampler
            return make(
                gamma=kernel.shared.get("gamma", 1.0 / n_features),
                n_components=self.n_components,
                random_state=self.random_state,
            )
        shared = {**kernel.shared, "kernel_params": kernel.extra or None, "random_state": self.random_state}
        if self.n_landmarks is None:
            return Nystroem(kernel.kernel, n_components=min(self.n_components, n_rows), **shared)
        landmarks = min(self.n_landmarks, n_rows)
        return LowRankNystroem(kernel.kernel, n_components=landmarks, rank=self.n_components, **shared)
