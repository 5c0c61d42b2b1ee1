"""Trees, forests and boosting beside others' on six data sets, and how long they take: docs/trees.md.

    python benchmarks/bench_trees.py held-out [--repeats 5] [--sets pima ...] [--out trees.jsonl]
    python benchmarks/bench_trees.py times [--rows 1000 10000 40000] [--page docs/trees.md]
    python benchmarks/bench_trees.py table [--out trees.jsonl] [--page docs/trees.md]

`held-out` writes one line for each model and split; those that are there already are not computed again.
`table` makes tables of them. With a page, what is printed also goes into it, between its marks. Data sets are
read from TOPRANK_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from marked_pages import between_marks
from toprank import (
    GradientBoostingRanker,
    GradientFreeBoosting,
    LogitBoost,
    RankingForest,
    RankOver,
    TreeRank,
    statistics,
)
from toprank.base import ranking_scores

SETS = ["mammography", "pima", "spambase", "abalone19", "boston_chas", "travelmode"]
MEASURES = ["auc", "local_auc@10%", "dcg", "average_precision", "positives_at_top", "precision@10"]
FOLDS = 5


def models(seed):
    """Everybody as he comes, with the same number of trees."""
    found = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "random forest": RandomForestClassifier(100, random_state=seed),
        "histogram boosting": HistGradientBoostingClassifier(random_state=seed),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM"] = LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed)
        found["LightGBM, lambdarank"] = OneGroup("lightgbm", seed)
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        found["XGBoost"] = XGBClassifier(n_jobs=1, random_state=seed)
        found["XGBoost, lambdarank"] = OneGroup("xgboost", seed)
    return found | {
        "GradientFreeBoosting": make_pipeline(StandardScaler(), GradientFreeBoosting(random_state=seed)),
        "LogitBoost": LogitBoost(random_state=seed),
        "RankOver": RankOver(random_state=seed),
        "TreeRank": TreeRank(random_state=seed),
        "RankingForest": RankingForest(random_state=seed),
        "boosting, logistic": GradientBoostingRanker(random_state=seed),
        "boosting, p-norm": GradientBoostingRanker("p_norm", random_state=seed),
        "boosting, top 10 % of the negatives": GradientBoostingRanker(negative_share=0.1, random_state=seed),
    }


class OneGroup(BaseEstimator):
    """Others' lambdarank with all rows in one group, where they allow it: LightGBM up to 10,000 rows."""

    def __init__(self, library, seed=0):
        self.library, self.seed = library, seed

    def fit(self, X, y):
        if self.library == "lightgbm":
            from lightgbm import LGBMRanker

            self.ranker_ = LGBMRanker(n_jobs=1, verbosity=-1, random_state=self.seed)
            self.ranker_.fit(X, y, group=[len(y)])
        else:
            from xgboost import XGBRanker

            self.ranker_ = XGBRanker(n_jobs=1, random_state=self.seed)
            self.ranker_.fit(X, y, qid=np.zeros(len(y), dtype=int))
        return self

    def predict(self, X):
        return self.ranker_.predict(X)


def held_out(out, sets, repeats):
    done = {(one["set"], one["model"], one["split"]) for one in read(out)}
    for name in sets:
        table = pd.read_csv(Path(os.environ["TOPRANK_DATA"]) / f"{name}.csv")
        X, y = table.drop(columns="y").to_numpy(float), table["y"].to_numpy()
        folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
        for split, (learn, judge) in enumerate(folds.split(X, y)):
            for label, model in models(split).items():
                if (name, label, split) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores = ranking_scores(model.fit(X[learn], y[learn]), X[judge])
                values = {m: float(statistics.get(m)(y[judge], scores)) for m in MEASURES}
                with out.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"set": name, "model": label, "split": split, **values}) + "\n")
        print(name, flush=True)


def read(out):
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []


