"""The list itself: who stands where, by which right, how firmly, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import BaseRanker, best_first, ranking_scores
from toprank.datasets import InputError, Table
from toprank.lineup import ENSEMBLE, Settings
from toprank.model import RankingModel
from toprank.model.ranking import frame_in_order, ordered_by, ranks_of
from toprank.workflow.candidates import LOGISTIC, made_for
from toprank.workflow.contributions import contributions, words_for
from toprank.workflow.fitting import Items, fit_quietly
from toprank.workflow.held_out import HeldOut
from toprank.workflow.splits import out_of_fold_splits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OUT_OF_FOLD", "UNSEEN", "USED", "Place", "list_items", "out_of_fold_scores", "plain_list"]

Floats = NDArray[np.float64]
OUT_OF_FOLD, UNSEEN, USED = "out of fold", "unseen", "label used"
"""Whether an item's own label took part in placing it: left out in turn; there was none; it did."""
FOLDS = 5
MOST_REASONS = 200
"""Rows of the list that come with reasons; nobody reads more."""


@dataclass(frozen=True, slots=True)
class Place:
    """Scores that order some items, and the places logistic regression gives them.

    Parameters
    ----------
    order : array
        Rows best first.
    scores : array
    logistic : array
        Scores of logistic regression.
    right : str
        `OUT_OF_FOLD`, `UNSEEN` or `USED`.
    """

    order: NDArray[np.intp]
    scores: Floats
    logistic: Floats
    right: str


def out_of_fold_scores(
    name: str, fitted: Any, items: Items, X: Any, settings: Settings, budget: int
) -> Floats | None:
    """Scores of the labelled rows by copies of a ranker that never saw them; None where rows are too few.

    Rankers' scores have no common scale, as classifiers' log-odds have: their rows go by the place within
    their fold.
    """
    if name == ENSEMBLE:
        return np.asarray(fitted.out_of_fold_scores_)
    try:
        folds = out_of_fold_splits(items, FOLDS, settings.seed)
    except ValueError:
        return None
    scores = np.empty(len(items.y))
    for train, test in folds:
        part = items.take(train)
        unfitted = made_for(name, part, settings, budget, final=False)
        try:
            ranker, _ = fit_quietly(unfitted, X[train], part.y, part.qid)
        except InputError:
            return None
        codes = None if items.qid is None else items.qid[test]
        scores[test] = ranking_scores(ranker, X[test], codes)
        if isinstance(ranker, BaseRanker):
            scores[test] = -(ranks_of(best_first(scores[test]), None) - 0.5) / len(test)
    return scores


def plain_list(model: RankingModel, table: Table, X: Any) -> pd.DataFrame:
    """Items in the order of a saved model, with reasons."""
    roles = model.roles
    ids = roles.identifiers(table) if roles.id in table.columns else None
    qid = roles.queries(table) if roles.qid in table.columns else None
    order = ordered_by(model.ranker, X, qid)
    more = {"why": _reasons(model, table, X, order)}
    return frame_in_order(table, order, ranking_scores(model.ranker, X, qid), ids=ids, qid=qid, more=more)


def list_items(
    model: RankingModel,
    table: Table,
    X: Any,
    place: Place,
    name: str,
    held_out: HeldOut | None,
    budget: int,
) -> pd.DataFrame:
    """The items best first, with rank, score, place by logistic regression, firmness and reasons."""
    roles = model.roles
    ids = roles.identifiers(table) if roles.id in table.columns else None
    qid = roles.queries(table) if roles.qid in table.columns else None
    more: dict[str, Any] = {"order": place.right}
    if name != LOGISTIC:
        more["logistic_rank"] = ranks_of(best_first(place.logistic), qid)
    if held_out is not None:
        more[f"in_first_{budget}"] = _firmness(held_out, name, budget, len(table), place.right, qid)
    more["why"] = _reasons(model, table, X, place.order)
    return frame_in_order(table, place.order, place.scores, ids=ids, qid=qid, more=more)


def _reasons(model: RankingModel, table: Table, X: Any, order: NDArray[np.intp]) -> NDArray[Any]:
    """Main contributions of the first items, in words; nothing for the rest."""
    head = order[:MOST_REASONS]
    parts = contributions(model.ranker, X[head], model.encoder)
    reasons = np.full(len(table), "", dtype=object)
    reasons[head] = words_for(table.take(head), model.encoder, parts)
    return reasons


def _firmness(
    held_out: HeldOut, name: str, budget: int, n: int, right: str, qid: NDArray[np.int64] | None
) -> list[str]:
    """In how many of the resamples an item stands within the budget, as "4 of 5".

    Unseen items are ranked by what each split learned. A labelled item counts in those splits that held it
    out, within its share of the shorter list.
    """
    times, within = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    for split in held_out.splits:
        if right == UNSEEN:
            rows, scores, codes = np.arange(n), split.listed[name], qid
        else:
            rows, scores, codes = split.rows, split.scores[name], split.qid
        reach = budget if right == UNSEEN or codes is not None else max(1, round(budget * len(rows) / n))
        times[rows] += 1
        within[rows] += ranks_of(best_first(scores), codes) <= reach
    return [f"{inside} of {count}" if count else "" for inside, count in zip(within, times, strict=True)]
