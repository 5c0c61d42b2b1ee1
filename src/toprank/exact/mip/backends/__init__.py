"""Mixed-integer solvers behind one protocol: arrays in; incumbent, bound and status out.

One line in `_MODULES` and one file make a new back end; `register` takes one that is written elsewhere.
A back end imports its library only when it is used.
"""

from __future__ import annotations

from importlib import import_module

from toprank.exact.mip.backends.protocol import Backend, BackendUnavailableError, RawSolution

__all__ = ["Backend", "BackendUnavailableError", "RawSolution", "available", "get", "names", "register"]

_MODULES = {"gurobi": "gurobi", "highs": "highs", "scip": "scip"}
_REGISTERED: dict[str, Backend] = {}


def register(backend: Backend) -> Backend:
    """Let `backend` be asked for by its name, in this process; docs/extending.md has one.

    A back end of the same name that was registered before gives way; those of the library do not.

    >>> class Mine:
    ...     name = "highs"
    >>> register(Mine())
    Traceback (most recent call last):
    ValueError: a back end is called 'highs' already; choose another name.
    """
    if backend.name in _MODULES:
        raise ValueError(f"a back end is called {backend.name!r} already; choose another name.")
    _REGISTERED[backend.name] = backend
    return backend


def names() -> list[str]:
    """All back ends, installed or not.

    >>> names()
    ['gurobi', 'highs', 'scip']
    """
    return sorted({*_MODULES, *_REGISTERED})


def get(name: str) -> Backend:
    """The back end of that name; a clear error when it is unknown or cannot be used here.

    >>> get("highs").missing() is None
    True
    """
    if name not in names():
        raise ValueError(f"unknown backend {name!r}; choose one of {', '.join(names())}.")
    backend = _load(name)
    reason = backend.missing()
    if reason is not None:
        raise BackendUnavailableError(f"backend {name!r} cannot be used: {reason}")
    return backend


def available() -> dict[str, str | None]:
    """Every back end and, where it cannot be used here, the reason.

    >>> available()["highs"] is None
    True
    """
    return {name: _load(name).missing() for name in (*_MODULES, *_REGISTERED)}


def _load(name: str) -> Backend:
    if name in _REGISTERED:
        return _REGISTERED[name]
    backend: Backend = import_module(f"toprank.exact.mip.backends.{_MODULES[name]}").BACKEND
    return backend
