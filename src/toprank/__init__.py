"""Rank when only the top of the list counts.

>>> import toprank
>>> toprank.statistics.get("dcg@10")([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
1.5
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toprank import control as control
    from toprank import datasets as datasets
    from toprank import exact as exact
    from toprank import labels as labels
    from toprank import model as model
    from toprank import preferences as preferences
    from toprank import report as report
    from toprank import scale as scale
    from toprank import statistics as statistics
    from toprank.boosting.gradient_free import GradientFreeBoosting as GradientFreeBoosting
    from toprank.boosting.logit_boost import LogitBoost as LogitBoost
    from toprank.ensemble.bagging import BaggedRanker as BaggedRanker
    from toprank.ensemble.ordinal_decomposition import OrdinalDecomposition as OrdinalDecomposition
    from toprank.ensemble.rank_then_rerank import RankThenRerank as RankThenRerank
    from toprank.ensemble.rank_then_rerank_cv import RankThenRerankCV as RankThenRerankCV
    from toprank.ensemble.stability_selection import StabilitySelection as StabilitySelection
    from toprank.ensemble.top_ensemble import TopEnsemble as TopEnsemble
    from toprank.networks.direct_loss import DirectLossRanker as DirectLossRanker
    from toprank.networks.ranknet import RankNet as RankNet
    from toprank.networks.so_deep import SoDeepRanker as SoDeepRanker
    from toprank.rankers.accuracy_at_top import AccuracyAtTop as AccuracyAtTop
    from toprank.rankers.direct import DirectRanker as DirectRanker
    from toprank.rankers.exact import ExactRanker as ExactRanker
    from toprank.rankers.greedy_rank_rls import GreedyRankRLS as GreedyRankRLS
    from toprank.rankers.infinite_push import InfinitePush as InfinitePush
    from toprank.rankers.p_norm_push import PNormPush as PNormPush
    from toprank.rankers.parts.margin_bound import margin_bound as margin_bound
    from toprank.rankers.parts.push_bound import push_bound as push_bound
    from toprank.rankers.pat_mat import Grill as Grill
    from toprank.rankers.pat_mat import PatMat as PatMat
    from toprank.rankers.plugin import PluginRanker as PluginRanker
    from toprank.rankers.rank_boost import RankBoost as RankBoost
    from toprank.rankers.rank_rls import RankRLS as RankRLS
    from toprank.rankers.rank_svm import RankSVM as RankSVM
    from toprank.rankers.top_push import TauFPL as TauFPL
    from toprank.rankers.top_push import TopPush as TopPush
    from toprank.rankers.top_push import TopPushK as TopPushK
    from toprank.rankers.tuning.named import PNormPushCV as PNormPushCV
    from toprank.rankers.tuning.named import RankRLSCV as RankRLSCV
    from toprank.rankers.tuning.named import RankSVMCV as RankSVMCV
    from toprank.rankers.tuning.path import regularisation_path as regularisation_path
    from toprank.rankers.tuning.search_cv import RankerCV as RankerCV
    from toprank.trees.boosting import GradientBoostingRanker as GradientBoostingRanker
    from toprank.trees.consensus import consensus as consensus
    from toprank.trees.forest import RankingForest as RankingForest
    from toprank.trees.level_rankers import CRank as CRank
    from toprank.trees.level_rankers import TreeRankTournament as TreeRankTournament
    from toprank.trees.rank_over import RankOver as RankOver
    from toprank.trees.tree_rank import TreeRank as TreeRank

__version__ = "0.1.0"

# Public name -> module it lives in. Loaded on first use, so that `import toprank` stays quick.
_HOME = {
    "AccuracyAtTop": "toprank.rankers.accuracy_at_top",
    "BaggedRanker": "toprank.ensemble.bagging",
    "CRank": "toprank.trees.level_rankers",
    "DirectLossRanker": "toprank.networks.direct_loss",
    "DirectRanker": "toprank.rankers.direct",
    "ExactRanker": "toprank.rankers.exact",
    "GradientBoostingRanker": "toprank.trees.boosting",
    "GradientFreeBoosting": "toprank.boosting.gradient_free",
    "GreedyRankRLS": "toprank.rankers.greedy_rank_rls",
    "Grill": "toprank.rankers.pat_mat",
    "InfinitePush": "toprank.rankers.infinite_push",
    "LogitBoost": "toprank.boosting.logit_boost",
    "OrdinalDecomposition": "toprank.ensemble.ordinal_decomposition",
    "PNormPush": "toprank.rankers.p_norm_push",
    "PNormPushCV": "toprank.rankers.tuning.named",
    "PatMat": "toprank.rankers.pat_mat",
    "PluginRanker": "toprank.rankers.plugin",
    "RankBoost": "toprank.rankers.rank_boost",
    "RankNet": "toprank.networks.ranknet",
    "RankOver": "toprank.trees.rank_over",
    "RankRLS": "toprank.rankers.rank_rls",
    "RankRLSCV": "toprank.rankers.tuning.named",
    "RankSVM": "toprank.rankers.rank_svm",
    "RankSVMCV": "toprank.rankers.tuning.named",
    "RankThenRerank": "toprank.ensemble.rank_then_rerank",
    "RankThenRerankCV": "toprank.ensemble.rank_then_rerank_cv",
    "RankerCV": "toprank.rankers.tuning.search_cv",
    "RankingForest": "toprank.trees.forest",
    "SoDeepRanker": "toprank.networks.so_deep",
    "StabilitySelection": "toprank.ensemble.stability_selection",
    "TauFPL": "toprank.rankers.top_push",
    "TopEnsemble": "toprank.ensemble.top_ensemble",
    "TopPush": "toprank.rankers.top_push",
    "TopPushK": "toprank.rankers.top_push",
    "TreeRank": "toprank.trees.tree_rank",
    "TreeRankTournament": "toprank.trees.level_rankers",
    "consensus": "toprank.trees.consensus",
    "margin_bound": "toprank.rankers.parts.margin_bound",
    "push_bound": "toprank.rankers.parts.push_bound",
    "regularisation_path": "toprank.rankers.tuning.path",
}
_SUBMODULES = (
    *("control", "datasets", "exact", "labels", "model", "preferences", "report", "scale", "statistics"),
)
# Those that are not there without PyTorch, which is an extra.
_NETWORKS = frozenset(name for name, home in _HOME.items() if home.startswith("toprank.networks."))
_ABSENT = _NETWORKS if find_spec("torch") is None else frozenset()

__all__ = sorted([*(set(_HOME) - _ABSENT), *_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _ABSENT:
        raise ImportError(
            f"toprank.{name} needs PyTorch: install it with `pip install toprank[torch]` (without a"
            " graphics card, install PyTorch's build for the CPU first: it is much smaller)."
        )
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
