"""What is asked for, checked before any work is done: statistic, settings, demands, who can do it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from toprank.datasets import InputError
from toprank.datasets.placeholders import means_unknown
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
        return _no_labels(source)
    y, target = source.labelled.y, source.roles.target
    values = f"{len(np.unique(y))} grades" if source.kind == "ordinal" else "numbers"
    return [
        f"{target!r} holds {values} from {y.min():g} to {y.max():g}, the larger the nearer to the top; what"
        f" counts is {aim.measured}{IN_WORDS.get(aim.measured.name, '')}. --labels says what they are,"
        " --positive makes two classes of them.",
        *_lone_grade(source),
    ]


def _no_labels(source: Source) -> list[str]:
    """That 'unknown' was taken for a label of its own."""
    target = source.roles.target
    words = [str(word) for word in source.table.column(target, argument="target").unique()]
    return [
        f"{word!r} in {target!r} is taken for a label that does not belong at the top; leave the cells empty"
        " where nobody knows."
        for word in words
        if len(words) > 2 and means_unknown(word) and word not in source.labelled.positive
    ]


def _lone_grade(source: Source) -> list[str]:
    """That one row alone makes grades of two classes: the total below a table, say."""
    y = source.labelled.y
    values, counts = np.unique(y, return_counts=True)
    if len(values) != 3 or values[:2].tolist() != [0, 1] or counts[2] > 1:
        return []
    row = source.table.row_numbers[np.argmax(y)]
    return [
        f"Only row {row} has {source.roles.target} = {values[2]:g}, all others have 0 or 1: if it is a total"
        " or a mistake, take it out of the file."
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
