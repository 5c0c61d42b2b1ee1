"""Our figures, read from the stored results: runs, means, deviations, certificates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from toprank.control import relative_gap
from toprank.reproduce.cells import Cell, arm_cells
from toprank.reproduce.experiment import Arm, Entry, Experiment, Measure, Paper
from toprank.reproduce.protocol import BestAverage, BestOnTest, Part
from toprank.reproduce.rows import missing_data
from toprank.reproduce.store import Record, Results
from toprank.statistics import get

__all__ = ["Certainty", "Figure", "Figures", "State", "errors_apart", "greater_is_better"]

Point = dict[str, Any]


class State:
    """How far the cells of something have come, in the words of ``--list``."""

    DONE = "done"
    PARTLY = "partly"
    NOT_RUN = "not run"
    FAILED = "failed"
    UNAVAILABLE = "data not available"
    QUOTED = "from the paper only"


@dataclass(frozen=True)
class Figure:
    """The runs of one measure: our own, or those a paper printed."""

    mean: float
    deviation: float | None
    count: int
    runs: tuple[float, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[float]) -> Figure:
        """Mean and deviation of runs.

        >>> Figure.of([1.0, 2.0, 3.0]).deviation
        1.0
        """
        deviation = float(np.std(runs, ddof=1)) if len(runs) > 1 else None
        return cls(float(np.mean(runs)), deviation, len(runs), tuple(runs))

    @property
    def standard_error(self) -> float | None:
        """Of the mean."""
        return None if self.deviation is None else self.deviation / math.sqrt(self.count)


@dataclass(frozen=True)
class Certainty:
    """What the exact runs of an arm proved.

    Parameters
    ----------
    gaps : tuple of float or None
        Relative gap by split: 0 when proved, None where there was nothing to search.
    time_limit : float or None
        Seconds each run had.
    seconds : tuple of float
        Seconds each run took.
    """

    gaps: tuple[float | None, ...]
    time_limit: float | None
    seconds: tuple[float, ...] = field(repr=False)

    @property
    def proved(self) -> int:
        """Runs that ended with a proof."""
        return sum(gap == 0.0 for gap in self.gaps)

    @property
    def all_proved(self) -> bool:
        """Whether every run did that had something to search."""
        return all(gap in (0.0, None) for gap in self.gaps)

    def sentence(self) -> str:
        """In a few words, with the time limit.

        >>> Certainty((0.0, 0.0), 150.0, (1.0, 3.0)).sentence()
        'proved 2/2; 2 s of 150 s'
        >>> Certainty((0.0, 0.1), 5.0, (1.0, 5.0)).sentence()
        'proved 1/2, gap up to 10 %; 3 s of 5 s'
        """
        open_gaps = [gap for gap in self.gaps if gap]
        text = f"proved {self.proved}/{len(self.gaps)}"
        if open_gaps:
            text += f", gap up to {100 * max(open_gaps):.2g} %"
        nothing = sum(gap is None for gap in self.gaps)
        if nothing:
            text += f", nothing to search in {nothing}"
        limit = "" if self.time_limit is None else f" of {self.time_limit:.3g} s"
        return f"{text}; {np.mean(self.seconds):.2g} s{limit}"


class Figures:
    """The stored results of one paper at one budget."""

    def __init__(self, paper: Paper, results: Results, *, budget: float = 1.0) -> None:
        self.paper = paper
        self._results = results
        self._budget = budget
        self._missing = {one.name: missing_data(one.source) for one in paper.experiments}
        self._known: dict[tuple[str, str], list[Cell]] = {}
        self._chosen: dict[tuple[str, str], list[Point | None]] = {}

    def missing(self, experiment: Experiment) -> str:
        """Why the data are not here; empty when they are."""
        return self._missing[experiment.name]

    def record(self, cell: Cell) -> Record | None:
        """What is stored about a cell."""
        return self._results.get(cell)

    def error(self, cell: Cell) -> str:
        """Why a cell failed; empty when it did not."""
        return self._results.error(cell)

    def records(self, experiment: Experiment, arm: Arm) -> list[Record | None]:
        """What is stored about each split."""
        return [self._results.get(cell) for cell in self._cells(experiment, arm)]

    def _cells(self, experiment: Experiment, arm: Arm) -> list[Cell]:
        key = experiment.name, arm.name
        if key not in self._known:
            self._known[key] = arm_cells(self.paper.name, experiment, arm, self._budget)
        return self._known[key]

    def failures(self, experiment: Experiment, arm: Arm) -> list[str]:
        """Why cells failed, each reason once."""
        errors = map(self._results.error, self._cells(experiment, arm))
        return list(dict.fromkeys(error for error in errors if error))

    def state(self, experiment: Experiment, arm: Arm) -> str:
        """How far this arm has come."""
        if arm.from_paper_only:
            return State.QUOTED
        done = sum(record is not None for record in self.records(experiment, arm))
        if done == experiment.splits.count:
            return State.DONE
        if self.missing(experiment) and not done:
            return State.UNAVAILABLE
        if self.failures(experiment, arm):
            return State.FAILED
        return State.PARTLY if done else State.NOT_RUN

    def chosen(self, experiment: Experiment, arm: Arm) -> list[Point | None]:
        """The point of the grid that counts in each split; None where there is no result yet."""
        key = experiment.name, arm.name
        if key not in self._chosen:
            self._chosen[key] = _choose(experiment, arm, self.records(experiment, arm))
        return self._chosen[key]

    def runs(self, experiment: Experiment, arm: Arm, measure: str, part: Part) -> list[float | None]:
        """One number a split; one an item for a measure per item."""
        if arm.from_paper_only:
            return []
        points = self.chosen(experiment, arm)
        if experiment.measure(measure).per_item:
            return [] if points[0] is None else list(points[0][part][measure])
        return [None if point is None else float(point[part][measure]) for point in points]

    def ours(self, entry: Entry) -> Figure | None:
        """Our figure at a place of a table, as far as it has been computed."""
        experiment = self.paper.experiment(entry.experiment)
        runs = self.runs(experiment, experiment.arm(entry.arm), entry.measure, entry.part)
        known = [run for run in runs if run is not None]
        return Figure.of(known) if known else None

    def theirs(self, entry: Entry) -> Figure | None:
        """The printed figure; its mean is that of the printed runs where no mean is printed."""
        if not entry.printed:
            return None
        count = len(entry.runs) or self.paper.experiment(entry.experiment).splits.count
        mean = float(np.mean(entry.runs)) if entry.mean is None else entry.mean
        return Figure(mean, entry.deviation, count, entry.runs)

    def certainty(self, experiment: Experiment, arm: Arm) -> Certainty | None:
        """What was proved, where the arm makes certificates."""
        points = [] if arm.from_paper_only else self.chosen(experiment, arm)
        known = [point for point in points if point is not None and point["certificate"] is not None]
        if not any(point["certificate"]["exact"] for point in known):
            return None
        limit = None if arm.time_limit is None else arm.time_limit * self._budget
        seconds = tuple(point["certificate"]["seconds"] for point in known)
        return Certainty(tuple(_gap(point["certificate"]) for point in known), limit, seconds)

    def cut_short(self, experiment: Experiment, arm: Arm) -> str:
        """How many fits of a ranker without certificates the clock stopped; empty when none."""
        points = [] if arm.from_paper_only else self.chosen(experiment, arm)
        known = [point["certificate"] for point in points if point is not None and point["certificate"]]
        cut = sum(one["status"] == "time_limit" for one in known)
        limit = math.inf if arm.time_limit is None else arm.time_limit * self._budget
        return f"stopped by the clock in {cut}/{len(known)}; limit {limit:.3g} s" if cut else ""


def greater_is_better(measure: Measure) -> bool:
    """Whether more of the measure is better: not for losses."""
    if measure.loss:
        return False
    return measure.per_item or bool(get(measure.statistic).greater_is_better)


def errors_apart(ours: Figure | None, theirs: Figure | None) -> float | None:
    """Ours minus theirs in units of the combined standard error; None where nobody knows that.

    sqrt(s^2 / n + s'^2 / n'), with the deviations as printed; a paper that prints none contributes nothing.

    >>> errors_apart(Figure(2.0, 3.0, 9), Figure(1.0, None, 9))
    1.0
    """
    if ours is None or theirs is None:
        return None
    parts = [one.standard_error or 0.0 for one in (ours, theirs)]
    error = math.hypot(*parts)
    return (ours.mean - theirs.mean) / error if error > 0 else None


def _gap(certificate: dict[str, Any]) -> float | None:
    if not certificate["exact"]:
        return None
    if certificate["status"] == "optimal":
        return 0.0
    value, bound = certificate["value"], certificate["bound"]
    return relative_gap(value, math.inf if bound is None else bound)


def _choose(experiment: Experiment, arm: Arm, records: list[Record | None]) -> list[Point | None]:
    points = [None if record is None else record["points"] for record in records]
    choice = arm.choose
    if isinstance(choice, BestOnTest):
        return [
            None
            if one is None
            else one[_best(experiment, choice.measure, [_value(p, choice.measure) for p in one])]
            for one in points
        ]
    if isinstance(choice, BestAverage):
        known = [one for one in points if one is not None]
        if known:
            means = [
                float(np.mean([_value(one[k], choice.measure, choice.part) for one in known]))
                for k in range(len(known[0]))
            ]
            best = _best(experiment, choice.measure, means)
            return [None if one is None else one[best] for one in points]
    return [None if one is None else one[0] for one in points]


def _value(point: Point, measure: str, part: Part = "test") -> float:
    return float(point[part][measure])


def _best(experiment: Experiment, measure: str, values: Sequence[float]) -> int:
    sign = 1.0 if greater_is_better(experiment.measure(measure)) else -1.0
    return int(np.argmax(sign * np.asarray(values)))
