"""How far down the list a statistic looks: ``10`` items or ``"5%"`` of them."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

__all__ = ["Cutoff", "check_cutoff", "cutoff_positions"]

Cutoff = int | str
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")


def check_cutoff(at: Cutoff, name: str) -> Cutoff:
    """Return the cut-off in its one normal form: a whole number of items, or text such as ``"5%"``.

    Examples
    --------
    >>> check_cutoff(10, "precision"), check_cutoff("05.0 %", "precision"), check_cutoff("100%", "precision")
    (10, '5%', '100%')
    """
    if isinstance(at, (int, np.integer)) and not isinstance(at, bool) and at >= 1:
        return int(at)
    match = _PERCENT.fullmatch(at.strip()) if isinstance(at, str) else None
    if match is None or not 0 < Fraction(match[1]) <= 100:
        raise ValueError(
            f"the cut-off of {name} must be a number of items (1 or more) or a share such as '5%', got {at!r}"
        )
    units, _, decimals = match[1].partition(".")
    decimals = decimals.rstrip("0")
    return (units.lstrip("0") or "0") + ("." + decimals if decimals else "") + "%"


def cutoff_positions(at: Cutoff | None, n: float, whole: bool) -> float:
    """Positions above the cut-off in a list of length n, at most n.

    A share is rounded up to whole positions, as in Boyd et al. (2012), Appendix B; exactly, so that 7% of
    100 is 7. Where sample weights are fractional there are no whole positions and it is not rounded.

    Examples
    --------
    >>> cutoff_positions("7%", 100, True), cutoff_positions("5%", 30, True), cutoff_positions(50, 30, True)
    (7.0, 2.0, 30.0)
    """
    if at is None:
        return float(n)
    if isinstance(at, int):
        return float(min(at, n))
    share = Fraction(at.removesuffix("%")) / 100 * Fraction(n)
    return float(math.ceil(share)) if whole else float(share)
