"""The picture of the README: what is found at the top of the list, and how a proof closes the gap.

    python examples/top_of_the_list.py docs/images/top_of_the_list.png

Left: held-out half of the embedded example, share of the failures found in the first tenth of the list.
Right: value and bound of an exact search over time, five features, the top 100 of 250 rows.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import ExactRanker, TopEnsemble, datasets
from toprank.report import CumulativeGainDisplay, SearchProgressDisplay

FIRST = 0.1
"""Share of the list that is shown: 80 of 800 pumps."""


def inspections() -> tuple[np.ndarray, np.ndarray]:
    """The embedded example as numbers."""
    frame = datasets.inspections()
    frame = frame.join(frame["site"].str.get_dummies()).drop(columns=["pump", "site"])
    frame = frame.fillna(frame.median())
    return frame.drop(columns="failed").to_numpy(dtype=float), frame["failed"].to_numpy(dtype=int)


def draw_list(ax: plt.Axes) -> None:
    X, y = inspections()
    half = np.random.default_rng(0).permutation(len(y))
    train, test = half[: len(y) // 2], half[len(y) // 2 :]
    ranker = TopEnsemble(statistic="dcg@50", random_state=0).fit(X[train], y[train])
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])
    for one, label in ((logistic, "logistic regression"), (ranker, "ensemble for the first 50")):
        scores = one.decision_function(X[test])
        CumulativeGainDisplay.from_predictions(y[test], scores, name=label, top=FIRST, ax=ax)
    ax.set(xlabel="share of the pumps inspected, best first", ylabel="failures found (held-out half)")


def draw_proof(ax: plt.Axes) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 5))
    score = X @ rng.normal(size=5) + 3 * rng.normal(size=250)
    y = (score > np.quantile(score, 0.65)).astype(int)
    top = np.argsort(-LogisticRegression().fit(X, y).decision_function(X))[:100]
    ranker = ExactRanker("dcg", time_limit=60, random_state=0).fit(X[top], y[top])
    SearchProgressDisplay.from_progress(ranker.certificate_.progress(), ax=ax)
    ax.legend(loc="center right", frameon=False, fontsize=9)
    ax.set_title(ranker.certificate_.summary(), fontsize=10)


def main(path: str) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    draw_list(left)
    draw_proof(right)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "top_of_the_list.png")
