"""Counting between two orders: every pair by itself says the same."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.angles._angle_kernels import bound_between, crossing_pairs
from toprank.exact.angles.listed import angle_rows
from toprank.exact.angles.orders import Face
from toprank.exact.angles.walk import best_between, stand_at


def lists(seed):
    """Three queries over rows some of which are equal, and a statistic that is no sum of position weights."""
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.normal(size=(n, 2)) if seed % 2 else rng.integers(0, 5, (n, 2)).astype(float)
    y, qid = (rng.random(n) < 0.4).astype(int), np.arange(n) % 3
    y[:6] = [0, 0, 0, 1, 1, 1]
    name = ("dcg", "average_precision", "p_norm_push_loss", "auc")[seed % 4]
    return angle_rows(RankingProblem.from_labels(X, y, name, qid=qid))


def lost_pairs(listed, order):
    """Which pairs of items of one list are lost in an order of rows, one by one."""
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    both = itertools.product(range(len(listed.upper)), range(len(listed.lower)))
    return {
        (i, k)
        for i, k in both
        if listed.upper_list[i] == listed.lower_list[k] and rank[listed.lower[k]] <= rank[listed.upper[i]]
    }


def value_of(listed, lost):
    """Of a set of lost pairs, by the objective itself, each of its terms rounded up to a whole number."""
    counts = np.bincount([i for i, _ in lost], minlength=len(listed.upper))
    terms = listed.objective.terms(counts[np.argsort(listed.upper_list, kind="stable")])  # list after list
    return sum(math.ceil(Fraction(term) * Fraction(2) ** listed.scale.exponent) for term in terms.tolist())


@pytest.mark.parametrize("seed", range(16))
def test_kernels_count_as_pairs_do(seed):
    listed = lists(seed)
    rng = np.random.default_rng(seed)
    face = Face(listed.rows, seed % 4)
    low, high = np.sort(rng.uniform(-1, 1, 2)).tolist()
    if seed % 3 == 0:
        low, high = 0.0, 1.0  # where whole numbers tie
    first, last = stand_at(listed, face.orders(low)[1]), stand_at(listed, face.orders(high)[0])
    before, after = (lost_pairs(listed, end.order) for end in (first, last))
    for stand, lost in ((first, before), (last, after)):
        assert stand.above.tolist() == np.bincount([i for i, _ in lost], minlength=len(listed.upper)).tolist()
        assert stand.value == value_of(listed, lost)
    bound, crossings = bound_between(first.order, first.above, last.above, last.place, listed.lists)
    assert bound == value_of(listed, before & after)
    assert crossings == len(before ^ after)
    found = crossing_pairs(first.above, first.place, last.above, last.place, listed.lists, crossings)
    upper, lower, gained = (array.tolist() for array in found)
    assert set(zip(upper, lower, strict=True)) == before ^ after
    assert {(i, k) for i, k, won in zip(*found, strict=True) if won} == before - after
    assert len(upper) == len(lower) == len(gained) == crossings


@pytest.mark.parametrize("seed", range(16))
def test_a_walk_visits_every_sector(seed):
    listed = lists(seed)
    face = Face(listed.rows, seed % 4)
    low, high = -0.3, 0.45
    first, last = stand_at(listed, face.orders(low)[1]), stand_at(listed, face.orders(high)[0])
    crossings = bound_between(first.order, first.above, last.above, last.place, listed.lists)[1]
    best, sector = best_between(listed, face, (low, high), first, last, int(crossings))
    assert low <= sector[0] < sector[1] <= high
    # Every place where any two rows cross, and a point between each two neighbours.
    pairs = itertools.combinations(range(len(listed.rows)), 2)
    at = {face.crossing(a, b) for a, b in pairs if face.q[a] != face.q[b]}
    at = sorted({t for t in at if low < t < high} | {*map(type(sector[0]), (low, high))})
    values = [stand_at(listed, face.orders(float((a + b) / 2))[0]).value for a, b in itertools.pairwise(at)]
    assert best == max(values)
    assert stand_at(listed, face.orders(float(sum(sector) / 2))[0]).value == best
