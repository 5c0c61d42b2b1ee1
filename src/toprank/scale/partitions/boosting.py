"""LightGBM's and XGBoost's own Dask learners as bases: they learn on the cluster, and score anywhere."""

from __future__ import annotations

import importlib
from typing import Any

from toprank.errors import InputError
from toprank.scale.extras import needed
from toprank.scale.partitions.blocks import is_partitioned

__all__ = ["boosted_base", "fitted_here", "is_dask_learner"]

ENGINES = {
    "lightgbm": ("lightgbm.dask", "DaskLGBMClassifier"),
    "xgboost": ("xgboost.dask", "DaskXGBClassifier"),
}
_HOMES = ("lightgbm.dask", "xgboost.dask")


def boosted_base(
    X: Any, y: Any, sample_weight: Any = None, *, engine: str = "lightgbm", **parameters: Any
) -> Any:
    """Gradient boosting of partitioned rows by the Dask learner of another package.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
    y, sample_weight : dask arrays or array-like
    engine : {"lightgbm", "xgboost"}
    **parameters
        Of `lightgbm.DaskLGBMClassifier` or `xgboost.dask.DaskXGBClassifier`.

    Returns
    -------
    estimator
        `lightgbm.LGBMClassifier` or `xgboost.XGBClassifier`, fitted: a base for
        ``RankThenRerank(base, cv="prefit")``, in `toprank.scale.learn_partitioned` or in memory.

    Examples
    --------
    >>> base = boosted_base(rows, y, engine="lightgbm", n_estimators=200)  # doctest: +SKIP
    >>> learn_partitioned(RankThenRerank(base, cv="prefit"), rows, y)  # doctest: +SKIP
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r} must be one of {', '.join(ENGINES)}.")
    module, name = ENGINES[engine]
    try:
        learner = getattr(importlib.import_module(module), name)(**parameters)
    except ImportError:
        raise InputError(
            f"engine={engine!r} needs {engine}: install it with `pip install {engine}`."
        ) from None
    return fitted_here(learner, X, y, sample_weight)


def is_dask_learner(estimator: Any) -> bool:
    """Whether this is an estimator of LightGBM or XGBoost that learns on a Dask cluster."""
    return any(kind.__module__.startswith(_HOMES) for kind in type(estimator).__mro__)


def fitted_here(learner: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """What a Dask learner learns from partitioned rows, as an estimator that needs no cluster any more."""
    distributed = needed("distributed", extra="cluster", purpose="Boosted bases")
    try:
        distributed.get_client()
    except ValueError:
        raise ValueError(
            f"{type(learner).__name__} learns on a Dask cluster: start one first, such as"
            " distributed.Client()."
        ) from None
    rows, labels, weight = _alike(X, y, sample_weight)
    learner.fit(rows, labels, sample_weight=weight)
    if hasattr(learner, "to_local"):
        return learner.to_local()
    import xgboost

    local = xgboost.XGBClassifier(**learner.get_params())
    local.load_model(learner.get_booster().save_raw())
    return local


def _alike(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Rows, labels and weights as Dask arrays that are cut in the same places."""
    array = needed("dask.array", extra="cluster", purpose="Partitioned arrays")
    rows = X if isinstance(X, array.Array) else X.to_dask_array(lengths=True)
    rows = rows.rechunk({1: -1})

    def column(values: Any) -> Any:
        if values is None:
            return None
        if is_partitioned(values) and not isinstance(values, array.Array):
            values = values.to_dask_array(lengths=True)
        made = values if isinstance(values, array.Array) else array.from_array(values, chunks=rows.chunks[0])
        return made.rechunk({0: rows.chunks[0]})

    return rows, column(y), column(weight)
