"""Many small hostile problems, searched by every method and compared with rational enumeration.

    python tests/nightly_exact.py --problems 100000 --processes 2
    python tests/nightly_exact.py --methods gpu --processes 12        # where there is a graphics card

A certificate is wrong when its value is not what its coefficients attain in exact arithmetic, when some
coefficients reach more than its bound, or when it says optimal and is not; so is an error. Prints how many
problems were run, in what time, how many certificates were wrong, stated a margin, or left something open;
exits with 1 if any was wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing import get_context

import numpy as np

import exact_oracles as oracles
import hostile_problems as hostile
from toprank.control import Run, Status
from toprank.exact import RankingProblem
from toprank.exact.angles.listed import why_not as not_by_angles
from toprank.exact.gpu.search import why_not
from toprank.exact.rows.listed import why_not as not_by_rows
from toprank.exact.search.driver import search

TOLERANCE = 1e-9
BLOCK = 50
METHODS = ("boxes", "cells", "slices", "rows", "angles")
SECONDS = 20.0
"""A search that has not ended by then is counted as such; its claims must hold all the same."""
ROWS_SECONDS = 2.0
"""The same by rows, which never tell exact ties apart: there the bound stays open however long it takes."""


def as_problem(case: hostile.Hostile) -> RankingProblem:
    """The package's own view of a problem."""
    if case.pairs is not None:
        return RankingProblem.from_preferences(case.X, case.pairs, case.pair_weight, penalty=case.penalty)
    statistic = case.weights if case.statistic is None else case.statistic
    return RankingProblem.from_labels(case.X, case.y, statistic, qid=case.qid, penalty=case.penalty)


def attained(case: hostile.Hostile, coef) -> float:
    """Value of coefficients, scores compared in fractions."""
    exact = [Fraction(c) for c in coef]
    scores = [sum(Fraction(v) * c for v, c in zip(row, exact, strict=True)) for row in case.X.tolist()]
    price = case.penalty * sum(c != 0 for c in coef)
    if case.pairs is not None:
        won = [scores[i] > scores[k] for i, k in case.pairs.tolist()]
        return oracles.pair_value(won, case.pair_weight) - price
    groups = np.zeros(len(scores), dtype=int) if case.qid is None else case.qid
    total = 0.0
    for q in np.unique(groups):
        upper = [scores[i] for i in np.flatnonzero((groups == q) & (case.y == 1))]
        lower = [scores[i] for i in np.flatnonzero((groups == q) & (case.y == 0))]
        if upper and lower:
            lost = sorted(sum(low >= up for low in lower) for up in upper)
            total += hostile.value_of_lost(case, lost, len(lower))
    return total - price


def complaint(case: hostile.Hostile, best: float, found) -> str | None:
    """What is wrong with a certificate, if anything."""
    slack = TOLERANCE * max(1.0, abs(best))
    value = attained(case, found.coef)
    if found.value > value + slack or (found.margin == 0 and found.value < value - slack):
        return f"value {found.value} stated, {value} attained"
    if found.margin == 0 and found.bound < best - slack:
        return f"bound {found.bound}, but {best} exists"
    if found.margin == 0 and found.status is Status.OPTIMAL and value < best - slack:
        return f"{value} called optimal, but {best} exists"
    if found.bound < found.value - slack:
        return f"bound {found.bound} below the value {found.value}"
    return None


def check(seeds: range, methods: tuple[str, ...]) -> tuple[Counter, list[str]]:
    """Outcomes of some problems, and what was wrong."""
    counts: Counter = Counter()
    wrong = []
    for seed in seeds:
        # Every other one with a statistic that is no sum of position weights.
        case = (hostile.counted_problem if seed // 10 % 2 else hostile.hostile_problem)(seed)
        best = hostile.best_value(case)
        for method in methods:
            asked = {"method": "slices", "device": "gpu"} if method == "gpu" else {"method": method}
            if method == "gpu" and why_not(as_problem(case).arrays()) is not None:
                counts[method, "not for a card"] += 1
                continue
            if method == "rows" and not_by_rows(as_problem(case)) is not None:
                counts[method, "not one list"] += 1
                continue
            if method == "angles" and not_by_angles(as_problem(case)) is not None:
                counts[method, "not lists of two features"] += 1
                continue
            try:
                with Run(rng=0, time_limit=ROWS_SECONDS if method == "rows" else SECONDS) as run:
                    found = search(as_problem(case), run, **asked)
            except Exception as error:
                wrong.append(f"seed {seed}, {case.kind}, {method}: {error!r}")
                continue
            names = {Status.OPTIMAL: "optimal", Status.TIME_LIMIT: "not ended in time"}
            outcome = names.get(found.status, "left something open")
            if found.margin > 0:
                outcome = f"{outcome}, with a margin"
            counts[method, outcome] += 1
            problem = complaint(case, best, found)
            if problem is not None:
                wrong.append(f"seed {seed}, {case.kind}, {method}: {problem}")
    return counts, wrong


def main() -> int:
    """Run the problems asked for, block after block."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args()
    last = options.first + options.problems
    blocks = [range(a, min(a + BLOCK, last)) for a in range(options.first, last, BLOCK)]
    counts: Counter = Counter()
    wrong: list[str] = []
    done, begin = 0, time.perf_counter()
    work = partial(check, methods=tuple(options.methods.split(",")))
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for block, (part, complaints) in zip(blocks, pool.map(work, blocks), strict=True):
            counts += part
            wrong += complaints
            done += len(block)
            for line in complaints:
                print("WRONG", line, flush=True)
            if done % 1000 < BLOCK:
                print(f"{done} problems, {time.perf_counter() - begin:.0f} s, {len(wrong)} wrong", flush=True)
            if time.perf_counter() - begin > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
    print(f"{done} problems in {time.perf_counter() - begin:.0f} s; wrong certificates: {len(wrong)}")
    for (method, outcome), count in sorted(counts.items()):
        print(f"{method:6s} {count:8d} {outcome}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
