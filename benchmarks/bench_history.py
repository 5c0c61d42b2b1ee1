"""How long the main things take and how much memory they need, kept over time and drawn.

    python benchmarks/bench_history.py measure      # adds a line to benchmarks/history.json
    python benchmarks/bench_history.py page         # writes its figures into docs/speed.md, with a picture

Every task is a process of its own on made-up data from a fixed seed, in one thread, kernels compiled before
the clock starts. Between its repetitions a yardstick runs, scikit-learn's LogisticRegression on 20,000 rows
by 20 columns: what is kept and compared over time and machines is the ratio of processor times, beside the
seconds and the peak memory of the process.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from marked_pages import between_marks

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "benchmarks" / "history.json"
PAGE = ROOT / "docs" / "speed.md"
PICTURE = ROOT / "docs" / "images" / "speed.png"
REPETITIONS = 3


# -- tasks --------------------------------------------------------------------------------------------


def rows(n: int, d: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Made-up rows of which a linear score knows something; a quarter of them are positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ np.linspace(1.0, 0.1, d) + noise * np.sqrt(d) * rng.normal(size=n)
    return X, (score > np.quantile(score, 0.75)).astype(int)


def exact(n: int, d: int, method: str, statistic: str = "dcg") -> Callable[[], object]:
    """Prove an optimum, from nothing to the certificate."""
    from toprank.control import Run
    from toprank.exact import RankingProblem
    from toprank.exact.search.driver import search

    problem = RankingProblem.from_labels(*rows(n, d), statistic)

    def work() -> object:
        with Run(rng=0) as run:
            found = search(problem, run, method=method, n_jobs=1)
        assert found.proved
        return found

    return work


def statistic(name: str, n: int) -> Callable[[], object]:
    """One value of a statistic."""
    from toprank.statistics import get

    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=n), 4)
    y = (scores + rng.normal(size=n) > 1).astype(int)
    if name in ("kendall_tau", "spearman_rho"):
        y = scores + rng.normal(size=n)
    return lambda: get(name)(y, scores)


def fit(name: str, n: int, d: int, **options: object) -> Callable[[], object]:
    """One fit of a ranker with its defaults."""
    import toprank

    X, y = rows(n, d)
    return lambda: getattr(toprank, name)(**options).fit(X, y)


TASKS: dict[str, tuple[str, Callable[[], Callable[[], object]]]] = {
    "exact, boxes, 60 x 4": ("exact", lambda: exact(60, 4, "boxes")),
    "exact, cells, 40 x 4": ("exact", lambda: exact(40, 4, "cells")),
    "exact, slices, 90 x 6": ("exact", lambda: exact(90, 6, "slices")),
    "exact, angles, 50,000 x 2": ("exact", lambda: exact(50_000, 2, "angles")),
    "exact, rows, 100,000 x 3": ("exact", lambda: exact(100_000, 3, "rows", "dcg@100")),
    "DirectRanker, 400 x 8": ("exact", lambda: fit("DirectRanker", 400, 8, random_state=0)),
    "RankSVM, 20,000 x 20": ("convex", lambda: fit("RankSVM", 20_000, 20)),
    "PNormPush, 20,000 x 20": ("convex", lambda: fit("PNormPush", 20_000, 20)),
    "TopPush, 20,000 x 20": ("convex", lambda: fit("TopPush", 20_000, 20)),
    "auc, 1,000,000": ("statistics", lambda: statistic("auc", 1_000_000)),
    "dcg, 1,000,000": ("statistics", lambda: statistic("dcg", 1_000_000)),
    "average_precision, 1,000,000": ("statistics", lambda: statistic("average_precision", 1_000_000)),
    "kendall_tau, 1,000,000": ("statistics", lambda: statistic("kendall_tau", 1_000_000)),
    "TreeRank, 5,000 x 10": ("trees", lambda: fit("TreeRank", 5_000, 10, random_state=0)),
    "RankingForest, 2,000 x 10": ("trees", lambda: fit("RankingForest", 2_000, 10, random_state=0)),
    "RankBoost, 5,000 x 10": ("trees", lambda: fit("RankBoost", 5_000, 10)),
}
"""What is measured: the family it is drawn with, and how to make the work ready."""


# -- measuring ----------------------------------------------------------------------------------------


def yardstick() -> Callable[[], object]:
    """What everything is compared with."""
    from sklearn.linear_model import LogisticRegression

    X, y = rows(20_000, 20)
    return lambda: LogisticRegression().fit(X, y)


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measured(name: str) -> dict[str, float]:
    """Figures of a task, in this process."""
    warnings.simplefilter("ignore")
    measure, work = yardstick(), TASKS[name][1]()
    measure()
    work()
    pairs = [(seconds_of(work), seconds_of(measure)) for _ in range(REPETITIONS)]
    # Kilobytes on Linux, bytes on macOS.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "seconds": round(min(pair[0] for pair in pairs), 4),
        "ratio": round(median(own / other for own, other in pairs), 3),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit),
    }


def machine() -> str:
    """The machine in words: no names, only what figures depend on."""
    model = platform.processor() or platform.machine()
    known = Path("/proc/cpuinfo")
    if known.exists():
        lines = [line for line in known.read_text(encoding="utf-8").splitlines() if "model name" in line]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{platform.system()}, {model}, {os.cpu_count()} cores"


def entry(names: list[str]) -> dict[str, object]:
    """One line of the history: every task in a process of its own, one after the other."""
    import numba

    import toprank

    figures = {}
    for name in names:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            figures[name] = pool.apply(measured, (name,))
        print(name, figures[name], flush=True)
    return {
        "date": datetime.date.today().isoformat(),
        "version": toprank.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "machine": machine(),
        "figures": figures,
    }


# -- the page -----------------------------------------------------------------------------------------

MARK = "figures"


def table(history: list[dict]) -> str:
    """The last figures, and how they compare with the first ones kept for the same task."""
    last = history[-1]
    lines = [
        f"Measured last: {last['date']}, version {last['version']}, Python {last['python']}, numpy"
        f" {last['numpy']}, numba {last['numba']}; {last['machine']}.\n",
        "| task | seconds | ratio | first kept | peak MB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, now in last["figures"].items():
        first = next(one["figures"][name] for one in history if name in one["figures"])
        cells = [
            f"{figure:.3g}" for figure in (now["seconds"], now["ratio"], first["ratio"], now["megabytes"])
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(history: list[dict], to: Path) -> None:
    """One panel a family: ratios above, peak memory below."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    families = [*dict.fromkeys(family for family, _ in TASKS.values())]
    figure, panels = plt.subplots(
        2, len(families), figsize=(2.7 * len(families), 6), sharex=True, sharey="row", squeeze=False
    )
    ticks = [one["date"] for one in history]
    for column, family in zip(panels.T, families, strict=True):
        for name in (name for name, task in TASKS.items() if task[0] == family):
            at = [number for number, one in enumerate(history) if name in one["figures"]]
            for panel, key in zip(column, ("ratio", "megabytes"), strict=True):
                panel.plot(at, [history[i]["figures"][name][key] for i in at], marker="o", label=name)
        column[0].set(title=family, yscale="log", xlim=(-0.5, len(history) - 0.5))
        column[0].yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        column[0].yaxis.set_major_formatter("{x:g}")
        column[0].yaxis.set_minor_formatter("")
        column[0].tick_params(axis="y", labelsize="small")
        column[1].tick_params(axis="y", labelsize="small")
        column[1].set_ylim(
            0, 1.2 * max(one["megabytes"] for all_ in history for one in all_["figures"].values())
        )
        slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if len(ticks) > 1 else {}
        column[1].set_xticks(range(len(ticks)), ticks, fontsize="small", **slanted)
        column[1].legend(
            *column[0].get_legend_handles_labels(),
            loc="upper center",
            bbox_to_anchor=(0.5, -0.34),
            fontsize="small",
            frameon=False,
        )
    panels[0, 0].set_ylabel("ratio to LogisticRegression", fontsize="small")
    panels[1, 0].set_ylabel("peak memory, MB", fontsize="small")
    figure.tight_layout()
    figure.savefig(to, dpi=130, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["measure", "page"])
    parser.add_argument("--only", default="", help="tasks whose name contains this; nothing is kept then")
    options = parser.parse_args()
    history = json.loads(HISTORY.read_text(encoding="utf-8")) if HISTORY.exists() else []
    if options.what == "measure":
        history.append(entry([name for name in TASKS if options.only in name]))
        if not options.only:
            HISTORY.write_text(json.dumps(history, indent=1) + "\n", encoding="utf-8")
    else:
        page = between_marks(PAGE.read_text(encoding="utf-8"), MARK, table(history))
        PAGE.write_text(page, encoding="utf-8")
        draw(history, PICTURE)


if __name__ == "__main__":
    main()
