"""Rankers for labels that are numbers: regressors, cross-fitted and blended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from toprank.contenders import other_regressors
from toprank.ensemble.top_ensemble import TopEnsemble
from toprank.labels import LabelKind
from toprank.lineup import (
    BASES,
    ENSEMBLE,
    RERANK,
    SHORT_NAMES,
    Contender,
    Settings,
    capabilities,
    lineup,
    make_base,
    make_reranker,
)
from toprank.rankers.parts.weighted import kinds_of_labels
from toprank.workflow.learning.fitting import Items
from toprank.workflow.learning.splits import out_of_fold_splits

__all__ = [
    "REGRESSORS",
    "RIDGE",
    "blend",
    "contenders_for_numbers",
    "first_list_for",
    "make_regressor",
    "members_of_blend",
    "names_for_numbers",
    "reranker_of_numbers",
    "statistic_for",
]

RIDGE = "ridge"
REGRESSORS = {RIDGE: "ridge regression", "forest": BASES["forest"], "boosting": BASES["boosting"]}
"""Who can be asked for by name, and what to call it; the first is what every other one has to beat."""
TREES = 100
"""Of a forest: it is fitted dozens of times."""
LAMBDARANK = ("LightGBM lambdarank", "XGBoost lambdarank")


def make_regressor(name: str, seed: int) -> Any:
    """The unfitted regressor of that name, one of `REGRESSORS` or "lightgbm".

    >>> make_regressor("ridge", 0).alphas.shape
    (13,)
    """
    if name == "forest":
        from sklearn.ensemble import RandomForestRegressor

        # A third of the columns at each split, as forests for regression were published; all take too long.
        return RandomForestRegressor(TREES, min_samples_leaf=3, max_features=1 / 3, random_state=seed)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(learning_rate=0.05, min_samples_leaf=10, random_state=seed)
    if name == "lightgbm":
        from lightgbm import LGBMRegressor

        slow: dict[str, Any] = {
            "learning_rate": 0.03,
            "n_estimators": 200,
            "subsample": 0.7,
            "subsample_freq": 1,
        }
        return LGBMRegressor(**slow, colsample_bytree=0.7, n_jobs=1, verbosity=-1, random_state=seed)
    from sklearn.linear_model import RidgeCV

    return RidgeCV(alphas=np.logspace(-3, 3, 13))


def blend(
    items: Items, settings: Settings, *, folds: int, members: Collection[str] | None = None
) -> TopEnsemble:
    """An ensemble of regressors, which share the columns that the encoder made.

    Parameters
    ----------
    items : Items
        Rows to be learned from; those of one group, or of one query, are held out together.
    settings : Settings
    folds : int
    members : collection of str or None
        Those of `toprank.workflow.learning.afford` that can be afforded; None for all.
    """
    taken = members_of_blend(members)
    return TopEnsemble(
        [(name, make_regressor(name, settings.seed)) for name in taken],
        statistic=settings.statistic,
        levels=items.kind,
        cv=[tuple(fold) for fold in out_of_fold_splits(items, folds, settings.seed)],
        random_state=settings.seed,
    )


def first_list_for(kind: LabelKind, settings: Settings) -> Any:
    """The estimator that makes the first list of a reranker: the regressor in place of a classifier."""
    if kind == "binary":
        return make_base(settings)
    return make_regressor(RIDGE if settings.base == "logistic" else settings.base, settings.seed)


def statistic_for(kind: LabelKind, settings: Settings) -> str:
    """What a reranker maximises: what is asked for, or the share of pairs in order if that has no meaning."""
    return settings.statistic if kind in kinds_of_labels(settings.statistic) else "c_index"


def reranker_of_numbers(items: Items, settings: Settings) -> Any:
    """A regressor whose top is ordered anew by the exact ranker."""
    ranker = make_reranker(replace(settings, statistic=statistic_for(items.kind, settings)))
    return ranker.set_params(base=first_list_for(items.kind, settings), levels=items.kind)


def members_of_blend(affordable: Collection[str] | None) -> list[str]:
    """Regressors of a blend, of those that can be afforded; ridge regression is always among them."""
    known = [RIDGE, "boosting", "forest", *(["lightgbm"] if find_spec("lightgbm") is not None else [])]
    return [name for name in known if name == RIDGE or affordable is None or name in affordable]


def names_for_numbers(kind: LabelKind) -> list[str]:
    """Who can be asked for by name where labels are of this kind."""
    left_out = {"RankerCV", "RankThenRerankCV", *SHORT_NAMES}
    own = [name for name, can in capabilities().items() if kind in can.labels and name not in left_out]
    return [ENSEMBLE, RERANK, *REGRESSORS, *own, *(LAMBDARANK if kind == "ordinal" else ())]


def contenders_for_numbers(items: Items, settings: Settings, rows: int) -> list[Contender]:
    """Everyone who takes part in a comparison where labels are numbers, ridge regression first."""

    def regressor(name: str) -> Contender:
        return Contender(REGRESSORS[name], lambda: make_regressor(name, settings.seed))

    able = {name for name, can in capabilities().items() if items.kind in can.labels}
    able |= set(LAMBDARANK) if items.kind == "ordinal" else set()
    queries = items.qid is not None
    own = [one for one in lineup(settings, rows, queries=queries, kind=items.kind) if one.name in able]
    theirs = [Contender(name, make) for name, make in other_regressors(settings.seed).items()]
    return [*map(regressor, REGRESSORS), *theirs, *own]
