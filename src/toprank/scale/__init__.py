"""Rows that do not fit into memory: files read in batches, and Dask arrays in partitions.

Nothing is loaded before it is asked for: pyarrow and Dask are extras, `toprank[parquet]` and
`toprank[cluster]`.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "boosted_base": "toprank.scale.partitions.boosting",
    "fit_partitioned": "toprank.scale.partitions.convex",
    "learn_partitioned": "toprank.scale.partitions.reranking",
    "logistic_regression": "toprank.scale.partitions.logistic",
    "statistic_of": "toprank.scale.partitions.statistics",
}

__all__ = ["boosted_base", "fit_partitioned", "learn_partitioned", "logistic_regression", "statistic_of"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'toprank.scale' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
