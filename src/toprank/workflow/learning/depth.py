"""How deep to rerank, found out on held-out items."""

from __future__ import annotations

from typing import Any

import numpy as np

from toprank.base import ranking_scores
from toprank.control import Run
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.lineup import Settings
from toprank.rankers.direct import DirectRanker
from toprank.statistics import RankStatistic
from toprank.workflow.learning.fitting import Items, fit_quietly, value_of, wide_enough
from toprank.workflow.learning.regression import first_list_for, statistic_for
from toprank.workflow.learning.splits import out_of_fold_splits

__all__ = ["chosen_depth"]

FACTORS = (2, 4, 8)
"""Depths that are tried, as multiples of the budget."""
FOLDS = 3
LINES = 60
"""Line searches of the quick reranker that stands in for the exact one while depths are compared."""


def chosen_depth(
    items: Items,
    X: Any,
    budget: int,
    statistic: RankStatistic,
    settings: Settings,
    seconds: float | None,
) -> int:
    """The multiple of the budget whose reranking does best on held-out folds; the smallest of equals.

    A head that is too short cannot change which items are acted on, one that is too long follows items nobody
    will look at. Every depth is widened until the head holds some items of either class.

    Parameters
    ----------
    items : Items
    X : array or sparse matrix
        Features of all rows.
    budget : int
    statistic : RankStatistic
    settings : Settings
    seconds : float or None
        Time for the comparison; depths that were not tried in time are passed over.
    """
    longest = len(items.y) if items.qid is None else int(np.bincount(items.qid).max())
    base, _ = fit_quietly(first_list_for(items.kind, settings), X, items.y, None)
    scores = ranking_scores(base, X)
    depths = sorted({wide_enough(scores, items, min(max(factor * budget, 2), longest)) for factor in FACTORS})
    if len(depths) == 1:
        return depths[0]
    try:
        folds = out_of_fold_splits(items, FOLDS, settings.seed)
    except ValueError:
        return depths[min(1, len(depths) - 1)]
    clock, means = Run(time_limit=seconds), {}
    for depth in depths:
        if clock.should_stop():
            break
        values = [
            _value(items.take(fold.train), X[fold.train], items.take(fold.test), X[fold.test], one, settings)
            for fold in folds
            for one in [(statistic, max(2, round(depth * len(fold.train) / len(items.y))))]
        ]
        means[depth] = float(np.mean(values))
    return max(means, key=lambda depth: (round(means[depth], 12), -depth), default=depths[0])


def _value(
    learn: Items,
    X: Any,
    held: Items,
    X_held: Any,
    what: tuple[RankStatistic, int],
    settings: Settings,
) -> float:
    statistic, depth = what
    kind, seed = learn.kind, settings.seed
    quick = DirectRanker(statistic_for(kind, settings), max_iter=LINES, n_restarts=0, random_state=seed)
    base = first_list_for(kind, settings)
    ranker = RankThenRerank(base, quick, top=depth, cv=3, levels=kind, random_state=seed)
    ranker, _ = fit_quietly(ranker, X, learn.y, learn.qid)
    return value_of(statistic, held.y, ranking_scores(ranker, X_held, held.qid), held.qid)
