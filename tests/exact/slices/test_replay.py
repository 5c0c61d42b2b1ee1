"""The replay of a search in slices: it confirms what holds, and nothing else."""

import math

import numpy as np
import pytest

from box_problems import medium_problem, random_problem, solve
from toprank.control import Run
from toprank.exact import verify
from toprank.exact.search.driver import search
from toprank.exact.slices.replay import replay
from toprank.exact.slices.search import SliceSearch


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
def test_replay_confirms_small_searches(seed):
    problem, _ = random_problem(seed)
    found = solve(problem, SliceSearch, keep_log=True)
    if found.unresolved == -math.inf:
        assert replay(problem.arrays(), found.log, found.bound + 1e-9) == []


@pytest.mark.parametrize("d", [2, 3, 4])
def test_replay_rejects_a_wrong_bound(d):
    problem = medium_problem(0, n=16, d=d, statistic="auc")
    found = solve(problem, SliceSearch, keep_log=True)
    best = max(problem.evaluate(problem.unscale(w)) for w in found.candidates)
    assert replay(problem.arrays(), found.log, found.bound + 1e-9) == []
    assert replay(problem.arrays(), found.log, best - 1e-6) != []


def test_replay_rejects_a_tampered_log():
    problem = medium_problem(0, n=16, d=3)
    found = solve(problem, SliceSearch, keep_log=True)
    arrays, limit = problem.arrays(), found.bound + 1e-9
    key = max((k for k in found.log if k != b"basis"), key=lambda k: len(found.log[k]))

    def with_log(log):
        return replay(arrays, {**found.log, key: log}, limit)

    assert "early" in with_log(b"")[0]
    assert "after its end" in with_log(found.log[key] + b"\xff")[0]
    axis = int(np.flatnonzero(np.diff(np.frombuffer(key).reshape(2, 3), axis=0)[0])[0])
    assert "slices that do not exist" in with_log(bytes([64 + axis, 9, 32]))[0]
    assert "cannot be split" in with_log(bytes([40]))[0]
    missing = {k: v for k, v in found.log.items() if k != key}
    assert "missing" in replay(arrays, missing, limit)[0]
    flat = np.frombuffer(found.log[b"basis"]).copy().reshape(3, 3)
    flat[:, 1] = flat[:, 0]
    assert "directions" in replay(arrays, {**found.log, b"basis": flat.tobytes()}, limit)[0]
    assert replay(arrays, {k: v for k, v in found.log.items() if k != b"basis"}, limit) != []


def test_a_kept_proof_is_verified():
    problem = medium_problem(1, n=24, d=3)
    with Run(rng=0) as run:
        found = search(problem, run, method="slices", keep_proof=True)
    assert found.proved
    assert found.method == "slices"
    report = verify(problem, found)
    assert report.passed
    assert report.complete
