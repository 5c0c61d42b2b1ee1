"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn_user"]

NOT_THE_USER = frozenset({"toprank", "sklearn", "joblib", "threadpoolctl"})
"""Packages whose lines a warning never points at."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the line of the user's that led here: not one of this library or scikit-learn's.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_user("the first column is constant")
    >>> str(heard[0].message)
    'the first column is constant'
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
