"""Show results: figures that hold their arrays and draw themselves, and a progress bar for notebooks."""

from __future__ import annotations

import importlib
from typing import Any

# Loaded on first use: a report is rarely wanted where a ranker is trained.
_LAZY = {
    "CumulativeGainDisplay": "figures",
    "LearningCurveDisplay": "learning",
    "LiftDisplay": "figures",
    "PrecisionRecallDisplay": "figures",
    "ProgressBar": "notebook",
    "ROCDisplay": "figures",
    "RankingTreeDisplay": "tree",
    "SearchProgressDisplay": "progress",
    "StabilityPathDisplay": "selection",
}

__all__ = [
    "CumulativeGainDisplay",
    "LearningCurveDisplay",
    "LiftDisplay",
    "PrecisionRecallDisplay",
    "ProgressBar",
    "ROCDisplay",
    "RankingTreeDisplay",
    "SearchProgressDisplay",
    "StabilityPathDisplay",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _LAZY:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
