"""Value, bound and gap over time: the exact search beside the mixed-integer programs, on the top 100.

    python examples/over_time.py [--seconds 60] [--out .]

Two lists, log2-DCG, one thread: 250 rows with five continuous features, and the training half of UIS (from
the folder TOPRANK_DATA; made data with eight features stand in where it is not set). Leaves over_time.csv
with every change, and over_time.png. The setting of Fig. 3 and 4 in Rudin & Wang (2018).
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, PercentFormatter
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from toprank import ExactRanker, datasets
from toprank.control import Progress, SearchStoppedWarning
from toprank.report import SearchProgressDisplay

TOP, MARGIN = 100, 1e-4
SOLVERS = {
    "mip-subrank": "Subrank program, HiGHS",
    "mip": "our program, HiGHS",
    "search": "exact search",
}
WIDTHS = {"mip-subrank": 4.5, "mip": 3.0, "search": 1.6}  # where lines run together all can be seen
List = tuple[np.ndarray, np.ndarray, np.ndarray]


def top_of(X: np.ndarray, y: np.ndarray) -> List:
    """The first rows by logistic regression, their labels, and its coefficients to start from."""
    X = StandardScaler().fit_transform(X)
    base = LogisticRegression(C=1e4, max_iter=10_000).fit(X, y)
    best = np.argsort(-base.decision_function(X), kind="stable")[:TOP]
    return X[best], y[best], base.coef_.ravel()


def made(n: int, d: int) -> List:
    """Continuous features and noisy linear labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 1.5 * np.sqrt(d) * rng.normal(size=n)
    return top_of(X, (score > np.quantile(score, 0.65)).astype(int))


def uis() -> tuple[str, List]:
    """The training half of UIS, or a list like it where the data are not at hand."""
    try:
        data = datasets.load("uis")
    except ValueError as error:
        print(f"{error} Made data with eight features stand in.")
        return "made data, eight features", made(287, 8)
    half = np.random.default_rng(0).permutation(len(data.y))[: len(data.y) // 2]
    return "UIS", top_of(np.asarray(data.X, dtype=float)[half], data.y[half])


def events(rows: List, solver: str, seconds: float) -> list[Progress]:
    """What a solver knew and when: the best value so far and the smallest bound so far."""
    X, y, start = rows
    ranker = ExactRanker(
        "dcg", solver=solver, margin=MARGIN, start=start, time_limit=seconds, n_jobs=1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        certificate = ranker.fit(X, y).certificate_
    problem = ranker.problem(X, y)
    value, bound = problem.evaluate(start), problem.trivial_bound
    known = [Progress(value, bound, seconds=0.01)]
    for event in certificate.progress():
        value, bound = max(value, event.value), min(bound, event.bound)
        known.append(Progress(value, bound, seconds=max(event.seconds, 0.01)))
    # Recomputed from the coefficients, as the certificate states them.
    known.append(Progress(certificate.value, certificate.bound, seconds=certificate.seconds))
    print(f"  {SOLVERS[solver]:24s} {certificate.summary()}, {certificate.seconds:.1f} s", flush=True)
    return known


def draw(axes: list[plt.Axes], known: dict[str, list[Progress]], seconds: float) -> None:
    """Left the value and the bound of each solver, right the gap between them."""
    left, right = axes
    for solver, progress in known.items():
        last = progress[-1]
        shown = [*progress, Progress(last.value, last.bound, seconds=max(seconds, last.seconds))]
        width = WIDTHS[solver]
        display = SearchProgressDisplay.from_progress(shown, ax=left, name=SOLVERS[solver], linewidth=width)
        display.bound_line_.set_linewidth(width)
        gaps, times = [event.gap for event in shown], [event.seconds for event in shown]
        color = display.line_.get_color()
        right.step(times, gaps, where="post", color=color, label=SOLVERS[solver], linewidth=width)
    for shade in list(left.collections):
        shade.remove()  # three of them on top of each other say nothing
    left.set(ylabel="DCG of the first 100")
    right.set(ylabel="gap")
    right.set_ylim(-0.004, 1.06 * max(event.gap for progress in known.values() for event in progress))
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    right.spines[["top", "right"]].set_visible(False)
    right.grid(True, color="#E8E8E8", linewidth=0.7)
    for ax in axes:
        ax.set(xscale="log", xlabel="seconds", xlim=(0.01, seconds))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{t:g}"))
        # Below the axes, where no line runs.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize="small")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each solver and list")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for over_time.csv and over_time.png")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    lists = dict([("250 rows, five continuous features", made(250, 5)), uis()])
    table = [("list", "solver", "seconds", "value", "bound", "gap")]
    figure, grid = plt.subplots(len(lists), 2, figsize=(11, 9.5), layout="constrained", squeeze=False)
    for (name, rows), axes in zip(lists.items(), grid, strict=True):
        print(f"{name}, top {TOP}")
        known = {solver: events(rows, solver, options.seconds) for solver in SOLVERS}
        draw(list(axes), known, options.seconds)
        for ax, what in zip(axes, ("value (solid) and bound (dashed)", "gap"), strict=True):
            ax.set_title(f"{name}: {what}", fontsize="medium")
        for solver, progress in known.items():
            table += [(name, solver, e.seconds, e.value, e.bound, e.gap) for e in progress]
    figure.savefig(options.out / "over_time.png", dpi=150)
    with (options.out / "over_time.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(table)


if __name__ == "__main__":
    main()
