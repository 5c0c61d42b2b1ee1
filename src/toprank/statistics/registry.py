"""From text to statistic: ``get("ndcg@10(base=e)")``."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

from toprank.statistics.base import RankStatistic, registered

__all__ = ["get", "names"]

_PATTERN = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:@\s*([^\s(]+))?\s*(?:\((.*)\))?\s*", re.DOTALL)
_WORDS = {"true": True, "false": False, "e": math.e, "inf": math.inf, "none": None}


def names() -> list[str]:
    """Return the names of all statistics, sorted, each once and without aliases.

    Examples
    --------
    >>> from toprank import statistics
    >>> statistics.names()[:4]
    ['auc', 'average_precision', 'c_index', 'dcg']
    """
    return sorted({statistic.name for statistic in registered().values()})


def get(statistic: str | RankStatistic) -> RankStatistic:
    """Return the statistic a text names; a statistic is passed through.

    The text is ``name``, then ``@`` and a cut-off where there is one (``@10`` items, ``@5%`` of the list),
    then parameters in parentheses. ``str`` of a statistic is such a text, defaults left out.

    Parameters
    ----------
    statistic : str or RankStatistic

    Examples
    --------
    >>> from toprank.statistics import get
    >>> round(get("ndcg@10")([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)
    0.9197
    >>> str(get(" DCG@5% ( base = e ) "))
    'dcg@5%(base=e)'
    >>> get("ngcd@10")
    Traceback (most recent call last):
    ...
    ValueError: unknown statistic 'ngcd'; did you mean 'ndcg'? toprank.statistics.names() lists them all
    """
    if isinstance(statistic, RankStatistic):
        return statistic
    if not isinstance(statistic, str):
        raise ValueError(f"statistic must be a name such as 'ndcg@10' or a RankStatistic, got {statistic!r}")
    match = _PATTERN.fullmatch(statistic)
    if match is None:
        raise ValueError(f"cannot read the statistic {statistic!r}; write name@cut-off(parameter=value)")
    name, at, inside = match.groups()
    found = _find(name.lower().replace("-", "_"))
    parameters = _parameters(inside or "", statistic)
    if at is not None:
        parameters["at"] = _literal(at)
    return _build(found, parameters, statistic)


def _find(name: str) -> type[RankStatistic]:
    known = registered()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"unknown statistic {name!r}; {hint}toprank.statistics.names() lists them all")


def _parameters(inside: str, text: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in inside.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and key and value) or key in parameters:
            raise ValueError(f"cannot read {part!r} in {text!r}; write parameter=value, each once")
        parameters[key] = _literal(value)
    return parameters


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _build(found: type[RankStatistic], parameters: dict[str, Any], text: str) -> RankStatistic:
    allowed: list[str] = [f.name for f in fields(found)] if is_dataclass(found) else []
    unknown = [key for key in parameters if key not in allowed]
    if unknown:
        takes = ", ".join("@cut-off" if key == "at" else key for key in allowed) or "no parameters"
        wrong = "cut-off" if unknown[0] == "at" else f"parameter {unknown[0]!r}"
        raise ValueError(f"{found.name} has no {wrong} (in {text!r}); it takes {takes}")
    try:
        return found(**parameters)
    except TypeError:
        raise ValueError(f"{found.name} needs a cut-off, such as '{found.name}@10'") from None
