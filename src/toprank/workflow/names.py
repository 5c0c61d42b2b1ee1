"""The statistics a user can name, and what each of them is."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from toprank.statistics import LinearRankStatistic
from toprank.statistics.base import registered
from toprank.workflow.aims import aim_of

__all__ = ["KnownStatistic", "known_statistics"]

SOME_ITEMS = 10
"""A cut-off, to ask a statistic that wants one what it is."""


@dataclass(frozen=True, slots=True)
class KnownStatistic:
    """A statistic by name.

    Parameters
    ----------
    name : str
        As `toprank.statistics.get` takes it; ``@k`` where it wants a cut-off.
    also : tuple of str
        Other names for it.
    about : str
        One line.
    optimised : bool
        Whether all rankers that are told what to maximise can maximise it.
    exactly : bool
        Whether `ExactRanker` and `DirectRanker` can, though others take the nearest. What nobody can
        maximise can be measured.
    """

    name: str
    also: tuple[str, ...]
    about: str
    optimised: bool
    exactly: bool


def known_statistics() -> list[KnownStatistic]:
    """All statistics, those that can be optimised first, by most or by few, then by name."""
    kinds = {kind.name: kind for kind in registered().values()}
    found = []
    for name, kind in kinds.items():
        cut_off = inspect.signature(kind).parameters.get("at")
        text = name
        if cut_off is not None:
            text = f"{name}@k" if cut_off.default is inspect.Parameter.empty else f"{name}, {name}@k"
        about = (inspect.getdoc(kind) or "").partition("\n")[0]
        also = tuple(sorted(alias for alias, one in registered().items() if one is kind and alias != name))
        linear = issubclass(kind, LinearRankStatistic)
        searched = not linear and aim_of(text.replace("@k", f"@{SOME_ITEMS}"), SOME_ITEMS).by_search
        found.append(KnownStatistic(text, also, about, linear, searched))
    return sorted(found, key=lambda one: (not one.optimised, not one.exactly, one.name))
