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
