import numpy as np
import pandas as pd
import pytest

from toprank.datasets import InputError, Labelled, Roles, Table
from toprank.datasets.roles import binary_labels


def _labels(values, **options):
    return binary_labels(pd.Series(values, name="y"), **options)


@pytest.mark.parametrize(
    ("values", "positive", "expected"),
    [
        ([0, 1, 0], (), ("1", [0, 1, 0])),
        ([-1.0, 1.0], (), ("1", [0, 1])),
        ([2, 10, 2], (), ("10", [0, 1, 0])),
        ([True, False], (), ("True", [1, 0])),
        (["No", " Yes"], (), ("Yes", [0, 1])),
        (["good", "bad"], ("bad",), ("bad", [0, 1])),
        ([1, 2, 3], ("3.0",), ("3", [0, 0, 1])),
        ([0.5, 1.5], ("0.5",), ("0.5", [1, 0])),
    ],
)
def test_positive_label(values, positive, expected):
    y, chosen = _labels(values, positive=positive)
    assert chosen == (expected[0],)
    assert y.tolist() == expected[1]
    assert y.dtype == np.int8


def test_ten_is_more_than_nine():
    assert _labels([9, 10])[1] == ("10",)


@pytest.mark.parametrize(
    ("values", "positive", "message"),
    [
        ([1, 1, 1], (), "one class only"),
        ([0, 1, 2], (), "3 different values .* `positive`"),
        (list(np.linspace(0, 1, 40)), (), "40 different values"),
        ([0, 1, None], (), "1 of 3 labels are missing, the first in row 3"),
        (["bad", "good"], (), "`positive="),
        ([0, 1], ("yes",), "'yes' is not a value"),
        ([0, 1], ("0", "1"), "one class only"),
    ],
)
def test_bad_targets(values, positive, message):
    with pytest.raises(InputError, match=message) as caught:
        _labels(values, positive=positive)
    assert "'y'" in str(caught.value)


@pytest.fixture
def table():
    frame = pd.DataFrame(
        {"id": ["a", "b", "c", "d"], "q": [1, 1, 2, 2], "x": [0.1, 0.2, 0.3, 0.4], "z": 1, "y": [0, 1, 0, 1]}
    )
    return Table(frame, source="pumps.csv")


def test_roles_are_not_features(table):
    data = Labelled.of(table, Roles("y", id="id", qid="q", ignore=("z",)))
    assert data.features.columns == ["x"]
    assert data.ids.tolist() == ["a", "b", "c", "d"]
    assert data.qid.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (Roles("label"), "target 'label': no such column in pumps.csv"),
        (Roles("y", id="nr"), "id 'nr'"),
        (Roles("y", qid="nr"), "qid 'nr'"),
        (Roles("y", ignore=("nr",)), "ignore 'nr'"),
        (Roles("y", id="y"), "both as target and as id"),
        (Roles("y", ignore=("y",)), "both as target and as ignore"),
        (Roles("y", id="q"), "'1' is in rows 1 and 2"),
        (Roles("y", id="id", qid="q", ignore=("x", "z")), "no columns left"),
    ],
)
def test_bad_roles(table, roles, message):
    with pytest.raises(InputError, match=message):
        Labelled.of(table, roles)


@pytest.mark.parametrize("role", ["id", "qid"])
def test_missing_id_or_query(table, role):
    table.frame["id"] = ["a", None, "c", "d"]
    with pytest.raises(InputError, match=f"{role} 'id': row 2 of pumps.csv has none"):
        Labelled.of(table, Roles("y", **{role: "id"}))


def test_ignoring_a_column_twice_is_fine(table):
    assert "z" not in Labelled.of(table, Roles("y", ignore=("z", "z"))).features.columns


def test_spellings_of_a_label_are_one_label():
    column = pd.Series(["Yes", "YES", "no", "No", "yes", "Yes"], name="failed")
    y, positive = binary_labels(column)
    assert (y.tolist(), positive) == ([1, 1, 0, 0, 1, 1], ("Yes",))
    assert binary_labels(column, positive=["NO"])[0].tolist() == [0, 0, 1, 1, 0, 0]
    # Two labels that differ in nothing but their case are two labels.
    y, positive = binary_labels(pd.Series(["a", "A", "a"], name="blood"), positive=["A"])
    assert (y.tolist(), positive) == ([0, 1, 0], ("A",))
