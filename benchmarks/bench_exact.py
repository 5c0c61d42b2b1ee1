"""What the exact search proves, and how fast: value, bound, gap, nodes, seconds, peak memory of the process.

Seconds are those of the clock, then those of the processor: on a busy machine only these mean something.

    python benchmarks/bench_exact.py                        # all of it, some hours
    python benchmarks/bench_exact.py --parts proofs,interrupted
    python benchmarks/bench_exact.py --only pima --seeds 1
    python benchmarks/bench_exact.py --parts gaps --seconds 60
    python benchmarks/bench_exact.py --parts longer --seconds 3600 --only uis --margin 1e-4
    python benchmarks/bench_exact.py --parts sets --seconds 120
    python benchmarks/bench_exact.py --parts card --seconds 60
    python benchmarks/bench_exact.py --parts statistics --seconds 300 --seeds 3 --only pima --method boxes

Data sets come from the folder TOPRANK_DATA. Protocol: training half by the seed, standardised, top K by
LogisticRegression(C=1e4), log2-DCG. Every line is a process of its own, so that its memory is its own;
kernels are compiled before the clock starts, and the time that took is shown. Proofs use two threads, the
parts ``longer`` (proofs of minutes to an hour) and ``sets`` (how the search of each data set ends) too. The
part ``statistics`` proves average precision and positives at the top of the same lists, beside DCG, on one
thread each. Where no proof is expected the search and HiGHS on the papers' Subrank program run side by side,
one thread each. The part ``card`` times whole fits on a graphics card, where there is one, from logistic
regression and, at last, from the answer itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank.control import Run
from toprank.datasets import gaussians, load
from toprank.exact.certificate import Certificate
from toprank.exact.climb.local_search import local_search
from toprank.exact.gpu.device import why_no_card
from toprank.exact.mip.solve import solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.search.choice import compile_for
from toprank.exact.search.driver import search
from toprank.exact.search.methods import compile_kernels, make_method
from toprank.exact.slices.search import SliceSearch

TWO_THREADS, ONE_THREAD = 2, 1
SEEDS = 5
PARTS = ("compilation", "proofs", "longer", "sets", "statistics", "interrupted", "speed", "gaps", "card")
STATISTICS = ("dcg", "average_precision", "positives_at_top")
SECONDS_OF_SPEED = 20.0
TURNS_ON_A_CARD = 3


class Task(NamedTuple):
    """A problem and the coefficients of the ranker that made the list."""

    problem: RankingProblem
    start: np.ndarray


class Line(NamedTuple):
    """What one process brought back."""

    certificate: Certificate
    processor_seconds: float
    megabytes: float


# -- problems ---------------------------------------------------------------------------------


def top_rows(X: np.ndarray, y: np.ndarray, start: np.ndarray, k: int | None, statistic: str = "dcg") -> Task:
    """A problem over the top k rows by the start coefficients, or over all."""
    best = np.argsort(-(X @ start), kind="stable")[:k]
    return Task(RankingProblem.from_labels(X[best], y[best], statistic), start)


def half(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training half, standardised, and the coefficients of logistic regression on it."""
    rows = np.random.default_rng(seed).permutation(len(y))[: len(y) // 2]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows]
    return X, y, LogisticRegression(C=1e4, max_iter=10_000).fit(X, y).coef_.ravel()


def synthetic(n: int, d: int, k: int | None, share: float = 0.35) -> Task:
    """Continuous features and noisy linear labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 1.5 * rng.normal(size=n) * np.sqrt(d)
    y = (score > np.quantile(score, 1 - share)).astype(int)
    return top_rows(X, y, LogisticRegression(C=1e4).fit(X, y).coef_.ravel(), k)


def two_clouds() -> Task:
    return top_rows(*half(*gaussians(), 0), None)


def dataset(name: str, k: int | None, seed: int, statistic: str = "dcg") -> Task:
    data = load(name, all_columns=name != "glow500")
    return top_rows(*half(np.asarray(data.X, dtype=float), data.y, seed), k, statistic)


def with_margin(task: Task, margin: float) -> Task:
    """The same list, its pairs won by so much of their length at least."""
    return Task(replace(task.problem, margin=margin), task.start)


def made_with_margin(make: Callable[[], Task], margin: float) -> Task:
    return with_margin(make(), margin)


def proofs(seeds: int) -> dict[str, Callable[[], Task]]:
    """Everything that is expected to be proved."""
    tasks: dict[str, Callable[[], Task]] = {
        "gaussians, full list, 2 features": two_clouds,
        "haberman, full list, 3 features": partial(dataset, "haberman", None, 0),
        "n = 10,000, 5 % positives, 2 features": partial(synthetic, 10_000, 2, None, 0.05),
        "n = 30,000, 5 % positives, 2 features": partial(synthetic, 30_000, 2, None, 0.05),
    }
    for seed in range(seeds):
        tasks[f"travelmode, K = 50, 7 features, seed {seed}"] = partial(dataset, "travelmode", 50, seed)
    for d, sizes in {5: (50, 100, 150, None), 6: (100,), 8: (50,)}.items():
        for k in sizes:
            tasks[f"continuous n = 250, K = {k or 'all'}, {d} features"] = partial(synthetic, 250, d, k)
    for name in ("uis", "pima"):
        for seed in range(seeds):
            tasks[f"{name}, K = 50, 8 features, seed {seed}"] = partial(dataset, name, 50, seed)
    tasks["continuous n = 250, K = 50, 10 features"] = partial(synthetic, 250, 10, 50)
    return tasks


def longer() -> dict[str, Callable[[], Task]]:
    """What a proof takes minutes or an hour for; UIS with a margin."""
    return {f"{name}, K = {k}": partial(dataset, name, k, 0) for name in ("pima", "uis") for k in (100, 150)}


def every_set() -> dict[str, Callable[[], Task]]:
    """The top of each data set of up to twenty thousand rows: so much of it that there are two classes."""
    names = ("pima", "haberman", "boston_chas", "uis", "glow500", "nhanes_600", "polypharm_500")
    sizes = {
        **dict.fromkeys(names, 50),
        "travelmode": 50,
        "mammography": 50,
        "ionosphere": 150,
        "spambase": 200,
        "abalone19": 250,
    }
    return {f"{name}, K = {k}": partial(dataset, name, k, 0) for name, k in sizes.items()}


def side_by_side(seeds: int) -> dict[str, Callable[[], Task]]:
    """The same lists with one statistic after the other."""
    return {
        f"{name}, K = 50, seed {seed}, {statistic}": partial(dataset, name, 50, seed, statistic)
        for name in ("pima", "uis")
        for seed in range(seeds)
        for statistic in STATISTICS
    }


def beyond() -> dict[str, Callable[[], Task]]:
    """Problems beyond a proof in minutes."""
    sizes = [(name, k) for name in ("pima", "uis", "travelmode") for k in (100, 150)]
    sizes += [("abalone19", 250), ("glow500", 50), ("polypharm_500", 50), ("nhanes_600", 50)]
    return {f"{name}, K = {k}": partial(dataset, name, k, 0) for name, k in sizes}


def for_a_card(seeds: int) -> dict[str, Callable[[], Task]]:
    """What a graphics card is for: continuous features, or a margin."""
    sizes: dict[tuple[str, float], tuple[int | None, ...]] = {
        ("pima", 0.0): (50, 100, 150),
        ("uis", 1e-4): (50, 100, 150, 200, None),
        ("abalone19", 1e-4): (250,),
    }
    tasks: dict[str, Callable[[], Task]] = {}
    for (name, margin), lengths in sizes.items():
        for k in lengths:
            for seed in range(seeds if k is not None and k < 150 else 1):
                label = f"{name}, K = {k or 'all'}, seed {seed}{', margin 1e-4' if margin else ''}"
                tasks[label] = partial(made_with_margin, partial(dataset, name, k, seed), margin)
    return tasks


# -- processes --------------------------------------------------------------------------------


def by_search(
    make: Callable[[], Task],
    seconds: float,
    threads: int,
    checkpoint: str | None = None,
    method: str = "auto",
) -> Line:
    """Run the search; called in a process of its own."""
    problem, start = make()
    compile_for(problem, method)
    begin = time.process_time()
    with Run(time_limit=seconds, rng=0) as run:
        found = search(problem, run, starts=[start], n_jobs=threads, checkpoint=checkpoint, method=method)
    return _line(found, begin)


def by_highs(make: Callable[[], Task], seconds: float) -> Line:
    """The papers' Subrank program on HiGHS; called in a process of its own."""
    problem, start = make()
    begin = time.process_time()
    with Run(time_limit=seconds, rng=0) as run:
        found = solve_program(problem, run, formulation="mip-subrank", start=start, threads=ONE_THREAD)
    return _line(found, begin)


def _line(found: Certificate, begin: float) -> Line:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Line(found, time.process_time() - begin, most)


def speed_of(make: Callable[[], Task], method: str, threads: int) -> str:
    """Boxes, sweeps and pairs a second, from a good answer on; called in a process of its own."""
    problem, start = make()
    compile_kernels(method)
    with Run(time_limit=5.0, rng=0) as run:
        best = local_search(problem, [problem.scale(start)], run, max_iter=10**6).best.coef
    target = problem.evaluate(problem.unscale(best)) + 1e-9
    made = make_method(method, problem.arrays(), target=target, direction=best, n_jobs=threads)
    begin, wall = time.process_time(), time.perf_counter()
    while not made.done and time.perf_counter() - wall < SECONDS_OF_SPEED:
        made.advance(0.5, target)
    spent, wall = time.process_time() - begin, time.perf_counter() - wall
    nodes = made.nodes
    text = f"{nodes / spent:9,.0f} boxes a second of processor time, {nodes / wall:9,.0f} of the clock"
    if isinstance(made, SliceSearch):
        sweeps, pairs = made.sweeps
        text += f", {sweeps / spent:9,.0f} sweeps and {pairs / spent / 1e6:6.1f} million pairs"
    return f"{text}; {spent:6.1f} s{', done' if made.done else ''}"


def on_a_card(make: Callable[[], Task], seconds: float) -> list[Line]:
    """The same search some times over: the first one starts the card, the last one has the answer."""
    problem, start = make()
    lines: list[Line] = []
    for turn in range(TURNS_ON_A_CARD):
        first = lines[-1].certificate.coef if turn == TURNS_ON_A_CARD - 1 else start
        begin = time.process_time()
        with Run(time_limit=seconds, rng=0) as run:
            found = search(problem, run, starts=[first], n_jobs=-1, device="gpu")
        lines.append(_line(found, begin))
    return lines


def processes(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), max_tasks_per_child=1)


