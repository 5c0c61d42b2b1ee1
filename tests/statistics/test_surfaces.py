"""Integrated ROC curves and ROC surfaces, against counting and against all orders of tied items."""

import itertools

import numpy as np
import pytest

import general_oracles as oracle
from toprank.statistics import get, integrated_roc_curve, roc_curve, roc_surface


def tied(seed, n=14, levels=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, n), rng.integers(0, 6, n).astype(float)


def height(y, scores, rate):
    """The mean over rows i of the share of {Y > Y_i} above where `rate` of {Y < Y_i} is reached.

    Scores are distinct and `rate` lies between two steps of every curve.
    """
    found = []
    for middle in y:
        upper, lower = scores[y > middle], scores[y < middle]
        if len(upper) and len(lower):
            passed = np.sort(lower)[::-1][: int(rate * len(lower)) + 1]
            found.append(np.mean(upper > passed[-1]))
    return np.mean(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_integrated_curve_is_the_mean_of_the_curves_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 5, 20), rng.permutation(20).astype(float)
    curve = integrated_roc_curve(y, scores)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    for rate in rng.uniform(size=20):
        right = integrated_roc_curve(y, scores, rates=[rate])
        assert right.tpr[0] == pytest.approx(height(y, scores, rate))
        assert np.interp(rate, curve.fpr, curve.tpr) == pytest.approx(height(y, scores, rate))
    expected = oracle.integrated_auc(list(y[np.argsort(-scores)]))
    assert curve.area == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_its_area_is_the_integrated_auc_with_ties_in_the_mean(seed):
    y, scores = tied(seed)
    curve = integrated_roc_curve(y, scores)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= -1e-12).all()
    assert curve.area == pytest.approx(get("integrated_auc")(y, scores, ties="mean"))


def test_of_two_labels_both_are_the_roc_curve():
    y, scores = tied(0, levels=2)
    plain = roc_curve(y, scores)
    curve = integrated_roc_curve(y, scores)
    assert curve.area == pytest.approx(plain.area)
    assert np.interp(0.37, curve.fpr, curve.tpr) == pytest.approx(np.interp(0.37, plain.fpr, plain.tpr))
    points = roc_surface(y, scores).vertices()[::-1]
    np.testing.assert_allclose(1.0 - points[:, 0], plain.fpr, atol=1e-12)
    np.testing.assert_allclose(points[:, 1], plain.tpr, atol=1e-12)


@pytest.mark.parametrize("levels", [3, 4])
def test_points_of_the_surface_are_shares_between_thresholds(levels):
    y, scores = tied(1, levels=levels)
    surface = roc_surface(y, scores)
    distinct = [-np.inf, *np.unique(scores)]
    expected = []
    for cuts in itertools.combinations_with_replacement(distinct, levels - 1):
        bounds = [-np.inf, *cuts, np.inf]
        expected.append(
            [np.mean((scores[y == k] > bounds[k]) & (scores[y == k] <= bounds[k + 1])) for k in range(levels)]
        )
        np.testing.assert_allclose(surface.at(cuts), expected[-1], atol=1e-12)
    np.testing.assert_allclose(surface.vertices(), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_volume_is_the_chance_of_the_right_order_over_all_orders_of_tied_items(seed):
    y, scores = tied(seed, n=9, levels=3)
    right = 0.0
    rows = [np.flatnonzero(y == level) for level in range(3)]
    for chain in itertools.product(*rows):
        drawn = scores[list(chain)]
        orders = [
            order for order in itertools.permutations(range(3)) if (np.diff(drawn[list(order)]) >= 0).all()
        ]
        right += orders.count((0, 1, 2)) / len(orders)
    surface = roc_surface(y, scores)
    assert surface.volume == pytest.approx(right / np.prod([len(one) for one in rows]))
    assert surface.volume == pytest.approx(get("vus")(y, scores, ties="mean"))


def test_without_ties_the_volume_lies_under_the_corners_of_three_levels():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 3, 30), rng.permutation(30).astype(float)
    low, middle, high = (np.sort(scores[y == level]) for level in range(3))
    # A box for each low and high item: its height is the middle items between them.
    boxes = [np.sum((middle > a) & (middle < b)) for a in low for b in high]
    assert roc_surface(y, scores).volume == pytest.approx(np.mean(boxes) / len(middle))


def test_whole_weights_are_copies_and_weight_zero_is_no_row():
    y, scores = tied(2)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    copied = np.repeat(np.arange(len(y)), weight)
    for make, size in ((integrated_roc_curve, "area"), (roc_surface, "volume")):
        weighted = getattr(make(y, scores, sample_weight=weight), size)
        assert weighted == pytest.approx(getattr(make(y[copied], scores[copied]), size))


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="one label only"):
        roc_surface([1, 1], [1, 2])
    with pytest.raises(ValueError, match="one label only"):
        integrated_roc_curve([1, 2], [1, 2], sample_weight=[1, 0])
    with pytest.raises(ValueError, match="rates must rise"):
        integrated_roc_curve([1, 2, 3], [1, 2, 3], rates=[0.5, 0.1])
    with pytest.raises(ValueError, match=r"pass rates=np\.linspace"):
        integrated_roc_curve(np.arange(1500), np.arange(1500.0))
    surface = roc_surface([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="3 levels have 2 thresholds"):
        surface.at([1.0])
    with pytest.raises(ValueError, match="do not fall"):
        surface.at([2.0, 1.0])
    with pytest.raises(ValueError, match="corners; round the scores"):
        roc_surface(np.arange(3000) % 3, np.arange(3000.0)).vertices()
