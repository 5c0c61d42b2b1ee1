"""The middle of a cell, or a proof that the cell is empty: one linear program and its multipliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.exact.rounding import UNIT
from toprank.exact.widest import widest_margin

__all__ = ["clash", "middle"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def middle(rows: Floats) -> tuple[Floats, Floats]:
    """Coefficients in the box with the largest smallest product with all rows, and a multiplier per row.

    Both answers come from floating-point arithmetic: what is
    claimed with them must be checked.

    >>> w, multipliers = middle(np.array([[2.0, 0.0], [-1.0, 1.0]]))
    >>> w.round(3).tolist(), multipliers.round(3).tolist()
    ([0.333, 1.0], [0.333, 0.667])
    """
    found = widest_margin(rows, enough=_all_but_rounding)
    if found is None:
        return np.zeros(rows.shape[1]), np.zeros(len(rows))
    return found.coef, found.multipliers


def _all_but_rounding(lead: float, width: float) -> bool:
    return lead >= width - 1e-9 * max(1.0, abs(width))


def clash(rows: Floats, multipliers: Floats, margins: Floats) -> Places | None:
    """Rows that provably cannot all reach their margins in the box, largest multiplier first, or None.

    With multipliers t >= 0 and g = sum t_r row_r, no w in the box has g @ w above sum |g_j|; all rows
    together want at least sum t_r margin_r.

    >>> clash(np.array([[1.0], [-1.0]]), np.array([0.5, 0.5]), np.full(2, 1e-6)).tolist()
    [0, 1]
    """
    used = np.flatnonzero(multipliers > 1e-11 * multipliers.max(initial=0.0))
    t = multipliers[used]
    reach = np.abs(t @ rows[used]).sum()
    wanted = t @ margins[used]
    mass = t @ np.abs(rows[used]).sum(axis=1) + wanted
    if reach + 4 * (len(used) + rows.shape[1] + 4) * 2 * UNIT * mass < wanted:
        return used[np.argsort(-t, kind="stable")]
    return None
