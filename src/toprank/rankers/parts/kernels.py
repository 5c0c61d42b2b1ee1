"""What the kernel rankers share: the parameters of a kernel, and scores linear in its features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import BaseRanker, Matrix
from toprank.control import Seed
from toprank.convex.algebra.kernel_map import KernelMap, RowKernel
from toprank.rankers.parts.parameters import check_at_least, check_choice

__all__ = ["KernelRanker"]

Floats = NDArray[np.float64]


class KernelRanker(BaseRanker):
    """A ranker whose score is linear, in the features or in the space of a kernel.

    Subclasses have the parameters annotated here, with the same names and defaults everywhere. They fit
    coefficients of `_features` and hand them to `_keep`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature (no kernel only).
    dual_coef_ : ndarray of shape (n_samples,)
        Weight of each training row in f(x) = sum_k beta_k K(x_k, x) (exact kernels only).
    """

    kernel: str | Callable[..., Any] | None
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    approximation: str | None
    n_components: int
    n_landmarks: int | None
    random_state: Seed
    warm_start: bool
    coef_: Floats
    dual_coef_: Floats

    def kernel_map(self) -> KernelMap:
        """A new map to the features of this ranker's kernel."""
        return KernelMap(
            self._row_kernel(),
            approximation=self.approximation,
            n_components=int(self.n_components),
            n_landmarks=None if self.n_landmarks is None else int(self.n_landmarks),
            random_state=self.random_state,
        )

    def _row_kernel(self) -> RowKernel:
        shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return RowKernel("linear" if self.kernel is None else self.kernel, shared, self.kernel_params)

    def _check_kernel(self) -> None:
        check_at_least("n_components", self.n_components, 1)
        self._check_landmarks()
        precomputed = self._row_kernel().precomputed
        if self.approximation is None:
            return
        check_choice("approximation", self.approximation, ["nystroem", "fourier"])
        if self.kernel is None or precomputed:
            raise ValueError(
                f"approximation={self.approximation!r} needs a kernel to approximate, such as 'rbf';"
                f" kernel={self.kernel!r} is none."
            )
        waves = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        if self.approximation == "fourier" and not waves:
            raise ValueError(
                f"approximation='fourier' needs kernel='rbf' or 'laplacian', not {self.kernel!r};"
                " approximation='nystroem' takes any."
            )

    def _check_landmarks(self) -> None:
        if self.n_landmarks is None:
            return
        check_at_least("n_landmarks", self.n_landmarks, 1)
        if self.approximation != "nystroem":
            raise ValueError(
                f"n_landmarks={self.n_landmarks!r} is for approximation='nystroem',"
                f" not {self.approximation!r}."
            )
        if self.n_landmarks < self.n_components:
            raise ValueError(
                f"n_landmarks={self.n_landmarks!r} rows have no n_components={self.n_components!r}"
                " directions; use as many landmarks or more."
            )

    def _features(self, X: Any) -> Any:
        """The training rows in the space where the score is linear."""
        self._check_kernel()
        if self.kernel is None:
            return X
        self._map = self.kernel_map()
        return self._map.fit(X)

    def _keep(self, coef: Floats) -> None:
        """Set the learned attributes from coefficients of the features."""
        for name in ("coef_", "dual_coef_"):
            self.__dict__.pop(name, None)  # an earlier fit may have had another kernel
        self._weights = coef
        if self.kernel is None:
            self.coef_ = coef
            return
        self._finished = self._map.finish(coef)
        if self.approximation is None:
            self.dual_coef_ = self._finished

    def _last_weights(self, n_features: int) -> Floats | None:
        """What a warm start begins from: the coefficients of the last fit, if they are as many."""
        last: Floats | None = getattr(self, "_weights", None)
        return last if self.warm_start and last is not None and len(last) == n_features else None

    def _scores(self, X: Matrix) -> Floats:
        if self.kernel is None:
            return np.asarray(X @ self.coef_, dtype=np.float64)
        return self._map.scores(X, self._finished)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.ranker_tags.linear = self.kernel is None
        return tags
