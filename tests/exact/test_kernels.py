"""Compilation: announced and done before the clock starts, so nothing may be left to compile later."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from importlib import import_module
from pkgutil import walk_packages

import numpy as np

import toprank.exact
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.search.methods import compile_kernels
from toprank.preferences import multipartite_pairs
from toprank.exact.search.driver import search

method = sys.argv[1]
PACKAGES = walk_packages(toprank.exact.__path__, "toprank.exact.")
NAMES = [module.name for module in PACKAGES if module.name.rpartition(".")[2][0] == "_"]
assert len(NAMES) > 8


def compiled():
    found = {}
    for name in NAMES:
        for item in vars(import_module(name)).values():
            if hasattr(item, "signatures"):
                found[item.__module__, item.__name__] = len(item.signatures)
    return found


compile_kernels(method)
before = compiled()
rng = np.random.default_rng(1)
X, y = rng.normal(size=(90, 7)), rng.random(90) < 0.4
graded = rng.integers(3, size=12)
problems = [RankingProblem.from_labels(X[:20, :d], y[:20], s) for d in (1, 2, 3, 4) for s in ("dcg", "auc")]
problems += [
    RankingProblem.from_labels(X, y, "dcg"),
    RankingProblem.from_labels(X.round(), y, "precision@5"),
    RankingProblem.from_labels(X[:20, :3], y[:20], "dcg", penalty=0.1),
    RankingProblem.from_labels(X[:30, :3], y[:30], "dcg", qid=np.arange(30) % 3),
    RankingProblem.from_preferences(X[:12, :3], *multipartite_pairs(graded)),
]
for problem in problems:
    for keep_proof in (False, True):
        with Run(time_limit=1.0, rng=0) as run:
            search(problem, run, method=method, keep_proof=keep_proof)
assert compiled() == before, set(compiled().items()) - set(before.items())
"""


@pytest.mark.parametrize("method", ["boxes", "cells", "slices"])
def test_nothing_is_left_to_compile_once_the_clock_runs(method):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, method], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
