"""The registry of ranker variants: every public ranker, and every value of its mode parameters, by name.

A mode parameter chooses between ways to pose or to solve a problem; the docstrings list its values in braces.
A new ranker needs a line in `MODES`, a new value a variant: `test_rankers.py` fails without. All contract
tests run over `VARIANTS`; those marked slow are for the nightly run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import toprank


class LinearKernel:
    """A kernel as a function of two rows; it prints alike in every process, and so do the names of tests."""

    def __call__(self, a, b):
        return float(a @ b)

    def __repr__(self):
        return "LinearKernel()"


TORCH = find_spec("torch") is not None
"""Networks are there where PyTorch is."""
KERNELS = ["linear", "rbf", "poly", "laplacian", "precomputed"]
APPROXIMATIONS = [
    {"kernel": "rbf", "approximation": "nystroem", "n_components": 20},
    {"kernel": "rbf", "approximation": "fourier", "n_components": 20},
]
LOW_RANK = {"kernel": "rbf", "approximation": "nystroem", "n_components": 10, "n_landmarks": 20}
LAPLACIAN = {"kernel": "laplacian", "approximation": "fourier", "n_components": 20}
PROJECTION = {"solver": "gradient_projection", "tol": 1e-3, "max_iter": 20_000}
QUICK = toprank.DirectRanker(n_restarts=1)


def modes(name, *values):
    return [{name: value} for value in values]


# What all variants of a ranker share, then what each changes.
MODES = {
    "AccuracyAtTop": ({}, []),
    "BaggedRanker": (
        {"ranker": toprank.DirectRanker(n_restarts=1), "n_bags": 2},
        modes("ranker", LogisticRegression()),
    ),
    "CRank": (
        {},
        [
            *modes("statistic", "integrated_auc"),
            {"splitter": LogisticRegression(), "max_depth": 3, "levels": "continuous"},
        ],
    ),
    "DirectRanker": (
        {"n_restarts": 2},
        [*modes("statistic", "average_precision", "kendall_tau"), {"penalty": 0.01}],
    ),
    "ExactRanker": ({"time_limit": 1}, modes("statistic", "positives_at_top", "c_index")),
    "GradientBoostingRanker": (
        {"n_estimators": 20, "min_samples_leaf": 5, "engine": "sklearn"},
        [
            *modes("loss", "squared_hinge", "p_norm", "top_push"),
            {"loss": "logistic", "negative_share": 0.3},
            {"loss": "squared_hinge", "levels": "ordinal"},
            *modes("validation_fraction", 0.3),
            *([*modes("engine", "auto", "lightgbm")] if find_spec("lightgbm") else modes("engine", "auto")),
        ],
    ),
    "GradientFreeBoosting": (
        {"n_estimators": 15, "singular_every": 5},
        [
            *modes("family", "logit", "multi_logit"),
            *modes("validation_fraction", 0.3),
            *modes("levels", "continuous"),
        ],
    ),
    "GreedyRankRLS": ({}, modes("levels", "continuous")),
    "Grill": ({}, []),
    "InfinitePush": (
        {},
        [*modes("kernel", *KERNELS), *APPROXIMATIONS, PROJECTION, *modes("norm", "l1")],
    ),
    "LogitBoost": (
        {"n_estimators": 15},
        [*modes("learner", "column"), {"validation_fraction": 0.3}],
    ),
    "OrdinalDecomposition": (
        {},
        [
            *modes("scheme", "pairwise", "one-versus-rest"),
            {"estimator": toprank.RankSVM(), "weighting": "pairs"},
            {"levels": "ordinal"},
        ],
    ),
    "PNormPush": (
        {"n_estimators": 10},
        [
            *modes("p", 1, 64),
            *modes("levels", "ordinal"),
            *modes("solver", "boosting"),
            {"solver": "boosting", "weak_rankers": "stumps"},
            {"solver": "boosting", "validation_fraction": 0.3},
        ],
    ),
    "PNormPushCV": ({"Cs": (0.1, 1.0)}, []),
    "PatMat": ({}, [*modes("loss", "logistic"), *modes("negative_share", 0.1)]),
    "PluginRanker": (
        {},
        modes(
            "estimator",
            LinearRegression(),
            LogisticRegression(C=0.1),
            RandomForestClassifier(3, random_state=0),
        )
        + modes("response", "expected_rank"),
    ),
    "RankBoost": (
        {"n_estimators": 20},
        [
            *modes("weak_rankers", "stumps", toprank.TreeRank(max_depth=2, min_samples_leaf=1)),
            *modes("validation_fraction", 0.3),
            {"validation_fraction": 0.3, "validation_statistic": "auc"},
            *modes("levels", "continuous"),
        ],
    ),
    "RankOver": ({}, modes("classifier", LogisticRegression())),
    "RankRLS": (
        {},
        [
            *modes("levels", "continuous"),
            *modes("kernel", *KERNELS, LinearKernel()),
            *APPROXIMATIONS,
            LAPLACIAN,
        ],
    ),
    "RankRLSCV": (
        {"Cs": (0.1, 1.0)},
        [
            *modes("levels", "continuous"),
            *modes("kernel", "rbf", "precomputed"),
            *modes("cv", 2),
        ],
    ),
    "RankSVM": (
        {},
        [
            *modes("loss", "squared_hinge"),
            *({"loss": "graded_hinge", "levels": levels} for levels in ("ordinal", "continuous")),
            *modes("norm", "l1"),
            {"norm": "l1", "loss": "squared_hinge"},
            {"norm": "lq", "loss": "squared_hinge"},
            *({"norm": name, "loss": "squared_hinge"} for name in ("log", "mcp", "scad")),
            *modes("levels", "binary", "ordinal", "continuous"),
            {"levels": "ordinal", "loss": "squared_hinge"},
            *modes("weighting", "queries", "top", "top@5"),
            *modes("kernel", *KERNELS),
            *APPROXIMATIONS,
            LOW_RANK,
            PROJECTION,
        ],
    ),
    "RankSVMCV": (
        {"Cs": (1.0,), "cv": 2},
        [
            *modes("loss", "squared_hinge"),
            *modes("norm", "l1"),
            *modes("levels", "ordinal"),
            *modes("kernel", "rbf", "precomputed"),
        ],
    ),
    "RankThenRerank": (
        {"top": 15, "time_limit": 1},
        [
            *modes("cv", None),
            *modes("reranker", toprank.RankSVM()),
            {"reranker": QUICK, "n_bags": 2, "time_limit": None},
            {"reranker": QUICK, "base": HistGradientBoostingClassifier(max_iter=5)},
            {"reranker": QUICK, "base": toprank.RankSVM()},
            {"reranker": toprank.RankRLS(), "base": LinearRegression(), "levels": "continuous"},
        ],
    ),
    "RankThenRerankCV": (
        {"tops": (10, 15), "reranker": QUICK, "base_cv": None, "cv": 2},
        [
            *modes("penalties", (0.0, 0.2)),
            {"reranker": toprank.RankRLS(), "base": LinearRegression(), "levels": "continuous"},
        ],
    ),
    "RankerCV": (
        {"Cs": (0.1, 1.0), "cv": 2},
        [
            *modes("ranker", toprank.PNormPush(), toprank.RankRLS(levels="ordinal")),
            *modes("grid", {"loss": ("hinge", "squared_hinge")}),
        ],
    ),
    "RankingForest": (
        {"n_estimators": 20},
        [
            *modes("aggregation", "mean_rank", "borda", "consensus"),
            {"aggregation": "borda", "leaf_order": "tree"},
            *modes("top", "70%"),
            {"splitter": DecisionTreeClassifier(max_depth=2), "max_depth": 3, "n_estimators": 5},
            {
                "splitter": DecisionTreeClassifier(max_depth=2),
                "randomize": "splitter",
                "max_depth": 3,
                "n_estimators": 5,
            },
            {"max_bins": None, "n_jobs": 2},
            {"levels": "ordinal", "n_estimators": 3},
        ],
    ),
    "StabilitySelection": (
        {"ranker": toprank.GradientFreeBoosting(n_estimators=10), "n_subsamples": 4},
        modes("rule", "threshold"),
    ),
    "TauFPL": ({"negative_share": 0.3}, modes("loss", "logistic", "hinge")),
    "TopEnsemble": (
        {"members": [("logistic", LogisticRegression()), ("svm", toprank.RankSVM())], "cv": 2},
        [*modes("trust", 0.0), {"members": [("ridge", LinearRegression()), ("svm", toprank.RankSVM())]}],
    ),
    "TopPush": ({}, [*modes("loss", "logistic", "hinge"), *modes("kernel", "rbf"), *APPROXIMATIONS]),
    "TopPushK": ({}, modes("loss", "logistic", "hinge")),
    "TreeRank": (
        {},
        [
            *modes("min_samples_leaf", 1),
            *modes("leaf_order", "rate"),
            *modes("leaf_penalty", "cv"),
            *modes("top", "70%"),
            {"splitter": LogisticRegression(), "max_depth": 3},
            {"splitter": DecisionTreeClassifier(max_depth=2), "max_depth": 3},
        ],
    ),
    "TreeRankTournament": (
        {},
        [
            {"splitter": LogisticRegression(), "max_depth": 3},
            {"min_samples_leaf": 1, "levels": "ordinal"},
        ],
    ),
}
TINY = {"hidden_layers": (8,), "max_iter": 8, "learning_rate": 0.1, "device": "cpu"}
NETWORKS = {
    "DirectLossRanker": (TINY, modes("update", "positive", "negative")),
    "RankNet": (
        TINY,
        [
            *modes("loss", "p_norm", "top_push", "at_top", "ndcg"),
            *modes("target", "difference"),
            *modes("negative_share", 0.3),
            {"validation_fraction": 0.3, "batch_size": 32},
        ],
    ),
    "SoDeepRanker": (
        {**TINY, "sorter": "sigmoid"},
        [*modes("loss", "spearman"), {"loss": "mean_rank", "sorter": "projection"}],
    ),
}
if TORCH:
    MODES |= NETWORKS
# These take a minute each.
SLOW_MODES = {
    "AccuracyAtTop": [
        *modes("solver", "screened", "local"),
        *modes("weighting", "balanced", "rows"),
        *modes("kernel", *KERNELS),
        *APPROXIMATIONS,
        {"kernel": "rbf", "solver": "local"},
    ],
    "DirectRanker": [*modes("start", "logistic", "mean"), *modes("statistic", "auc", "precision@5")],
    "RankSVM": modes("norm", "lq"),
}
SLOW_NETWORKS = {
    "RankNet": [
        *modes("loss", "hinge", "squared_hinge"),
        *modes("activation", "relu", "sigmoid"),
        *modes("precision", "double", "single", "mixed"),
        {"levels": "ordinal", "loss": "ndcg"},
    ],
    "DirectLossRanker": [
        *modes("activation", "relu", "sigmoid"),
        *modes("precision", "double", "single", "mixed"),
    ],
    "SoDeepRanker": [
        {"loss": "recall", "k": 100},
        *modes("sorter", "learned", "neural_sort"),
        *modes("activation", "relu", "sigmoid"),
        *modes("precision", "double", "single", "mixed"),
    ],
}
if TORCH:
    SLOW_MODES |= SLOW_NETWORKS


def title(name, changes):
    """PNormPush(solver=boosting): what a variant is called."""
    said = {key: type(value).__name__ if hasattr(value, "fit") else value for key, value in changes.items()}
    parts = [f"{key}={getattr(value, '__name__', value)}" for key, value in said.items()]
    return f"{name}({', '.join(parts)})"


@dataclass(frozen=True)
class Variant:
    """How to make one, and whether its checks take a minute."""

    make: Callable[[], Any]
    slow: bool = False


def variant(name, changes, slow=False):
    return Variant(lambda: getattr(toprank, name)(**{**MODES[name][0], **changes}), slow)


RANKERS = list(MODES)
VARIANTS = {
    **{name: variant(name, {}) for name in MODES},
    **{title(name, one): variant(name, one) for name, (_, several) in MODES.items() for one in several},
    **{
        title(name, one): variant(name, one, slow=True)
        for name, several in SLOW_MODES.items()
        for one in several
    },
}
