"""Rows in partitions, as Dask has them: rankers whose solvers learn from them in passes do so."""

from __future__ import annotations

from typing import Any

from toprank.base import BaseRanker

__all__ = ["PartitionedFit"]


class PartitionedFit(BaseRanker):
    """A ranker whose `fit` learns from Dask arrays and data frames in passes; rows stay where they are.

    It does so as `toprank.scale.fit_partitioned` does.
    """

    def _fitted_in_passes(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> bool:
        # Asked without importing Dask.
        if type(X).__module__.partition(".")[0] not in ("dask", "dask_expr") or not hasattr(X, "dask"):
            return False
        if qid is not None:
            raise ValueError("qid: rows in partitions are one list; queries need rows in memory.")
        from toprank.scale import fit_partitioned

        fitted: Any = fit_partitioned(self, X, y, sample_weight)
        given = self.get_params(deep=False)
        self.__dict__.update({name: one for name, one in vars(fitted).items() if name not in given})
        return True
