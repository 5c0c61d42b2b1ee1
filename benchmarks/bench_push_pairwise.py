"""RankSVM and P-Norm Push beside scikit-learn: time as a ratio to LogisticRegression, growth, memory.

    python benchmarks/bench_push_pairwise.py                  # all parts; data from TOPRANK_DATA
    python benchmarks/bench_push_pairwise.py ijcnn1 skin      # the ratios on some data sets
    python benchmarks/bench_push_pairwise.py hashed growth    # 20,000 sparse features; growth and memory

Data, clock and limits: bench_push_common.py. It exits with status 1 where a limit is exceeded.
"""

import sys
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from bench_push_common import SETS, Tally, growth, load, ratios
from toprank.rankers.p_norm_push import PNormPush
from toprank.rankers.rank_svm import RankSVM

SEPARABLE_C = 1e6
"""With so large a C the hashed words are separated, which is hard on a pairwise hinge."""


def rankers(C, tol):
    yield "RankSVM hinge", RankSVM(C, tol=tol)
    yield "RankSVM squared", RankSVM(C, loss="squared_hinge", tol=tol)
    for p in (1, 4, 16, 64):
        yield f"PNormPush p={p}", PNormPush(p, C=C, tol=tol)


def hinge_only(C, tol):
    yield "RankSVM hinge", RankSVM(C, tol=tol)


def made(n, n_features=50):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, n_features))
    scores = X @ rng.normal(size=n_features)
    return X, (scores + scores.std() * rng.normal(size=n) > np.quantile(scores, 0.9)).astype(int)


def pairwise_growth(tally):
    """Time and memory of the pairwise rankers as the rows double."""
    growth(tally, "made data", made, rankers)


def separated(tally, X, y):
    """RankSVM where the classes are separable and C hardly limits the coefficients."""
    ratios(tally, "hashed, separable", X, y, hinge_only, Cs=(SEPARABLE_C,))


def main(parts):
    warnings.simplefilter("ignore")
    tally = Tally()
    # Memory is a high-water mark of the process: growth goes first.
    for part in sorted(parts, key=lambda name: name != "growth"):
        if part == "growth":
            pairwise_growth(tally)
            continue
        X, y = load(part)
        ratios(tally, part, X, y, rankers)
        if part == "hashed":
            separated(tally, X, y)
    return tally.report()


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main(sys.argv[1:] or ["growth", *SETS, "hashed"]))
