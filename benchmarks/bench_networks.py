"""Networks beside linear rankers and boosting, and a pass over half a million rows: docs/networks.md.

    python benchmarks/bench_networks.py held-out [--sets mq2008 ...] [--splits 0 ...] [--out networks.jsonl]
    python benchmarks/bench_networks.py table [--out networks.jsonl] [--page docs/networks.md]
    python benchmarks/bench_networks.py epoch [--devices cpu cuda] [--passes 3] [--page docs/networks.md]

`held-out` writes one line for each model and split; those that are there already are not computed again.
`epoch` times passes of RankNet over kddcup99, 41 columns, on the CPU and, where there is one, on a graphics
card. Data sets are read from TOPRANK_DATA; `--rows` names an .npz with X and y instead.
"""  # fmt: skip

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from bench_trees import put
from toprank import DirectLossRanker, GradientBoostingRanker, RankNet, RankSVM, SoDeepRanker, statistics
from toprank.base import ranking_scores
from toprank.datasets import load

SETS = ["mq2008", "spambase", "mammography", "census"]
CENSUS_ROWS = 20_000
FOLDS = 5
BINARY = ["auc", "average_precision", "precision@50", "positives_at_top"]
MEASURES = {"mq2008": ["ndcg@10", "precision@5"], "spambase": BINARY, "mammography": BINARY, "census": BINARY}
NETWORKS = [
    "RankNet", "RankNet, p-norm push", "RankNet, top push", "RankNet, top 10 % of the negatives",
    "RankNet, NDCG pairs", "DirectLossRanker", "SoDeepRanker",
]  # fmt: skip


def models(name, seed):
    """Everybody as he comes; networks hold out a fifth to know when to stop, by what is judged."""
    graded = name == "mq2008"
    judged = {"statistic": "ndcg@10" if graded else "average_precision"}
    net = {"validation_fraction": 0.2, "random_state": seed, "device": "cpu", **judged}
    found = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "RankSVM": make_pipeline(StandardScaler(), RankSVM(time_limit=60)),
        "GradientBoostingRanker": GradientBoostingRanker(random_state=seed),
        "RankNet": RankNet(**net),
        "RankNet, p-norm push": RankNet("p_norm", **net),
        "RankNet, top push": RankNet("top_push", negative_share=0.01, **net),
        "RankNet, top 10 % of the negatives": RankNet(negative_share=0.1, **net),
        "RankNet, NDCG pairs": RankNet("ndcg", k=10 if graded else 50, **net),
        "DirectLossRanker": DirectLossRanker(**net),
        "SoDeepRanker": SoDeepRanker(**net),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        from toprank.contenders import LambdaRank

        found["LightGBM"] = (
            LambdaRank("lightgbm", k=10, random_state=seed)
            if graded
            else LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed)
        )
    # Which of the models for two labels take the grades of queries as 0 against the rest: said below.
    return found


TWO_LABELS = {"logistic regression", "RankNet, p-norm push", "RankNet, top push",
              "RankNet, top 10 % of the negatives", "DirectLossRanker", "SoDeepRanker"}  # fmt: skip
NO_QUERIES = {"logistic regression"}


def splits(name):
    """X, y, qid and (learn, judge) for each fold; queries stay whole."""
    if name == "mq2008":
        parts = [load(f"mq2008_S{part}") for part in range(1, 6)]
        X = np.vstack([np.asarray(part.X.todense()) for part in parts])
        y = np.concatenate([part.y for part in parts]).astype(float)
        qid = np.concatenate([part.qid for part in parts])
        fold = np.repeat(np.arange(5), [len(part.y) for part in parts])
        return X, y, qid, [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(5)]
    data = load("census_kdd_half" if name == "census" else name)
    X, y = data.X, np.asarray(data.y)
    if name == "census":
        rows = np.random.default_rng(0).choice(len(y), CENSUS_ROWS, replace=False)
        X, y = np.asarray(X[rows].todense()), y[rows]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return X, y, None, list(folds.split(X, y))


def fitted(label, model, X, y, qid):
    """The model of these rows; with queries those rankers get them that can take them."""
    target = (y > 0).astype(int) if qid is not None and label in TWO_LABELS else y
    queries = {} if qid is None or label in NO_QUERIES else {"qid": qid}
    if label == "RankSVM" and queries:
        queries = {"ranksvm__qid": qid}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, target, **queries)


