"""Packages that only work beyond memory needs."""

from __future__ import annotations

import importlib
from typing import Any

from toprank.errors import InputError

__all__ = ["needed"]


def needed(module: str, *, extra: str, purpose: str) -> Any:
    """A module of an extra, or one line that says how to get it.

    >>> needed("no_such_package.part", extra="cluster", purpose="Partitioned arrays")
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: Partitioned arrays need no_such_package: install it with `pip install
    'toprank[cluster]'`.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(
            f"{purpose} need {package}: install it with `pip install 'toprank[{extra}]'`."
        ) from None