def tables(out):
    frame = pd.DataFrame(read(out))
    # A split that not everybody has been through yet does not count.
    everybody = frame.groupby(["set", "split"])["model"].transform("nunique") == frame["model"].nunique()
    frame = frame[everybody]
    sets = [name for name in SETS if name in set(frame["set"])]
    order = [label for label in models(0) if label in set(frame["model"])]
    counts = frame.groupby("set")["split"].nunique()
    yield "Held-out splits: " + ", ".join(f"{name} {counts[name]}" for name in sets) + "."
    for measure in MEASURES:
        means = frame.pivot_table(index="model", columns="set", values=measure, aggfunc="mean").loc[
            order, sets
        ]
        yield f"\n| {measure} | {' | '.join(sets)} |\n|---|{'---:|' * len(sets)}"
        for label in order:
            cells = [f"{means.loc[label, s]:.3f}" + marked(frame, measure, s, label, means) for s in sets]
            yield f"| {label} | {' | '.join(cells)} |"


def put(page, mark, lines):
    """Print lines, and put them between two marks of a page."""
    said = []
    for line in lines:
        print(line, flush=True)
        said.append(line)
    if page is not None:
        text = between_marks(page.read_text(encoding="utf-8"), mark, "\n".join(said))
        page.write_text(text, encoding="utf-8")


def marked(frame, measure, name, label, means):
    """A star for the best, a circle for those not told from it: corrected matched pairs (Nadeau & Bengio)."""
    best = means[name].idxmax()
    if label == best:
        return " *"
    wide = frame[frame["set"] == name].pivot(index="split", columns="model", values=measure)
    difference = (wide[best] - wide[label]).to_numpy()
    spread = difference.var(ddof=1) * (1 / len(difference) + 1 / (FOLDS - 1))
    if spread == 0:
        return " o" if difference.mean() == 0 else ""
    return " o" if stats.t.sf(difference.mean() / np.sqrt(spread), len(difference) - 1) > 0.025 else ""


def times(sizes, trees):
    """Seconds as ratios within one run, interleaved, the median of three; and how they grow."""
    from sklearn.datasets import make_classification

    pairs = {"forest": (RandomForestClassifier(trees), RankingForest(trees))}
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        theirs = LGBMClassifier(n_estimators=100, n_jobs=1, verbosity=-1)
        pairs["boosting, logistic"] = theirs, GradientBoostingRanker()
        pairs["boosting, p-norm"] = theirs, GradientBoostingRanker("p_norm")
    yield "| rows x 20 | ours | fit, ours / theirs | predict, ours / theirs | fit, seconds |"
    yield "|---|---|---:|---:|---:|"
    last = {}
    for n in sizes:
        X, y = make_classification(n, 20, n_informative=8, flip_y=0.1, weights=[0.8], random_state=0)
        for label, (theirs, ours) in pairs.items():
            seconds = np.array([[clock(theirs, X, y), clock(ours, X, y)] for _ in range(3)])
            ratio = np.median(seconds[:, 1] / seconds[:, 0], axis=0)
            mine = float(np.median(seconds[:, 1, 0]))
            grown = (
                f" (n^{np.log(mine / last[label][1]) / np.log(n / last[label][0]):.2f})"
                if label in last
                else ""
            )
            last[label] = n, mine
            yield f"| {n:,} | {label} | {ratio[0]:.2f} | {ratio[1]:.2f} | {mine:.2f}{grown} |"


def clock(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        ranking_scores(model, X)
        return fitted - begin, time.perf_counter() - fitted


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["held-out", "times", "table"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path, default=Path("trees.jsonl"))
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 40_000])
    parser.add_argument("--page", type=Path)
    parser.add_argument("--trees", type=int, default=20)
    given = parser.parse_args()
    if given.what == "held-out":
        held_out(given.out, given.sets, given.repeats)
    elif given.what == "table":
        put(given.page, "held out", tables(given.out))
    else:
        put(given.page, "seconds", times(given.rows, given.trees))
