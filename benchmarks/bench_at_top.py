"""Time of `AccuracyAtTop` beside LogisticRegression in the same run, and how its solvers grow with the rows.

    TOPRANK_DATA=/path/to/data python benchmarks/bench_at_top.py            # everything
    TOPRANK_DATA=/path/to/data python benchmarks/bench_at_top.py --quick    # without all of Spambase

Reads ionosphere.csv, pima.csv and spambase.csv (label column y) from TOPRANK_DATA and leaves them out where
it is not set. Features are standardised; weighting="balanced", C = 1. Exits with status 1 where a limit is
exceeded.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank.rankers.accuracy_at_top import AccuracyAtTop

JOBS = int(os.environ.get("TOPRANK_JOBS", "2"))


def load(name):
    """Features and labels in the order of the file; None without the data."""
    folder = os.environ.get("TOPRANK_DATA")
    if not folder:
        return None
    table = pd.read_csv(Path(folder) / f"{name}.csv")
    return table.drop(columns="y").to_numpy(dtype=float), table["y"].to_numpy()


def parts(X, y, count, take, seed=0):
    """The first `take` of `count` random parts."""
    chosen = np.random.default_rng(seed).permutation(len(y))[: len(y) * take // count]
    return X[chosen], y[chosen]


def timed(estimator, X, y):
    start = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - start


def logistic_seconds(X, y):
    return min(timed(LogisticRegression(max_iter=1000), X, y) for _ in range(3))


def measure(label, X, y, limit, **parameters):
    """One line: seconds, ratio to LogisticRegression, precision beside its; whether the limit was kept."""
    X = StandardScaler().fit_transform(X)
    ranker = AccuracyAtTop(weighting="balanced", random_state=0, **parameters)
    seconds = timed(ranker, X, y)
    logistic = LogisticRegression(max_iter=1000).fit(X, y)
    top = round(ranker.n_top_)
    theirs = y[np.argsort(-logistic.decision_function(X), kind="stable")[:top]].mean()
    ours = y[ranker.first(X, top)].mean()
    reference = logistic_seconds(X, y)
    verdict = "ok" if seconds <= limit else "TOO SLOW"
    print(
        f"{label:<38}{len(y):>8}{X.shape[1]:>5}{seconds:>9.2f} s{seconds / reference:>10.0f} x"
        f"{ours:>8.3f}{theirs:>8.3f}   {'certified' if ranker.certified_ else '-':<10}"
        f"limit {limit:>4} s  {verdict}",
        flush=True,
    )
    return seconds <= limit


def on_files(quick):
    """The published data sets."""
    kept = True
    ionosphere, pima, spambase = load("ionosphere"), load("pima"), load("spambase")
    if ionosphere is None or pima is None or spambase is None:
        print("TOPRANK_DATA is not set: ionosphere, pima and spambase are left out.")
        return kept
    for tau in (0.19, 0.14, 0.095, 0.05, 0.01):
        data = parts(*ionosphere, 10, 3)
        kept &= measure(f"ionosphere, 3 of 10 parts, tau {tau:g}", *data, 5, top_share=tau)
    kept &= measure("pima, exhaustive", *pima, 30, top_share=0.05)
    kept &= measure("pima, exhaustive, two processes", *pima, 30, top_share=0.05, n_jobs=2)
    kept &= measure("pima, screened", *pima, 30, top_share=0.05, solver="screened")
    kept &= measure("spambase, a twentieth, exhaustive", *parts(*spambase, 20, 1), 5, top_share=0.05)
    if not quick:
        kept &= measure("spambase, screened", *spambase, 600, top_share=0.05, solver="screened", n_jobs=JOBS)
    kept &= measure("spambase, local", *spambase, 60, top_share=0.05, solver="local")
    return kept


def synthetic(n, d=20):
    return make_classification(
        n_samples=n, n_features=d, n_informative=d // 2, weights=[0.9], flip_y=0.05, random_state=0
    )


def growth(solver, sizes):
    """Seconds at each size and the exponent of a power law through them."""
    seconds = []
    for n in sizes:
        ranker = AccuracyAtTop(0.05, solver=solver, weighting="balanced", random_state=0)
        seconds.append(timed(ranker, *synthetic(n)))
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    shown = "  ".join(f"{n}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    print(f"{solver:<12} n^{exponent:.2f}   {shown}", flush=True)


def main():
    warnings.simplefilter("ignore")
    quick = "--quick" in sys.argv[1:]
    print(f"{'':<38}{'rows':>8}{'d':>5}{'time':>11}{'of LogReg':>12}{'P@tau':>8}{'LogReg':>8}")
    kept = on_files(quick)
    kept &= measure("synthetic, local", *synthetic(200_000), 60, top_share=0.05, solver="local")
    print("\ntime against the number of rows (20 features)")
    growth("exhaustive", (100, 200, 400, 800))
    growth("screened", (100, 200, 400, 800))
    growth("local", (12_500, 25_000, 50_000, 100_000))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
