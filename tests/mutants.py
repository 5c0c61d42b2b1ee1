"""Whether the tests notice when one sign, number or comparison in a kernel is wrong.

    python tests/mutants.py statistics --mutants 200 --seed 0
    python tests/mutants.py exact --mutants 200 --seed 0

Kernels run as plain Python here (NUMBA_DISABLE_JIT), so that a mutant is a function with other code and no
compilation. First every test runs once, with a profile of the kernels it calls; those that take more than
`--test-seconds` are left out. Then mutants are drawn, each changes one place, and the tests that call its
function run, the quickest first, `--budget` seconds of them at most, until one fails. A mutant that makes
them take five times their time is caught too: it no longer ends. Prints the score and the mutants no test
noticed; exits with 1 where there are more of them than `--survivors`.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # before anything imports Numba, and not where tests are collected
    os.environ.update(NUMBA_DISABLE_JIT="1", CI="1", OMP_NUM_THREADS="1")

import argparse
import ast
import copy
import importlib
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
KERNELS = {
    "statistics": ["statistics/_kernels", "statistics/_pair_kernels", "statistics/_query_kernels"],
    "exact": [
        "exact/arithmetic/_kernels",
        "exact/angles/_angle_kernels",
        "exact/directions/_conflict_kernels",
        "exact/directions/_counting",
        "exact/boxes/_plane_kernels",
        "exact/boxes/_search_kernels",
        "exact/boxes/_sweep_kernels",
        "exact/cells/_clauses",
        "exact/cells/_kernels",
        "exact/cells/_nodes",
        "exact/cells/_objective",
        "exact/cells/_packing",
        "exact/cells/_simplex",
        "exact/cells/_witnesses",
        "exact/climb/_kernels",
        "exact/climb/_sweep_kernels",
    ],
}
TESTS = {
    "statistics": ["tests/statistics"],
    "exact": [
        f"tests/exact/{name}"
        for name in (
            "angles",
            "arithmetic",
            "directions",
            "boxes",
            "cells",
            "climb",
            "test_strict.py",
            "test_grades.py",
        )
    ],
}
MOST_BYTES = 8 * 2**30
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip


# -- mutants ----------------------------------------------------------------------------------


class Place(NamedTuple):
    """One node of a function that can be changed: the kernel's file and name, and the node's number."""

    module: str
    function: str
    node: int


def change(node: ast.AST) -> bool:
    """Change a node into something else that is still a program; False where there is nothing to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        node.op = ARITHMETIC[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        node.value += 1
    else:
        return False
    return True


def definitions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a kernel file that numba compiles, by name, without docstring or decorators."""
    tree = ast.parse((ROOT / "src" / "toprank" / f"{module}.py").read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(d) for d in node.decorator_list):
            node.decorator_list = []
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = node
    return found


def places(modules: list[str]) -> list[Place]:
    """All nodes that can be changed, in a fixed order."""
    return [
        Place(module, name, number)
        for module in modules
        for name, function in definitions(module).items()
        for number, node in enumerate(ast.walk(function))
        if change(copy.deepcopy(node))
    ]


def mutated(place: Place) -> tuple[ast.FunctionDef, str]:
    """The function with the place changed, and what was changed, in words."""
    function = definitions(place.module)[place.function]
    nodes = [*ast.walk(function)]
    node = nodes[place.node]
    before = ast.unparse(node)
    change(node)
    line = f"{place.module}.py:{node.lineno} {place.function}"
    return function, f"{line}: {before}  ->  {ast.unparse(node)}"


def function_of(place: Place):
    """The kernel itself, as the package has it."""
    return getattr(importlib.import_module("toprank." + place.module.replace("/", ".")), place.function)


def put_in(place: Place) -> None:
    """Give the kernel the changed code; whoever imported it by name has it too."""
    kernel = function_of(place)
    tree = ast.fix_missing_locations(ast.Module([mutated(place)[0]], []))
    scope: dict[str, object] = {}
    exec(compile(tree, "mutant", "exec"), kernel.__globals__, scope)
    kernel.__code__ = scope[place.function].__code__  # type: ignore[attr-defined]


# -- running tests ----------------------------------------------------------------------------


def in_a_child(work, seconds: float | None = None):
    """What `work()` returns in a forked process, as JSON would have it; None when it used up its seconds."""
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            try:
                if seconds is not None:
                    signal.setitimer(signal.ITIMER_PROF, seconds)  # its own work, not the machine's
                json.dump(work(), answer)
                answer.flush()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return None
        answer.seek(0)
        return json.load(answer)


class Judge:
    """A plugin that runs the collected tests once as they are and then against every mutant."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.modules = KERNELS[options.part]
        self.failed = False
        self.survivors: list[str] = []
        self.outcomes: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report) -> None:
        self.failed |= report.failed

    def passes(self, item) -> bool:
        self.failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def calls(self, item, number) -> tuple[float, list[int]] | None:
        """Seconds of a test and the kernels it calls; None where it fails, or calls none."""
        called: set[int] = set()

        def note(frame, event, _) -> None:
            if event == "call" and frame.f_code in number:
                called.add(number[frame.f_code])

        sys.setprofile(note)
        began = time.process_time()
        good = self.passes(item)
        sys.setprofile(None)
        return (time.process_time() - began, sorted(called)) if good and called else None

    def every_kernel(self) -> list[Place]:
        return [Place(module, name, 0) for module in self.modules for name in definitions(module)]

    def pytest_runtestloop(self, session) -> bool:
        items = session.items
        began = time.perf_counter()
        by_kernel = defaultdict(list)
        kernels = [(p.module, p.function) for p in self.every_kernel()]
        number = {function_of(p).__code__: i for i, p in enumerate(self.every_kernel())}
        found = 0
        for item in items:
            told = in_a_child(partial(self.calls, item, number), self.options.test_seconds)
            for kernel in told[1] if told else ():
                by_kernel[kernels[kernel]].append((told[0], item))
            found += told is not None
        print(
            f"\n{len(items)} tests, {found} of them pass as plain Python within"
            f" {self.options.test_seconds:g} s and call a kernel; {len(by_kernel)} of {len(kernels)} kernels"
            f" are called; {time.perf_counter() - began:.0f} s",
            flush=True,
        )
        for kernel in kernels:
            if kernel not in by_kernel:
                print("   no test:", *kernel, flush=True)
        drawn = [p for p in places(self.modules) if (p.module, p.function) in by_kernel]
        random.Random(self.options.seed).shuffle(drawn)
        for place in drawn[: self.options.mutants]:
            self.judge(place, sorted(by_kernel[place.module, place.function], key=itemgetter(0)))
        self.summary(len(drawn), time.perf_counter() - began)
        return True

    def judge(self, place: Place, tests) -> None:
        """Put one mutant in and run the tests that call it, the quickest first, until one fails."""
        chosen, total = [], 0.0
        for seconds, item in tests:
            if chosen and total + seconds > self.options.budget:
                break
            chosen.append(item)
            total += seconds

        def work() -> str:
            put_in(place)
            return "survived" if all(self.passes(item) for item in chosen) else "failed"

        outcome = in_a_child(work, 5 * total + 5) or "did not end"
        self.outcomes[outcome] += 1
        if outcome == "survived":
            self.survivors.append(f"{mutated(place)[1]}   ({len(chosen)} tests)")
            print("   survived:", self.survivors[-1], flush=True)

    def summary(self, possible: int, seconds: float) -> None:
        tried = self.outcomes.total()
        caught = tried - self.outcomes["survived"]
        print(
            f"{self.options.part}: {caught} of {tried} mutants caught ({caught / tried:.1%}),"
            f" {self.outcomes['did not end']} of them because they did not end; drawn from {possible}"
            f" with seed {self.options.seed}; {seconds:.0f} s"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=[*KERNELS])
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of tests a mutant is tried with")
    parser.add_argument("--test-seconds", type=float, default=1.0, help="tests that take longer are left out")
    parser.add_argument("--survivors", type=int, default=10**9, help="how many may go unnoticed")
    parser.add_argument("--only", default="", help="kernel files whose name contains this")
    parser.add_argument("--tests", nargs="*", help="files of tests, instead of all of the part")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))  # a mutant may ask for any amount
    KERNELS[options.part] = [one for one in KERNELS[options.part] if options.only in one]
    judge = Judge(options)
    paths = [str(ROOT / path) for path in options.tests or TESTS[options.part]]
    pytest.main(
        ["-p", "no:cacheprovider", "-p", "no:terminal", "--rootdir", str(ROOT), *paths],
        plugins=[judge],
    )
    return int(len(judge.survivors) > options.survivors)


if __name__ == "__main__":
    sys.exit(main())
