"""The papers' Subrank program, our program and the exact search beside each other, same data, same time.

    python benchmarks/bench_mip.py [--seconds 60] [--backends highs,scip] [--datasets haberman,pima]

Needs the folder of data sets in TOPRANK_DATA. Training half by seed 0, standardised, top K by logistic
regression, log2-DCG, margin 1e-3 in units of the scaled features. All methods start from logistic
regression; our program and the search first climb from there (local search), the papers' does not.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank.control import Run
from toprank.datasets import load
from toprank.exact.mip import backends
from toprank.exact.mip.compact import Strengthening, compact_program
from toprank.exact.mip.solve import solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.search.driver import search
from toprank.exact.search.methods import compile_kernels

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


def one_class(name: str, k: int) -> bool:
    return len(np.unique(top_of_half(name, k)[1])) < 2


def solve(name: str, k: int, method: str, backend: str, seconds: float) -> dict[str, object]:
    """One line of the table: what a method has after the same number of seconds on one thread."""
    X, y, start = top_of_half(name, k)
    problem = RankingProblem.from_labels(X, y, "dcg", margin=MARGIN)
    with Run(time_limit=seconds, rng=0) as run:
        if method == "search":
            found = search(problem, run, starts=[start], n_jobs=1)
        else:
            found = solve_program(problem, run, formulation=method, backend=backend, start=start, threads=1)
    shape = f"{X.shape[1]} features, {int(y.sum())} positives"
    return {"set": f"{name}, K = {k}: {shape}", "method": method, "backend": backend, "found": found}


def line(record: dict[str, object]) -> str:
    c = record["found"]
    label = f"{record['method']} on {record['backend']}" if record["backend"] else record["method"]
    return (
        f"  {label:28s} value {c.value:9.4f}  bound {c.bound:9.4f}  gap {c.gap:8.2%}"
        f"  {c.status.value:12s} {c.seconds:6.1f} s  {c.nodes:>9} nodes"
    )


def compare(records: list[dict[str, object]]) -> None:
    """Say on how many rows our program leaves a smaller gap than the papers'."""
    gaps = {(r["set"], r["backend"], r["method"]): r["found"].gap for r in records}
    rows = [key[:2] for key in gaps if key[2] == "mip"]
    smaller = [row for row in rows if gaps[(*row, "mip")] < gaps[(*row, "mip-subrank")]]
    print(f"our program's gap is smaller than Subrank's on {len(smaller)} of {len(rows)} rows")
    for row in rows:
        if row not in smaller:
            ours, theirs = gaps[(*row, "mip")], gaps[(*row, "mip-subrank")]
            print(f"  not smaller: {row[0]} on {row[1]}: ours {ours:.2%}, Subrank {theirs:.2%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--backends", default="highs,scip")
    parser.add_argument("--datasets", default="haberman,travelmode,pima,uis")
    parser.add_argument("--sizes", default="30,50")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, one thread each")
    options = parser.parse_args()
    usable = [name for name in options.backends.split(",") if backends.available()[name] is None]
    methods = [*product(("mip-subrank", "mip"), usable), ("search", "")]
    lists = [(name, int(k)) for name, k in product(options.datasets.split(","), options.sizes.split(","))]
    for name, k in [pair for pair in lists if one_class(*pair)]:
        print(f"{name}, K = {k}: all {k} rows are of one class, there is nothing to rank")
        lists.remove((name, k))
    cells = [(*pair, *method, options.seconds) for pair in lists for method in methods]
    for method in ("boxes", "cells"):
        compile_kernels(method)  # cached on disk for every worker
    print(f"{options.seconds:g} s and one thread each, {options.jobs} at a time", flush=True)
    records = []
    for record in Parallel(n_jobs=options.jobs, return_as="generator")(delayed(solve)(*c) for c in cells):
        if not records or records[-1]["set"] != record["set"]:
            print(record["set"])
        print(line(record), flush=True)
        records.append(record)
    compare(records)
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
