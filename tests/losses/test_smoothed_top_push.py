"""The rounded losses: shares by bisection, derivatives by differences, and what rounding may change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.losses.smoothed_top_push import RoundedHinge, SmoothedTopPush, rounded_shares
from toprank.losses.top_push import SURROGATES, threshold

LOSSES = list(SURROGATES)


def shares_by_bisection(scores, caps, width):
    low, high = scores.min() - 2 * width, scores.max() + 2 * width
    for _ in range(200):
        middle = 0.5 * (low + high)
        total = (caps * np.clip((scores - middle) / width + 0.5, 0, 1)).sum()
        low, high = (middle, high) if total > 1 else (low, middle)
    return np.clip((scores - low) / width + 0.5, 0, 1)


@given(st.integers(0, 10_000))
@settings(max_examples=200)
def test_shares_are_those_of_bisection(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    scores = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.5:
        scores = np.round(scores)  # ties
    width = 10.0 ** rng.uniform(-4, 3)
    caps = rng.choice([1.0, rng.uniform(1 / n, 1)]) * np.ones(n)
    if rng.random() < 0.3:
        caps = caps * rng.integers(1, 5, n)
    parts = rounded_shares(scores, caps, width)
    assert (parts >= 0).all()
    assert (parts <= 1).all()
    # Between two floats next to each other the cut cannot be told: all parts between 0 and 1 move with it.
    between = caps[(parts > 0) & (parts < 1)].sum()
    step = np.spacing(np.abs(scores).max()) / width
    assert caps @ parts == pytest.approx(1.0, rel=1e-12, abs=1e-12 + between * step)
    # Scores far larger than the width leave few digits of the parts.
    slack = 1e-9 + 1e-14 * np.abs(scores).max() / width
    assert caps * parts == pytest.approx(
        caps * shares_by_bisection(scores, caps, width), abs=slack * caps.max()
    )


def test_shares_of_many_rows_start_from_a_sample():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=20_000))  # an order that fools no sample
    caps = np.full(len(scores), 1 / 700)
    expected = shares_by_bisection(scores, caps, 0.01)
    assert rounded_shares(scores, caps, 0.01) == pytest.approx(expected, abs=1e-9)


def problem(seed=0, *, loss="squared_hinge", caps=True, width=0.7):
    rng = np.random.default_rng(seed)
    order = rng.permutation(14)
    limits = np.full(9, 0.23) if caps else None
    built = SmoothedTopPush(order[:5], order[5:], rng.uniform(0.5, 2, 5), limits, SURROGATES[loss], width)
    return built, rng.normal(size=14)


@pytest.mark.parametrize("caps", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_and_hessian_are_differences(loss, caps):
    rounded, scores = problem(1, loss=loss, caps=caps)
    point, step = rounded.at(scores), 1e-6
    for item in range(len(scores)):
        move = np.eye(len(scores))[item] * step
        ahead, behind = rounded.at(scores + move), rounded.at(scores - move)
        assert point.gradient[item] == pytest.approx((ahead.value - behind.value) / (2 * step), abs=1e-6)
        column = (ahead.gradient - behind.gradient) / (2 * step)
        assert point.curvature_product(move / step) == pytest.approx(column, abs=1e-5)
        assert column[item] <= point.curvature[item] + 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_rounding_with_caps_lies_above_the_loss_and_close_to_it(loss):
    rounded, scores = problem(2, loss=loss)
    cut, _ = threshold(scores[rounded.negatives], rounded.caps)
    plain = float(rounded.costs @ SURROGATES[loss].value(cut - scores[rounded.positives]))
    widths = (1.0, 1e-2, 1e-6)
    values = [problem(2, loss=loss, width=width)[0].at(scores).value for width in widths]
    assert values[0] >= values[1] >= values[2] >= plain - 1e-12
    assert values[2] == pytest.approx(plain, abs=1e-5)


def test_the_continued_loss_is_the_loss_where_no_share_comes_to_an_end():
    rounded, scores = problem(3)
    here = rounded.at(scores)
    assert here.between.any()
    again = rounded.continued(scores, here)
    assert again.value == pytest.approx(here.value)
    assert again.gradient == pytest.approx(here.gradient)


def test_the_rounded_hinge():
    z, step = np.linspace(-3, 1, 41) + 0.013, 1e-6
    rounded = RoundedHinge(0.4)
    slope = (rounded.value(z + step) - rounded.value(z - step)) / (2 * step)
    assert rounded.slope(z) == pytest.approx(slope, abs=1e-6)
    curvature = (rounded.slope(z + step) - rounded.slope(z - step)) / (2 * step)
    assert rounded.curvature(z) == pytest.approx(curvature, abs=1e-6)
    assert (rounded.value(z) >= np.maximum(1 + z, 0) - 1e-12).all()
