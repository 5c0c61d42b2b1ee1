"""Time of every statistic on a million scores, and its ratio to other packages' functions in the same run.

    python benchmarks/bench_statistics.py            # all statistics, n = 1,000,000
    python benchmarks/bench_statistics.py 100000     # another size

One list beside scikit-learn and scipy; many queries beside LightGBM, trec_eval and ranx, each skipped, with
the reason, where it is not installed (extra `bench`). The work is the same: the same labels and scores in
memory, brought into each package's own format before the clock starts, one thread each, values that agree.
Times are the best of a few runs in turn after one warm-up, in processor time. A ratio below 1 means faster
than the other. It exits with status 1 where a ratio is above 1.
"""

import math
import sys
import time
from functools import partial

import numpy as np
from scipy import stats
from sklearn import metrics

from toprank.statistics import get, names, pair_counts
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
    return min(one_time(lambda: function(*arguments, **options)) for _ in range(repeats))


def one_time(call):
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def in_turn(ours, theirs, repeats=5):
    """Shortest times of two calls made by turns, so that a busy machine slows both."""
    ours(), theirs()
    times = [(one_time(ours), one_time(theirs)) for _ in range(repeats)]
    return min(t for t, _ in times), min(t for _, t in times)


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


def compare_kendall(n):
    """Kendall's tau beside scipy's; return the largest ratio."""
    print(f"\n{'statistic':48s}{'list':24s}{'ours, ms':>10s}{'scipy, ms':>13s}{'ratio':>8s}")
    rng = np.random.default_rng(1)
    real, other = rng.normal(size=n), rng.normal(size=n)
    cases = {
        "unrelated": (real, other),
        "related": (real, real + 0.1 * other),
        "50 levels, ties": (rng.integers(0, 50, n), np.round(other, 2)),
        "two levels": (rng.integers(0, 2, n), other),
    }
    worst = 0.0
    for title, (y, scores) in cases.items():
        check(pair_counts(y, scores).tau_b, stats.kendalltau(y, scores).statistic, title)
        ours, theirs = in_turn(partial(get("kendall_tau"), y, scores), partial(stats.kendalltau, y, scores))
        worst = max(worst, ours / theirs)
        print(f"{'kendall_tau':48s}{title:24s}{ours:10.1f}{theirs:13.1f}{ours / theirs:8.2f}", flush=True)
    return worst


def check(ours, theirs, what):
    if not math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9):
        sys.exit(f"{what}: {ours} here, {theirs} there: not the same work")


# Statistics over queries that others have too: their names, and whether labels have two levels only.
OVER_QUERIES = {
    "ndcg@10": ({"LightGBM": "ndcg@10", "trec_eval": "ndcg_cut_10", "ranx": "ndcg@10"}, False),
    "ndcg": ({"trec_eval": "ndcg", "ranx": "ndcg"}, False),
    "average_precision": ({"trec_eval": "map", "ranx": "map"}, True),
    "reciprocal_rank": ({"trec_eval": "recip_rank", "ranx": "mrr"}, True),
    "precision@10": ({"trec_eval": "P_10", "ranx": "precision@10"}, True),
    "recall@10": ({"trec_eval": "recall_10", "ranx": "recall@10"}, True),
}


def lightgbm_metric(y, scores, qid, measure):
    """LightGBM's metric of scores given as the start of a model."""
    import lightgbm

    sizes = np.unique(qid, return_counts=True)[1]
    rows = lightgbm.Dataset(np.zeros((y.size, 1)), y, group=sizes, init_score=scores, params={"verbose": -1})
    name, _, at = measure.partition("@")
    options = {"objective": "lambdarank", "metric": name, "eval_at": [int(at)], "num_threads": 1}
    gains = {"label_gain": list(range(int(y.max()) + 1)), "verbose": -1}
    booster = lightgbm.Booster({**options, **gains}, rows)
    return lambda: booster.eval_train()[0][2]


def trec_eval_metric(y, scores, qid, measure):
    import pytrec_eval

    judged, run = nested(qid, y.tolist()), nested(qid, scores.tolist())
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {measure.replace("_cut_", "_cut.") if "cut" in measure else measure.replace("_10", ".10")}
    )
    return lambda: float(np.mean([found[measure] for found in evaluator.evaluate(run).values()]))


def ranx_metric(y, scores, qid, measure):
    import ranx

    judged = ranx.Qrels.from_dict(nested(qid, y.tolist()))
    run = ranx.Run.from_dict(nested(qid, scores.tolist()))
    return lambda: float(ranx.evaluate(judged, run, measure, make_comparable=False, threads=1))


def nested(qid, values):
    """The form trec_eval and ranx read: query to document to value."""
    result = {}
    for row, (query, value) in enumerate(zip(qid.tolist(), values, strict=True)):
        result.setdefault(f"q{query:06d}", {})[f"d{row}"] = value
    return result


PEERS = {"LightGBM": lightgbm_metric, "trec_eval": trec_eval_metric, "ranx": ranx_metric}


def compare_queries(queries=20_000, size=50):
    """Statistics over many queries; return the largest ratio."""
    rng = np.random.default_rng(2)
    grades = rng.integers(0, 5, queries * size)
    scores = rng.normal(size=grades.size) + 0.3 * grades
    qid = np.repeat(np.arange(queries), size)
    print(f"\n{queries:,} queries of {size} rows")
    print(f"{'statistic':32s}{'beside':16s}{'ours, ms':>10s}{'theirs, ms':>13s}{'ratio':>8s}")
    worst = 0.0
    for spec, (measures, binary) in OVER_QUERIES.items():
        y = (grades > 2).astype(np.int64) if binary else grades
        for peer, measure in measures.items():
            try:
                theirs = PEERS[peer](y, scores, qid, measure)
            except ImportError as error:
                print(f"{spec:32s}{peer:16s} skipped: {error}")
                continue
            value = get(spec)(y, scores, qid=qid)
            check(value, theirs(), f"{spec} beside {peer}")
            ours_ms, theirs_ms = in_turn(partial(get(spec), y, scores, qid=qid), theirs)
            worst = max(worst, ours_ms / theirs_ms)
            print(
                f"{spec:32s}{peer:16s}{ours_ms:10.1f}{theirs_ms:13.1f}{ours_ms / theirs_ms:8.2f}", flush=True
            )
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
    largest = {
        "scikit-learn, one list": compare(n),
        "scipy, Kendall's tau": compare_kendall(n),
        "LightGBM, trec_eval and ranx, many queries": compare_queries(),
    }
    time_all(n)
    print()
    for beside, ratio in largest.items():
        print(f"largest ratio beside {beside}: {ratio:.2f}")
    return int(max(largest.values()) > 1)


if __name__ == "__main__":
    sys.exit(main())