def held_out(out, sets, wanted):
    done = {(one["set"], one["model"], one["split"]) for one in read(out)}
    for name in sets:
        X, y, qid, folds = splits(name)
        for split, (learn, judge) in enumerate(folds):
            if split not in wanted:
                continue
            for label, model in models(name, split).items():
                if (name, label, split) in done:
                    continue
                began = time.perf_counter()
                ranker = fitted(label, model, X[learn], y[learn], None if qid is None else qid[learn])
                seconds = time.perf_counter() - began
                scores = ranking_scores(ranker, X[judge])
                values = {one: judged(one, y[judge], scores, None if qid is None else qid[judge])
                          for one in MEASURES[name]}  # fmt: skip
                line = {"set": name, "model": label, "split": split, "seconds": seconds, **values}
                with out.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)


def judged(measure, y, scores, qid):
    labels = (y > 0).astype(int) if measure.startswith("precision") else y
    return float(statistics.get(measure)(labels, scores, qid=qid))


def read(out):
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []


def tables(out):
    frame = pd.DataFrame(read(out))
    for name in [one for one in SETS if one in set(frame["set"])]:
        part = frame[frame["set"] == name]
        count = part.groupby("model")["split"].nunique()
        order = [label for label in models(name, 0) if label in count.index]
        splits_done = sorted(set.intersection(*(set(part[part["model"] == one]["split"]) for one in order)))
        part = part[part["split"].isin(splits_done)]
        measures = MEASURES[name]
        yield f"\n**{name}**, {len(splits_done)} folds: mean and standard error over the folds.\n"
        yield f"| | {' | '.join(measures)} | fit, seconds |"
        yield f"|---|{'---:|' * (len(measures) + 1)}"
        for label in order:
            own = part[part["model"] == label]
            cells = [f"{own[m].mean():.3f} ± {own[m].std(ddof=1) / np.sqrt(len(own)):.3f}" for m in measures]
            yield f"| {label} | {' | '.join(cells)} | {own['seconds'].mean():.1f} |"


# -- a pass over half a million rows ---------------------------------------------------------------


def kdd_rows(file):
    """kddcup99 with the three words of each row as numbers by their frequency: 494,021 x 41."""
    if file is not None:
        with np.load(file) as kept:
            return kept["X"].astype(np.float64), kept["y"].astype(int)
    data = load("kddcup99_10pct")
    names = np.array(data.feature_names)
    plain = np.array(["=" not in one and "_is_" not in one for one in names])
    groups = {}
    for place, one in enumerate(names):
        for word in ("protocol_type", "service", "flag"):
            if one.startswith(word):
                groups.setdefault(word, []).append(place)
                plain[place] = False
    X = np.asarray(data.X)
    coded = [X[:, places] @ X[:, places].mean(axis=0) for places in groups.values()]
    return np.column_stack([X[:, plain], *coded]), np.asarray(data.y)


def epoch(file, passes, devices):
    import torch

    X, y = kdd_rows(file)
    rounds = [(device, size) for device in devices for size in (8192, 65536)]
    yield f"{len(y):,} x {X.shape[1]}, {int(y.sum()):,} positives; hidden layers (64, 32);"
    yield f"PyTorch {torch.__version__};"
    card = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    yield f"{torch.get_num_threads()} threads; graphics card: {card}.\n"
    yield "| device | precision | rows a batch | seconds a pass | rows a second | memory, MiB |"
    yield "|---|---|---:|---:|---:|---:|"
    for device, size in rounds:
        for share in (0.25, 0.5, 1.0) if size == 65536 else (1.0,):
            rows = np.random.default_rng(0).permutation(len(y))[: int(share * len(y))]
            ranker = RankNet(
                hidden_layers=(64, 32), batch_size=size, max_iter=passes + 1, device=device, random_state=0
            )
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            ranker.fit(X[rows], y[rows])
            # The first pass warms up.
            seconds = float(np.median(np.diff(ranker.history_["seconds"])))
            memory = (
                torch.cuda.max_memory_allocated() / 2**20
                if device == "cuda"
                else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            )
            precision = "double" if device == "cpu" else "single"
            yield (
                f"| {device}, {len(rows):,} rows | {precision} | {size:,} | {seconds:.2f} | "
                f"{len(rows) / seconds:,.0f} | {memory:,.0f} |"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["held-out", "table", "epoch"])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, nargs="+", default=range(FOLDS))
    parser.add_argument("--out", type=Path, default=Path("networks.jsonl"))
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--devices", nargs="+", default=["cpu"])
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    print(f"toprank {toprank.__version__}", flush=True)
    if given.what == "held-out":
        held_out(given.out, given.sets, given.splits)
    elif given.what == "table":
        put(given.page, "held out", tables(given.out))
    else:
        put(given.page, "a pass", epoch(given.rows, given.passes, given.devices))