def show(label: str, who: str, line: Line) -> None:
    c = line.certificate
    times = [seconds for seconds, value, _ in c.history if value >= c.value]
    found = (
        f"{min(times):6.2f} s" if times else "       -"
    )  # a solver's own count may stay below the true value
    print(
        f"{label:46s} {who:7s} {c.value:9.4f} {c.bound:9.4f} {c.gap:8.3%} {c.status.value:11s}"
        f" {c.nodes:>9d} {c.seconds:7.2f} s {line.processor_seconds:7.2f} s (found {found})"
        f" {line.megabytes:4.0f} MB  {c.method}",
        flush=True,
    )


# -- parts ------------------------------------------------------------------------------------


def compile_all(environment: dict[str, str]) -> float:
    """Seconds of a process that compiles all kernels, or reads them from the cache."""
    work = "from toprank.exact.search.methods import METHODS, compile_kernels as c; [c(m) for m in METHODS]"
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", work], env=environment, check=True)
    return time.perf_counter() - begin


def show_compilation() -> None:
    """Compile everything into an empty cache, then read it back."""
    with tempfile.TemporaryDirectory() as folder:
        for what in ("compiled", "read from disk"):
            seconds = compile_all({**os.environ, "NUMBA_CACHE_DIR": folder})
            print(f"all kernels {what} in {seconds:.1f} s, Python's start included", flush=True)


