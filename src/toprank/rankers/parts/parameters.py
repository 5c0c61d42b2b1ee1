"""Checks of constructor parameters: the same words for the same mistake in every ranker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

__all__ = ["check_at_least", "check_choice", "check_count", "check_penalty_weight", "check_share"]


def check_penalty_weight(C: Any) -> float:
    """C as a float, or an error that says what to use instead.

    >>> check_penalty_weight(10)
    10.0
    >>> check_penalty_weight(float("inf"))
    Traceback (most recent call last):
    ...
    ValueError: C=inf must be a positive finite number; for hardly any penalty use a large one such as C=1e6.
    """
    if isinstance(C, Real) and not isinstance(C, bool) and 0 < float(C) < math.inf:
        return float(C)
    advice = (
        "for hardly any penalty use a large one such as C=1e6."
        if math.inf == C
        else "the smaller it is, the more large coefficients cost."
    )
    raise ValueError(f"C={C!r} must be a positive finite number; {advice}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """An error that lists the choices when the value is none of them.

    >>> check_choice("loss", "hinge", ["hinge", "squared_hinge"])
    """
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}.")


def check_at_least(name: str, value: Any, least: float) -> float:
    """A number as a float, or an error when it is smaller than allowed.

    >>> check_at_least("p", 2, 1)
    2.0
    """
    if isinstance(value, Real) and least <= float(value) < math.inf:
        return float(value)
    raise ValueError(f"{name}={value!r} must be a finite number of at least {least}.")


def check_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number, or an error when it is none or smaller than allowed.

    >>> check_count("n_estimators", 100)
    100
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


def check_share(name: str, value: Any, of: str) -> float:
    """A share of something as a float, or an error when it is none or all of it.

    >>> check_share("top_share", 0.05, "the list")
    0.05
    """
    if isinstance(value, Real) and 0.0 < float(value) < 1.0:
        return float(value)
    raise ValueError(f"{name}={value!r} must be strictly between 0 and 1: it is a share of {of}.")
