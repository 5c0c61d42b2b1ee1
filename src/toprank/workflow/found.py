"""Hits among the first of the labelled list, each item placed by models that had not seen its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toprank.base import best_first
from toprank.workflow.candidates import LOGISTIC
from toprank.workflow.cut_offs import cut_offs
from toprank.workflow.fitting import Items
from toprank.workflow.hits import chance_of, chances_of, hits_up_to
from toprank.workflow.listing import OUT_OF_FOLD, Place

__all__ = ["Found", "found_within"]


@dataclass(frozen=True, slots=True)
class Found:
    """Hits within the budget.

    Parameters
    ----------
    ours, logistic : int
        Of the list, and of logistic regression's.
    chance : float
        Of a random order, on average.
    different : int
        Items within the budget that logistic regression would have left out.
    by_cut_off : dict
        The same for other numbers of items: ``k``, ``chance`` and the hits of each ranker.
    """

    ours: int
    logistic: int
    chance: float
    different: int
    by_cut_off: dict[str, Any]


def found_within(budget: int, items: Items, place: Place, name: str) -> Found | None:
    """Hits of the list a ranker made; None with queries, and where labels took part in the order."""
    if place.right != OUT_OF_FOLD or items.qid is not None:
        return None
    y, both = items.y, {LOGISTIC: place.logistic, name: place.scores}
    first = {one: set(best_first(scores)[:budget].tolist()) for one, scores in both.items()}
    hits = {one: hits_up_to(y, scores) for one, scores in both.items()}
    sizes = cut_offs(len(y), budget)
    by_cut_off = {
        "k": sizes,
        "chance": chances_of(sizes, y),
        "rankers": {one: found[sizes].tolist() for one, found in hits.items()},
    }
    return Found(
        round(hits[name][budget]),
        round(hits[LOGISTIC][budget]),
        chance_of(budget, y),
        len(first[name] - first[LOGISTIC]),
        by_cut_off,
    )
