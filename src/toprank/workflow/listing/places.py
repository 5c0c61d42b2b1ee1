"""The list itself: who stands where, by which right, how firmly, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import BaseRanker, best_first, ranking_scores
from toprank.datasets import InputError, Table
from toprank.lineup import ENSEMBLE, Settings
from toprank.model import RankingModel
from toprank.model.ranking import frame_in_order, listing_order, ordered_by, ranks_of
from toprank.workflow.judging.held_out import HeldOut, Task
from toprank.workflow.judging.importance import features_of
from toprank.workflow.learning.candidates import LOGISTIC
from toprank.workflow.learning.fitting import fit_quietly, without_order
from toprank.workflow.learning.splits import out_of_fold_splits
from toprank.workflow.listing.contributions import cells_in_words, contributions, words_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "OUT_OF_FOLD",
    "UNSEEN",
    "USED",
    "Place",
    "Reasons",
    "list_items",
    "out_of_fold_scores",
    "plain_list",
    "reasons_for",
    "reasons_in_words",
]

Floats = NDArray[np.float64]
OUT_OF_FOLD, UNSEEN, USED = "out of fold", "unseen", "label used"
"""Whether an item's own label took part in placing it: left out in turn; there was none; it did."""
FOLDS = 5
MOST_REASONS = 200
"""Rows of the list that come with reasons; nobody reads more."""
MOST_PARTS = 20
"""Columns named in the reasons of one item."""


@dataclass(frozen=True, slots=True)
class Place:
    """Scores that order some items, and the places the baseline gives them.

    Parameters
    ----------
    order : array
        Rows best first.
    scores : array
    baseline_scores : array
        Scores of the baseline.
    right : str
        `OUT_OF_FOLD`, `UNSEEN` or `USED`.
    baseline : str
        Who that is: logistic regression, or ridge regression where labels are numbers.
    """

    order: NDArray[np.intp]
    scores: Floats
    baseline_scores: Floats
    right: str
    baseline: str = LOGISTIC


@dataclass(frozen=True)
class Reasons:
    """What the columns add to the scores of the first items of a list.

    Parameters
    ----------
    rows : array
        Rows of the table, in the order of the list.
    words : list of str
        The main contributions of each.
    parts : list of list of (column, cell, float)
        What columns add, the largest first, with the cell as a person writes it.
    """

    rows: NDArray[np.intp]
    words: list[str]
    parts: list[list[tuple[str, str, float]]]


def out_of_fold_scores(
    name: str, fitted: Any, task: Task, X: Any, settings: Settings, features: Sequence[str]
) -> Floats | None:
    """Scores of the labelled rows by copies of a ranker that never saw them; None where rows are too few.

    Rankers' scores have no common scale, as classifiers' log-odds have: their rows go by the place within
    their fold.
    """
    if name == ENSEMBLE:
        return np.asarray(fitted.out_of_fold_scores_)
    items = task.items
    try:
        folds = out_of_fold_splits(items, FOLDS, settings.seed)
    except ValueError:
        return None
    scores = np.empty(len(items.y))
    for train, test in folds:
        part = items.take(train)
        unfitted = task.made(name, part, settings, features, final=False)
        try:
            ranker, _ = fit_quietly(unfitted, X[train], part.y, part.qid)
        except InputError:
            return None
        codes = None if items.qid is None else items.qid[test]
        scores[test] = ranking_scores(ranker, X[test], codes)
        if without_order(ranker, scores[test]):
            return None
        if isinstance(ranker, BaseRanker):
            scores[test] = -(ranks_of(best_first(scores[test]), None) - 0.5) / len(test)
    return scores


def plain_list(model: RankingModel, table: Table, X: Any) -> pd.DataFrame:
    """Items in the order of a saved model, with reasons."""
    roles = model.roles
    ids = roles.identifiers(table) if roles.id in table.columns else None
    qid = roles.queries(table) if roles.qid in table.columns else None
    order = ordered_by(model.ranker, X, qid)
    more = {"why": reasons_in_words(model, table, X, listing_order(order, qid))}
    return frame_in_order(table, order, ranking_scores(model.ranker, X, qid), ids=ids, qid=qid, more=more)


def reasons_in_words(model: RankingModel, table: Table, X: Any, order: NDArray[np.intp]) -> NDArray[Any]:
    """Why the first items of an order stand there, nothing for the rest, by row of the table."""
    return _words(reasons_for(model, table, X, order), len(table))


def list_items(
    model: RankingModel,
    table: Table,
    X: Any,
    place: Place,
    name: str,
    held_out: HeldOut | None,
    budget: int,
) -> tuple[pd.DataFrame, Reasons]:
    """The items best first, with rank, score, place by logistic regression, firmness and reasons."""
    roles = model.roles
    ids = roles.identifiers(table) if roles.id in table.columns else None
    qid = roles.queries(table) if roles.qid in table.columns else None
    more: dict[str, Any] = {"order": place.right}
    if name != place.baseline:
        more[f"{place.baseline}_rank"] = ranks_of(best_first(place.baseline_scores), qid)
    if held_out is not None:
        more[f"in_first_{budget}"] = _firmness(held_out, name, budget, len(table), place.right, qid)
    reasons = reasons_for(model, table, X, listing_order(place.order, qid))
    more["why"] = _words(reasons, len(table))
    return frame_in_order(table, place.order, place.scores, ids=ids, qid=qid, more=more), reasons


def reasons_for(model: RankingModel, table: Table, X: Any, order: NDArray[np.intp]) -> Reasons:
    """Contributions to the scores of the first items of an order."""
    head = order[:MOST_REASONS]
    first, encoder = table.take(head), model.encoder
    added = contributions(model.ranker, X[head], encoder)
    largest = np.argsort(-np.abs(added), axis=1, kind="stable")[:, :MOST_PARTS]
    names = [feature.name for feature in features_of(encoder)]
    needed = np.unique(largest[np.take_along_axis(added, largest, axis=1) != 0.0])
    cells = {int(k): cells_in_words(first, encoder, int(k)) for k in needed}
    parts = [
        [(names[k], cells[k][row], float(added[row, k])) for k in columns.tolist() if added[row, k]]
        for row, columns in enumerate(largest)
    ]
    return Reasons(head, words_for(first, encoder, added), parts)


def _words(reasons: Reasons, n: int) -> NDArray[Any]:
    """Reasons in words for the first items, nothing for the rest, by row of the table."""
    words = np.full(n, "", dtype=object)
    words[reasons.rows] = reasons.words
    return words


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