def show_proofs(tasks: dict[str, Callable[[], Task]], options: argparse.Namespace, threads: int) -> None:
    for label, make in tasks.items():
        if options.only in label:
            with processes(1) as pool:
                wider = partial(made_with_margin, make, options.margin)
                line = pool.submit(by_search, wider, options.seconds, threads, None, options.method)
                show(label, "search", line.result())


def show_interrupted(seconds: float) -> None:
    """Stopped after five seconds, its process gone, and taken up again: the same optimum."""
    make = partial(dataset, "pima", 50, 0)
    with tempfile.TemporaryDirectory() as folder:
        saved = str(Path(folder) / "search.checkpoint")
        plans = (
            ("stopped after 5 s", 5.0, saved),
            ("taken up again", seconds, saved),
            ("in one go", seconds, None),
        )
        for label, limit, checkpoint in plans:
            with processes(1) as pool:
                line = pool.submit(by_search, make, limit, TWO_THREADS, checkpoint).result()
            show(f"pima, K = 50, seed 0, {label}", "search", line)


def show_speed(only: str) -> None:
    """The sweep in slices beside the sorted one, on one thread and on two."""
    for name, k in (("pima", 50), ("pima", 100), ("uis", 100)):
        if only in name:
            for method in ("boxes", "slices"):
                for threads in (ONE_THREAD, TWO_THREADS):
                    with processes(1) as pool:
                        make = partial(dataset, name, k, 0)
                        text = pool.submit(speed_of, make, method, threads).result()
                    print(f"{name}, K = {k}, {method}, {threads} threads: {text}", flush=True)


