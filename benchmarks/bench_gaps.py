"""How the gap closes over time: the search beside HiGHS, SCIP and Gurobi on the papers' Subrank program.

    python benchmarks/bench_gaps.py measure --seconds 180    # adds lines to benchmarks/gaps.json
    python benchmarks/bench_gaps.py draw                     # docs/images/gaps.png from that file

Pima and UIS, K = 100 and 150, seed 0, DCG, by the protocol of `bench_exact.py`, from the coefficients of
logistic regression, one thread each, two processes at a time, all with the same margin, which the programs
cannot do without; Gurobi where its licence is for models of any size. What is there already is not measured
again. Data sets come from the folder TOPRANK_DATA.
"""

from __future__ import annotations

import argparse
import datetime
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench_exact import ONE_THREAD, Task, by_search, dataset, made_with_margin, processes
from toprank.control import Run
from toprank.exact.certificate import Certificate
from toprank.exact.mip import backends
from toprank.exact.mip.solve import solve_program
from toprank.exact.search.choice import compile_for

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "gaps.json"
PICTURE = ROOT / "docs" / "images" / "gaps.png"
MARGIN = 1e-4
NO_BOUND = 1e19
FIRST_SECOND = 0.1
LISTS = [(name, k) for name in ("pima", "uis") for k in (100, 150)]
TITLES = {"pima": "Pima", "uis": "UIS"}
COLOURS = {"search": "tab:blue", "highs": "tab:orange", "scip": "tab:green", "gurobi": "tab:red"}
NAMES = {"search": "toprank", "highs": "HiGHS", "scip": "SCIP", "gurobi": "Gurobi"}
WIDTHS = {"search": 1.8, "highs": 4.0, "scip": 1.8, "gurobi": 1.8}
"""Both programs end with the bound of a perfect list, one curve on the other."""


def task_of(name: str, k: int) -> Task:
    return made_with_margin(partial(dataset, name, k, 0), MARGIN)


def curve(name: str, k: int, who: str, seconds: float) -> dict[str, Any]:
    """Value and bound over time; called in a process of its own."""
    if who == "search":
        compile_for(task_of(name, k).problem, "auto")
        found = by_search(partial(task_of, name, k), seconds, ONE_THREAD).certificate
    else:
        found = by_program(task_of(name, k), who, seconds)
    return {
        "list": name, "k": k, "who": who, "limit": seconds, "margin": MARGIN,
        "date": f"{datetime.date.today()}", "status": found.status.value,
        "value": found.value, "bound": found.bound, "seconds": found.seconds,
        "history": [[round(t, 2), value, bound] for t, value, bound in thinned(found)],
    }  # fmt: skip


def there_to_run() -> list[str]:
    """The search and the solvers that can be had here; Gurobi's licence without a fee is for small models."""
    missing = backends.available()
    return [who for who in NAMES if who == "search" or missing[who] is None]


def by_program(task: Task, backend: str, seconds: float) -> Certificate:
    with Run(time_limit=seconds, rng=0) as run:
        return solve_program(
            task.problem,
            run,
            formulation="mip-subrank",
            start=task.start,
            threads=ONE_THREAD,
            backend=backend,
        )


def thinned(found: Certificate, steps: int = 60) -> list[tuple[float, float, float]]:
    """Where a history stood at so many times, evenly spread by their logarithm, and its end."""
    # A solver has no bound at first, which it writes in its own way.
    history = [point for point in found.history if point[2] < NO_BOUND]
    history.append((found.seconds, found.value, found.bound))
    times = np.geomspace(FIRST_SECOND, max(found.seconds, FIRST_SECOND), steps)
    places = np.searchsorted([point[0] for point in history], times, side="right") - 1
    return [history[i] for i in sorted({*places[places >= 0].tolist(), len(history) - 1})]


def measure(seconds: float) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    there = {(line["list"], line["k"], line["who"]) for line in kept if line["limit"] >= seconds}
    wanted = [(name, k, who) for name, k in LISTS for who in there_to_run() if (name, k, who) not in there]
    with processes(2) as pool:
        for waiting in [pool.submit(curve, *cell, seconds) for cell in wanted]:
            try:
                line = waiting.result()
            except backends.BackendUnavailableError as error:  # a licence for small models only
                print(error, flush=True)
                continue
            kept = [old for old in kept if any(old[key] != line[key] for key in ("list", "k", "who"))] + [
                line
            ]
            kept.sort(key=lambda one: (one["list"], one["k"], one["who"]))
            KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            gap = 1 - line["value"] / line["bound"]
            print(f"{line['list']}, K = {line['k']}, {line['who']}: {line['value']:.4f}, gap {gap:.2%},"
                  f" {line['status']}, {line['seconds']:.1f} s", flush=True)  # fmt: skip


def draw() -> None:
    import matplotlib.pyplot as plt

    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
    for axis, (name, k) in zip(axes.flat, LISTS, strict=True):
        lines = [line for line in kept if (line["list"], line["k"]) == (name, k)]
        # Nothing beats the perfect list, from which the search sets out: some bounds of programs do.
        perfect = max(bound for line in lines if line["who"] == "search" for *_, bound in line["history"])
        for line in lines:
            if line["history"]:
                times = [max(point[0], FIRST_SECOND) for point in line["history"]]
                gaps = [
                    100 * max(0.0, 1 - value / min(bound, perfect)) for _, value, bound in line["history"]
                ]
                who, optimal = line["who"], line["status"] == "optimal"
                axis.step(times, gaps, where="post", color=COLOURS[who], label=NAMES[who], lw=WIDTHS[who])
                if optimal:
                    axis.plot(times[-1:], [0.0], "o", color=COLOURS[who], clip_on=False)
                    axis.annotate(f"proved, {line['seconds']:.0f} s", (times[-1], 0.0), xytext=(-4, 6),
                                  textcoords="offset points", ha="right", fontsize=9)  # fmt: skip
        axis.set(title=f"{TITLES[name]}, K = {k}", xscale="log", ylim=(0, 20))
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("seconds, one thread")
    for axis in axes[:, 0]:
        axis.set_ylabel("gap, % of the bound")
    axes[0, 0].legend(frameon=False)
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "draw"))
    parser.add_argument("--seconds", type=float, default=180.0)
    options = parser.parse_args()
    if options.what == "measure":
        measure(options.seconds)
    draw()


if __name__ == "__main__":
    main()
