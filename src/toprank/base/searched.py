"""Grids over `statistic`: each candidate would be judged by a measure of its own, and a person is told."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from toprank import statistics
from toprank.control import warn_user
from toprank.statistics import RankStatistic

__all__ = ["IncomparableScoresWarning", "warn_if_searched"]


class IncomparableScoresWarning(UserWarning):
    """A search over `statistic` compares values of different statistics.

    >>> issubclass(IncomparableScoresWarning, UserWarning)
    True
    """


def warn_if_searched(statistic: RankStatistic) -> None:
    """Warn where a search of scikit-learn's tries several values of the statistic that `score` reports.

    >>> from toprank.statistics import get
    >>> warn_if_searched(get("auc"))  # nobody searches here
    """
    for name, value in _candidate().items():
        searched = name.rpartition("__")[2] == "statistic" and isinstance(value, str | RankStatistic)
        if searched and statistics.get(value) == statistic:
            warn_user(
                f"the search over {name} judges every candidate by its own statistic ({statistic} here), and"
                " such scores cannot be compared: the best may only be the one on the largest scale. Give"
                " scoring=toprank.statistics.scorer(...), the same for all.",
                IncomparableScoresWarning,
            )


def _candidate() -> Mapping[str, Any]:
    """The parameters that a search of scikit-learn's is trying in this very call; none outside of one.

    Only the call stack knows: the ranker is a clone, perhaps in another process.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_fit_and_score" and frame.f_globals.get("__name__", "").startswith(
            "sklearn.model_selection"
        ):
            found = frame.f_locals.get("parameters")
            return found if isinstance(found, Mapping) else {}
        frame = frame.f_back
    return {}
