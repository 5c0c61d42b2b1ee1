"""The logistic loss over pairs: against all pairs one by one, short lists and long ones."""

import numpy as np
import pytest

from toprank.losses.pairs import Pairs
from toprank.losses.pairwise_logistic import pairwise_logistic


def by_pairs(y, scores, qid, weight):
    """All pairs of different labels in the same query; weights sum to one over all queries alike."""
    value, gradient, curvature = 0.0, np.zeros(len(y)), np.zeros(len(y))
    upper = (y[:, None] > y[None, :]) & (qid[:, None] == qid[None, :])
    share = upper * weight[:, None] * weight[None, :]
    share = share / share.sum()
    t = scores[None, :] - scores[:, None]
    value = float((share * np.logaddexp(0.0, t)).sum())
    slope = share * np.exp(-np.logaddexp(0.0, -t))
    bend = share * np.exp(-np.logaddexp(0.0, -t) - np.logaddexp(0.0, t))
    gradient = slope.sum(axis=0) - slope.sum(axis=1)
    curvature = bend.sum(axis=0) + bend.sum(axis=1)
    return value, gradient, curvature


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 30.0, 500.0])
@pytest.mark.parametrize("n, labels, queries", [(30, 2, 1), (400, 2, 1), (300, 4, 1), (500, 2, 3)])
def test_it_is_the_sum_over_all_pairs(spread, n, labels, queries):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(labels, size=n), spread * rng.normal(size=n)
    qid, weight = rng.integers(queries, size=n), rng.uniform(0.5, 2, n)
    pairs = Pairs.from_labels(y, qid=qid, sample_weight=weight)
    point = pairwise_logistic(pairs, scores)
    value, gradient, curvature = by_pairs(y, scores, qid, weight)
    assert point.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(point.gradient, gradient, atol=1e-6 * abs(gradient).max())
    np.testing.assert_allclose(point.curvature, curvature, atol=2e-6 * curvature.max())


def test_both_ways_agree_where_they_meet():
    """A list of 48 is summed pair by pair, one of 49 by the grid: one row more changes little."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=2049)
    y = np.zeros(2049, dtype=int)
    y[:49] = 1
    found = []
    for positives in (48, 49):
        labels = np.where(np.arange(2049) < positives, 1, 0)
        labels[positives:49] = -1
        keep = labels >= 0
        point = pairwise_logistic(Pairs.from_labels(labels[keep]), scores[keep])
        value, gradient, _ = by_pairs(labels[keep], scores[keep], np.zeros(keep.sum()), np.ones(keep.sum()))
        assert point.value == pytest.approx(value, rel=1e-6)
        found.append(np.abs(point.gradient - gradient).max() / np.abs(gradient).max())
    assert max(found) < 1e-6


def test_ten_times_the_rows_take_about_ten_times_the_work():
    """No n^2: a million pairs a row would take hours."""
    rng = np.random.default_rng(2)
    scores, y = rng.normal(size=200_000), np.arange(200_000) % 2
    point = pairwise_logistic(Pairs.from_labels(y), scores)
    assert abs(point.gradient.sum()) < 1e-6
    assert point.curvature.min() >= 0
