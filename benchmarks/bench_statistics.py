"""Time of every statistic on a million scores, and its ratio to scikit-learn's own function in the same run.

    python benchmarks/bench_statistics.py            # all statistics, n = 1,000,000
    python benchmarks/bench_statistics.py 100000     # another size

Times are the best of a few runs after one warm-up. A ratio below 1 means faster than scikit-learn. It exits
with status 1 where a ratio is above 1.
"""

import sys
import time

import numpy as np
from sklearn import metrics

from toprank.statistics import get, names
from toprank.statistics.base import registered

# Statistics scikit-learn has too, with the tie policy that gives the same value where there are ties.
RIVALS = {
    "auc": ("mean", lambda y, scores: metrics.roc_auc_score(y, scores)),
    "partial_auc_fpr(max_fpr=0.1,standardize=true)": (
        "mean",
        lambda y, scores: metrics.roc_auc_score(y, scores, max_fpr=0.1),
    ),
    "average_precision": ("worst", lambda y, scores: metrics.average_precision_score(y, scores)),
    "dcg": ("mean", lambda y, scores: metrics.dcg_score(y[None], scores[None])),
    "dcg@10": ("mean", lambda y, scores: metrics.dcg_score(y[None], scores[None], k=10)),
    "ndcg": ("mean", lambda y, scores: metrics.ndcg_score(y[None], scores[None])),
    "ndcg@10": ("mean", lambda y, scores: metrics.ndcg_score(y[None], scores[None], k=10)),
}
GRADED = ("dcg", "dcg@10", "ndcg", "ndcg@10")


def best_time(function, *arguments, repeats=3, **options):
    """Shortest of a few runs, in milliseconds, after one that is not counted."""
    function(*arguments, **options)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments, **options)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def lists(n):
    """Return (name, y, scores): rare and common positives, with and without ties, and graded labels."""
    rng = np.random.default_rng(0)
    for share in (0.5, 0.01):
        y = (rng.random(n) < share).astype(np.int64)
        scores = rng.normal(size=n) + y
        yield f"{share:.0%} positive", y, scores
        yield f"{share:.0%} positive, ties", y, np.round(scores, 2)
    grades = rng.integers(0, 5, n)
    scores = rng.normal(size=n) + grades
    yield "graded", grades, scores
    yield "graded, ties", grades, np.round(scores, 2)


def compare(n):
    """Print the table of ratios; return the largest."""
    print(f"{'statistic':48s}{'list':24s}{'ours, ms':>10s}{'sklearn, ms':>13s}{'ratio':>8s}")
    worst = 0.0
    for title, y, scores in lists(n):
        for spec in GRADED if title.startswith("graded") else RIVALS:
            ties, rival = RIVALS[spec]
            ours = best_time(get(spec), y, scores, ties=ties)
            theirs = best_time(rival, y, scores)
            worst = max(worst, ours / theirs)
            print(f"{spec:48s}{title:24s}{ours:10.1f}{theirs:13.1f}{ours / theirs:8.2f}", flush=True)
    return worst


def time_all(n):
    """Print the time of every registered statistic under each tie policy."""
    _, y, scores = next(lists(n))
    print(f"\n{'statistic':48s}{'worst, ms':>12s}{'mean, ms':>12s}{'best, ms':>12s}")
    for name in names():
        spec = (registered()[name].examples or (name,))[0]
        times = [best_time(get(spec), y, scores, ties=ties) for ties in ("worst", "mean", "best")]
        print(f"{spec:48s}" + "".join(f"{t:12.1f}" for t in times), flush=True)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    worst = compare(n)
    time_all(n)
    print(f"\nlargest ratio to scikit-learn: {worst:.2f}")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
