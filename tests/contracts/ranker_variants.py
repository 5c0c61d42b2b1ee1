"""One quick instance of every public ranker and of every value of its mode parameters, by name.

A mode parameter chooses between ways to pose or to solve the problem. A new ranker needs a line in `MODES`;
`test_rankers.py` fails for a ranker without one, and for a parameter that takes names and is not listed.
"""

from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression

import toprank


def linear_kernel(a, b):
    """A kernel as a function of two rows."""
    return float(a @ b)


KERNELS = ["linear", "rbf", "poly", "laplacian", "precomputed"]
APPROXIMATIONS = [
    {"kernel": "rbf", "approximation": "nystroem", "n_components": 20},
    {"kernel": "rbf", "approximation": "fourier", "n_components": 20},
]
LOSSES = ["squared_hinge", "logistic", "hinge"]


def modes(name, *values):
    return [{name: value} for value in values]


# What all variants of a ranker share, then what each changes.
MODES = {
    "AccuracyAtTop": (
        {},
        [
            *modes("solver", "screened", "local"),
            *modes("weighting", "rows"),
            *modes("kernel", *KERNELS),
            {"kernel": "rbf", "nystroem": 20},
            {"kernel": "rbf", "solver": "local"},
        ],
    ),
    "DirectRanker": ({"n_restarts": 2}, [*modes("start", "mean"), *modes("statistic", "auc", "precision@5")]),
    "ExactRanker": ({"time_limit": 10}, []),
    "GreedyRankRLS": ({}, modes("levels", "graded")),
    "Grill": ({}, []),
    "InfinitePush": (
        {},
        [
            *modes("kernel", *KERNELS),
            *APPROXIMATIONS,
            {"solver": "gradient_projection", "tol": 1e-3, "max_iter": 20_000},
        ],
    ),
    "PNormPush": (
        {},
        [
            *modes("p", 1, 64),
            {"solver": "boosting", "n_rounds": 10},
            {"solver": "boosting", "n_rounds": 10, "weak_rankers": "stumps"},
            {"solver": "boosting", "n_rounds": 10, "validation_fraction": 0.3},
        ],
    ),
    "PNormPushCV": ({"Cs": (0.1, 1.0)}, []),
    "PatMat": ({}, [*modes("loss", "logistic"), *modes("negatives_only", True)]),
    "PluginRanker": ({}, modes("estimator", LinearRegression(), GradientBoostingClassifier(n_estimators=5))),
    "RankBoost": ({"n_rounds": 20}, [*modes("weak_rankers", "stumps"), *modes("validation_fraction", 0.3)]),
    "RankRLS": ({}, [*modes("levels", "graded"), *modes("kernel", *KERNELS, linear_kernel), *APPROXIMATIONS]),
    "RankRLSCV": ({"Cs": (0.1, 1.0)}, [*modes("levels", "graded"), *modes("kernel", "rbf", "precomputed"), *modes("cv", 2)]),
    "RankSVM": (
        {},
        [
            *modes("loss", "squared_hinge"),
            *modes("penalty", "l1", "lq"),
            {"penalty": "l1", "loss": "squared_hinge"},
            *modes("levels", "graded"),
            {"levels": "graded", "loss": "squared_hinge"},
            *modes("weighting", "queries", "top"),
            *modes("kernel", *KERNELS),
            *APPROXIMATIONS,
            {"solver": "gradient_projection", "tol": 1e-3, "max_iter": 20_000},
        ],
    ),
    "RankSVMCV": (
        {"Cs": (0.1, 1.0), "cv": 2},
        [*modes("loss", "squared_hinge"), *modes("penalty", "l1"), *modes("levels", "graded"), *modes("kernel", "rbf", "precomputed")],
    ),
    "RankThenRerank": ({}, []),
    "RankerCV": (
        {"Cs": (0.1, 1.0), "cv": 2},
        [{"ranker": toprank.TopPush()}, {"ranker": toprank.RankRLS(levels="graded")}],
    ),
    "TauFPL": ({"tau": 0.3}, modes("loss", "logistic", "hinge")),
    "TopPush": ({}, modes("loss", "logistic", "hinge")),
    "TopPushK": ({}, modes("loss", "logistic", "hinge")),
}


def title(name, changes):
    """PNormPush(solver=boosting): what a variant is called."""
    said = (getattr(value, "__name__", type(value).__name__ if hasattr(value, "fit") else value) for value in changes.values())
    return f"{name}({', '.join(f'{key}={value}' for key, value in zip(changes, said, strict=True))})"


RANKERS = {name: (lambda name=name, shared=shared: getattr(toprank, name)(**shared)) for name, (shared, _) in MODES.items()}
VARIANTS = {
    title(name, changes): (lambda name=name, shared=shared, changes=changes: getattr(toprank, name)(**{**shared, **changes}))
    for name, (shared, all_changes) in MODES.items()
    for changes in all_changes
}
