import numpy as np
import pytest

from toprank.lineup import BASELINE
from toprank.statistics.inference import matched_pairs_test
from toprank.workflow.advice import Figures, advice, relative_gain

NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2, 0.05, -0.15, 0.35, -0.3, 0.05])


def _figures(name, train, test):
    return Figures(name, tuple(train), tuple(test), 1.0, 0.1, 0)


def _baseline(level=10.0, sign=1):
    return _figures(BASELINE, level + NOISE, level - 0.5 + sign * NOISE)


def test_a_clear_gain_is_recommended():
    best = _figures("rerank", 12 + NOISE, 11.5 + NOISE + 0.01 * NOISE[::-1])
    said = advice([best, _baseline()])
    assert said.startswith("Use 'rerank': +21.1 % against logistic regression")
    assert said.count("\n") == 0


def test_a_gain_the_overlap_of_splits_may_explain_is_doubted():
    best = _figures("rerank", 10.2 + NOISE, 9.5 + NOISE + 0.2 + NOISE[::-1])
    test = matched_pairs_test(best.test, _baseline().test)
    corrected = matched_pairs_test(best.test, _baseline().test, test_fraction=0.5)
    assert test.p_value < 0.05 <= corrected.p_value  # otherwise this test tests nothing
    assert "not beyond doubt" in advice([best, _baseline()])


def test_differences_within_the_noise():
    best = _figures("rerank", 10.01 + NOISE, 9.51 - NOISE)
    assert advice([best, _baseline()]) == (
        "Logistic regression will do: the differences drown in the variance between splits."
    )


def test_logistic_regression_is_best():
    worse = _figures("rerank", 10.0 + NOISE, 8.0 + NOISE)
    assert advice([_baseline(), worse]).startswith("Logistic regression will do: the differences")


def test_gains_in_training_that_do_not_carry_over():
    overfit = _figures("direct", 14.0 + NOISE, 9.0 + NOISE)
    said = advice([_baseline(), overfit])
    assert said == (
        "Logistic regression will do: what 'direct' gains in training (+40.0 %) does not carry over"
        " reliably to held-out items."
    )


def test_statistics_that_should_be_small():
    best = _figures("rerank", 8 + NOISE, 7.5 + NOISE + 0.01 * NOISE[::-1])
    assert advice([best, _baseline()], greater_is_better=False).startswith("Use 'rerank': -21.1 %")
    overfit = _figures("direct", 6.0 + NOISE, 10.0 + NOISE)
    assert "'direct' gains in training (-40.0 %)" in advice([_baseline(), overfit], greater_is_better=False)


def test_mean_and_deviation():
    figures = _figures("a", [1.0, 3.0], [2.0, 6.0])
    assert figures.train_mean == 2.0
    assert figures.test_mean == 4.0
    assert figures.train_deviation == pytest.approx(np.sqrt(2))
    assert figures.test_deviation == pytest.approx(np.sqrt(8))


def test_gain_over_nothing():
    assert relative_gain(0.25, 0.0) == "+0.25"
