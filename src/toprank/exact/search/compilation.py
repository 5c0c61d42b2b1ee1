"""Compile the kernels before the clock starts; afterwards every process reads them from disk."""

from __future__ import annotations

from functools import cache

import numpy as np

from toprank.control import Run
from toprank.exact.problem import RankingProblem
from toprank.exact.search.driver import search
from toprank.exact.search.methods import choose, companion, make_method, within_reach

__all__ = ["compile_for", "compile_kernels"]


def compile_for(problem: RankingProblem, method: str = "auto") -> None:
    """Have all compiled, or read from disk, that a search of this problem may call."""
    if within_reach(problem):
        arrays = problem.arrays()
        names: set[str | None] = {choose(method, arrays), companion(method, arrays)}
        if method == "auto" and problem.penalty:
            names.add("boxes")  # for the small supports
        for name in filter(None, names):
            compile_kernels(name)


@cache
def compile_kernels(method: str) -> None:
    """Have the kernels of a method compiled, or read from disk: toy problems, once a process."""
    rng = np.random.default_rng(0)
    for n, d in ((16, 2), (24, 4)):
        problem = RankingProblem.from_labels(rng.normal(size=(n, d)), np.arange(n) % 3 == 0, "dcg")
        search(problem, Run(rng=0), method=method)
    # Small whole numbers have a margin of their own, which other kernels make use of.
    whole = RankingProblem.from_labels(rng.integers(0, 3, (16, 2)), np.arange(16) % 3 == 0, "dcg")
    search(whole, Run(rng=0), method=method)
    # One that is stopped on the way, for what is only needed then.
    longer = RankingProblem.from_labels(rng.normal(size=(120, 5)), np.arange(120) % 3 == 0, "dcg")
    stopped = make_method(method, longer.arrays())
    stopped.advance(1e-3, longer.floor + 1e-6)
    stopped.checkpoint()
    stopped.rehearse()
