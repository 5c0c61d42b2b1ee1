"""The scikit-learn contract of every ranker, written once."""

from toprank.base.data import Matrix, RankingData, query_codes, strata, take
from toprank.base.linear import LinearRanker
from toprank.base.pairs import PairData, PairRanker
from toprank.base.ranker import BaseRanker
from toprank.base.scores import best_first, positive_share, ranking_scores
from toprank.base.tags import TWO_LABELS, RankerTags, abilities
from toprank.base.watched import WatchedRanker
from toprank.base.within import clone_for_codes, fit_copy, tell_kind

__all__ = [
    "TWO_LABELS",
    "BaseRanker",
    "LinearRanker",
    "Matrix",
    "PairData",
    "PairRanker",
    "RankerTags",
    "RankingData",
    "WatchedRanker",
    "abilities",
    "best_first",
    "clone_for_codes",
    "fit_copy",
    "positive_share",
    "query_codes",
    "ranking_scores",
    "strata",
    "take",
    "tell_kind",
]
