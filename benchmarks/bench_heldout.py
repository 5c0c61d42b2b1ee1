"""Hits on unseen halves: what `toprank rank` delivers beside the usual classifiers and AutoGluon.

    python benchmarks/bench_heldout.py                                   # everything; hours
    python benchmarks/bench_heldout.py --splits 5 --only pima,uis
    python benchmarks/bench_heldout.py --splits 0 --page docs/heldout.md   # the table from what is there

Twenty half splits of each data set; 5 % of the unseen half, at least 10, can be acted on; counted are the
positives among them. Every (data set, split, contender) is a line of the results file, figures only, as soon
as it is computed, and a second run, on another machine too, goes on where the first stopped. Data sets come
from the folder TOPRANK_DATA. All contenders run on one core; AutoGluon gets the wall time that ours took on
the same split. Its pinned packages are not ours: AUTOGLUON_PYTHON names the interpreter of an environment
that has it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from bench_heldout_contenders import AUTOGLUON, CONTENDERS, DATA, OURS, SPLITS, Data, missing, run_contender
from bench_heldout_page import page, table
from toprank.output import write_whole

RESULTS = Path(__file__).with_name("heldout.jsonl")
ROUNDS = (1, 3, 5, 10, SPLITS)
"""A few splits of everything first, so that the table is of use early."""
TIME_LIMIT = 60.0
"""Seconds `toprank rank` may take: its default."""

Cell = tuple[str, int, str]


def stored(path: Path) -> dict[Cell, dict]:
    """What earlier runs left; a line cut short by a crash does not count."""
    found: dict[Cell, dict] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[one["data"], one["split"], one["contender"]] = one
    return found


def keep(path: Path, line: dict) -> None:
    """Add a line, in its place: what is committed should differ by the lines that are new."""
    found = stored(path)  # another run may have added to it
    found[line["data"], line["split"], line["contender"]] = line
    lines = [json.dumps(found[cell]) for cell in sorted(found)]
    write_whole({path: ("\n".join(lines) + "\n").encode()})


def cells(data: list[str], contenders: list[str], splits: int) -> Iterator[Cell]:
    """In the order of use: rounds of more and more splits, cheap contenders before dear ones."""
    done: set[int] = set()
    for upto in ROUNDS:
        new = [split for split in range(min(upto, splits)) if split not in done]
        done.update(new)
        dear = {OURS, AUTOGLUON}
        for kind in ([c for c in contenders if c not in dear], [c for c in contenders if c in dear]):
            for name in data:
                for split in new:
                    for contender in kind:
                        yield name, split, contender


def compute(cell: Cell, results: dict[Cell, dict], loaded: dict[str, Data], seconds: float) -> dict | None:
    """One line; None where what it needs is not there yet."""
    name, split, contender = cell
    if contender == AUTOGLUON:
        ours = results.get((name, split, OURS))
        if ours is None:
            return None
        seconds = ours["seconds"]
    if name not in loaded:
        loaded.clear()
        loaded[name] = Data(name)
    half = loaded[name].half(split)
    began = time.perf_counter()
    found = run_contender(contender, half, seconds)
    took = round(time.perf_counter() - began, 2)
    about = {"data": name, "split": split, "contender": contender, "budget": half.budget}
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    about |= {"unseen": len(half.y_unseen), "positives": int(half.y_unseen.sum())}
    return {**about, **found, "seconds": took, "load": load}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON-lines file to add to")
    parser.add_argument("--splits", type=int, default=SPLITS, help=f"at most {SPLITS}; 0: only the table")
    parser.add_argument("--only", default=",".join(DATA), help="data sets")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    limit = f"seconds of `toprank rank`; its default is {TIME_LIMIT:.0f}, a busy machine needs more"
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help=limit)
    parser.add_argument("--page", type=Path, help="Markdown file whose table is written anew")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    absent = missing()
    wanted = options.contenders.split(",")
    for name, remedy in absent.items():
        if name in wanted:
            print(f"{name} is left out: {remedy}.", flush=True)
    able = [name for name in wanted if name not in absent]
    results, loaded = stored(options.results), {}
    for cell in cells(options.only.split(","), able, min(options.splits, SPLITS)):
        if cell in results:
            continue
        try:
            line = compute(cell, results, loaded, options.time_limit)
        except Exception as error:  # one contender's failure must not end a run of hours
            print(f"{cell}: {type(error).__name__}: {error}", flush=True)
            continue
        if line is not None:
            results[cell] = line
            keep(options.results, line)
            print(json.dumps(line), flush=True)
    print(table(results))
    if options.page is not None:
        options.page.write_text(page(options.page.read_text(), results))


if __name__ == "__main__":
    main()
