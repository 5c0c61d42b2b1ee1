import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.datasets import InputError
from toprank.datasets.roles import binary_labels


def _labels(values, *positive):
    return binary_labels(pd.Series(values, name="loss"), positive=positive)


def test_a_threshold_is_shown_as_it_was_written():
    assert _labels(["1280.66", "3.1", "-7.25"], "top30%")[1] == (">=1280.66",)


@pytest.mark.parametrize(
    ("rule", "expected", "kept"),
    [
        (">=3", [0, 0, 1, 1], ">=3"),
        ("> 3", [0, 0, 0, 1], ">3"),
        ("<=2", [1, 1, 0, 0], "<=2"),
        ("<2", [1, 0, 0, 0], "<2"),
        ("top25%", [0, 0, 0, 1], ">=4"),
        ("Top 30 %", [0, 0, 1, 1], ">=3"),
        ("bottom25%", [1, 0, 0, 0], "<=1"),
    ],
)
def test_thresholds_and_shares(rule, expected, kept):
    y, positive = _labels([1, 2, 3, 4], rule)
    assert y.tolist() == expected
    assert positive == (kept,)
    # What is kept with the model gives the same labels on other rows.
    assert _labels([4, 1], *positive)[0].tolist() == [expected[3], expected[0]]


def test_numbers_written_as_money():
    assert _labels(["$1,200", "$300", "$90"], ">=$300")[0].tolist() == [1, 1, 0]


def test_labels_that_look_like_thresholds_are_labels():
    y, positive = _labels(["<=50K", ">50K", "<=50K"], ">50K")
    assert (y.tolist(), positive) == ([0, 1, 0], (">50K",))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=40), st.integers(1, 99))
def test_the_share_is_at_least_what_was_asked_and_ties_stay_together(values, percent):
    if len(set(values)) < 2:
        return
    wanted = sorted(values, reverse=True)[: -(-percent * len(values) // 100)]
    if wanted[-1] == min(values):
        with pytest.raises(InputError, match="one class"):
            _labels(values, f"top{percent}%")
        return
    y, _ = _labels(values, f"top{percent}%")
    above = [value for value, label in zip(values, y, strict=True) if label]
    below = [value for value, label in zip(values, y, strict=True) if not label]
    assert min(above) > max(below)
    assert 100 * len(above) >= percent * len(values)
    fewer = [value for value in above if value > min(above)]
    assert 100 * len(fewer) < percent * len(values)


@pytest.mark.parametrize(
    ("values", "positive", "message"),
    [
        (["good", "bad"], [">=3"], r"'loss' holds no numbers to compare with \('good' in row 1\)"),
        ([1, 2], [">=3"], "one class only: the target 'loss' goes from 1 to 2"),
        ([1, 2], [">=x"], "'x' is no number like those of 'loss'"),
        ([1, 2], ["top0%"], "between 0 and 100"),
        ([1, 2], ["top100%"], "between 0 and 100"),
        ([1, 2], [">=1", "2"], "a threshold stands alone"),
        (["1", "2", "?"], [">=2"], r"'\?' in row 3 is no number"),
    ],
)
def test_thresholds_that_cannot_be(values, positive, message):
    with pytest.raises(InputError, match=message):
        _labels(values, *positive)


def test_a_threshold_keeps_every_digit():
    values = np.random.default_rng(0).normal(size=50)
    y, positive = _labels(values, "top10%")
    np.testing.assert_array_equal(_labels(values, *positive)[0], y)
    assert y.sum() == 5
