"""The middle of a cell, or a proof that the cell is empty: one linear program and its multipliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.rounding import UNIT

__all__ = ["clash", "middle"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
ROWS_AT_A_TIME = 200


def middle(rows: Floats) -> tuple[Floats, Floats]:
    """Coefficients in the box with the largest smallest product with all rows, and a multiplier per row.

    Rows enter the program as they are violated. Both answers come from floating-point arithmetic: what is
    claimed with them must be checked.

    >>> w, multipliers = middle(np.array([[2.0, 0.0], [-1.0, 1.0]]))
    >>> w.round(3).tolist(), multipliers.round(3).tolist()
    ([0.333, 1.0], [0.333, 0.667])
    """
    chosen = _lowest(rows @ np.sign(rows.sum(axis=0)))
    while True:
        w, width, multipliers = _solve(rows[chosen])
        lead = rows @ w
        lacking = np.setdiff1d(_lowest(lead), chosen)
        if not len(lacking) or lead.min() >= width - 1e-9 * max(1.0, abs(width)):
            whole = np.zeros(len(rows))
            whole[chosen] = multipliers
            return w, whole
        chosen = np.concatenate((chosen, lacking))


def _lowest(lead: Floats) -> Places:
    count = min(ROWS_AT_A_TIME, len(lead))
    return np.argpartition(lead, count - 1)[:count]


def _solve(rows: Floats) -> tuple[Floats, float, Floats]:
    """Maximise t over ``rows @ w >= t`` in the box; zeros when the solver has no answer."""
    n, d = rows.shape
    result = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack((-rows, np.ones(n))),
        b_ub=np.zeros(n),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
        method="highs",
    )
    if result.x is None:
        return np.zeros(d), -np.inf, np.zeros(n)
    multipliers = np.maximum(-result.ineqlin.marginals, 0.0)
    return np.clip(result.x[:-1], -1.0, 1.0), float(result.x[-1]), multipliers


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
