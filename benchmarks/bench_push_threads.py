"""Fits and scores with the threads that are chosen beside any other number, quiet and beside a busy process.

What is chosen has to be within 1.2 times the best. Wall time, best of many, in turns; data from
TOPRANK_DATA. Anything else that runs on the machine spoils the figures.
"""

import multiprocessing
import os
import sys
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from bench_push_common import Tally, load
from toprank import InfinitePush, PNormPush, RankSVM, TopEnsemble, TopPush
from toprank.control import threads
from toprank.ensemble.members import default_members

LIMIT = 1.2
REPEATS, FEWEST, MOST_SECONDS = 30, 3, 4.0
"""Rounds of fits; a number of threads that has taken so many seconds is left out after the fewest. Short
fits need many: beside a busy process the same fit takes .1 s or .25, as it is let."""
PAUSE = 0.05
"""Seconds before each fit: the threads of the one before go on looking for work for a while."""
RANKERS = {"TopPush": TopPush(10.0), "InfinitePush": InfinitePush(10.0), "RankSVM": RankSVM(10.0)}
WIDE = {"PNormPush": PNormPush(C=10.0), "TopPush": TopPush(10.0)}
OTHERS = [(name, member) for name, member in default_members("dcg") if name != "direct"]
SHORT = {"TopEnsemble of others": TopEnsemble(OTHERS, random_state=0)}
"""Other packages' estimators, which are fitted and asked for scores; our own member starts no threads."""


def dense(n, d):
    """Rows of normals, a tenth of them positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d) / np.sqrt(d) + 0.5 * rng.normal(size=n)
    return X, (scores > np.quantile(scores, 0.9)).astype(int)


def burn():
    """Keep one processor busy."""
    while True:
        np.ones((300, 300)) @ np.ones((300, 300))


def timed(ranker, X, y, count):
    """Seconds of a fit and its scores with so many threads; None for as many as it chooses."""
    wanted, few = threads.wanted_threads, threads.FEW_CELLS
    if count is not None:
        threads.wanted_threads, threads.FEW_CELLS = lambda side, processors: None, 0
    try:
        with threadpool_limits(count):
            start = time.perf_counter()
            ranker.fit(X, y).decision_function(X)
            return time.perf_counter() - start
    finally:
        threads.wanted_threads, threads.FEW_CELLS = wanted, few


def measure(tally, title, ranker, X, y):
    """The chosen number of threads beside 1, 2, 4, ... up to all, in turns: the best of each."""
    ranker.fit(X, y)
    counts = [None, *sorted({*(2**k for k in range(10) if 2**k < os.cpu_count()), os.cpu_count()})]
    best, spent = dict.fromkeys(counts, np.inf), dict.fromkeys(counts, 0.0)
    for turn in range(REPEATS):
        for count in counts:
            if turn < FEWEST or spent[count] < MOST_SECONDS:
                time.sleep(PAUSE)
                taken = timed(ranker, X, y, count)
                best[count], spent[count] = min(best[count], taken), spent[count] + taken
    chosen = best.pop(None)
    ratio = chosen / min(best.values())
    rest = "".join(f"{count:>4}: {taken:.3f}" for count, taken in best.items())
    print(f"{title:42s}{chosen:8.3f}{ratio:7.2f}   {rest}{tally.add(ratio <= LIMIT, title)}", flush=True)


def main():
    warnings.simplefilter("ignore")
    tally = Tally()
    sets = {
        "w8a": (RANKERS, *load("w8a")),
        "20,000 x 300": (WIDE, *dense(20_000, 300)),
        "700 x 8": (SHORT, *dense(700, 8)),
    }
    print(f"{'':42s}{'chosen':>8}{'ratio':>7}   seconds by threads")
    for company in ("quiet", "beside a busy process"):
        busy = multiprocessing.get_context("spawn").Process(target=burn, daemon=True)
        if company != "quiet":
            busy.start()
        for name, (rankers, X, y) in sets.items():
            for kind, ranker in rankers.items():
                measure(tally, f"{kind}, {name}, {company}", ranker, X, y)
        if company != "quiet":
            busy.terminate()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
