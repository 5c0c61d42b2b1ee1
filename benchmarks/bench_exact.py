"""What the exact search proves, and how fast: problem, value, bound, nodes, seconds, memory.

    python benchmarks/bench_exact.py                     # the proofs, a few minutes
    python benchmarks/bench_exact.py --only pima --seeds 5
    python benchmarks/bench_exact.py --gaps --seconds 600   # gaps where no proof is expected, beside HiGHS

Data sets come from the folder TOPRANK_DATA. Protocol: training half by the seed, standardised, top K by
LogisticRegression(C=1e4), log2-DCG. The kernels are compiled before the clock starts, and that time is shown.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank.control import Run
from toprank.datasets import gaussians, load
from toprank.exact.mip import solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.search import search

Task = tuple[str, RankingProblem, np.ndarray]


def half(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training half, standardised, and the coefficients of logistic regression on it."""
    rows = np.random.default_rng(seed).permutation(len(y))[: len(y) // 2]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows]
    return X, y, LogisticRegression(C=1e4, max_iter=10_000).fit(X, y).coef_.ravel()


def task(name: str, X: np.ndarray, y: np.ndarray, start: np.ndarray, k: int | None) -> Task:
    """A problem over the top k rows by the start coefficients, or over all."""
    best = np.argsort(-(X @ start), kind="stable")[:k]
    label = f"{name}, {'full list' if k is None else f'K = {k}'}, {X.shape[1]} features"
    return label, RankingProblem.from_labels(X[best], y[best], "dcg"), start


def synthetic(
    n: int, d: int, seed: int = 0, share: float = 0.35
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Continuous features and noisy linear labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 1.5 * rng.normal(size=n) * np.sqrt(d)
    y = (score > np.quantile(score, 1 - share)).astype(int)
    return X, y, LogisticRegression(C=1e4).fit(X, y).coef_.ravel()


def dataset(name: str, k: int | None, seed: int) -> Task:
    data = load(name, all_columns=name != "glow500")
    return task(f"{name} seed {seed}", *half(np.asarray(data.X, dtype=float), data.y, seed), k)


def proofs(seeds: int) -> Iterator[Task]:
    """Everything that is expected to be proved."""
    X, y = gaussians()[:2]
    yield task("gaussians", *half(X, y, 0), None)
    yield dataset("haberman", None, 0)
    yield task("two features, n = 10,000, 5 % positives", *synthetic(10_000, 2, share=0.05), None)
    for seed in range(seeds):
        yield dataset("travelmode", 50, seed)
    for k in (50, 100, 150, None):
        yield task("continuous n = 250", *synthetic(250, 5), k)
    yield task("continuous n = 250", *synthetic(250, 6), 100)
    yield task("continuous n = 250", *synthetic(250, 8), 50)
    for seed in range(seeds):
        yield dataset("uis", 50, seed)
        yield dataset("pima", 50, seed)
    yield task("continuous n = 250", *synthetic(250, 10), 50)


def gaps() -> Iterator[Task]:
    """Problems beyond a proof in minutes."""
    for name in ("pima", "uis", "travelmode"):
        for k in (100, 150):
            yield dataset(name, k, 0)
    yield dataset("abalone19", 250, 0)
    for name in ("glow500", "polypharm_500", "nhanes_600"):
        yield dataset(name, 50, 0)


def show(label: str, who: str, certificate: object) -> None:
    c = certificate
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{label:52s} {who:8s} {c.value:9.4f} {c.bound:9.4f} {c.gap:8.3%} {c.status.value:11s}"
        f" {c.nodes:>9d} {c.seconds:7.2f} s {memory:5.0f} MB  {c.method}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of the name of the problems to run")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--gaps", action="store_true")
    parser.add_argument("--highs", action="store_true", help="the papers' Subrank program beside it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--method", default="auto")
    options = parser.parse_args()
    compile_kernels()
    for label, problem, start in gaps() if options.gaps else proofs(options.seeds):
        if options.only not in label:
            continue
        with Run(time_limit=options.seconds, rng=0) as run:
            found = search(problem, run, starts=[start], n_jobs=options.jobs, method=options.method)
        show(label, "search", found)
        if options.highs or options.gaps:
            with Run(time_limit=options.seconds, rng=0) as run:
                program = solve_program(
                    problem, run, formulation="mip-subrank", start=start, threads=options.jobs
                )
            show(label, "HiGHS", program)


def compile_kernels() -> None:
    """Every kernel once, on small problems, so that no clock counts compilation."""
    begin = time.perf_counter()
    for d in (1, 2, 3, 6):
        X, y, start = synthetic(30, d)
        problem = RankingProblem.from_labels(X, y, "dcg")
        for method in ("sweep", "cells"):
            with Run(time_limit=120, rng=0) as run:
                search(problem, run, starts=[start], n_jobs=2, method=method)
    print(f"kernels ready after {time.perf_counter() - begin:.1f} s (compiled once, then read from disk)")


if __name__ == "__main__":
    main()
