"""Mixed-integer solvers behind one protocol: arrays in; incumbent, bound and status out.

One line in `_MODULES` and one file make a new back end. A back end imports its library only when it is used.
"""

from __future__ import annotations

from importlib import import_module

from toprank.exact.mip.backends.protocol import Backend, BackendUnavailableError, RawSolution

__all__ = ["Backend", "BackendUnavailableError", "RawSolution", "available", "get", "names"]

_MODULES = {"gurobi": "gurobi", "highs": "highs", "scip": "scip"}


def names() -> list[str]:
    """All back ends, installed or not.

    >>> names()
    ['gurobi', 'highs', 'scip']
    """
    return sorted(_MODULES)


def get(name: str) -> Backend:
    """The back end of that name; a clear error when it is unknown or cannot be used here."""
    if name not in _MODULES:
        raise ValueError(f"unknown backend {name!r}; choose one of {', '.join(names())}.")
    backend: Backend = import_module(f"toprank.exact.mip.backends.{_MODULES[name]}").BACKEND
    reason = backend.missing()
    if reason is not None:
        raise BackendUnavailableError(f"backend {name!r} cannot be used: {reason}")
    return backend


def available() -> dict[str, str | None]:
    """Every back end and, where it cannot be used here, the reason."""
    return {
        name: import_module(f"toprank.exact.mip.backends.{module}").BACKEND.missing()
        for name, module in _MODULES.items()
    }
