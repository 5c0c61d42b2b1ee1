"""Everything about the push family in one go: what `make bench-push` runs; data from TOPRANK_DATA.

Growth and memory, then every ranker beside LogisticRegression and LinearSVC on each data set, RankSVM on
separable data, Agarwal's algorithm, the published bar. At the end it counts what is within its limit, names
what is not, and then exits with status 1.
"""

import sys
import time
import warnings

from threadpoolctl import threadpool_limits

import bench_push_at_top as at_top
import bench_push_pairwise as pairwise
from bench_push_common import SETS, Tally, in_child, load, ratios


def rankers(C, tol):
    yield from pairwise.rankers(C, tol)
    yield from at_top.rankers(C, tol)


def main():
    warnings.simplefilter("ignore")
    tally, start = Tally(), time.monotonic()
    for part in (pairwise.pairwise_growth, at_top.at_top_growth):
        within, outside = in_child(part)
        tally.within += within
        tally.outside += outside
    for name in (*SETS, "hashed"):
        X, y = load(name)
        ratios(tally, name, X, y, rankers)
        if name == "hashed":
            pairwise.separated(tally, X, y)
    at_top.projection(tally)
    at_top.published(tally)
    print(f"\n{(time.monotonic() - start) / 60:.0f} minutes")
    return tally.report()


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
