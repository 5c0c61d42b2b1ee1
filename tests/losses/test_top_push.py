"""The at-the-top losses: thresholds against a linear program, gradients against differences, conjugates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from toprank.losses.top_push import SURROGATES, MeanOfHighest, QuantileMean, threshold

small = st.lists(st.integers(-3, 3), min_size=1, max_size=8)


def highest_mean(scores, caps):
    """The largest weighted mean of scores with shares up to the caps, by linear programming."""
    found = linprog(
        -np.array(scores), A_eq=np.ones((1, len(scores))), b_eq=[1], bounds=[(0, c) for c in caps]
    )
    return -found.fun


@given(small)
def test_the_highest_is_the_maximum(scores):
    value, shares = threshold(np.array(scores, dtype=float), None)
    assert value == max(scores)
    assert shares.sum() == 1
    assert shares @ scores == value


@given(small, st.data())
def test_thresholds_are_the_largest_weighted_means(scores, data):
    n = len(scores)
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    k = data.draw(st.integers(1, int(weight.sum())))
    tau = data.draw(st.floats(0.05, 1.0))
    for rule in (MeanOfHighest(k), QuantileMean(tau)):
        caps = rule.caps(weight)
        value, shares = threshold(np.array(scores, dtype=float), caps)
        assert value == pytest.approx(highest_mean(scores, caps), abs=1e-9)
        assert shares.sum() == pytest.approx(1.0)
        assert (shares <= caps + 1e-9).all()
        assert (shares >= 0).all()


@given(small, st.integers(1, 8))
def test_the_mean_of_the_k_highest(scores, k):
    value, _ = threshold(np.array(scores, dtype=float), MeanOfHighest(k).caps(np.ones(len(scores))))
    assert value == pytest.approx(np.mean(sorted(scores, reverse=True)[:k]))


def test_many_scores_take_the_linear_time_path():
    scores = np.random.default_rng(0).integers(0, 500, 5000).astype(float)
    value, shares = threshold(scores, MeanOfHighest(7).caps(np.ones(5000)))
    assert value == pytest.approx(np.sort(scores)[-7:].mean())
    assert np.count_nonzero(shares > 1e-12) == 7  # seven sevenths may leave a hair to the next


def test_weights_count_as_repetitions():
    scores, weight = np.array([5.0, 4.0, 1.0]), np.array([2.0, 3.0, 1.0])
    repeated = np.repeat(scores, weight.astype(int))
    for rule in (MeanOfHighest(4), QuantileMean(0.6)):
        value = threshold(scores, rule.caps(weight))[0]
        assert value == pytest.approx(threshold(repeated, rule.caps(np.ones(6)))[0])


@pytest.mark.parametrize("name", SURROGATES)
def test_slopes_and_curvatures_are_derivatives(name):
    loss, z, h = SURROGATES[name], np.array([-3.1, -1.4, -0.2, 0.0, 0.7, 4.0]), 1e-5
    slopes = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    assert loss.slope(z) == pytest.approx(slopes, abs=1e-8)
    curvatures = (loss.slope(z + h) - loss.slope(z - h)) / (2 * h)
    assert loss.curvature(z) == pytest.approx(curvatures, abs=1e-8)


@pytest.mark.parametrize("name", SURROGATES)
def test_conjugates_meet_their_losses(name):
    loss, z = SURROGATES[name], np.array([-5.0, -1.0, -0.3, 0.0, 2.0, 30.0])
    slope = loss.slope(z)
    assert loss.value(z) + loss.conjugate(slope) == pytest.approx(slope * z, abs=1e-10)
    for other in np.linspace(-8.0, 8.0, 33):
        assert (slope * other - loss.value(np.array([other])) <= loss.conjugate(slope) + 1e-10).all()


@pytest.mark.parametrize("rule", [MeanOfHighest(3), QuantileMean(0.3)])
def test_shares_are_the_gradient_of_the_threshold(rule):
    rng = np.random.default_rng(1)
    scores, h = rng.normal(size=20), 1e-6
    caps = rule.caps(rng.uniform(0.5, 2.0, 20))
    _, shares = threshold(scores, caps)
    for i in range(20):
        up, down = (threshold(scores + sign * h * np.eye(20)[i], caps)[0] for sign in (1, -1))
        assert shares[i] == pytest.approx((up - down) / (2 * h), abs=1e-7)


@pytest.mark.parametrize("rule, value", [(MeanOfHighest, 0), (QuantileMean, 0.0), (QuantileMean, 1.5)])
def test_impossible_rules_are_refused(rule, value):
    with pytest.raises(ValueError, match="must be"):
        rule(value)
