"""Position weights: of each query by its own length, never increasing, cut where they are given."""

import numpy as np
import pytest

from toprank.exact.weights import PositionWeights, position_weights

LABELS = np.array([1, 0, 1, 0, 0, 1, 1], dtype=np.int8)
QID = np.array([0, 0, 1, 1, 1, 2, 2])


def test_each_query_has_the_weights_of_its_own_length_and_one_class_none():
    weights, start, name = position_weights("dcg", LABELS, QID, "sum")
    assert start.tolist() == [0, 2, 5, 5]
    expected = [1 / np.log2(j + 2) for j in (0, 1, 0, 1, 2)]
    assert weights == pytest.approx(expected)
    assert name == "dcg"
    mean, _, _ = position_weights("DCG", LABELS, QID, "mean")
    assert mean == pytest.approx(np.array(expected) / 2)


def test_given_weights_are_cut_to_each_query():
    weights, _, name = position_weights([3.0, 2.0, 2.0, 0.0], LABELS, QID, "sum")
    assert weights.tolist() == [3.0, 2.0, 3.0, 2.0, 2.0]
    assert name == "position weights"


def test_weights_query_by_query_are_used_as_they_are():
    given = PositionWeights((np.array([5.0, 1.0]), np.array([2.0, 1.0, 0.0]), np.empty(2)), "heads")
    for queries in ("sum", "mean"):
        weights, _, name = position_weights(given, LABELS, QID, queries)
        assert weights.tolist() == [5.0, 1.0, 2.0, 1.0, 0.0]
        assert name == "heads"


@pytest.mark.parametrize(
    "statistic, queries, message",
    [
        ("dcg", "median", "queries must be"),
        ([1.0, 2.0, 3.0], "sum", "never increase"),
        ([1.0], "sum", "3 position weights are needed"),
        ([np.nan, 1.0, 0.0], "sum", "finite"),
        ("ap", "sum", "not a linear rank statistic"),
        (PositionWeights((np.ones(2),), "one"), "sum", "3 queries are needed"),
    ],
)
def test_what_cannot_be_used_is_named(statistic, queries, message):
    with pytest.raises(ValueError, match=message):
        position_weights(statistic, LABELS, QID, queries)
