"""The exponential loss of all pairs of different labels, beside the pairs one by one."""

import numpy as np
import pytest

from toprank.losses.exponential_grades import ExponentialGrades
from toprank.losses.p_norm_push import PNormPushItems


def by_pairs(y, scores, weight, qid):
    """Value, gradient and Hessian, pair by pair."""
    n, lists = len(y), []
    for query in np.unique(qid):
        rows = np.flatnonzero((qid == query) & (weight > 0))
        upper, lower = np.array([(i, k) for i in rows for k in rows if y[i] > y[k]]).reshape(-1, 2).T
        if not len(upper):
            continue
        apart = np.zeros((len(upper), n))
        apart[np.arange(len(upper)), upper] = -1.0
        apart[np.arange(len(upper)), lower] = 1.0
        worth = weight[upper] * weight[lower]
        terms = worth * np.exp(apart @ scores)
        share = terms / terms.sum()
        mean = share @ apart
        hessian = (apart - mean).T @ (share[:, None] * (apart - mean))
        lists.append((np.log(terms.sum() / worth.sum()), mean, hessian))
    return [np.mean([one[part] for one in lists], axis=0) for part in range(3)]


@pytest.mark.parametrize("levels", [2, 3, 30])
@pytest.mark.parametrize("seed", range(3))
def test_value_gradient_and_hessian_are_those_of_the_pairs(levels, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(levels, size=25).astype(float) / 3
    weight, qid = rng.integers(4, size=25).astype(float), rng.integers(3, size=25)
    scores = 2.0 * rng.normal(size=25)
    value, gradient, hessian = by_pairs(y, scores, weight, qid)
    point = ExponentialGrades.from_labels(y, qid=qid, sample_weight=weight).at(scores)
    assert point.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, gradient, atol=1e-13)
    direction = rng.normal(size=25)
    np.testing.assert_allclose(point.curvature_product(direction), hessian @ direction, atol=1e-12)


def test_two_labels_are_the_push_with_p_1():
    rng = np.random.default_rng(1)
    y, scores = np.arange(40) % 3 == 0, rng.normal(size=40)
    ours = ExponentialGrades.from_labels(y).at(scores)
    push = PNormPushItems.from_labels(y).at(scores, 1.0)
    assert ours.value == pytest.approx(push.value, rel=1e-13)
    np.testing.assert_allclose(ours.gradient, push.gradient, atol=1e-15)


def test_scores_far_apart_neither_overflow_nor_vanish():
    y, scores = np.arange(6.0), np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) * 1e4
    for sign in (1.0, -1.0):
        point = ExponentialGrades.from_labels(y).at(sign * scores)
        assert point.value == pytest.approx(-1e4 + np.log(5 / 15) if sign > 0 else 5e4 - np.log(15), rel=1e-9)
        assert np.abs(point.gradient).sum() > 0.1


def test_labels_that_make_no_pair_are_refused():
    with pytest.raises(ValueError, match="no query with items of different labels"):
        ExponentialGrades.from_labels([1.0, 1.0, 2.0], qid=[0, 0, 1])
