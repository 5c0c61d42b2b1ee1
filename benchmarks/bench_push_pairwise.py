"""RankSVM and P-Norm Push beside scikit-learn: time as a ratio to LogisticRegression, growth, memory.

    python benchmarks/bench_push_pairwise.py                  # all parts; data from TOPRANK_DATA
    python benchmarks/bench_push_pairwise.py ijcnn1 skin      # the ratios on some data sets
    python benchmarks/bench_push_pairwise.py hashed growth    # 20,000 sparse features; growth and memory

Ratios are of processor time in one thread, in one run, after a warm-up that compiles. Dense data are
standardised, the census columns scaled to unit variance, binary features left as they are. The limits are 5
times LogisticRegression (lbfgs, default) at a gap of 1e-3 and 10 times at 1e-6, an exponent of 1.1, and 2 GB
for a million rows by 50. It exits with status 1 where one is exceeded.
"""

import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from toprank.linear.p_norm_push import PNormPush
from toprank.linear.rank_svm import RankSVM

SETS = ("ijcnn1", "a9a", "w8a", "skin", "census_kdd_half", "kddcup99")
LIMITS = {1e-3: 5.0, 1e-6: 10.0}
MAX_EXPONENT = 1.1
MAX_GIGABYTES = 2.0


def read_svmlight(*names, **options):
    parts = [load_svmlight_file(str(data_folder() / f"{name}.svm.gz"), **options) for name in names]
    X = sp.vstack([rows for rows, _ in parts]).tocsr()
    # LinearSVC takes no 64-bit indices.
    X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X, (np.concatenate([labels for _, labels in parts]) > 0).astype(int)


def data_folder():
    folder = os.environ.get("TOPRANK_DATA")
    if not folder:
        sys.exit("Set TOPRANK_DATA to the folder that holds the data sets.")
    return Path(folder)


def load(name):
    if name in ("skin", "kddcup99"):
        table = pd.read_csv(
            data_folder() / {"skin": "skin.csv.gz", "kddcup99": "kddcup99_10pct.csv.gz"}[name]
        )
        return StandardScaler().fit_transform(table.iloc[:, :-1].to_numpy(float)), table["y"].to_numpy(int)
    if name == "ijcnn1":
        X, y = read_svmlight("ijcnn1_train", "ijcnn1_test")
        return StandardScaler().fit_transform(X.toarray()), y
    if name == "census_kdd_half":
        X, y = read_svmlight("census_kdd_half")
        return StandardScaler(with_mean=False).fit_transform(X).tocsr(), y
    return read_svmlight(f"{name}_train", n_features={"a9a": 123, "w8a": 300}[name])


def hashed(n=60_000, n_features=20_000, words=40):
    """Made text: some words are common, most are rare."""
    rng = np.random.default_rng(0)
    indices = (n_features * rng.random((n, words)) ** 3).astype(np.int32).ravel()
    X = sp.csr_matrix(
        (np.full(n * words, words**-0.5), indices, np.arange(0, n * words + 1, words)), shape=(n, n_features)
    )
    X.sum_duplicates()
    scores = X @ rng.normal(size=n_features)
    noisy = scores + 0.5 * scores.std() * rng.normal(size=n)
    return X, (noisy > np.quantile(scores, 0.95)).astype(int)


def rankers(C, tol):
    yield "RankSVM hinge", RankSVM(C, tol=tol)
    yield "RankSVM squared", RankSVM(C, loss="squared_hinge", tol=tol)
    for p in (1, 4, 16, 64):
        yield f"PNormPush p={p}", PNormPush(p, C=C, tol=tol)


def seconds(estimator, X, y):
    start = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - start


def warm_up(X, y):
    """Compile for the types and sizes to come."""
    for size in (500, 9000):
        rows = np.concatenate([np.flatnonzero(y == label)[:size] for label in (0, 1)])
        for _, ranker in rankers(1.0, 1e-3):
            ranker.fit(X[rows], y[rows])


def ratios(name, X, y, Cs=(1.0, 100.0)):
    """Print the table of one data set; whether every ratio is within its limit."""
    warm_up(X, y)
    kept = True
    print(f"\n{name}: {X.shape[0]:,} rows, {X.shape[1]:,} features, {y.sum():,} positives")
    for C in Cs:
        reference = min(seconds(LogisticRegression(C=C), X, y) for _ in range(2))
        # Beyond this size liblinear takes minutes.
        numbers = X.nnz if sp.issparse(X) else X.size
        rival = f"{seconds(LinearSVC(C=C), X, y):.3f} s" if numbers < 3e7 else "not run"
        print(f"  C={C:g}: LogisticRegression {reference:.3f} s, LinearSVC {rival}")
        for tol, limit in LIMITS.items():
            for label, ranker in rankers(C, tol):
                ratio = seconds(ranker, X, y) / reference
                outcome = ranker.outcome_
                fine = outcome.gap <= tol and ratio <= limit
                kept &= fine
                print(
                    f"    {label:16} gap {outcome.gap:7.1e} (asked {tol:.0e})  {outcome.iterations:3} steps"
                    f"  ratio {ratio:6.2f}{'' if fine else '  <-- beyond the limit'}",
                    flush=True,
                )
    return kept


def made(n, n_features=50):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, n_features))
    scores = X @ rng.normal(size=n_features)
    return X, (scores + scores.std() * rng.normal(size=n) > np.quantile(scores, 0.9)).astype(int)


def growth():
    """Print time and memory as the rows double; whether exponent and memory are within their limits."""
    kept = True
    sizes = [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_000_000]
    print("\ngrowth: made data, 50 features, C = 1, gap 1e-6")
    for label, ranker in rankers(1.0, 1e-6):
        warm = made(sizes[0])
        ranker.fit(*warm)
        times = [seconds(ranker, *made(n)) for n in sizes]
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        fine = exponent <= MAX_EXPONENT and peak <= MAX_GIGABYTES
        kept &= fine
        print(
            f"  {label:16} {times[0]:.3f} s at 10^4, {times[-1]:.2f} s at 10^6, exponent {exponent:.2f},"
            f" peak {peak:.2f} GB{'' if fine else '  <-- beyond the limit'}",
            flush=True,
        )
    return kept


def main(parts):
    warnings.simplefilter("ignore")
    kept = True
    # Memory is a high-water mark of the process: growth goes first.
    for part in sorted(parts, key=lambda name: name != "growth"):
        if part == "growth":
            kept &= growth()
        elif part == "hashed":
            kept &= ratios("hashed words", *hashed(), Cs=(1.0, 100.0, 1e4))
        else:
            kept &= ratios(part, *load(part))
    return kept


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(0 if main(sys.argv[1:] or ["growth", *SETS, "hashed"]) else 1)
