"""What counts in a fitted estimator, whatever it is: coefficients, importances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import Matrix
from toprank.base.tags import last_step
from toprank.rankers.parts.starts import linear_direction

__all__ = ["MEASURED", "coefficients_of", "importances_of", "spreads_of"]

Floats = NDArray[np.float64]
MEASURED = "sklearn.inspection.permutation_importance(ranker, X, y) measures it on labelled rows"
"""What to do where estimators do not say what counts: a model keeps no rows to measure it on by itself."""


def coefficients_of(estimator: Any, n_features: int) -> Floats | None:
    """Weight of each feature where the score is linear, in a pipeline of scalers too; else None.

    >>> from sklearn.linear_model import LinearRegression
    >>> coefficients_of(LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0]), 1).round(6)
    array([2.])
    """
    own = getattr(estimator, "coef_", None)
    if own is not None and np.size(own) == n_features:
        return np.ravel(np.asarray(own, dtype=np.float64))
    return linear_direction(estimator, n_features)


def importances_of(estimator: Any, spreads: Floats) -> Floats | None:
    """Share of each feature in the score; None where the estimator says nothing of it.

    The estimator's own `feature_importances_`, else the size of each coefficient times the feature's spread.

    Parameters
    ----------
    estimator : fitted estimator
    spreads : array of shape (n_features,)
        Standard deviation of each feature.
    """
    own = getattr(last_step(estimator), "feature_importances_", None)
    if own is None or len(own) != len(spreads):
        coef = coefficients_of(estimator, len(spreads))
        own = None if coef is None else np.abs(coef) * spreads
    if own is None:
        return None
    total = float(np.sum(own))
    return np.asarray(own, dtype=np.float64) / (total or 1.0)


def spreads_of(X: Matrix) -> Floats:
    """Standard deviation of each column, missing values left aside.

    >>> spreads_of(np.array([[0.0, 1.0], [2.0, np.nan]]))
    array([1., 0.])
    """
    if isinstance(X, np.ndarray):
        known = np.ma.masked_invalid(X)
        return np.asarray(known.std(axis=0).filled(0.0), dtype=np.float64)
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel() - np.asarray(X.mean(axis=0)).ravel() ** 2
    return np.sqrt(np.maximum(square, 0.0))
