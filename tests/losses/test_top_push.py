"""The at-the-top losses: thresholds against a linear program, gradients against differences, conjugates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from toprank.losses.top_push import SURROGATES, AtTopLoss, Highest, MeanOfHighest, QuantileMean, threshold

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


@pytest.mark.parametrize("rule", [Highest(), MeanOfHighest(3), QuantileMean(0.3)])
@pytest.mark.parametrize("name", SURROGATES)
def test_gradients_are_finite_differences(name, rule):
    rng = np.random.default_rng(1)
    scores, y, weight = rng.normal(size=20), rng.integers(0, 2, 20), rng.uniform(0.5, 2.0, 20)
    loss, h = AtTopLoss(name, rule), 1e-6
    _, gradient = loss.value_and_gradient(scores, y, weight)
    for i in range(20):
        step = h * np.eye(20)[i]
        up, down = (loss.value_and_gradient(scores + s * step, y, weight)[0] for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / (2 * h), abs=1e-7)


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=2, max_size=12))
def test_the_hinge_is_at_least_the_positives_not_above_the_highest_negative(items):
    scores, y = np.array([s for s, _ in items], dtype=float), np.array([p for _, p in items], dtype=int)
    if y.min() == y.max():
        return
    missed = np.mean(scores[y == 1] <= scores[y == 0].max())
    for name in ("hinge", "squared_hinge"):
        assert AtTopLoss(name).value_and_gradient(scores, y)[0] >= missed - 1e-12


def test_infinite_push_is_the_worst_negative():
    """The maximum over negatives of the mean loss (Agarwal 2011, Eq. 3.3) is the loss at the highest one."""
    rng = np.random.default_rng(2)
    scores, y = rng.normal(size=30), rng.integers(0, 2, 30)
    pairs = 1 - np.subtract.outer(scores[y == 1], scores[y == 0])
    worst = np.maximum(pairs, 0).mean(axis=0).max()
    assert AtTopLoss("hinge").value_and_gradient(scores, y)[0] == pytest.approx(worst)


@pytest.mark.parametrize("rule, value", [(MeanOfHighest, 0), (QuantileMean, 0.0), (QuantileMean, 1.5)])
def test_impossible_rules_are_refused(rule, value):
    with pytest.raises(ValueError, match="must be"):
        rule(value)
