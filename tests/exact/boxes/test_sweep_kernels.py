"""Counting lost pairs, and the sweep of one coordinate."""

import numpy as np
import pytest

from toprank.exact.boxes._sweep_kernels import sweep
from toprank.exact.directions._counting import NOTHING, Tally, lose, regain


@pytest.mark.parametrize("seed", range(40))
def test_sweep_equals_looking_everywhere(seed):
    rng = np.random.default_rng(seed)
    m, n, events = 4, 5, int(rng.integers(1, 20))
    weight = np.sort(rng.integers(0, 100, size=m + n))[::-1].astype(np.int64).copy()
    owner = (np.arange(events) % m).astype(np.int32)
    owner = owner[: min(events, m * n)]
    times = rng.integers(-4, 5, size=len(owner)) / 4.0
    rising = rng.random(len(owner)) < 0.5

    def value_at(t):
        won = np.where(rising, t >= times, t <= times)
        lost = np.sort(np.bincount(owner[~won], minlength=m))
        return int(weight[np.arange(m) + lost].sum())

    spots = np.unique(np.concatenate([times, times + 0.01, times - 0.01, [-1.0, 1.0]]))
    spots = spots[(spots >= -1) & (spots <= 1)]
    values = np.array([value_at(t) for t in spots])
    for target, climb in ((NOTHING, True), (int(np.quantile(values, 0.6)), False)):
        at, who = np.zeros((2, len(owner))), np.zeros((2, len(owner)), np.int32)
        at[0] = times
        who[0] = np.where(rising, np.arange(len(owner)), -1 - np.arange(len(owner)))
        count, at_most = np.zeros(m, np.int32), np.full(n + 1, m, np.int32)
        out, start = np.zeros(3), int(weight[:m].sum())
        state = Tally(
            owner, np.empty(0, np.int64), weight, np.ones(m, np.int64), np.zeros(m, np.int64), count, at_most
        )
        best, after = sweep(
            start, target, climb, len(owner), -1.0, 1.0, at, who, np.zeros(8, np.int64), state, out
        )
        assert after == start
        assert not count.any()
        assert best == values.max()
        assert value_at(out[0]) == best
        if not climb:
            reached = spots[values >= target]
            assert out[1] <= reached.min()
            assert out[2] >= reached.max()


def test_losing_and_regaining_is_the_value_of_the_counts():
    rng = np.random.default_rng(0)
    m, n = 5, 6
    weight = np.sort(rng.integers(0, 50, size=m + n))[::-1].astype(np.int64).copy()
    owner = np.repeat(np.arange(m), n).astype(np.int32)
    count, at_most = np.zeros(m, np.int32), np.full(n + 1, m, np.int32)
    state = Tally(
        owner, np.empty(0, np.int64), weight, np.ones(m, np.int64), np.zeros(m, np.int64), count, at_most
    )
    value, lost = int(weight[:m].sum()), set()
    for p in rng.integers(0, m * n, size=500):
        value = (regain if p in lost else lose)(p, state, value)
        lost ^= {p}
        counts = np.sort(np.bincount(owner[list(lost)], minlength=m)) if lost else np.zeros(m, int)
        assert value == weight[np.arange(m) + counts].sum()
