"""Many small hostile problems, searched by every method and compared with rational enumeration.

    python tests/nightly_exact.py --problems 100000 --processes 2
    python tests/nightly_exact.py --first 40000 --problems 20000      # a part of them
    python tests/nightly_exact.py --methods gpu --processes 12        # where there is a graphics card

A certificate is wrong when its value is not what its coefficients attain in exact arithmetic, when some
coefficients reach more than its bound (with its margin, where it states one), or when it says optimal and
is not; so is an error. Where the answer is known to be the best before any method comes in, methods that
begin alike have one certificate.

Prints how many problems were run, in what time, how many certificates were wrong, and for each method how
many were optimal, decided before the method came in, stated a margin, or left something open, with the
numbers of a few that are not optimal; exits with 1 if any was wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from multiprocessing import get_context

import hostile_problems as hostile
from toprank.control import Run, Status
from toprank.exact import Certificate, RankingProblem
from toprank.exact.angles.listed import why_not as not_by_angles
from toprank.exact.gpu.search import why_not as not_on_a_card
from toprank.exact.rows.listed import why_not as not_by_rows
from toprank.exact.search.compiling import compile_in_turn
from toprank.exact.search.driver import search

TOLERANCE = 1e-9
BLOCK = 50
METHODS = ("boxes", "cells", "slices", "rows", "angles")
SECONDS = 10.0
"""A search that has not ended by then is counted as such; its claims must hold all the same."""
ROWS_SECONDS = 1.0
"""The same by rows, which never tell exact ties apart: there the bound stays open however long it takes."""
ALIKE = ({"boxes", "cells", "slices"}, {"rows", "angles"})
"""Searches that do the same, by the same random numbers, until their method comes in."""
EARLY = ("trivial bound", "perfect order")
"""What a certificate names as its method where none came in."""
EXAMPLES = 5
"""Numbers of problems that are printed of each outcome but optimal."""


class Posed:
    """A problem, as the package sees it and as it is, and what has been worked out about it."""

    def __init__(self, seed: int) -> None:
        # Every other one with a statistic that is no sum of position weights.
        self.case = (hostile.counted_problem if seed // 10 % 2 else hostile.hostile_problem)(seed)
        self._values: dict[tuple[float, ...], float] = {}

    @cached_property
    def problem(self) -> RankingProblem:
        """The package's own view of it."""
        case = self.case
        if case.pairs is not None:
            return RankingProblem.from_preferences(case.X, case.pairs, case.pair_weight, penalty=case.penalty)
        statistic = case.weights if case.statistic is None else case.statistic
        return RankingProblem.from_labels(case.X, case.y, statistic, qid=case.qid, penalty=case.penalty)

    @cached_property
    def best(self) -> float:
        """The largest value of any coefficients."""
        return hostile.best_value(self.case)

    def attained(self, coef: tuple[float, ...]) -> float:
        """Value of coefficients, scores compared in whole numbers."""
        if coef not in self._values:
            self._values[coef] = hostile.attained(self.case, coef)
        return self._values[coef]

    def why_not(self, method: str) -> str | None:
        """What to count where a method does not apply, or None."""
        if method == "gpu" and not_on_a_card(self.problem.arrays()) is not None:
            return "not for a card"
        if method == "rows" and not_by_rows(self.problem) is not None:
            return "not one list"
        if method == "angles" and not_by_angles(self.problem) is not None:
            return "not lists of two features"
        return None


@dataclass
class Outcomes:
    """How many certificates there were of each method and outcome, which were wrong, and a few examples."""

    counts: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    examples: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def book(self, method: str, outcome: str, seed: int) -> None:
        """Count one certificate."""
        self.counts[method, outcome] += 1
        self._remember((method, outcome), [seed])

    def add(self, other: Outcomes) -> None:
        """Count what another process found."""
        self.counts += other.counts
        self.wrong += other.wrong
        for key, seeds in other.examples.items():
            self._remember(key, seeds)

    def _remember(self, key: tuple[str, str], seeds: list[int]) -> None:
        if key[1] in ("not ended in time", "left something open") or key[1].endswith("with a margin"):
            self.examples[key] = [*self.examples.get(key, []), *seeds][:EXAMPLES]

    def lines(self) -> Iterator[str]:
        """A line for each method and outcome."""
        for (method, outcome), count in sorted(self.counts.items()):
            seeds = ", ".join(map(str, self.examples.get((method, outcome), [])))
            yield f"{method:6s} {count:8d} {outcome}" + (f", as of {seeds}" if seeds else "")


