import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from toprank.lineup import BASELINE
from toprank.statistics.inference import matched_pairs_test
from toprank.workflow.judging.advice import Figures, advice, p_values, relative_gain, what_is_tested

NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2, 0.05, -0.15, 0.35, -0.3, 0.05])


def _figures(name, train, test):
    return Figures(name, tuple(train), tuple(test), math.nan, 0.1, 0)


def _judged(*figures, held_out=0.5):
    """With the p-values a comparison gives them."""
    found = p_values({one.name: one.test for one in figures}, held_out)
    return [replace(one, p_value=found[one.name]) for one in figures]


def _baseline(level=10.0, sign=1):
    return _figures(BASELINE, level + NOISE, level - 0.5 + sign * NOISE)


def test_a_clear_gain_is_recommended():
    best = _figures("rerank", 12 + NOISE, 11.5 + NOISE + 0.01 * NOISE[::-1])
    said = advice(_judged(best, _baseline()))
    assert said.startswith("Use 'rerank': +21.1 % against logistic regression")
    assert "corrected for the overlap of the splits and for the choice among 2 rankers" in said
    assert said.count("\n") == 0


def test_a_gain_the_overlap_of_splits_may_explain_is_none():
    best = _figures("rerank", 10.2 + NOISE, 9.5 + NOISE + 0.2 + NOISE[::-1])
    test = matched_pairs_test(best.test, _baseline().test)
    corrected = matched_pairs_test(best.test, _baseline().test, test_fraction=0.5)
    assert test.p_value < 0.05 <= corrected.p_value  # otherwise this test tests nothing
    assert advice(_judged(best, _baseline())).startswith("Logistic regression will do")


def test_a_gain_the_choice_among_many_may_explain_is_none():
    best = _figures("rerank", 10.2 + NOISE, 9.5 + NOISE + 0.8 + NOISE[::-1])
    others = [_figures(f"other {i}", 10.2 + NOISE, 9.4 + NOISE - 0.1 * NOISE[::-1]) for i in range(20)]
    assert advice(_judged(best, _baseline())).startswith("Use 'rerank'")
    assert advice(_judged(best, _baseline(), *others)).startswith("Logistic regression will do")


def test_a_sure_gain_counts_though_an_unsure_one_is_larger():
    unsure = _figures("lucky", 12 + NOISE, 12 + 9 * NOISE)
    sure = _figures("rerank", 12 + NOISE, 11.5 + NOISE + 0.01 * NOISE[::-1])
    assert advice(_judged(unsure, sure, _baseline())).startswith("Use 'rerank'")


def test_few_splits_have_no_p_values():
    best = _figures("rerank", (12, 12.1), (11.5, 11.6))
    baseline = _figures(BASELINE, (10, 10.1), (9.5, 9.6))
    judged = _judged(best, baseline)
    assert all(math.isnan(one.p_value) for one in judged)
    assert advice(judged).startswith("Logistic regression will do as far as 2 splits tell")
    assert what_is_tested(1, 2) == "No p-values: 2 splits are too few for a test; use --splits 5 or more."
    assert "Nadeau & Bengio 2003" in what_is_tested(3, 5)


# -- calibration -----------------------------------------------------------------------------------


def _false_alarm(tests):
    """Whether any ranker that comes out ahead of logistic regression is called better."""
    found = p_values(tests, 0.5)
    return any(found[name] < 0.05 and np.mean(tests[name]) > np.mean(tests[BASELINE]) for name in tests)


def _naive_alarm(tests):
    """The same for a plain test of the best, as if it had been chosen beforehand."""
    best = max(tests, key=lambda name: np.mean(tests[name]))
    return best != BASELINE and scipy.stats.ttest_rel(tests[best], tests[BASELINE]).pvalue < 0.05


@pytest.mark.parametrize("splits", [5, 25])
def test_chance_is_called_skill_in_five_percent_at_most(splits):
    """22 rankers without skill whose figures are means over the test halves of 40 items."""
    rng = np.random.default_rng(splits)
    names = [BASELINE, *(f"ranker {i}" for i in range(21))]
    alarms = naive = 0
    for _ in range(400):
        merit = rng.normal(size=(22, 40)) + rng.normal(size=40)
        halves = rng.permuted(np.tile(np.arange(40) < 20, (splits, 1)), axis=1)
        figures = 0.5 + merit @ halves.T / 20 + 0.05 * rng.normal(size=(22, splits))
        tests = dict(zip(names, figures.tolist(), strict=True))
        alarms += _false_alarm(tests)
        naive += _naive_alarm(tests)
    assert naive > 0.3 * 400  # otherwise this test tests nothing
    assert alarms <= 0.05 * 400


# -- words -----------------------------------------------------------------------------------------


def test_differences_within_the_noise():
    best = _figures("rerank", 10.01 + NOISE, 9.51 - NOISE)
    assert advice(_judged(best, _baseline())) == (
        "Logistic regression will do: the differences drown in the variance between splits."
    )


def test_logistic_regression_is_best():
    worse = _figures("rerank", 10.0 + NOISE, 8.0 + NOISE)
    assert advice(_judged(_baseline(), worse)).startswith("Logistic regression will do: the differences")


def test_gains_in_training_that_do_not_carry_over():
    overfit = _figures("direct", 14.0 + NOISE, 9.0 + NOISE)
    said = advice(_judged(_baseline(), overfit))
    assert said == (
        "Logistic regression will do: what 'direct' gains in training (+40.0 %) does not carry over"
        " reliably to held-out items."
    )


def test_a_large_gain_that_may_be_luck_is_not_hidden():
    best = _figures("forest", 14.0 + NOISE, 9.5 + 2 + 8 * NOISE[::-1])
    said = advice(_judged(best, _baseline()))
    assert said == (
        "Logistic regression will do as far as 10 splits tell: 'forest' is ahead of it on held-out items"
        " (+21.1 %), but as the first of 2 rankers it may be so by luck; --splits sets more."
    )


def test_statistics_that_should_be_small():
    best = _figures("rerank", 8 + NOISE, 7.5 + NOISE + 0.01 * NOISE[::-1])
    assert advice(_judged(best, _baseline()), greater_is_better=False).startswith("Use 'rerank': -21.1 %")
    overfit = _figures("direct", 6.0 + NOISE, 10.0 + NOISE)
    assert "'direct' gains in training (-40.0 %)" in advice(
        _judged(_baseline(), overfit), greater_is_better=False
    )


def test_mean_and_deviation():
    figures = _figures("a", [1.0, 3.0], [2.0, 6.0])
    assert figures.train_mean == 2.0
    assert figures.test_mean == 4.0
    assert figures.train_deviation == pytest.approx(np.sqrt(2))
    assert figures.test_deviation == pytest.approx(np.sqrt(8))


def test_gain_over_nothing():
    assert relative_gain(0.25, 0.0) == "+0.25"
