"""Curves: against scikit-learn where it has them, and against counting at every threshold."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toprank.statistics import get
from toprank.statistics.curves import (
    cumulative_gain_curve,
    left_corner_roc_curve,
    lift_curve,
    precision_recall_curve,
    roc_curve,
)

CURVES = (roc_curve, left_corner_roc_curve, precision_recall_curve, cumulative_gain_curve, lift_curve)


@st.composite
def scored_lists(draw):
    n = draw(st.integers(2, 12))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    scores = draw(st.lists(st.integers(-2, draw(st.sampled_from([-1, 1, 8]))), min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.7]), min_size=n, max_size=n))
    assume(len({label for label, w in zip(y, weight or [1.0] * n, strict=True) if w > 0}) == 2)
    return np.array(y), np.array(scores, dtype=float), weight


@settings(max_examples=80, deadline=None)
@given(data=scored_lists())
def test_roc_is_scikit_learns(data):
    y, scores, weight = data
    curve = roc_curve(y, scores, sample_weight=weight)
    fpr, tpr, thresholds = sklearn.metrics.roc_curve(y, scores, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(curve.tpr, tpr, atol=1e-12)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    area = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weight)
    assert curve.area == pytest.approx(area, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(data=scored_lists())
def test_precision_recall_is_scikit_learns(data):
    y, scores, weight = data
    curve = precision_recall_curve(y, scores, sample_weight=weight)
    theirs = sklearn.metrics.precision_recall_curve(y, scores, sample_weight=weight)
    for ours, reference in zip((curve.precision, curve.recall, curve.thresholds), theirs, strict=True):
        np.testing.assert_allclose(ours, reference, atol=1e-12)
    assert curve.prevalence == pytest.approx(np.average(y, weights=weight))


@settings(max_examples=80, deadline=None)
@given(data=scored_lists())
def test_gain_and_lift_count_what_scores_at_least_the_threshold(data):
    y, scores, weight = data
    mass = np.ones(y.size) if weight is None else np.array(weight)
    gain = cumulative_gain_curve(y, scores, sample_weight=weight)
    lift = lift_curve(y, scores, sample_weight=weight)
    assert (gain.depth[0], gain.gain[0], gain.thresholds[0]) == (0.0, 0.0, np.inf)
    assert gain.depth[-1] == gain.gain[-1] == pytest.approx(1.0)
    np.testing.assert_array_equal(gain.thresholds[1:], sorted(set(scores[mass > 0]), reverse=True))
    np.testing.assert_array_equal(lift.thresholds, gain.thresholds[1:])
    prevalence = mass[y == 1].sum() / mass.sum()
    assert gain.prevalence == lift.prevalence == pytest.approx(prevalence)
    for i, threshold in enumerate(lift.thresholds):
        inside = scores >= threshold
        found = mass[inside & (y == 1)].sum()
        assert gain.depth[i + 1] == lift.depth[i] == pytest.approx(mass[inside].sum() / mass.sum())
        assert gain.gain[i + 1] == pytest.approx(found / mass[y == 1].sum())
        assert lift.lift[i] == pytest.approx(found / mass[inside].sum() / prevalence)


@settings(max_examples=80, deadline=None)
@given(data=scored_lists(), limit=st.sampled_from([0.05, 0.2, 0.25, 1 / 3, 0.5, 0.9, 1.0]))
def test_left_corner_has_scikit_learns_partial_area(data, limit):
    y, scores, weight = data
    corner = left_corner_roc_curve(y, scores, max_fpr=limit, sample_weight=weight)
    full = roc_curve(y, scores, sample_weight=weight)
    assert corner.fpr[-1] == pytest.approx(limit)
    assert corner.fpr.size == corner.tpr.size == corner.thresholds.size
    np.testing.assert_array_equal(corner.tpr[:-1], full.tpr[: corner.tpr.size - 1])
    standard = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weight, max_fpr=limit)
    if limit < 1:  # undo McClish's standardisation
        low, high = limit**2 / 2, limit
        standard = (2 * standard - 1) * (high - low) + low
    assert corner.area == pytest.approx(standard, abs=1e-12)


def test_left_corner_keeps_the_rise_at_the_limit():
    # Half of the negatives, then all remaining positives at the same false positive rate.
    corner = left_corner_roc_curve([1, 0, 1, 1, 0], [5, 4, 3, 2, 1], max_fpr=0.5)
    np.testing.assert_allclose(corner.fpr, [0, 0, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(corner.tpr, [0, 1 / 3, 1 / 3, 2 / 3, 1])


def test_area_is_the_auc_with_ties_in_the_mean():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 500), rng.integers(0, 20, 500)
    assert roc_curve(y, scores).area == pytest.approx(get("auc")(y, scores, ties="mean"))


def test_infinite_scores_are_one_step():
    curve = roc_curve([1, 0, 1, 0], [np.inf, np.inf, 0, -np.inf])
    np.testing.assert_allclose(curve.fpr, [0, 0.5, 0.5, 1])
    np.testing.assert_allclose(curve.tpr, [0, 0.5, 1, 1])


@pytest.mark.parametrize("curve", CURVES)
def test_labels_of_any_two_values_will_do(curve):
    scores = [0.1, 0.9, 0.5, 0.4]
    plain, words = curve([0, 1, 1, 0], scores), curve(["no", "yes", "yes", "no"], scores)
    np.testing.assert_array_equal(plain.thresholds, words.thresholds)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(
    ("y", "scores", "options", "message"),
    [
        ([1, 1], [1, 2], {}, "one class only"),
        ([1, 0], [1, 2], {"sample_weight": [0, 1]}, "one class only"),
        ([1, 0], [1, np.nan], {}, "scores contains NaN"),
        ([1, 0], [1], {}, "scores has 1 values but y has 2"),
        ([1, 0], [1, 2], {"sample_weight": [-1, 1]}, "sample_weight must not be negative"),
        ([0, 1, 2], [1, 2, 3], {}, "two classes"),
    ],
)
def test_wrong_input_is_named(curve, y, scores, options, message):
    with pytest.raises(ValueError, match=message):
        curve(y, scores, **options)


@pytest.mark.parametrize("limit", [0.0, -0.1, 1.1])
def test_limits_outside_the_curve_are_refused(limit):
    with pytest.raises(ValueError, match="max_fpr"):
        left_corner_roc_curve([1, 0], [1, 2], max_fpr=limit)


def height_between(y, scores, place):
    """Of a list without ties, the share of positives above the negative after `place` others."""
    ranked = [label for _, label in sorted(zip(scores, y, strict=True), reverse=True)]
    negatives = [number for number, label in enumerate(ranked) if label == 0]
    return sum(ranked[: negatives[place]]) / sum(ranked)


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_of_two_curves_is_that_of_their_steps(seed):
    rng = np.random.default_rng(seed)
    y, one, other = np.arange(30) % 3 == 0, rng.permutation(30), rng.permutation(30)
    gaps = [abs(height_between(y, one, j) - height_between(y, other, j)) for j in range(20)]
    area, highest = roc_curve(y, one).distance(roc_curve(y, other))
    assert area == pytest.approx(np.mean(gaps))
    assert highest == pytest.approx(max(gaps))
    assert roc_curve(y, one).distance(roc_curve(y, one)) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_of_curves_with_ties(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 4 == 0
    one, other = (roc_curve(y, rng.integers(4, size=40)) for _ in range(2))
    # Midpoints of a fine grid lie beside the places where a curve rises straight up.
    rates = (np.arange(200_000) + 0.5) / 200_000
    gaps = np.abs(np.interp(rates, one.fpr, one.tpr) - np.interp(rates, other.fpr, other.tpr))
    area, highest = one.distance(other)
    assert area == pytest.approx(gaps.mean(), abs=1e-6)
    assert highest == pytest.approx(gaps.max(), abs=1e-4)
    # The best curve lies above every other: its distance is a difference of areas (Werner 2020, 3.3).
    best = roc_curve(y, y.astype(float))
    assert best.distance(one)[0] == pytest.approx(best.area - one.area)
    with pytest.raises(ValueError, match=r"end at false positive rates 0.5 and 1; cut them alike"):
        one.up_to(0.5).distance(other)
