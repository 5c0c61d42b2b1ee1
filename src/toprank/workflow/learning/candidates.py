"""The rankers that may be delivered: how each is made for these items, and which is chosen."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toprank.ensemble.bagging import BaggedRanker
from toprank.ensemble.members import USUAL_WEIGHTS, default_members
from toprank.labels import LabelKind
from toprank.lineup import ENSEMBLE, RERANK, RERANKER, Settings, make_named, named_rankers
from toprank.rankers.direct import DirectRanker
from toprank.statistics.inference import matched_pairs_test
from toprank.workflow.learning.afford import is_quick
from toprank.workflow.learning.fitting import Items
from toprank.workflow.learning.regression import REGRESSORS, RIDGE, blend, make_regressor, reranker_of_numbers
from toprank.workflow.learning.splits import out_of_fold_splits
from toprank.workflow.reading.demands import Demands
from toprank.workflow.reading.source import FEWEST_NUMBERS

__all__ = [
    "LOGISTIC",
    "Choice",
    "baseline_for",
    "candidates_for",
    "choose",
    "fits_an_ensemble",
    "label_of",
    "lighter_ensemble",
    "made_for",
]

LOGISTIC = "logistic"
FEWEST_FOR_FOLDS = 5
"""Of the rarer class: with fewer, cross-fitting an ensemble leaves members next to nothing to learn from."""
OUTER_FOLDS, INNER_FOLDS = 5, 3
"""Folds of the ensemble that is delivered, and of those fitted to half of the rows to judge it."""
PAIRS_PER_BAG = 3e5
"""Work of the direct ranker on one bootstrap sample: line searches times pairs of items to compare."""
BAGS = 5
LIGHTER: dict[str, dict[str, Any]] = {
    "boosting": {"learning_rate": 0.06, "max_iter": 100},
    "forest": {"n_estimators": 100},
}
"""Members are fitted dozens of times for the held-out figures: what a blend gains by more trees is little."""
LIGHTER_STILL: dict[str, dict[str, Any]] = {"catboost": {"iterations": 200}}
"""Where tables are large enough for it to take long, and for fewer steps to find as much. The halves by which
a table is judged may be small where it is not: they have all steps."""
FEWEST_FOR_WEIGHTS = 100
"""Budget from which weights other than usual are looked for: with fewer hits they would follow luck."""


def label_of(name: str) -> str:
    """What the tables call a ranker."""
    return REGRESSORS.get(name) or named_rankers()[name]


def baseline_for(kind: LabelKind) -> str:
    """The ranker that every other one has to beat, by the kind of labels."""
    return LOGISTIC if kind == "binary" else RIDGE


def fits_an_ensemble(items: Items) -> bool:
    """Whether there are items enough of either class to cross-fit members on, in groups if need be."""
    if items.kind != "binary":
        return len(items.y) >= FEWEST_NUMBERS and _can_be_folded(items)
    positives = int(items.y.sum())
    return min(positives, len(items.y) - positives) >= FEWEST_FOR_FOLDS and _can_be_folded(items)


def _can_be_folded(items: Items) -> bool:
    """Whether rows can be held out by turns so that every part can be ranked."""
    try:
        out_of_fold_splits(items, INNER_FOLDS, 0)
    except ValueError:
        return False
    return True


def candidates_for(ranker: str, prefer: str, kind: LabelKind = "binary") -> list[str]:
    """Who is judged on held-out items, the preferred one first; the baseline is always there.

    >>> candidates_for("ensemble", "simple"), candidates_for("ensemble", "simple", "continuous")
    (['ensemble', 'rerank', 'logistic'], ['ensemble', 'ridge'])
    """
    simpler = [RERANK] if prefer == "simple" and kind == "binary" else []
    return list(dict.fromkeys([ranker, *simpler, baseline_for(kind)]))


def made_for(
    name: str,
    items: Items,
    settings: Settings,
    budget: int,
    *,
    final: bool,
    members: Collection[str] | None = None,
    demands: Demands | None = None,
    features: Sequence[str] = (),
) -> Any:
    """An unfitted ranker for these items; an ensemble, of the named members, as `lighter_ensemble` has it.

    Demands, on coefficients of the `features` and on the top of the list, are the exact ranker's alone.
    """
    if items.kind != "binary" and name in REGRESSORS:
        return make_regressor(name, settings.seed)
    if items.kind != "binary" and name == ENSEMBLE:
        return blend(items, settings, folds=OUTER_FOLDS if final else INNER_FOLDS, members=members)
    if items.kind != "binary" and name == RERANK:
        ranker = reranker_of_numbers(items, settings)
        return ranker if _can_be_folded(items) else ranker.set_params(cv=None)
    ranker = make_named(name, replace(settings, budget=budget, rows=len(items.y)))
    if name == RERANKER and demands is not None:
        return ranker.set_params(constraints=demands.constraints(features, items.features))
    if name == RERANK and not _can_be_folded(items):
        # Better a first list of rows the base learned from than none.
        return ranker.set_params(cv=None)
    if name != ENSEMBLE:
        return ranker
    folds = OUTER_FOLDS if final else INNER_FOLDS
    return lighter_ensemble(ranker, items, settings, budget, folds=folds, members=members)


def lighter_ensemble(
    ranker: Any,
    items: Items,
    settings: Settings,
    budget: int,
    *,
    folds: int,
    members: Collection[str] | None = None,
) -> Any:
    """An ensemble that can be fitted dozens of times.

    It holds out rows of one group together; its direct member does work by count, not by the clock, so that
    the same seed gives the same answer; and where the budget is small its members count as usual, whatever
    their scores say.
    """
    known = dict(default_members(settings.statistic))
    lighter = LIGHTER if is_quick(items) else LIGHTER | LIGHTER_STILL
    for member in lighter.keys() & known.keys():
        known[member].set_params(**lighter[member])
    positives = int(items.y.sum())
    pairs = max(1, positives * (len(items.y) - positives))
    lines = int(np.clip(PAIRS_PER_BAG // pairs, 3, 50))
    direct = DirectRanker(settings.statistic, max_iter=lines, n_restarts=0, time_limit=1.0)
    known["direct"] = BaggedRanker(direct, n_bags=BAGS)
    return ranker.set_params(
        members=[(name, known[name]) for name in known if members is None or name in members],
        cv=[tuple(fold) for fold in out_of_fold_splits(items, folds, settings.seed)],
        weights=USUAL_WEIGHTS,
        trust="auto" if budget >= FEWEST_FOR_WEIGHTS else 0.0,
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """Which ranker is delivered, and why in one sentence (empty where there is nothing to explain)."""

    name: str
    why: str = ""


def choose(
    ranker: str,
    prefer: str,
    named: bool,
    values: dict[str, list[float]],
    held_out: float,
    baseline: str = LOGISTIC,
) -> Choice:
    """What held-out figures say should be delivered.

    The preferred ranker is, unless it does worse than logistic regression by more than one standard error.
    With ``prefer="simple"`` the simplest within one standard error of the best is: logistic regression, then
    the linear reranker.

    Parameters
    ----------
    ranker, prefer : str
    named : bool
        Whether the user asked for this very ranker: it is delivered then, with a warning if need be.
    values : dict of ranker to figures
        The statistic on the held-out rows of each split.
    held_out : float
        Share of the rows in the test part.
    baseline : str
        Logistic regression, or whoever stands in its place.
    """
    if len(values.get(baseline, ())) < 2 or ranker == baseline:
        return Choice(ranker)
    if prefer == "simple":
        best = max(values, key=lambda name: float(np.mean(values[name])))
        for simple in (baseline, RERANK):
            if simple in values and _behind(values[best], values[simple], held_out) <= 1.0:
                near = (
                    "is the best" if simple == best else f"is within one standard error of {label_of(best)}"
                )
                return Choice(simple, f"Delivered is {label_of(simple)}: on held-out items it {near}.")
        return Choice(best, f"Delivered is {label_of(best)}: nothing simpler comes within a standard error.")
    if _behind(values[baseline], values[ranker], held_out) <= 1.0:
        return Choice(ranker)
    worse = f"{label_of(ranker)} does worse than {label_of(baseline)} on held-out items"
    if named:
        return Choice(ranker, f"{worse}; it is delivered because --ranker asks for it.")
    return Choice(baseline, f"{worse}, so {label_of(baseline)} is what is delivered.")


def _behind(better: list[float], worse: list[float], held_out: float) -> float:
    """By how many standard errors the second stays behind the first."""
    test = matched_pairs_test(better, worse, test_fraction=held_out)
    if test.standard_error == 0.0:
        return math.inf if test.difference > 0 else 0.0
    return test.difference / test.standard_error


def quick(settings: Settings, seconds: float | None) -> Settings:
    """The same settings with another time limit and nobody watching."""
    return replace(settings, time_limit=seconds, callback=None, keep_proof=False)
