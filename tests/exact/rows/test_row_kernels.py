"""Rows of a box: ranges that hold every score, rows dropped only where they matter nowhere, thresholds."""

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.rows._part_kernels import bucket, gather, look_closer, take_apart
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


def ready(seed, direction=True):
    """A list in coordinates, and room to look at its boxes."""
    X, y, weights, rng = some_list(seed)
    listed = list_rows(RankingProblem.from_labels(X, y, weights))
    frame = row_frame(listed, direction=rng.normal(size=X.shape[1]) if direction else None)
    work = fresh_work(len(listed.rows), frame.size, frame.rows.counts)

    def reached(u):
        scores = X / listed.problem.scales @ (frame.basis @ u)
        return value(scores, y, weights) * 2.0**listed.scale.exponent - listed.gains.floor

    return listed, frame, work, reached, rng


NOBODY = np.zeros(1, dtype=np.int64)
SLACK = 2.0**20
"""Of whole-number values that fill sixty bits: what the test's own sums are off by."""


def somewhere(rng, low, high):
    """A point of a box, one of its vertices now and then."""
    return rng.uniform(low, high) if rng.random() < 0.7 else np.where(rng.random(low.size) < 0.5, low, high)


@pytest.mark.parametrize("seed", range(60))
def test_no_direction_of_a_part_is_worth_more_than_its_bound(seed):
    _, frame, work, reached, rng = ready(seed)
    for _ in range(6):
        groups, (low, high) = np.zeros(1, dtype=np.int32), some_box(rng, frame.size)
        closely, nothing = bool(rng.random() < 0.5), -(1 << 62)
        for _ in range(2):  # and again, from the rows that were kept
            parts, kept, middle, bound = take_apart(
                frame.rows, work, groups, low, high, nothing, -1, closely, NOBODY
            )
            groups = work.carried[:kept].copy()
            assert parts == 16
            assert middle <= reached((low + high) / 2) + SLACK
            for p in range(parts):
                for _ in range(3):
                    at = somewhere(rng, work.mids[:, p] - work.part, work.mids[:, p] + work.part)
                    assert reached(at) <= work.bounds[p] + SLACK
                    assert bound < 0 or reached(at) <= bound + SLACK


def test_bounds_fall_to_the_value_as_boxes_become_small():
    """Of 30 lists, at a place away from ties: a bound that never fell would be as sound as it is useless."""
    below = 0
    for seed in range(1, 90, 3):  # those that are on no grid
        _, frame, work, reached, rng = ready(seed)
        at = np.round(rng.uniform(-0.9, 0.9, frame.size) * 64) / 64
        low, high = at - 2.0**-20, at + 2.0**-20
        low[0] = high[0] = at[0] = 1.0
        groups, most = np.zeros(1, np.int32), 1 << 62
        _, _, _, bound = take_apart(frame.rows, work, groups, low, high, 0, most, True, NOBODY)
        assert 0 <= bound <= reached(at) + SLACK
        below += work.bounds.max() < frame.rows.table[: frame.rows.places].sum()
    assert below > 10  # by ranges alone, equal rows apart


@pytest.mark.parametrize("seed", range(20))
def test_the_parts_of_a_box_are_all_of_it(seed):
    _, frame, work, _, rng = ready(seed)
    low, high = some_box(rng, frame.size)
    take_apart(frame.rows, work, np.zeros(1, np.int32), low, high, 0, -1, False, NOBODY)
    for _ in range(200):
        u = somewhere(rng, low, high)
        assert (np.abs(work.mids - u[:, None]) <= work.part[:, None]).all(axis=0).any()
    assert (work.mids - work.part[:, None] >= low[:, None]).all()
    assert (work.mids + work.part[:, None] <= high[:, None]).all()


@pytest.mark.parametrize("seed", range(20))
def test_buckets_never_decrease_with_the_score(seed):
    _, frame, work, _, rng = ready(seed)
    low, high = some_box(rng, frame.size)
    take_apart(frame.rows, work, np.zeros(1, np.int32), low, high, 0, -1, False, NOBODY)
    base, knee = work.map[:2]
    ends = [
        rng.uniform(base - 1, knee + 1, 400),
        base + 1e-13 * rng.normal(size=40),
        [base, knee, 1e300, -1e300],
    ]
    ends = np.sort(np.concatenate(ends))
    buckets = [int(bucket(work, end)) for end in ends]
    assert (np.diff(buckets) >= 0).all()
    assert buckets[0] == 0
    assert buckets[-1] == work.up_count.shape[1] - 1


def test_pairs_show_more_than_ranges():
    """Two rows side by side far from all others: ranges tell them apart late, their difference at once."""
    X = np.array([[50.0, 50.0], [50.1, 50.1], [0.0, 1.0], [1.0, 0.0]])
    listed = list_rows(RankingProblem.from_labels(X, [1, 0, 1, 0], [1.0, 0.5, 0.0, 0.0]))
    frame = row_frame(listed, basis=np.eye(2))
    work = fresh_work(4, 2, frame.rows.counts)
    low, high = np.array([1.0, 0.5]), np.array([1.0, 1.0])
    rows = np.flatnonzero(frame.rows.child == 0).astype(np.int32)
    size = gather(frame.rows, work, rows, low, high)
    assert 0 <= look_closer(frame.rows, work, size, NOBODY) < listed.gains.most


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
        kept = take_apart(rows, work, np.zeros(1, np.int32), low, high, 0, 1 << 62, False, NOBODY)[1]
        chosen = set(work.carried[:kept].tolist())
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
