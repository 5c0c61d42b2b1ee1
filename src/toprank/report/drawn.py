"""Small drawings inside tables, as numbers for SVG: bars with whiskers, and strips of dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["bars", "strips"]

WIDTH = 240.0
"""Of a drawing, in its own units."""
EDGE = 8.0


def bars(worths: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `columns_worth` with the ends of a bar from zero and of a whisker over the resamples.

    >>> [row] = bars([{"name": "a", "value": 2.0, "low": 1.0, "high": 4.0}])
    >>> row["zero"], row["bar"], row["whisker"]
    (8.0, (8.0, 120.0), (64.0, 232.0))
    """
    ends = [0.0, *(one[key] for one in worths for key in ("value", "low", "high") if _known(one[key]))]
    place = _scale(min(ends), max(ends))
    rows = []
    for one in worths:
        low, high = sorted((0.0, one["value"]))
        whisker = (place(one["low"]), place(one["high"])) if _known(one["low"]) else None
        rows.append({**one, "zero": place(0.0), "bar": (place(low), place(high)), "whisker": whisker})
    return rows


def strips(rankers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rankers of a comparison with a dot for each split and a mark for the mean, all on one scale."""
    values = [value for one in rankers for value in one["test"] if _known(value)]
    place = _scale(min(values, default=0.0), max(values, default=1.0))
    return [
        {
            **one,
            "dots": [place(value) for value in one["test"] if _known(value)],
            "mean": place(one["test_mean"]) if _known(one["test_mean"]) else None,
        }
        for one in rankers
    ]


def _known(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _scale(low: float, high: float) -> Any:
    """Where a value lies in a drawing."""
    reach = high - low if high > low else 1.0
    return lambda value: round(EDGE + (WIDTH - 2 * EDGE) * (value - low) / reach, 2)
