"""The scikit-learn contract of every ranker, written once."""

from toprank.base.data import Matrix, RankingData, query_codes, take
from toprank.base.pairs import PairData, PairRanker
from toprank.base.ranker import BaseRanker, LinearRanker
from toprank.base.scores import best_first, ranking_scores
from toprank.base.tags import RankerTags, abilities
from toprank.base.within import clone_for_codes, fit_copy

__all__ = [
    "BaseRanker",
    "LinearRanker",
    "Matrix",
    "PairData",
    "PairRanker",
    "RankerTags",
    "RankingData",
    "abilities",
    "best_first",
    "clone_for_codes",
    "fit_copy",
    "query_codes",
    "ranking_scores",
    "take",
]
