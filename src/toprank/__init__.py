"""Rank when only the top of the list counts.

>>> import toprank
>>> toprank.statistics.get("dcg@10")([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
1.5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module it lives in. Loaded on first use, so that `import toprank` stays quick.
_HOME = {
    "DirectRanker": "toprank.linear.direct",
    "RankThenRerank": "toprank.rerank",
}
_SUBMODULES = ("control", "datasets", "statistics")

__all__ = sorted([*_HOME, *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _SUBMODULES:
        value = import_module(f"toprank.{name}")
    else:
        raise AttributeError(f"module 'toprank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
