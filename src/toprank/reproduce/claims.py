"""Does a claim hold on our runs? Each verdict with the figures it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from toprank.reproduce.experiment import Arm, Claim, Experiment
from toprank.reproduce.figures import Figure, Figures, State, greater_is_better
from toprank.reproduce.protocol import Part
from toprank.statistics.inference import matched_pairs_test

__all__ = ["LEVEL", "Verdict", "judge"]

LEVEL = 0.05
"""Level of the matched-pairs t-test, two-sided, as in the papers."""

Holds = Literal["holds", "partly", "fails", "not run"]


@dataclass(frozen=True)
class Verdict:
    """A claim, whether it holds on our runs, and the figures.

    ``partly``: the same side is ahead on average, but not significantly as claimed; or the other side is
    ahead, but not significantly, where no significant difference was claimed.
    """

    claim: Claim
    title: str
    holds: Holds
    figures: str


def judge(claim: Claim, figures: Figures) -> Verdict:
    """Check a claim against the stored results."""
    experiment = figures.paper.experiment(claim.experiment)
    title = experiment.source.title
    needed = [experiment.arm(name) for name in (claim.arm, *claim.than, claim.over) if name]
    states = {figures.state(experiment, arm) for arm in needed}
    if states - {State.DONE, State.QUOTED}:
        worst = State.UNAVAILABLE if State.UNAVAILABLE in states else State.NOT_RUN
        return Verdict(claim, title, "not run", worst)
    check = {
        "better": _better,
        "best": _better,
        "agrees": _agrees,
        "at least printed": _at_least,
        "proved": _proved,
    }[claim.kind]
    holds, text = check(claim, experiment, figures)
    return Verdict(claim, title, holds, text)


def _runs(claim: Claim, experiment: Experiment, arm: str, figures: Figures) -> list[float]:
    parts: tuple[Part, ...] = ("train", "test") if claim.part == "sum" else (claim.part,)
    columns = [figures.runs(experiment, experiment.arm(arm), claim.measure, part) for part in parts]
    return [float(sum(run for run in row if run is not None)) for row in zip(*columns, strict=True)]


def _better(claim: Claim, experiment: Experiment, figures: Figures) -> tuple[Holds, str]:
    measure = experiment.measure(claim.measure)
    sign = 1.0 if greater_is_better(measure) else -1.0
    ours = _runs(claim, experiment, claim.arm, figures)
    said, verdicts = [], []
    for name in claim.than or _rivals(claim, experiment):
        theirs = _runs(claim, experiment, name, figures)
        gain = sign * (float(np.mean(ours)) - float(np.mean(theirs)))
        p_value = matched_pairs_test(ours, theirs).p_value if len(ours) > 1 else math.nan
        verdicts.append(_compared(gain, p_value, claim.significant))
        shown = "" if math.isnan(p_value) else f", p = {p_value:.2g}"
        digits = measure.digits
        said.append(
            f"{experiment.arm(claim.arm).title} {np.mean(ours):.{digits}f}, {experiment.arm(name).title}"
            f" {np.mean(theirs):.{digits}f}{shown}"
        )
    order: tuple[Holds, ...] = ("fails", "partly", "holds")
    return min(verdicts, key=order.index), "; ".join(said)


def _compared(gain: float, p_value: float, significant: bool | None) -> Holds:
    """One comparison; see `Claim.significant`."""
    if significant is None:
        return "holds" if gain > 0 else "fails"
    if gain > 0:
        return "holds" if p_value < LEVEL or not significant else "partly"
    return "partly" if p_value >= LEVEL and not significant else "fails"


def _rivals(claim: Claim, experiment: Experiment) -> list[str]:
    def competes(arm: Arm) -> bool:
        return arm.name != claim.arm and not arm.beyond and not arm.from_paper_only

    return [arm.name for arm in experiment.arms if competes(arm)]


def _printed(claim: Claim, arm: str, part: Part, figures: Figures) -> Figure:
    """The printed figure of an arm in the table of the claim, with its runs where another table has them."""
    wanted = (claim.experiment, arm, claim.measure, part)
    found = [
        (table.name, figure)
        for table in figures.paper.tables
        for entry in table.entries
        if (entry.experiment, entry.arm, entry.measure, entry.part) == wanted
        and (figure := figures.theirs(entry)) is not None
    ]
    if not found:
        raise KeyError(f"{figures.paper.name} prints nothing at {wanted}")
    chosen = next((figure for name, figure in found if name == claim.table), found[0][1])
    runs = chosen.runs or next((figure.runs for _, figure in found if figure.runs), ())
    return replace(chosen, runs=runs)


def _agrees(claim: Claim, experiment: Experiment, figures: Figures) -> tuple[Holds, str]:
    """By the printed deviations, as if train and test were independent.

    They are not: where the paper prints its runs, the deviation of the sums tells more, and is said too.
    """
    parts: tuple[Part, ...] = ("train", "test") if claim.part == "sum" else (claim.part,)
    ours = [Figure.of(_runs(replace(claim, part=part), experiment, claim.arm, figures)) for part in parts]
    theirs = [_printed(claim, claim.arm, part, figures) for part in parts]
    error = math.hypot(*(one.standard_error or 0.0 for one in (*ours, *theirs)))
    mean, printed = sum(one.mean for one in ours), sum(one.mean for one in theirs)
    holds: Holds = "holds" if abs(mean - printed) <= claim.errors * error else "fails"
    digits = experiment.measure(claim.measure).digits
    text = f"{mean:.{digits}f}, paper {printed:.{digits}f}:"
    text += f" {_apart(mean - printed, error)} standard errors apart"
    if claim.part == "sum" and all(one.runs for one in theirs):
        sums = [Figure.of(np.sum([one.runs for one in side], axis=0).tolist()) for side in (ours, theirs)]
        strict = math.hypot(*(one.standard_error or 0.0 for one in sums))
        text += f" ({_apart(mean - printed, strict)} by the deviations of the sums)"
    return holds, text


def _apart(difference: float, error: float) -> str:
    return f"{difference / error:+.1f}" if error > 0 else "no"


def _at_least(claim: Claim, experiment: Experiment, figures: Figures) -> tuple[Holds, str]:
    parts: tuple[Part, ...] = ("train", "test") if claim.part == "sum" else (claim.part,)
    measure = experiment.measure(claim.measure)
    ours = float(np.mean(_runs(claim, experiment, claim.arm, figures)))
    printed = sum(_printed(claim, claim.arm, part, figures).mean for part in parts)
    if claim.over:
        ours -= float(np.mean(_runs(claim, experiment, claim.over, figures)))
        printed -= sum(_printed(claim, claim.over, part, figures).mean for part in parts)
    sign = 1.0 if greater_is_better(measure) else -1.0
    # A printed figure stands for all that round to it.
    reached = sign * (ours - printed) >= -0.5 * 10.0**-measure.digits
    return ("holds" if reached else "fails"), f"{ours:.{measure.digits}f}, paper {printed:.{measure.digits}f}"


def _proved(claim: Claim, experiment: Experiment, figures: Figures) -> tuple[Holds, str]:
    certainty = figures.certainty(experiment, experiment.arm(claim.arm))
    if certainty is None:
        return "fails", "no certificates"
    return ("holds" if certainty.all_proved else "fails"), certainty.sentence()
