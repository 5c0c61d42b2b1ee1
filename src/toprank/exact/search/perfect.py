"""Look first: can one linear score win every pair? One linear program tells."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.pairs import PairArrays, largest_leads
from toprank.exact.rounding import UNIT

__all__ = ["perfect_order"]

Floats = NDArray[np.float64]
_ROWS_AT_A_TIME = 100
_MOST_ROUNDS = 200
_NARROWEST = 1e-9
"""Leads below this are beyond the linear program's own tolerance."""


def perfect_order(arrays: PairArrays, seconds: float = math.inf) -> Floats | None:
    """Coefficients in the box that win every pair by the widest margin, or None where there are none.

    Maximise the smallest pair difference over ``|w_j| <= 1``; pairs enter the program as they are violated.
    Pairs that no coefficients win, as those of equal rows, are left out. The answer is checked against the
    differences in exact arithmetic.

    Parameters
    ----------
    arrays : PairArrays
    seconds : float
        None, too, when it takes longer than that.

    Examples
    --------
    >>> from toprank.exact.problem import RankingProblem
    >>> problem = RankingProblem.from_labels([[0.0, 2.0], [1.0, 1.0], [2.0, 2.0]], [0, 0, 1], "auc")
    >>> w = perfect_order(problem.arrays())
    >>> problem.evaluate(problem.unscale(w))
    1.0
    """
    deadline = time.perf_counter() + seconds
    D = arrays.differences
    possible = arrays.winnable()
    if not possible.any():
        return None
    D = D if possible.all() else D[possible]
    direction = np.sign(D.sum(axis=0))
    chosen = _lowest(D @ direction)
    for _ in range(_MOST_ROUNDS):
        w, widest = _widest(D[chosen], deadline - time.perf_counter())
        if w is None or widest < max(arrays.margin * (1 - 1e-6), _NARROWEST):
            return None
        lead = D @ w
        if lead.min() >= arrays.margin * (1 - 1e-9) and lead.min() >= 0.99 * widest:
            return w if _wins_all(D, w, lead, arrays.margin) else None
        chosen = np.union1d(chosen, _lowest(lead))
    return None


def _wins_all(D: Floats, w: Floats, lead: Floats, margin: float) -> bool:
    """Whether every lead reaches the margin, exactly where rounding could decide; without one, surely."""
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
    """Pairs with the smallest lead."""
    count = min(_ROWS_AT_A_TIME, len(lead))
    return np.argpartition(lead, count - 1)[:count]


def _widest(rows: Floats, seconds: float) -> tuple[Floats | None, float]:
    """Coefficients with the largest smallest product with the rows, and that product; None out of time."""
    d = rows.shape[1]
    if seconds <= 0:
        return None, -np.inf
    result = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack((-rows, np.ones(len(rows)))),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
        method="highs",
        options={} if seconds == math.inf else {"time_limit": seconds},
    )
    if result.x is None or result.status == 1:  # out of time
        return None, -np.inf
    # The solver may leave the box by a rounding error.
    return np.clip(result.x[:-1], -1.0, 1.0), float(result.x[-1])
