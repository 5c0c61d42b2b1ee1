"""Hits among the first of the labelled list, each item placed by models that had not seen its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from toprank.base import best_first
from toprank.workflow.judging.cut_offs import cut_offs
from toprank.workflow.judging.hits import chances_of, hits_up_to, means_up_to
from toprank.workflow.learning.fitting import Items
from toprank.workflow.listing.places import OUT_OF_FOLD, Place

__all__ = ["Found", "found_within"]


@dataclass(frozen=True, slots=True)
class Found:
    """Hits within the budget.

    Parameters
    ----------
    ours, baseline : float
        Of the list, and of logistic regression's; where labels are numbers, means, and ridge regression's.
    chance : float
        Of a random order, on average.
    different : int
        Items within the budget that logistic (or ridge) regression would have left out.
    by_cut_off : dict
        The same for other numbers of items: ``k``, ``chance`` and the hits of each ranker.
    """

    ours: float
    baseline: float
    chance: float
    different: int
    by_cut_off: dict[str, Any]


def found_within(budget: int, items: Items, place: Place, name: str) -> Found | None:
    """Hits of the list a ranker made; None with queries, and where labels took part in the order."""
    if place.right != OUT_OF_FOLD or items.qid is not None:
        return None
    y, both = items.y, {place.baseline: place.baseline_scores, name: place.scores}
    first = {one: set(best_first(scores)[:budget].tolist()) for one, scores in both.items()}
    sizes = cut_offs(len(y), budget)
    if items.kind == "binary":
        hits, chances = {one: hits_up_to(y, scores) for one, scores in both.items()}, chances_of(sizes, y)
    else:
        hits = {one: np.append(0.0, means_up_to(y, scores)) for one, scores in both.items()}
        chances = [float(y.mean())] * len(sizes)
    by_cut_off = {
        "k": sizes,
        "chance": chances,
        "rankers": {one: found[sizes].tolist() for one, found in hits.items()},
    }
    ours, theirs = (float(hits[one][budget]) for one in (name, place.baseline))
    counted = items.kind == "binary"
    return Found(
        round(ours) if counted else ours,
        round(theirs) if counted else theirs,
        chances[sizes.index(budget)],
        len(first[name] - first[place.baseline]),
        by_cut_off,
    )
