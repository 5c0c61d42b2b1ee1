"""What the benchmarks of the push family share: data, clock, limits, and the count of what is within them.

Ratios are of processor time in one thread, in one run, after a warm-up that compiles; short fits count by the
best of three. Dense data are standardised, the census columns scaled to unit variance, binary features left
as they are. The limits are 5 times LogisticRegression (lbfgs, default) at a gap of 1e-3 and 10 times at 1e-6,
an exponent of 1.1, and 2 GB for a million rows by 50.
"""

import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

SETS = ("ijcnn1", "a9a", "w8a", "skin", "census_kdd_half", "kddcup99")
LIMITS = {1e-3: 5.0, 1e-6: 10.0}
MAX_EXPONENT = 1.1
MAX_GIGABYTES = 2.0
SIZES = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_000_000)
SHORT = 0.5
"""Fits of fewer seconds are repeated."""
LONG = 3e7
"""With more numbers than this LinearSVC takes minutes and is not run."""
PATIENCE = 40.0
"""A fit ends after so many times LogisticRegression's, with the gap it has by then."""


class Tally:
    """What was within its limit and what was not."""

    def __init__(self):
        self.within, self.outside = 0, []

    def add(self, fine, what):
        """Count one; returns what to print behind it."""
        if fine:
            self.within += 1
            return ""
        self.outside.append(what)
        return "  <-- beyond the limit"

    def report(self):
        """Print the count and the names of those outside; the exit status."""
        print(f"\n{self.within} of {self.within + len(self.outside)} within bounds")
        for what in self.outside:
            print(f"  outside: {what}")
        return 1 if self.outside else 0


def in_child(part, *arguments):
    """Run one part in a process of its own, so that its peak of memory is its own; its tally."""

    def work(queue):
        tally = Tally()
        part(tally, *arguments)
        queue.put((tally.within, tally.outside))

    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=work, args=(queue,))
    child.start()
    child.join()
    if child.exitcode:
        sys.exit(f"{part.__name__} ended with status {child.exitcode}.")
    return queue.get()


def data_folder():
    folder = os.environ.get("TOPRANK_DATA")
    if not folder:
        sys.exit("Set TOPRANK_DATA to the folder that holds the data sets.")
    return Path(folder)


def read_svmlight(*names, **options):
    parts = [load_svmlight_file(str(data_folder() / f"{name}.svm.gz"), **options) for name in names]
    X = sp.vstack([rows for rows, _ in parts]).tocsr()
    # LinearSVC takes no 64-bit indices.
    X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X, (np.concatenate([labels for _, labels in parts]) > 0).astype(int)


def load(name):
    if name == "hashed":
        return hashed()
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


def seconds(estimator, X, y):
    start = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - start


def best_seconds(estimator, X, y):
    """The time of one fit, of short ones the best of three."""
    best = seconds(estimator, X, y)
    for _ in range(2 if best < SHORT else 0):
        best = min(best, seconds(estimator, X, y))
    return best


def warm_up(X, y, rankers):
    """Compile and import for the types and sizes to come."""
    for size in (500, 9000):
        rows = np.concatenate([np.flatnonzero(y == label)[:size] for label in (0, 1)])
        for _, ranker in rankers(1.0, 1e-3):
            ranker.set_params(time_limit=2.0).fit(X[rows], y[rows])


def ratios(tally, name, X, y, rankers, *, Cs=(1.0, 100.0)):
    """Print the table of one data set: every ranker beside LogisticRegression and LinearSVC."""
    warm_up(X, y, rankers)
    print(f"\n{name}: {X.shape[0]:,} rows, {X.shape[1]:,} features, {y.sum():,} positives")
    numbers = X.nnz if sp.issparse(X) else X.size
    for C in Cs:
        reference = min(best_seconds(LogisticRegression(C=C), X, y) for _ in range(2))
        rival = best_seconds(LinearSVC(C=C), X, y) if numbers < LONG else np.nan
        known = "not run, it takes minutes" if np.isnan(rival) else f"{rival:.3f} s"
        print(f"  C={C:g}: LogisticRegression {reference:.3f} s, LinearSVC {known}", flush=True)
        for tol, limit in LIMITS.items():
            for label, ranker in rankers(C, tol):
                ranker.set_params(time_limit=max(5.0, PATIENCE * reference))
                used = best_seconds(ranker, X, y)
                outcome, ratio = ranker.outcome_, used / reference
                what = f"{label} on {name}, C={C:g}, gap {tol:.0e}: ratio {ratio:.1f}, gap {outcome.gap:.1e}"
                mark = tally.add(outcome.gap <= tol and ratio <= limit, what)
                zero = "w = 0" if getattr(ranker, "zero_is_optimal_", False) else ""
                print(
                    f"    {label:16} gap {outcome.gap:7.1e} (asked {tol:.0e})  {outcome.iterations:3} rounds"
                    f"  {zero:5}  ratio {ratio:6.2f}  to LinearSVC {used / rival:6.2f}{mark}",
                    flush=True,
                )


def growth(tally, title, make, rankers):
    """Print time and memory as the rows double from 10^4 to 10^6."""
    print(f"\ngrowth: {title}, 50 features, C = 1, gap 1e-6")
    for label, ranker in rankers(1.0, 1e-6):
        ranker.fit(*make(SIZES[0]))
        times = [seconds(ranker, *make(n)) for n in SIZES]
        exponent = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        what = f"growth of {label}, {title}: exponent {exponent:.2f}, peak {peak:.2f} GB"
        mark = tally.add(exponent <= MAX_EXPONENT and peak <= MAX_GIGABYTES, what)
        print(
            f"  {label:16} {times[0]:.3f} s at 10^4, {times[-1]:.2f} s at 10^6, exponent {exponent:.2f},"
            f" peak {peak:.2f} GB{mark}",
            flush=True,
        )
