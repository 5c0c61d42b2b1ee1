"""Rows in partitions, as Dask has them: rankers whose solvers learn from them in passes do so."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from toprank.base import BaseRanker

__all__ = ["PartitionedFit"]


class PartitionedFit(BaseRanker):
    """A ranker that learns from Dask arrays and data frames without bringing their rows into memory."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Learn to rank; from a Dask array or data frame in passes over its partitions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Or a Dask array or data frame, as for `toprank.scale.fit_partitioned`.
        y : array-like of shape (n_samples,)
            Labels, as in `BaseRanker.fit`.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        qid : array-like of shape (n_samples,), optional
            The query of each row; for rows in memory only.

        Returns
        -------
        self
        """
        if not _of_dask(X):
            return super().fit(X, y, sample_weight, qid=qid)
        if qid is not None:
            raise ValueError("qid: rows in partitions are one list; queries need rows in memory.")
        from toprank.scale import fit_partitioned

        fitted: Any = fit_partitioned(self, X, y, sample_weight)
        given = self.get_params(deep=False)
        self.__dict__.update({name: one for name, one in vars(fitted).items() if name not in given})
        return self


def _of_dask(X: Any) -> bool:
    """Asked without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")
