"""Which columns a sparse ranker takes along a path from few of them to many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from toprank.base import RankingData, fit_copy
from toprank.control import Run

__all__ = ["path_of", "supports_along"]

Floats = NDArray[np.float64]
STEPS = 20
"""Points of a path along steps."""
PENALTIES = tuple(np.geomspace(1e-3, 10.0, 8))
"""Values of C, where nothing else is said."""


def path_of(ranker: Any, parameter: str | None, values: Sequence[float] | None, n_features: int) -> Floats:
    """The points of a path: values of a parameter, or numbers of steps.

    >>> from toprank import GradientFreeBoosting
    >>> path_of(GradientFreeBoosting(n_estimators=4), None, None, 10)
    array([1., 2., 3., 4.])
    """
    known = ranker.get_params(deep=False)
    if parameter is not None and parameter not in known:
        raise ValueError(f"parameter={parameter!r}: {type(ranker).__name__} has no such parameter.")
    if values is not None:
        if len(values) == 0:
            raise ValueError("values is empty: give one value at least, or None.")
        return np.asarray(values, dtype=np.float64)
    steps = _steps(known, n_features)
    if parameter is None and steps:
        return np.unique(np.linspace(1, steps, min(STEPS, steps)).astype(int)).astype(np.float64)
    if parameter not in (None, "C"):
        raise ValueError(f"parameter={parameter!r} needs values, from few columns to many.")
    if "C" not in known:
        raise ValueError(
            f"{type(ranker).__name__} has no C: name the parameter the path runs along, and values."
        )
    return np.asarray(PENALTIES)


def supports_along(
    ranker: Any, data: RankingData, run: Run, parameter: str | None, values: Floats
) -> tuple[Any, NDArray[np.bool_]]:
    """The ranker fitted at the last point, and which columns are taken at each."""
    n_features = data.X.shape[1]
    if parameter is None and _steps(ranker.get_params(deep=False), n_features):
        fitted = fit_copy(ranker, data, run)
        order = _order(fitted)
        return fitted, np.array([np.isin(np.arange(n_features), order[: int(steps)]) for steps in values])
    name = "C" if parameter is None else parameter
    found = []
    for value in values:
        kind = type(ranker.get_params(deep=False)[name])
        given = int(value) if kind is int else float(value)
        fitted = fit_copy(clone(ranker).set_params(**{name: given}), data, run)
        found.append(_taken(fitted, n_features))
    return fitted, np.array(found)


def _steps(parameters: dict[str, Any], n_features: int) -> int:
    """How many steps a ranker takes that takes one column after the other; 0 for all others."""
    if "n_features_to_select" in parameters:
        wanted = parameters["n_features_to_select"]
        return n_features if wanted is None else min(int(wanted), n_features)
    if "singular_every" in parameters or parameters.get("learner") == "column":
        return int(parameters["n_estimators"])
    return 0


def _order(fitted: Any) -> NDArray[np.int64]:
    """The column of each step."""
    return np.asarray(fitted.features_ if hasattr(fitted, "features_") else fitted.selected_)


def _taken(fitted: Any, n_features: int) -> NDArray[np.bool_]:
    coef = getattr(fitted, "coef_", None)
    if coef is None:
        raise ValueError(f"ranker: {type(fitted).__name__} has no coef_ that says which columns it takes.")
    found: NDArray[np.bool_] = (np.asarray(coef).reshape(-1, n_features) != 0).any(axis=0)
    return found
