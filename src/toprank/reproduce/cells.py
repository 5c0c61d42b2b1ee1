"""Cells: one ranker on one split of one data set, and which of them a table needs."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from toprank.errors import InputError
from toprank.reproduce.experiment import Arm, Drawing, Experiment, Paper, Table
from toprank.reproduce.protocol import CrossValidation

__all__ = ["Cell", "Selection", "arm_cells", "cells_of", "longest_first", "select"]

# Raised when the same declaration is computed in another way, so that old results are not taken for new ones.
_COMPUTATION = 1

# What says how an arm is named and shown, not what is computed.
_LABELS = ("name", "title", "group", "beyond", "seconds", "choose", "paper_limit")
_SOURCE_LABELS = ("title", "file_format", "stands_in_for", "note")


@dataclass(frozen=True)
class Cell:
    """The smallest piece of work, and of what can be lost.

    Parameters
    ----------
    paper : str
    experiment : Experiment
    arm : Arm
        Of those that ask for this computation, the first.
    split : int
    budget : float
        All time limits are multiplied by this.
    key : str
        Digest of everything the figures depend on: declaration, split, budget.
    """

    paper: str
    experiment: Experiment
    arm: Arm
    split: int
    budget: float
    key: str

    @property
    def time_limit(self) -> float | None:
        """Seconds for each fit."""
        return None if self.arm.time_limit is None else self.arm.time_limit * self.budget

    @property
    def expected_seconds(self) -> float:
        """About how long it takes; what no limit cuts short does not shrink with the budget."""
        whole = self.arm.expected_seconds
        limit = self.time_limit
        return whole if limit is None else min(whole, max(whole * self.budget, limit))

    @property
    def name(self) -> str:
        """Experiment, arm and split, for messages."""
        return f"{self.experiment.name}:{self.arm.name}:{self.split + 1}"


def arm_cells(paper: str, experiment: Experiment, arm: Arm, budget: float) -> list[Cell]:
    """The cells of one arm, by split."""
    text = _declaration(experiment, arm, budget)
    keys = [
        hashlib.sha256(f"{text} {number}".encode()).hexdigest()[:20]
        for number in range(experiment.splits.count)
    ]
    return [Cell(paper, experiment, arm, number, budget, key) for number, key in enumerate(keys)]


def _declaration(experiment: Experiment, arm: Arm, budget: float) -> str:
    """Everything the figures of an arm depend on."""
    computed = _without(arm, _LABELS)
    # A field that came later and is not used leaves the keys of what was computed before as they were.
    if not arm.curve:
        del computed["curve"]
    # Choices among stored results are made when a table is shown; cross-validation is part of the fit.
    if isinstance(arm.choose, CrossValidation):
        computed["choose"] = asdict(arm.choose)
    everything: list[Any] = [
        _COMPUTATION,
        _without(experiment.source, _SOURCE_LABELS),
        type(experiment.splits).__name__,
        # Asking for more splits leaves the first ones as they are.
        _without(experiment.splits, ("count",)),
        computed,
        [[one.name, one.statistic, one.loss, one.scale] for one in experiment.measures],
        # The budget changes nothing where no clock runs.
        None if arm.time_limit is None else budget,
    ]
    return json.dumps(everything, sort_keys=True, separators=(",", ":"))


def _without(declared: Any, labels: tuple[str, ...]) -> dict[str, Any]:
    return {one.name: getattr(declared, one.name) for one in fields(declared) if one.name not in labels}


# -- which cells ---------------------------------------------------------------------------------------


Place = tuple[str, str, str]
"""Table, experiment, arm."""


@dataclass(frozen=True)
class Selection:
    """What ``--only`` picked: places of tables and which of their splits; None where it picked everything."""

    picked: Mapping[Place, frozenset[int] | None] | None = None

    def has(self, table: str, experiment: str, arm: str, split: int | None = None) -> bool:
        """Whether this place of a table was picked, and if asked for, this split."""
        if self.picked is None:
            return True
        place = (table, experiment, arm)
        splits = self.picked.get(place)
        return place in self.picked and (split is None or splits is None or split in splits)

    def has_table(self, table: str) -> bool:
        """Whether anything of the table was picked."""
        return self.picked is None or any(place[0] == table for place in self.picked)


def select(paper: Paper, only: Sequence[str]) -> Selection:
    """Read `only`: tables, data sets, rankers and single cells, several with commas.

    ``table1``, ``table1:gaussians``, ``table1:gaussians:lr`` and, for the third split alone,
    ``table1:gaussians:lr:3``; without the table, the same in all of them: ``gaussians:lr``.

    >>> from toprank.reproduce import paper
    >>> select(paper("rudin-wang-2018"), ["table1:gausians"])
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: `only='table1:gausians'`: rudin-wang-2018 has no such thing; did you
    mean 'table1:gaussians'...?
    """
    places = {
        (table, experiment.name, arm.name): experiment.splits.count
        for table, experiment, arm in _places(paper)
    }
    picked: dict[Place, frozenset[int] | None] = {}
    for text in [text.strip() for item in only for text in item.split(",") if text.strip()]:
        found = _picked(text, places)
        if not found:
            raise InputError(f"`only={text!r}`: {paper.name} has no such thing; {_hint(text, places)}")
        for place, splits in found.items():
            before = picked.get(place, frozenset())
            picked[place] = None if before is None or splits is None else before | splits
    return Selection(picked)


def _picked(text: str, places: Mapping[Place, int]) -> dict[Place, frozenset[int] | None]:
    """The places that one name means, and which of their splits."""
    parts = tuple(text.split(":"))
    found: dict[Place, frozenset[int] | None] = {}
    for place, count in places.items():
        for address in (place, place[1:]):
            if address[: len(parts)] == parts:
                found[place] = None
            elif address == parts[:-1] and parts[-1] in map(str, range(1, count + 1)):
                found[place] = frozenset([int(parts[-1]) - 1])
    return found


def _hint(text: str, places: Mapping[Place, int]) -> str:
    addresses = [address for place in places for address in (place, place[1:])]
    names = dict.fromkeys(":".join(one[:length]) for length in (1, 2, 3) for one in addresses)
    near = difflib.get_close_matches(text, names, n=3)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"it has {', '.join(dict.fromkeys(place[0] for place in places))}."


def _places(paper: Paper) -> Iterator[tuple[str, Experiment, Arm]]:
    """Everything a table or drawing shows, once each."""
    everything: list[Table | Drawing] = [*paper.tables, *paper.drawings]
    for shown in everything:
        for experiment, arm in dict.fromkeys(_arms_of(shown)):
            declared = paper.experiment(experiment)
            yield shown.name, declared, declared.arm(arm)


def _arms_of(shown: Table | Drawing) -> list[tuple[str, str]]:
    if isinstance(shown, Drawing):
        return list(shown.places)
    return [(entry.experiment, entry.arm) for entry in shown.entries]


def cells_of(paper: Paper, selection: Selection, *, budget: float = 1.0, table: str = "") -> list[Cell]:
    """The cells of everything selected, each once, the longest first; of one table when it is named."""
    found: dict[str, Cell] = {}
    for name, experiment, arm in _places(paper):
        wanted = table in ("", name) and selection.has(name, experiment.name, arm.name)
        if wanted and not arm.from_paper_only:
            for cell in arm_cells(paper.name, experiment, arm, budget):
                if selection.has(name, experiment.name, arm.name, cell.split):
                    found.setdefault(cell.key, cell)
    return longest_first(found.values())


def longest_first(cells: Iterable[Cell]) -> list[Cell]:
    """The order in which several workers are done soonest."""
    return sorted(cells, key=lambda cell: -cell.expected_seconds)
