"""What is good: numbers from labels and scores."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from toprank.statistics.base import BipartiteStatistic, LinearRankStatistic, RankStatistic, register
from toprank.statistics.catalog import (
    AUC,
    DCG,
    NDCG,
    AveragePrecision,
    InfinitePushLoss,
    Lift,
    PairwiseMisrankingError,
    PartialAUC,
    PartialAUCFPR,
    PNorm,
    PNormPushLoss,
    PositivesAtTop,
    Precision,
    Recall,
    ReciprocalRank,
    ReciprocalRankSum,
    WilcoxonRankSum,
    WinnerTakesAll,
)
from toprank.statistics.counts import CountTable, GradedForm, GradeSum, PairSum
from toprank.statistics.curves import (
    GainCurve,
    LiftCurve,
    PrecisionRecallCurve,
    RocCurve,
    cumulative_gain_curve,
    left_corner_roc_curve,
    lift_curve,
    precision_recall_curve,
    roc_curve,
)
from toprank.statistics.general import (
    CIndex,
    HardRankingLoss,
    IntegratedAUC,
    KendallTau,
    LocalAUC,
    LocalizedRankingLoss,
    OrdinalAUC,
    PairCounts,
    SpearmanRho,
    TopGain,
    VolumeUnderSurface,
    WeakRankingLoss,
    concordance_index,
    pair_counts,
)
from toprank.statistics.groups import Ties
from toprank.statistics.inference import (
    BootstrapInterval,
    MatchedPairsTest,
    bootstrap_difference,
    matched_pairs_test,
)
from toprank.statistics.ranks import clemencon_vayatis_rank, clrs, resolved_rank, subrank
from toprank.statistics.registry import get, names
from toprank.statistics.surfaces import IntegratedRocCurve, RocSurface, integrated_roc_curve, roc_surface

if TYPE_CHECKING:
    from toprank.statistics.scoring import scorer

__all__ = [
    "AUC",
    "DCG",
    "NDCG",
    "AveragePrecision",
    "BipartiteStatistic",
    "BootstrapInterval",
    "CIndex",
    "CountTable",
    "GainCurve",
    "GradeSum",
    "GradedForm",
    "HardRankingLoss",
    "InfinitePushLoss",
    "IntegratedAUC",
    "IntegratedRocCurve",
    "KendallTau",
    "Lift",
    "LiftCurve",
    "LinearRankStatistic",
    "LocalAUC",
    "LocalizedRankingLoss",
    "MatchedPairsTest",
    "OrdinalAUC",
    "PNorm",
    "PNormPushLoss",
    "PairCounts",
    "PairSum",
    "PairwiseMisrankingError",
    "PartialAUC",
    "PartialAUCFPR",
    "PositivesAtTop",
    "Precision",
    "PrecisionRecallCurve",
    "RankStatistic",
    "Recall",
    "ReciprocalRank",
    "ReciprocalRankSum",
    "RocCurve",
    "RocSurface",
    "SpearmanRho",
    "Ties",
    "TopGain",
    "VolumeUnderSurface",
    "WeakRankingLoss",
    "WilcoxonRankSum",
    "WinnerTakesAll",
    "bootstrap_difference",
    "clemencon_vayatis_rank",
    "clrs",
    "concordance_index",
    "cumulative_gain_curve",
    "get",
    "integrated_roc_curve",
    "left_corner_roc_curve",
    "lift_curve",
    "matched_pairs_test",
    "names",
    "pair_counts",
    "precision_recall_curve",
    "register",
    "resolved_rank",
    "roc_curve",
    "roc_surface",
    "scorer",
    "subrank",
]

# It imports scikit-learn, which takes a second: loaded on first use.
_LAZY = {"scorer": "scoring"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _LAZY:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
