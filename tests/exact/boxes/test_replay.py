"""The replay of a search over boxes: it confirms what holds, and nothing else."""

import math

import numpy as np
import pytest

from box_problems import medium_problem, random_problem, solve
from toprank.exact.boxes.replay import replay
from toprank.exact.boxes.search import BoxSearch

# A wide margin on whole numbers has answers on the very edge only: 400,000 boxes, replayed one by one.
SLOW = (4, 16)
SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] * (seed in SLOW)) for seed in range(18)]


@pytest.mark.parametrize("seed", SEEDS)
def test_replay_confirms_small_searches(seed):
    problem, _ = random_problem(seed)
    search = BoxSearch(problem.arrays(), keep_log=True)
    while not search.done:
        search.advance(0.01)
    if search.unresolved == -math.inf:
        assert replay(problem.arrays(), search.log, search.bound + 1e-9) == []


@pytest.mark.parametrize("d", [2, 3, 4])
def test_replay_rejects_a_wrong_bound(d):
    problem = medium_problem(0, n=16, d=d, statistic="auc")
    search = solve(problem, keep_log=True)
    best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    assert replay(problem.arrays(), search.log, search.bound + 1e-9) == []
    assert replay(problem.arrays(), search.log, best - 1e-6) != []


def test_replay_rejects_a_tampered_log():
    problem = medium_problem(0, n=16, d=3)
    search = solve(problem, keep_log=True)
    arrays = problem.arrays()
    key = max((k for k in search.log if k != b"basis"), key=lambda k: len(search.log[k]))
    cut = {**search.log, key: search.log[key][:-1]}
    assert "early" in replay(arrays, cut, search.bound + 1e-9)[0]
    longer = {**search.log, key: search.log[key] + b"\xff"}
    assert "after its end" in replay(arrays, longer, search.bound + 1e-9)[0]
    missing = {k: v for k, v in search.log.items() if k != key}
    assert "missing" in replay(arrays, missing, search.bound + 1e-9)[0]
    flat = np.frombuffer(search.log[b"basis"]).copy().reshape(3, 3)
    flat[:, 1] = flat[:, 0]
    singular = {**search.log, b"basis": flat.tobytes()}
    assert "directions" in replay(arrays, singular, search.bound + 1e-9)[0]
    assert replay(arrays, {k: v for k, v in search.log.items() if k != b"basis"}, search.bound + 1e-9) != []
