"""Numba's `njit` for kernels that stay on disk; what other versions left there goes before any is loaded.

Numba writes the index of what it compiled before the machine code that the index names. After an upgrade or
a downgrade a second process that comes between the two would find the new index and the old code: an error of
LLVM's or, where toprank itself was upgraded, the figures of the version before. What is gone is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba

from toprank.errors import InputError
from toprank.output import write_whole

__all__ = ["PYTHON", "njit"]

PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
"""What Numba writes into the names of its files; other Pythons' stay where they are."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As Numba's, with options only.

    >>> @njit(nogil=True)
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        stats = getattr(kernel, "stats", None)  # no such thing where Numba is switched off
        if stats is not None and stats.cache_path is not None:
            _forget_other_versions(Path(stats.cache_path))
        return kernel

    return compiled


@cache
def _forget_other_versions(folder: Path) -> None:
    """Once in a process and folder; nobody has loaded a kernel from there yet.

    Needs no lock: who comes second finds the first one's files right, or deletes them once more, and a kernel
    whose code is missing is compiled.
    """
    stamp = folder / f"toprank.{PYTHON}.nbi"
    by = f"toprank {sys.modules['toprank'].__version__}, numba {numba.__version__}"
    with suppress(OSError, ValueError):
        if stamp.read_text(encoding="utf-8") == by:
            return
    for file in folder.glob(f"*.{PYTHON}.*"):
        if file.suffix in (".nbi", ".nbc"):
            with suppress(OSError):  # another process was first
                file.unlink()
    with suppress(InputError):  # nowhere to write: looked at again next time
        write_whole({stamp: by.encode()})