def complaint(posed: Posed, found: Certificate) -> str | None:
    """What is wrong with a certificate, if anything."""
    strict, value = found.margin == 0, posed.attained(found.coef)
    best = posed.best if strict else hostile.best_with_margin(posed.case, found.margin, found.scales)
    slack = TOLERANCE * max(1.0, abs(best))
    if found.value > value + slack or (strict and found.value < value - slack):
        return f"value {found.value} stated, {value} attained"
    if found.bound < best - slack:
        return f"bound {found.bound}, but {best} exists"
    if found.status is Status.OPTIMAL and found.value < best - slack:
        return f"{found.value} called optimal, but {best} exists"
    if found.bound < found.value - slack:
        return f"bound {found.bound} below the value {found.value}"
    return None


def outcome_of(found: Certificate) -> str:
    """What a certificate says of its search."""
    names = {Status.OPTIMAL: "optimal", Status.TIME_LIMIT: "not ended in time"}
    outcome = names.get(found.status, "left something open")
    return f"{outcome}, with a margin" if found.margin > 0 else outcome


def certificates(
    posed: Posed, methods: Iterable[str], limit: float | None
) -> Iterator[tuple[str, str | Certificate | Exception]]:
    """Of each method its certificate, or the error it ended with, or what to count in its place."""
    decided: set[str] = set()
    for method in methods:
        reason = posed.why_not(method)
        if reason is not None:
            yield method, reason
            continue
        if method in decided:
            yield method, "optimal before the method came in"
            continue
        asked = {"method": "slices", "device": "gpu"} if method == "gpu" else {"method": method}
        seconds = limit or (ROWS_SECONDS if method == "rows" else SECONDS)
        try:
            with Run(rng=0, time_limit=seconds) as run:
                found = search(posed.problem, run, **asked)
        except Exception as error:
            yield method, error
            continue
        if found.status is Status.OPTIMAL and found.method in EARLY:
            decided |= next((group for group in ALIKE if method in group), set())
        yield method, found


def check(seeds: range, methods: tuple[str, ...], limit: float | None) -> Outcomes:
    """What came of some problems."""
    outcomes = Outcomes()
    for seed in seeds:
        posed = Posed(seed)
        for method, found in certificates(posed, methods, limit):
            where = f"seed {seed}, {posed.case.kind}, {method}"
            if isinstance(found, str):
                outcomes.book(method, found, seed)
            elif isinstance(found, Exception):
                outcomes.wrong.append(f"{where}: {found!r}")
            else:
                before = found.status is Status.OPTIMAL and found.method in EARLY
                outcome = "optimal before the method came in" if before else outcome_of(found)
                outcomes.book(method, outcome, seed)
                problem = complaint(posed, found)
                if problem is not None:
                    outcomes.wrong.append(f"{where}: {problem}")
    return outcomes


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument(
        "--limit", type=float, help=f"seconds of each search; else {SECONDS:g}, by rows {ROWS_SECONDS:g}"
    )
    return parser.parse_args()


def main() -> int:
    """Run the problems asked for, block after block."""
    options = arguments()
    methods = tuple(options.methods.split(","))
    last = options.first + options.problems
    blocks = [range(a, min(a + BLOCK, last)) for a in range(options.first, last, BLOCK)]
    outcomes, done = Outcomes(), 0
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        # Once for all processes, and not while the clock of a search runs.
        list(pool.map(compile_in_turn, sorted({"slices" if name == "gpu" else name for name in methods})))
        begin = time.perf_counter()
        work = partial(check, methods=methods, limit=options.limit)
        for block, part in zip(blocks, pool.map(work, blocks), strict=True):
            outcomes.add(part)
            done += len(block)
            for line in part.wrong:
                print("WRONG", line, flush=True)
            if done % 1000 < BLOCK:
                seconds, wrong = time.perf_counter() - begin, len(outcomes.wrong)
                print(f"{done} problems, {seconds:.0f} s, {wrong} wrong", flush=True)
            if time.perf_counter() - begin > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
    seconds = time.perf_counter() - begin
    print(f"{done} problems in {seconds:.0f} s; wrong certificates: {len(outcomes.wrong)}")
    print(*outcomes.lines(), sep="\n")
    return int(bool(outcomes.wrong))


if __name__ == "__main__":
    sys.exit(main())
