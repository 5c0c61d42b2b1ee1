"""How far the ROC curves of trees are from the best there is, where the posterior is known: docs/trees.md.

    python benchmarks/bench_trees_posterior.py [--rows 300 1000 3000 10000] [--repeats 3]
        [--page docs/trees.md] [--figure docs/images/trees_posterior.png]

P(y = 1 | x) is given, so that the best curve is that of the posterior itself: d_1 is the area between the two
curves, the AUC that is missing, d_inf their largest distance. Curves are computed from the posterior of many
fresh rows, not from labels drawn for them.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from bench_trees import put
from toprank import (
    GradientBoostingRanker,
    LogitBoost,
    RankBoost,
    RankingForest,
    RankOver,
    TreeRank,
)
from toprank.base import ranking_scores

FRESH = 50_000
FEATURES = 5


def logistic(value):
    return 1 / (1 + np.exp(-value))


POSTERIORS = {
    "a line": lambda X: logistic(2 * X[:, 0] + X[:, 1] - 1),
    "a ring": lambda X: logistic(4 - 4 * np.abs(X[:, 0] ** 2 + X[:, 1] ** 2 - 2)),
    "two steps": lambda X: np.where(X[:, 0] > 0.5, 0.8, 0.3) * np.where(np.abs(X[:, 1]) < 1, 1.0, 0.4),
}


def models(seed):
    return {
        "logistic regression": LogisticRegression(),
        "random forest": RandomForestClassifier(100, random_state=seed),
        "TreeRank": TreeRank(random_state=seed),
        "TreeRank, pruned": TreeRank(leaf_penalty="cv", random_state=seed),
        "RankOver": RankOver(random_state=seed),
        "RankingForest": RankingForest(random_state=seed),
        "LogitBoost": LogitBoost(max_leaf_nodes=4, random_state=seed),
        "RankBoost, trees": RankBoost(weak_rankers=TreeRank(max_depth=2), n_estimators=50, random_state=seed),
        "boosting, logistic": GradientBoostingRanker(random_state=seed),
        "boosting, p-norm": GradientBoostingRanker("p_norm", random_state=seed),
    }


def curve(posterior, scores):
    """Corners of the ROC curve; rows that tie make one straight piece."""
    levels = np.unique(-scores, return_inverse=True)[1]
    alpha, beta = (np.cumsum(np.bincount(levels, one)) for one in (1 - posterior, posterior))
    return np.concatenate(([0], alpha / alpha[-1])), np.concatenate(([0], beta / beta[-1]))


def distances(posterior, scores):
    """d_1 and d_inf to the best curve."""
    best, ours = curve(posterior, posterior), curve(posterior, scores)
    along = np.union1d(best[0], ours[0])
    apart = np.interp(along, *best) - np.interp(along, *ours)
    return float(np.trapezoid(best[1], best[0]) - np.trapezoid(ours[1], ours[0])), float(apart.max())


def measured(rows, repeats):
    """(posterior, model, rows) -> mean d_1 and d_inf."""
    found = {}
    for name, posterior in POSTERIORS.items():
        for repeat in range(repeats):
            rng = np.random.default_rng(repeat)
            fresh = rng.normal(size=(FRESH, FEATURES))
            eta = posterior(fresh)
            for n in rows:
                X = rng.normal(size=(n, FEATURES))
                y = (rng.random(n) < posterior(X)).astype(int)
                for label, model in models(repeat).items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        scores = ranking_scores(model.fit(X, y), fresh)
                    found.setdefault((name, label, n), []).append(distances(eta, scores))
        print(f"# {name}", flush=True)
    return {key: np.mean(values, axis=0) for key, values in found.items()}


def table(found, rows):
    n = rows[-1] if len(rows) < 3 else rows[-2]
    yield f"d_1 and d_inf after {n:,} rows, in thousandths; a star marks the smallest.\n"
    heads = [f"{name}: {what}" for name in POSTERIORS for what in ("d_1", "d_inf")]
    yield f"| ranker | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}"
    best = {
        name: np.min([v for (p, _, m), v in found.items() if (p, m) == (name, n)], axis=0)
        for name in POSTERIORS
    }
    for label in models(0):
        cells = [
            f"{1000 * value:.1f}{' *' if value == least else ''}"
            for name in POSTERIORS
            for value, least in zip(found[name, label, n], best[name], strict=True)
        ]
        yield f"| {label} | {' | '.join(cells)} |"


def draw(found, rows, path):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from toprank.report.style import PALETTE

    shown = [
        "logistic regression",
        "TreeRank",
        "RankOver",
        "RankingForest",
        "LogitBoost",
        "boosting, logistic",
    ]
    figure, axes = plt.subplots(1, len(POSTERIORS), figsize=(11, 3.6), sharey=True, layout="constrained")
    for ax, name in zip(axes, POSTERIORS, strict=True):
        for label, color in zip(shown, PALETTE, strict=True):
            ax.plot(
                rows, [found[name, label, n][1] for n in rows], color=color, label=label, marker="o", ms=3
            )
        ax.set(xscale="log", yscale="log", title=name, xlabel="training rows")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, color="#E8E8E8", linewidth=0.7)
    axes[0].set_ylabel("largest distance to the best ROC curve")
    axes[1].legend(fontsize="x-small", frameon=False, loc="lower left")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1_000, 3_000, 10_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    distances_found = measured(given.rows, given.repeats)
    put(given.page, "posterior", table(distances_found, given.rows))
    if given.figure is not None:
        draw(distances_found, given.rows, given.figure)