def show_gaps(only: str, seconds: float) -> None:
    for label, make in beyond().items():
        if only in label:
            with processes(2) as pool:
                ours = pool.submit(by_search, make, seconds, ONE_THREAD)
                theirs = pool.submit(by_highs, make, seconds)
                show(label, "search", ours.result())
                show(label, "HiGHS", theirs.result())


def show_card(seeds: int, only: str, seconds: float) -> None:
    reason = why_no_card()
    if reason is not None:
        print(f"graphics card: {reason}", flush=True)
        return
    for label, make in for_a_card(seeds).items():
        if only in label:
            *usual, last = on_a_card(make, seconds)
            for line in usual:
                show(label, "card", line)
            show(label, "answer", last)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--only", default="", help="part of the name of the problems to run")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--method", default="auto", help="of proofs: boxes, cells, slices")
    parser.add_argument("--margin", type=float, default=0.0, help="of proofs")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if "compilation" in parts:
        show_compilation()
    compile_all(dict(os.environ))  # so that no line's memory is that of the compiler
    if "proofs" in parts:
        show_proofs(proofs(options.seeds), options, TWO_THREADS)
    if "longer" in parts:
        show_proofs(longer(), options, TWO_THREADS)
    if "sets" in parts:
        show_proofs(every_set(), options, TWO_THREADS)
    if "statistics" in parts:
        show_proofs(side_by_side(options.seeds), options, ONE_THREAD)
    if "interrupted" in parts:
        show_interrupted(options.seconds)
    if "speed" in parts:
        show_speed(options.only)
    if "gaps" in parts:
        show_gaps(options.only, options.seconds)
    if "card" in parts:
        show_card(options.seeds, options.only, options.seconds)


if __name__ == "__main__":
    main()
