"""What is asked for, checked before any work is done: statistic, settings, demands, who can do it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from toprank.datasets import InputError
from toprank.lineup import ENSEMBLE, Settings
from toprank.workflow.asking.aims import IN_WORDS, Aim
from toprank.workflow.asking.options import PREFERENCES, RankOptions, check_kind, checked_settings
from toprank.workflow.learning.candidates import fits_an_ensemble, label_of
from toprank.workflow.learning.fitting import Items
from toprank.workflow.reading.demands import Demands, read_demands
from toprank.workflow.reading.source import Source

__all__ = ["able", "about_labels", "asked_for"]


def asked_for(source: Source, options: RankOptions) -> tuple[int, Aim, Settings, Demands | None]:
    """Budget, statistics, settings of a fit and demands on it, or one line about what cannot be."""
    if options.prefer not in PREFERENCES:
        raise InputError(f"--prefer {options.prefer!r} is not one of {', '.join(PREFERENCES)}.")
    wanted, exact = options.wanted, options.exact
    check_kind(wanted, source.kind)
    exact.check(wanted, depth=options.depth)
    demands = None if exact.constraints is None else read_demands(exact.constraints)
    budget, aim, settings = checked_settings(source, options)
    if not aim.measured.greater_is_better:
        raise InputError(
            f"--statistic '{aim.measured}' is a loss: toprank compare shows it; name one to be large here."
        )
    settings = replace(settings, threshold=exact.threshold, exact={**settings.exact, **exact.parameters})
    # A depth that was given is kept, whatever it holds.
    return budget, aim, settings if options.depth is None else replace(settings, fewest_of_a_class=0), demands


def about_labels(source: Source, aim: Aim) -> list[str]:
    """What the labels were taken to be, where they are not two classes, and what counts then."""
    if source.kind == "binary":
        return []
    y, target = source.labelled.y, source.roles.target
    values = f"{len(np.unique(y))} grades" if source.kind == "ordinal" else "numbers"
    return [
        f"{target!r} holds {values} from {y.min():g} to {y.max():g}, the larger the nearer to the top; what"
        f" counts is {aim.measured}{IN_WORDS.get(aim.measured.name, '')}. --labels says what they are,"
        " --positive makes two classes of them."
    ]


def able(names: list[str], items: Items) -> tuple[list[str], list[str]]:
    """The candidates that so many items allow, and what to say about the others."""
    if ENSEMBLE not in names or fits_an_ensemble(items):
        return names, []
    rest = [name for name in names if name != ENSEMBLE]
    if items.kind != "binary":
        return rest, [f"There are too few items for an ensemble; {label_of(rest[0])} is used."]
    fewest = int(np.bincount(items.y, minlength=2).min())
    items_ = "item" if fewest == 1 else "items"
    return rest, [
        f"Only {fewest} {items_} of one class: too few for an ensemble; {label_of(rest[0])} is used."
    ]
