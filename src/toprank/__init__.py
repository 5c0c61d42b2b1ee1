"""Rank when only the top of the list counts.

>>> import toprank
>>> toprank.statistics.get("dcg@10")([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
1.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toprank import control as control
    from toprank import datasets as datasets
    from toprank import exact as exact
    from toprank import report as report
    from toprank import statistics as statistics
    from toprank.ensemble.bagging import BaggedRanker as BaggedRanker
    from toprank.ensemble.top_ensemble import TopEnsemble as TopEnsemble
    from toprank.linear.at_top import AccuracyAtTop as AccuracyAtTop
    from toprank.linear.direct import DirectRanker as DirectRanker
    from toprank.linear.exact import ExactRanker as ExactRanker
    from toprank.linear.greedy_rank_rls import GreedyRankRLS as GreedyRankRLS
    from toprank.linear.infinite_push import InfinitePush as InfinitePush
    from toprank.linear.margin_bound import margin_bound as margin_bound
    from toprank.linear.named_cv import PNormPushCV as PNormPushCV
    from toprank.linear.named_cv import RankRLSCV as RankRLSCV
    from toprank.linear.named_cv import RankSVMCV as RankSVMCV
    from toprank.linear.p_norm_push import PNormPush as PNormPush
    from toprank.linear.pat_mat import Grill as Grill
    from toprank.linear.pat_mat import PatMat as PatMat
    from toprank.linear.path import regularisation_path as regularisation_path
    from toprank.linear.plugin import PluginRanker as PluginRanker
    from toprank.linear.rank_boost import RankBoost as RankBoost
    from toprank.linear.rank_rls import RankRLS as RankRLS
    from toprank.linear.rank_svm import RankSVM as RankSVM
    from toprank.linear.search_cv import RankerCV as RankerCV
    from toprank.linear.top_push import TauFPL as TauFPL
    from toprank.linear.top_push import TopPush as TopPush
    from toprank.linear.top_push import TopPushK as TopPushK
    from toprank.rerank import RankThenRerank as RankThenRerank

__version__ = "0.1.0"

# Public name -> module it lives in. Loaded on first use, so that `import toprank` stays quick.
_HOME = {
    "AccuracyAtTop": "toprank.linear.at_top",
    "BaggedRanker": "toprank.ensemble.bagging",
    "DirectRanker": "toprank.linear.direct",
    "ExactRanker": "toprank.linear.exact",
    "GreedyRankRLS": "toprank.linear.greedy_rank_rls",
    "Grill": "toprank.linear.pat_mat",
    "InfinitePush": "toprank.linear.infinite_push",
    "PNormPush": "toprank.linear.p_norm_push",
    "PNormPushCV": "toprank.linear.named_cv",
    "PatMat": "toprank.linear.pat_mat",
    "PluginRanker": "toprank.linear.plugin",
    "RankBoost": "toprank.linear.rank_boost",
    "RankRLS": "toprank.linear.rank_rls",
    "RankRLSCV": "toprank.linear.named_cv",
    "RankSVM": "toprank.linear.rank_svm",
    "RankSVMCV": "toprank.linear.named_cv",
    "RankThenRerank": "toprank.rerank",
    "RankerCV": "toprank.linear.search_cv",
    "TauFPL": "toprank.linear.top_push",
    "TopEnsemble": "toprank.ensemble.top_ensemble",
    "TopPush": "toprank.linear.top_push",
    "TopPushK": "toprank.linear.top_push",
    "margin_bound": "toprank.linear.margin_bound",
    "regularisation_path": "toprank.linear.path",
}
_SUBMODULES = ("control", "datasets", "exact", "report", "statistics")

__all__ = sorted([*_HOME, *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _SUBMODULES:
        value = import_module(f"toprank.{name}")
    else:
        raise AttributeError(f"module 'toprank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
