"""The statistics a user can name, and what each of them is."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from toprank.statistics import LinearRankStatistic
from toprank.statistics.base import registered

__all__ = ["KnownStatistic", "known_statistics"]


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
        Whether a ranker can maximise it; others can be measured.
    """

    name: str
    also: tuple[str, ...]
    about: str
    optimised: bool


def known_statistics() -> list[KnownStatistic]:
    """All statistics, those that can be optimised first, then by name."""
    kinds = {kind.name: kind for kind in registered().values()}
    found = []
    for name, kind in kinds.items():
        cut_off = inspect.signature(kind).parameters.get("at")
        text = name
        if cut_off is not None:
            text = f"{name}@k" if cut_off.default is inspect.Parameter.empty else f"{name}, {name}@k"
        about = (inspect.getdoc(kind) or "").partition("\n")[0]
        also = tuple(sorted(alias for alias, one in registered().items() if one is kind and alias != name))
        found.append(KnownStatistic(text, also, about, issubclass(kind, LinearRankStatistic)))
    return sorted(found, key=lambda one: (not one.optimised, one.name))
