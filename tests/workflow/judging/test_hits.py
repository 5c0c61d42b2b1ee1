"""The hits table, recomputed from the splits with plain numpy; and whether its intervals hold."""

import numpy as np
import pytest

from toprank.workflow.judging.hits import Hits, chance_of, hits_at, hits_table, sizes_for


def _first(k, y, scores):
    """Positives among the first k, one item at a time, equal scores the worst way."""
    order = sorted(range(len(y)), key=lambda i: (-scores[i], y[i]))
    return sum(int(y[i]) for i in order[:k])


def test_hits_are_counted_item_by_item():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 30))
        y = rng.integers(0, 2, n).astype(np.int8)
        scores = rng.integers(0, 5, n).astype(float)
        k = int(rng.integers(1, n + 1))
        assert hits_at(k, y, scores) == _first(k, y, scores)


def test_hits_of_queries_are_their_mean():
    y = np.array([1, 0, 1, 0, 0, 1], dtype=np.int8)
    scores = np.array([3.0, 2, 1, 3, 2, 1])
    qid = np.array([0, 0, 0, 2, 2, 2])
    assert hits_at(2, y, scores, qid) == (1 + 0) / 2
    assert chance_of(2, y, qid) == pytest.approx((2 * 2 / 3 + 2 * 1 / 3) / 2)


def test_chance_is_the_mean_over_random_orders():
    rng = np.random.default_rng(0)
    y = (np.arange(20) < 6).astype(np.int8)
    drawn = [rng.permutation(y)[:7].sum() for _ in range(4000)]
    assert chance_of(7, y) == pytest.approx(np.mean(drawn), abs=0.1)


def test_sizes_go_as_far_as_the_lists():
    assert sizes_for(30, 1000) == [10, 20, 30, 50, 100]
    assert sizes_for(50, 40) == [10, 20]
    assert sizes_for(7, 5) == [5]


def test_a_table_of_several_splits():
    rng = np.random.default_rng(1)
    judged = []
    for _ in range(4):
        y = rng.permutation(np.arange(60) < 15).astype(np.int8)
        judged.append((y, None, {"a": rng.normal(size=60), "b": y + rng.normal(size=60)}))
    table = hits_table(12, judged, 0.5)
    assert [line.k for line in table] == [10, 12, 20, 50]
    for line in table:
        assert line.chance == pytest.approx(line.k * 0.25)
        for name in ("a", "b"):
            assert line.found[name] == tuple(_first(line.k, y, scores[name]) for y, _, scores in judged)
            low, high = line.interval(name)
            assert 0 <= low <= line.mean(name) <= high <= line.k
    assert hits_table(5, [], 0.5) == []


def test_no_interval_from_two_splits():
    assert Hits(10, 2.0, {"a": (5.0, 6.0)}, 0.5).interval("a") is None


def test_agreement_by_luck_is_not_certainty():
    low, high = Hits(20, 2.0, {"a": (10.0,) * 5}, 0.5).interval("a")
    assert low < 8
    assert high > 12


@pytest.mark.parametrize("splits", [5, 20])
def test_four_of_five_new_lists_lie_in_the_interval(splits):
    """A fixed score, half splits of 200 items, and a new list of 100: what the interval is for."""
    rng, inside, runs, width = np.random.default_rng(splits), 0, 400, []
    for _ in range(runs):
        signal = rng.normal(size=300)
        y = (signal + 1.5 * rng.normal(size=300) > 0.8).astype(np.int8)
        old, new = slice(0, 200), slice(200, 300)
        judged = []
        for _ in range(splits):
            rows = rng.permutation(200)[:100]
            judged.append((y[old][rows], None, {"a": signal[old][rows]}))
        line = next(one for one in hits_table(20, judged, 0.5) if one.k == 20)
        low, high = line.interval("a")
        inside += low <= _first(20, y[new], signal[new]) <= high
        width.append(high - low)
    assert 0.78 <= inside / runs <= 0.97
    assert np.mean(width) < 12
