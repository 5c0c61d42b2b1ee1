"""The papers' Subrank program, our program and the exact search beside each other, same data, same time.

    python benchmarks/bench_mip.py [--seconds 60] [--backends highs,scip] [--datasets haberman,pima]

Needs the folder of data sets in TOPRANK_DATA. Training half by seed 0, standardised, top K by logistic
regression, log2-DCG, margin 1e-3 in units of the scaled features.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank.control import Run
from toprank.datasets import load
from toprank.exact import backends
from toprank.exact.compact import Strengthening, compact_program
from toprank.exact.mip import solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.search import search

MARGIN = 1e-3
IMPROVEMENTS = ("own_constants", "merge_equal", "fix_decided")


def top_of_half(name: str, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The top k rows of the training half by logistic regression, their labels, and its coefficients."""
    data = load(name)
    rows = np.random.default_rng(seed).permutation(len(data.y))[: len(data.y) // 2]
    X, y = StandardScaler().fit_transform(data.X[rows]), data.y[rows]
    base = LogisticRegression(C=1e4, max_iter=10_000).fit(X, y)
    best = np.argsort(-base.decision_function(X), kind="stable")[:k]
    return X[best], y[best], base.coef_.ravel()


def line(label: str, certificate: object) -> None:
    c = certificate
    print(
        f"  {label:28s} value {c.value:9.4f}  bound {c.bound:9.4f}  gap {c.gap:8.2%}"
        f"  {c.status.value:12s} {c.seconds:6.1f} s  {c.nodes:>9} nodes",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--backends", default="highs,scip")
    parser.add_argument("--datasets", default="haberman,travelmode,pima,uis")
    parser.add_argument("--sizes", default="30,50")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    usable = [name for name in options.backends.split(",") if backends.available()[name] is None]
    for name in options.datasets.split(","):
        for k in map(int, options.sizes.split(",")):
            X, y, start = top_of_half(name, k)
            problem = RankingProblem.from_labels(X, y, "dcg", margin=MARGIN)
            shape = f"{X.shape[1]} features, {int(y.sum())} positives"
            print(f"{name}, K = {k}: {shape}, {options.seconds:g} s each")
            for formulation in ("mip-subrank", "mip"):
                for backend in usable:
                    with Run(time_limit=options.seconds, rng=0) as run:
                        found = solve_program(
                            problem,
                            run,
                            formulation=formulation,
                            backend=backend,
                            start=start,
                            threads=options.threads,
                        )
                    line(f"{formulation} on {backend}", found)
            with Run(time_limit=options.seconds, rng=0) as run:
                line("search", search(problem, run, starts=[start], n_jobs=options.threads))
    measure_improvements(options.seconds)


def measure_improvements(seconds: float) -> None:
    """Each improvement of our program left out in turn, on Haberman's top 30."""
    X, y, _ = top_of_half("haberman", 30)
    problem = RankingProblem.from_labels(X, y, "dcg", margin=MARGIN)
    print(f"haberman, K = 30, our program on HiGHS with one improvement left out, {seconds:g} s each")
    for dropped in (None, *IMPROVEMENTS):
        options = Strengthening() if dropped is None else Strengthening(**{dropped: False})
        program = compact_program(problem, strengthening=options)
        with Run(time_limit=seconds, rng=0) as run:
            raw = backends.get("highs").solve(program, None, run, threads=1)
            label = f"without {dropped}" if dropped else "all"
            reached = f"value {raw.value:9.4f}  bound {raw.bound:9.4f}"
            print(f"  {label:28s} {reached}  {run.seconds:6.1f} s  {raw.nodes} nodes")


if __name__ == "__main__":
    main()
