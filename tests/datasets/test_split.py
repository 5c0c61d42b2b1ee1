import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.datasets import InputError, half_splits, split_rows

labels = st.lists(st.integers(0, 1), min_size=0, max_size=40).map(lambda rest: [0, 0, 1, 1, *rest])


@given(y=labels, seed=st.integers(0, 99), fraction=st.floats(0.05, 0.95))
def test_parts_are_a_partition_with_both_classes_in_each(y, seed, fraction):
    train, test = split_rows(y, test_fraction=fraction, random_state=seed)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert set(np.take(y, train)) == set(np.take(y, test)) == {0, 1}


@given(y=labels, seed=st.integers(0, 99))
def test_half_means_half_of_each_class(y, seed):
    _, test = split_rows(y, random_state=seed)
    for value in (0, 1):
        inside = sum(1 for row in test if y[row] == value)
        assert abs(inside - y.count(value) / 2) <= 0.5


def test_odd_row_goes_either_way():
    sizes = {len(split_rows([0, 0, 1, 1, 1], random_state=seed).test) for seed in range(20)}
    assert sizes == {2, 3}


def test_same_seed_same_splits_and_more_repeats_change_nothing_before():
    y = [0] * 20 + [1] * 6
    few = list(half_splits(y, repeats=3, random_state=7))
    many = list(half_splits(y, repeats=5, random_state=7))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.train, other.train)
    assert not np.array_equal(many[0].train, many[1].train)
    assert not np.array_equal(next(half_splits(y, random_state=8)).train, many[0].train)


def test_groups_stay_together():
    groups = np.repeat(np.arange(12), 4)
    y = np.tile([0, 0, 0, 1], 12)
    for train, test in half_splits(y, repeats=5, groups=groups):
        assert not set(groups[train]) & set(groups[test])
        assert len(test) == 24


def test_positives_in_two_groups_only_still_end_on_both_sides():
    groups = np.repeat(np.arange(10), 2)
    y = np.isin(groups, [3, 8]).astype(int)
    for train, test in half_splits(y, repeats=5, groups=groups):
        assert y[train].any()
        assert y[test].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 0, 1]}, "label 1"),
        ({"y": [0, 1, 0, 1], "test_fraction": 1.0}, "test_fraction"),
        ({"y": [0, 1, 0, 1], "groups": [5, 5, 5, 5]}, "one group"),
        ({"y": [0, 1, 0, 1], "groups": [1, 2]}, "groups has 2"),
        ({"y": [0, 0, 1, 1], "groups": [1, 1, 2, 2]}, "both classes"),
    ],
)
def test_impossible_splits_are_refused(arguments, message):
    y = arguments.pop("y")
    with pytest.raises(InputError, match=message):
        split_rows(y, random_state=0, **arguments)


def test_repeats_must_be_positive():
    with pytest.raises(InputError, match="repeats"):
        next(half_splits([0, 0, 1, 1], repeats=0))
