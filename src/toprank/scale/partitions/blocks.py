"""Dask arrays as blocks of rows, and the work on them; the cluster is whichever Dask uses at the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from toprank.scale.extras import needed

__all__ = ["aligned_blocks", "computed", "delayed", "is_partitioned", "reduced"]

FAN_IN = 8
"""Results that are joined at once on the way to one."""


def is_partitioned(values: Any) -> bool:
    """Whether this is a Dask array, series or data frame; asked without importing Dask.

    >>> is_partitioned([1, 2])
    False
    """
    return type(values).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(values, "dask")


def delayed(function: Callable[..., Any], **how: Any) -> Any:
    """A function whose calls Dask makes later."""
    return needed("dask", extra="cluster", purpose="Partitioned arrays").delayed(function, pure=False, **how)


def computed(wanted: Sequence[Any]) -> list[Any]:
    """The values of delayed calls; a cluster that went away is an error that says so."""
    dask = needed("dask", extra="cluster", purpose="Partitioned arrays")
    try:
        return list(dask.compute(*wanted))
    except Exception as error:
        if _is_lost_cluster(error):
            raise ConnectionError(
                f"The Dask scheduler is gone ({type(error).__name__}); start it anew and try again."
            ) from error
        raise


def reduced(parts: Sequence[Any], join: Callable[[list[Any]], Any]) -> Any:
    """One value from many delayed ones, joined a few at a time."""
    while len(parts) > 1:
        parts = [delayed(join)(list(parts[k : k + FAN_IN])) for k in range(0, len(parts), FAN_IN)]
    return computed(parts)[0]


def aligned_blocks(*columns: Any) -> list[tuple[Any, ...]]:
    """Blocks of several columns of the same rows, partition by partition; None stays None.

    Parameters
    ----------
    *columns : dask array, dask series, array-like or None
        Those in memory are cut as the first partitioned one is.
    """
    array = needed("dask.array", extra="cluster", purpose="Partitioned arrays")
    made = [None if one is None else _as_array(one, array) for one in columns]
    if any(one is not None and not is_partitioned(one) for one in columns):
        # A data frame does not know how long its partitions are, by which columns in memory are cut.
        made = [
            one if one is None or not np.isnan(one.shape[0]) else one.compute_chunk_sizes() for one in made
        ]
    there: list[tuple[Any, Any]] = [pair for pair in zip(made, columns, strict=True) if pair[0] is not None]
    cuts = next((one for one, given in there if is_partitioned(given)), there[0][0]).chunks[0]
    blocks = []
    for one in made:
        if one is None:
            blocks.append([None] * len(cuts))
            continue
        if one.chunks[0] != cuts and not np.isnan([*one.chunks[0], *cuts]).any():
            if sum(one.chunks[0]) != sum(cuts):
                raise ValueError(f"arrays of {sum(cuts)} and of {sum(one.chunks[0])} rows; they must match")
            one = one.rechunk({0: cuts})
        if one.numblocks[0] != len(cuts):
            raise ValueError("arrays must be partitioned alike; rechunk them, or compute their chunk sizes")
        if one.ndim == 2 and one.numblocks[1] > 1:
            one = one.rechunk({1: -1})
        blocks.append(list(one.to_delayed().ravel()))
    return list(zip(*blocks, strict=True))


def _as_array(values: Any, array: Any) -> Any:
    if not is_partitioned(values):
        return array.from_array(np.asarray(values))
    return values if isinstance(values, array.Array) else values.to_dask_array()


def _is_lost_cluster(error: BaseException) -> bool:
    """Whether the connection to a scheduler broke, as far as distributed says so by its types."""
    lost = {"CommClosedError", "FutureCancelledError", "CancelledError", "ClosedClientError"}
    return bool({kind.__name__ for kind in type(error).__mro__} & lost)
