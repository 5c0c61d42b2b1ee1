"""Rows of a box: ranges that hold every score, rows dropped only where they matter nowhere, thresholds."""

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.rows._bound_kernels import look
from toprank.exact.rows._row_kernels import fresh_work, select
from toprank.exact.rows.frame import row_frame
from toprank.exact.rows.listed import list_rows


def some_list(seed):
    """A list, some of its rows equal or on a grid, a statistic of its first places, and its weights."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) if seed % 3 else rng.integers(0, 4, size=(n, d)).astype(float)
    X = X[rng.integers(n, size=n)] if seed % 2 else X
    y = (rng.random(n) < rng.choice([0.2, 0.5, 0.8])).astype(int)
    y[:2] = [0, 1]
    k = int(rng.integers(1, n // 3))
    weights = np.where(np.arange(n) < k, 1 / np.log2(np.arange(n) + 2), 0.0)
    return X, y, weights, rng


def value(scores, y, weights):
    """Position weights at the positives' places, ties broken against them; from the definition."""
    order = sorted(range(len(y)), key=lambda i: (-scores[i], y[i]))
    return sum(weights[place] for place, i in enumerate(order) if y[i])


def some_box(rng, r):
    """A box on a face of the cube, its ends multiples of a power of two."""
    half = 2.0 ** -int(rng.integers(0, 7))
    middle = np.round(rng.uniform(-1, 1, r) * 64) / 64
    low, high = middle - half, middle + half
    face = rng.integers(r)
    low[face] = high[face] = rng.choice([-1.0, 1.0])
    return low, high


@pytest.mark.parametrize("seed", range(60))
def test_no_direction_of_a_box_is_worth_more_than_its_bound(seed):
    X, y, weights, rng = some_list(seed)
    listed = list_rows(RankingProblem.from_labels(X, y, weights))
    frame = row_frame(listed, direction=rng.normal(size=X.shape[1]))
    rows, scale = frame.rows, 2.0**listed.scale.exponent
    work = fresh_work(len(listed.rows), frame.size, rows.counts)
    nobody = np.zeros(1, dtype=np.int64)
    for _ in range(4):
        low, high = some_box(rng, frame.size)
        root, whole = np.zeros(1, dtype=np.int32), 1 << 62
        bound, kept, axis, _ = look(rows, work, root, low, high, 0, whole, nobody)
        groups = work.ids[:kept].copy()
        assert 0 <= axis < frame.size
        again = look(rows, work, groups, low, high, 0, whole, nobody)[0]
        by_ranges = look(rows, work, root, low, high, 0, -1, nobody)[0]
        assert bound <= by_ranges
        for _ in range(40):
            u = (
                rng.uniform(low, high)
                if rng.random() < 0.7
                else np.where(rng.random(low.size) < 0.5, low, high)
            )
            reached = value(X / listed.problem.scales @ (frame.basis @ u), y, weights)
            for most in (bound, again, by_ranges):
                assert reached <= (most + listed.gains.floor) / scale + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_are_dropped_change_no_value_in_the_box(seed):
    X, y, weights, rng = some_list(100 + seed)
    listed = list_rows(RankingProblem.from_labels(X, y, weights))
    frame = row_frame(listed)
    rows, parents = frame.rows, {}
    for group, child in enumerate(frame.rows.child.tolist()):
        if child:
            parents[child] = parents[child + 1] = group
    work = fresh_work(len(listed.rows), frame.size, rows.counts)
    dropped = 0
    for _ in range(4):
        low, high = some_box(rng, frame.size)
        kept = look(rows, work, np.zeros(1, np.int32), low, high, 0, -1, np.zeros(1, np.int64))[1]
        chosen = set(work.ids[:kept].tolist())
        is_kept = kept_items(X, listed, frame, parents, chosen)
        dropped += int((~is_kept).sum())
        for _ in range(20):
            scores = X / listed.problem.scales @ (frame.basis @ rng.uniform(low, high))
            full, part = value(scores, y, weights), value(scores[is_kept], y[is_kept], weights)
            assert full == pytest.approx(part, abs=1e-12)
    assert dropped or len(X) < 30 or seed % 7


def kept_items(X, listed, frame, parents, chosen):
    """Which items are in a group of those chosen."""
    leaves = np.flatnonzero(frame.rows.child == 0)
    scaled = X / listed.problem.scales
    centred = scaled - listed.rows[np.argsort(listed.rows[:, 0], kind="stable")[len(listed.rows) // 2]]
    places = centred @ frame.basis
    kept = np.zeros(len(X), dtype=bool)
    for i, place in enumerate(places):
        group = int(leaves[np.abs(frame.rows.Z[leaves] - place).max(axis=1).argmin()])
        while group not in chosen and group in parents:
            group = parents[group]
        kept[i] = group in chosen
    return kept


@pytest.mark.parametrize("seed", range(30))
def test_select_is_sorting(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values, weights = rng.integers(0, 8, n).astype(float), rng.integers(0, 4, n)
    for wanted in range(1, int(weights.sum()) + 3):
        fits = [v for v in values if weights[values >= v].sum() >= wanted]
        expected = max(fits, default=-np.inf)
        assert select(values.copy(), weights.copy(), n, wanted) == expected
