"""Tests and intervals: against scipy, formulas worked out by hand, and coverage in simulation."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.statistics import get
from toprank.statistics.inference import _acceleration, bootstrap_difference, holm, matched_pairs_test


@settings(max_examples=100, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=20),
)
def test_matched_pairs_is_scipys_paired_t(pairs):
    first, second = np.array(pairs, dtype=float).T
    if np.ptp(first - second) == 0:
        return
    test = matched_pairs_test(first, second)
    reference = scipy.stats.ttest_rel(first, second)
    assert test.t == pytest.approx(reference.statistic)
    assert test.p_value == pytest.approx(reference.pvalue)
    assert test.degrees_of_freedom == reference.df
    assert test.interval(0.9) == pytest.approx(tuple(reference.confidence_interval(0.9)))


def test_correction_of_nadeau_and_bengio():
    first, second = np.array([0.80, 0.83, 0.79, 0.85, 0.82]), np.array([0.78, 0.80, 0.80, 0.80, 0.79])
    d = first - second
    t = d.mean() / math.sqrt((1 / 5 + 0.25 / 0.75) * d.var(ddof=1))
    test = matched_pairs_test(first, second, test_fraction=0.25)
    assert test.t == pytest.approx(t)
    assert test.p_value == pytest.approx(2 * scipy.stats.t.sf(t, 4))
    assert test.p_value > matched_pairs_test(first, second).p_value


@pytest.mark.parametrize("test_fraction", [None, 0.3])
@pytest.mark.parametrize(
    ("first", "second", "t", "p_value"),
    [
        ([0.7, 0.8, 0.9], [0.7, 0.8, 0.9], 0.0, 1.0),
        ([0.3, 0.2, 0.9], [0.2, 0.1, 0.8], math.inf, math.nan),
        ([0.2, 0.1, 0.8], [0.3, 0.2, 0.9], -math.inf, math.nan),
        ([0.1 + 0.2, 0.7, 0.9], [0.3, 0.7, 0.9], 0.0, 1.0),
    ],
    ids=["none", "up", "down", "rounding"],
)
def test_equal_differences_need_no_variance(first, second, t, p_value, test_fraction):
    test = matched_pairs_test(first, second, test_fraction=test_fraction)
    assert (test.t, test.standard_error) == (t, 0.0)
    assert test.p_value == pytest.approx(p_value, nan_ok=True)
    assert test.interval() == (test.difference, test.difference)


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_as_the_procedure_says(p_values):
    """One after the other, smallest first, each at its level, until the first that fails."""
    adjusted = holm(p_values)
    going = True
    for step, i in enumerate(np.argsort(p_values)):
        going = going and p_values[i] * (len(p_values) - step) < 0.05
        assert (adjusted[i] < 0.05) == going
        assert adjusted[i] >= p_values[i]


def test_holm_counts_tests_without_a_p_value():
    np.testing.assert_array_equal(holm([0.01, math.nan, 0.5]), [0.03, math.nan, 1.0])


def test_matched_pairs_errors():
    with pytest.raises(ValueError, match="first has 2 values but second has 3"):
        matched_pairs_test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="at least two splits"):
        matched_pairs_test([1], [2])
    with pytest.raises(ValueError, match="second contains NaN"):
        matched_pairs_test([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="second must be finite"):
        matched_pairs_test([1, 2], [1, np.inf])
    with pytest.raises(ValueError, match="test_fraction"):
        matched_pairs_test([1, 2], [1, 3], test_fraction=1.0)
    with pytest.raises(ValueError, match="confidence"):
        matched_pairs_test([1, 2], [1, 3]).interval(1.5)


def two_rankers(n, seed, noise=(1.0, 1.5), prevalence=0.2):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    y[:2] = 0, 1
    return y, y + noise[0] * rng.normal(size=n), y + noise[1] * rng.normal(size=n)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("statistic", ["auc", "ndcg@10", "average_precision"])
def test_interval_is_centred_on_the_statistics_themselves(method, statistic):
    y, first, second = two_rankers(200, 0)
    interval = bootstrap_difference(
        statistic, y, first, second, method=method, n_resamples=200, random_state=1
    )
    assert interval.first == get(statistic)(y, first)
    assert interval.second == get(statistic)(y, second)
    assert interval.difference == interval.first - interval.second
    assert interval.low < interval.high
    assert interval.method == method
    again = bootstrap_difference(
        statistic, y, first, second, method=method, n_resamples=200, random_state=1, n_jobs=2
    )
    assert again == interval
    swapped = bootstrap_difference(
        statistic, y, second, first, method=method, n_resamples=200, random_state=1
    )
    assert (swapped.low, swapped.high) == pytest.approx((-interval.high, -interval.low), abs=1e-12)


def test_percentile_interval_by_hand():
    y, first, second = two_rankers(60, 3)
    rng = np.random.default_rng(5)
    negatives, positives = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    auc = get("auc")
    drawn = []
    for _ in range(3000):
        rows = np.concatenate([rng.choice(negatives, negatives.size), rng.choice(positives, positives.size)])
        drawn.append(auc(y[rows], first[rows]) - auc(y[rows], second[rows]))
    interval = bootstrap_difference(
        "auc", y, first, second, method="percentile", n_resamples=4000, confidence=0.8, random_state=0
    )
    low, high = np.quantile(drawn, [0.1, 0.9])
    spread = np.std(drawn)
    assert interval.low == pytest.approx(low, abs=0.15 * spread)
    assert interval.high == pytest.approx(high, abs=0.15 * spread)


def assert_same_interval(interval, reference, tolerance):
    """Equal up to a few standard deviations of the quantiles of two simulations."""
    error = tolerance * reference.standard_error
    assert interval.low == pytest.approx(reference.confidence_interval.low, abs=error)
    assert interval.high == pytest.approx(reference.confidence_interval.high, abs=error)


def test_bca_over_queries_is_scipys_for_a_skewed_mean():
    # One positive among 400 negatives: its place makes the query's AUC anything we like.
    change = np.random.default_rng(2).exponential(size=15) ** 2
    change = np.round(400 * change / change.max()) / 400
    y, qid = np.tile([1] + [0] * 400, 15), np.repeat(np.arange(15), 401)
    first = np.concatenate([[400 * value - 0.5, *range(400)] for value in change])
    second = np.tile([-1.0, *range(400)], 15)
    options = {"n_resamples": 200_000, "random_state": 0, "qid": qid}
    interval = bootstrap_difference("auc", y, first, second, **options)
    reference = scipy.stats.bootstrap((change,), np.mean, n_resamples=200_000, rng=np.random.default_rng(1))
    assert interval.difference == pytest.approx(change.mean())
    assert_same_interval(interval, reference, tolerance=0.04)
    # The correction is no trifle here: without it the test above would fail.
    percentile = bootstrap_difference("auc", y, first, second, method="percentile", **options)
    assert interval.high - percentile.high > 0.3 * reference.standard_error


@pytest.mark.parametrize("n_pos", [2, 12])
def test_bca_by_class_is_scipys_for_two_samples(n_pos):
    # Resampling by class is scipy's bootstrap of two independent samples, here of row numbers.
    rng = np.random.default_rng(11)
    y = np.repeat([1, 0], [n_pos, 60])
    first = y * 2.0 + rng.normal(size=y.size) * (1 + 4 * (rng.random(y.size) < 0.1))
    second = y + rng.normal(size=y.size)
    auc = get("auc")

    def difference(positives, negatives):
        rows = np.concatenate([positives, negatives])
        return auc(y[rows], first[rows]) - auc(y[rows], second[rows])

    interval = bootstrap_difference(auc, y, first, second, n_resamples=6000, confidence=0.8, random_state=0)
    reference = scipy.stats.bootstrap(
        (np.flatnonzero(y), np.flatnonzero(y == 0)),
        difference,
        vectorized=False,
        n_resamples=6000,
        confidence_level=0.8,
        rng=np.random.default_rng(0),
    )
    assert interval.method == "bca"
    assert_same_interval(interval, reference, tolerance=0.12)


def test_acceleration_weighs_strata_by_their_size():
    jackknife = [np.array([0.1, 0.4]), np.array([0.2, 0.3, 0.3, 0.9])]
    cubes = squares = 0.0
    for values in jackknife:
        m = len(values)
        for value in values:
            influence = (m - 1) * (np.mean(values) - value)
            cubes += influence**3 / m**3
            squares += influence**2 / m**2
    assert _acceleration(jackknife) == pytest.approx(cubes / (6 * squares**1.5))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_ten_percent_of_ninety_percent_intervals_miss(method):
    covered = 0
    truth = scipy.stats.norm.cdf(1 / math.sqrt(2)) - scipy.stats.norm.cdf(1 / (1.5 * math.sqrt(2)))
    for seed in range(400):
        y, first, second = two_rankers(150, seed, prevalence=0.4)
        interval = bootstrap_difference(
            "auc", y, first, second, method=method, confidence=0.9, n_resamples=300, random_state=seed
        )
        covered += interval.low <= truth <= interval.high
    # Four standard errors of a binomial proportion around 0.9.
    assert abs(covered / 400 - 0.9) < 4 * math.sqrt(0.09 / 400), covered


def test_rare_positives_are_in_every_resample():
    y = np.zeros(200, dtype=int)
    y[7] = 1
    rng = np.random.default_rng(0)
    interval = bootstrap_difference("auc", y, rng.normal(size=200) + y, rng.normal(size=200), n_resamples=100)
    assert math.isfinite(interval.low)
    assert math.isfinite(interval.high)


def test_few_rows_of_real_labels_are_drawn_until_they_differ():
    interval = bootstrap_difference("kendall_tau", [0.0, 0.5, 2.0], [1, 2, 3], [3, 2, 1], n_resamples=50)
    assert interval.difference == 2.0
    assert interval.high <= 2.0


def test_equal_rankers_have_an_empty_interval():
    y, scores, _ = two_rankers(50, 0)
    interval = bootstrap_difference("auc", y, scores, scores, random_state=0, n_resamples=50)
    assert (interval.difference, interval.low, interval.high) == (0.0, 0.0, 0.0)
    assert not interval.significant


def test_a_perfect_ranker_against_a_reversed_one_is_certain():
    y = np.repeat([0, 1], 10)
    interval = bootstrap_difference("auc", y, y, -y, random_state=0, n_resamples=50)
    assert (interval.low, interval.high) == (1.0, 1.0)
    assert interval.significant


def test_bootstrap_errors():
    with pytest.raises(ValueError, match="one class only"):
        bootstrap_difference("auc", [1, 1], [1, 2], [2, 1])
    with pytest.raises(ValueError, match="second has 1 values"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2])
    with pytest.raises(ValueError, match="method"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2, 1], method="normal")
    with pytest.raises(ValueError, match="n_resamples"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2, 1], n_resamples=0)
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2, 1], confidence=95)
    with pytest.raises(ValueError, match="ties"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2, 1], ties="random")
    with pytest.raises(ValueError, match="fewer than two queries"):
        bootstrap_difference("auc", [0, 1], [1, 2], [2, 1], qid=[1, 1])
