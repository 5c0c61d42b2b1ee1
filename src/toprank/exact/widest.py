"""The widest margin: which coefficients win all of some pairs, and by how much. One linear program tells.

It is solved to look first whether one linear score wins every pair, to move an answer to the middle of its
cell, and to show that a cell is empty.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.rounding import UNIT, largest_leads, winnable

__all__ = ["Widest", "perfect_order", "widest_margin"]

Floats = NDArray[np.float64]
ROWS_AT_A_TIME = 100
"""Rows that enter the program in a round."""
MOST_ROUNDS = 200
NARROWEST = 1e-9
"""Leads below this are beyond the linear program's own tolerance."""
NEARLY = 0.99
"""Share of the widest margin that is as good as it: the last percent takes most of the rounds."""


class Widest(NamedTuple):
    """Coefficients, their smallest product with the rows that were in the program, a multiplier per row."""

    coef: Floats
    width: float
    multipliers: Floats


def perfect_order(differences: Floats, margin: float, seconds: float = math.inf) -> Floats | None:
    """Coefficients in the box that win every pair by the widest margin, or None where there are none.

    Pairs that no coefficients win, as those of equal rows, are left out. The answer is checked against the
    differences in exact arithmetic.

    Parameters
    ----------
    differences : (P, d) array
        Pair p is won when ``differences[p] @ w`` is above zero and at least the margin.
    margin : float
    seconds : float
        None, too, when it takes longer than that.

    Examples
    --------
    >>> perfect_order(np.array([[1.0, -0.5], [0.5, 1.0], [0.0, 0.0]]), 0.0).tolist()
    [1.0, 0.3333333333333333]
    >>> perfect_order(np.array([[1.0, -0.5], [-1.0, 0.5]]), 0.0) is None
    True
    """
    possible = winnable(differences, margin)
    if not possible.any():
        return None
    D = differences if possible.all() else differences[possible]
    least = max(margin * (1 - 1e-6), NARROWEST)
    if D.shape[1] == 1:  # then one of two ends of the box is the answer, or there is none
        w = np.sign(D[0])
        return w if (D @ w).min() >= least and _wins_all(D, w, margin) else None
    found = widest_margin(
        D,
        enough=lambda lead, width: lead >= max(margin * (1 - 1e-9), NEARLY * width),
        least=least,
        seconds=seconds,
    )
    return found.coef if found is not None and _wins_all(D, found.coef, margin) else None


def widest_margin(
    rows: Floats,
    *,
    enough: Callable[[float, float], bool],
    lower: Floats | float = -1.0,
    upper: Floats | float = 1.0,
    least: float = -math.inf,
    seconds: float = math.inf,
) -> Widest | None:
    """Coefficients in a box whose smallest product with the rows is the largest.

    Rows enter the program as they are violated. All numbers come from floating-point arithmetic: what is
    claimed with them must be checked.

    Parameters
    ----------
    rows : (n, d) array
    enough : callable
        Of the smallest product with all rows and the program's own: whether to be content with it.
    lower, upper : floats or arrays of d
        The box.
    least : float
        None when the smallest product stays below.
    seconds : float
        None, too, when it takes longer than that.

    Examples
    --------
    >>> found = widest_margin(np.array([[2.0, 0.0], [-1.0, 1.0]]), enough=lambda lead, width: lead >= width)
    >>> [array.round(3).tolist() for array in (found.coef, found.multipliers)]
    [[0.333, 1.0], [0.333, 0.667]]
    """
    deadline = time.perf_counter() + seconds
    box = np.clip(np.sign(rows.sum(axis=0)), lower, upper)
    chosen = _lowest(rows @ box)
    found: Widest | None = None
    for _ in range(MOST_ROUNDS):
        found = _solve(rows[chosen], lower, upper, deadline - time.perf_counter())
        if found is None or found.width < least:
            return None
        lead = rows @ found.coef
        lacking = np.setdiff1d(_lowest(lead), chosen)
        if not len(lacking) or enough(float(lead.min()), found.width):
            break
        chosen = np.concatenate((chosen, lacking))
    assert found is not None
    multipliers = np.zeros(len(rows))
    multipliers[chosen[: len(found.multipliers)]] = found.multipliers
    return found._replace(multipliers=multipliers)


def _wins_all(D: Floats, w: Floats, margin: float) -> bool:
    """Whether every lead reaches the margin, exactly where rounding could decide; without one, surely."""
    lead = D @ w
    doubt = (2 * D.shape[1] + 8) * UNIT * (largest_leads(D, np.abs(w)) + margin)
    if np.any(lead < margin - doubt) or np.abs(w).max() > 1.0:
        return False
    if margin == 0:
        return bool(np.all(lead > doubt))
    coef = [Fraction(v) for v in w.tolist()]
    return all(
        sum(Fraction(a) * b for a, b in zip(row, coef, strict=True)) >= Fraction(margin)
        for row in D[lead < margin + doubt].tolist()
    )


def _lowest(lead: Floats) -> NDArray[np.intp]:
    """Rows with the smallest lead."""
    count = min(ROWS_AT_A_TIME, len(lead))
    return np.argpartition(lead, count - 1)[:count]


def _solve(rows: Floats, lower: Floats | float, upper: Floats | float, seconds: float) -> Widest | None:
    """Maximise t over ``rows @ w >= t`` in the box; None where the solver has no answer in time."""
    n, d = rows.shape
    if seconds <= 0:
        return None
    low, high = np.broadcast_to(lower, d), np.broadcast_to(upper, d)
    result = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack((-rows, np.ones(n))),
        b_ub=np.zeros(n),
        bounds=[*zip(low.tolist(), high.tolist(), strict=True), (None, None)],
        method="highs",
        options={} if seconds == math.inf else {"time_limit": seconds},
    )
    if result.x is None or result.status == 1:  # out of time
        return None
    # The solver may leave the box by a rounding error.
    coef = np.clip(result.x[:-1], low, high)
    return Widest(coef, float(result.x[-1]), np.maximum(-result.ineqlin.marginals, 0.0))
