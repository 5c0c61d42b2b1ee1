import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from toprank.datasets import Table, learn_encoder
from toprank.workflow.judging.hints import column_hints, repeated_rows
from toprank.workflow.learning.fitting import Items


def _hints(table, y):
    encoder, _ = learn_encoder(table)
    return column_hints(Items(table, np.asarray(y, dtype=np.int8), None), encoder, encoder.encode(table)[0])


def test_columns_that_give_the_label_away_and_row_numbers():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(100) % 4 == 0).astype(int)
    frame = pd.DataFrame(
        {"sub_id": rng.permutation(100), "leak": 3.0 - y, "fair": rng.normal(size=100), "idle": range(100)}
    )
    hints = _hints(Table(frame), y)
    assert len(hints) == 2
    assert "'sub_id'" in hints[0]
    assert "--ignore sub_id" in hints[0]
    assert "'leak' alone" in hints[1]


def test_sparse_features():
    y = np.arange(60) % 3 == 0
    dense = np.column_stack([np.arange(60) % 7, y * 2.0])
    hints = _hints(Table(pd.DataFrame({"y": y}).drop(columns="y"), sp.csr_matrix(dense)), y)
    assert len(hints) == 1
    assert "'2' alone" in hints[0]


def test_nothing_is_said_about_a_handful_of_positives():
    y = np.arange(50) < 3
    assert _hints(Table(pd.DataFrame({"a": -np.arange(50.0)})), y) == []


def test_rows_that_repeat_earlier_ones_are_counted():
    features = pd.DataFrame({"a": [1.0, 1.0, 1.0, 2.0, np.nan, np.nan], "b": list("xxxxyy")})
    items = Items(Table(features), np.array([0, 0, 1, 0, 1, 1], dtype=np.int8), None)
    assert repeated_rows(items) == 2  # the second row, and the last: missing is like missing; labels count
    sparse = Items(Table(pd.DataFrame(), sp.csr_matrix((6, 2))), items.y, None)
    assert repeated_rows(sparse) == 0


def test_repeated_rows_of_a_wide_file():
    """Which pandas keeps column by column, and warns when one is put in."""
    names = ",".join(f"c{k}" for k in range(120))
    lines = [names, *(",".join([value] * 120) for value in "010")]
    items = Items(Table(pd.read_csv(io.StringIO("\n".join(lines)))), np.array([0, 1, 0], dtype=np.int8), None)
    assert repeated_rows(items) == 1


@pytest.mark.parametrize("name", ["PatientID", "patient_id", "customer", "household"])
def test_whose_rows_come_back_is_asked_about(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: np.arange(100) // 4, "paid": rng.normal(size=100)})
    hints = _hints(Table(frame), rng.permutation(100) < 30)
    assert len(hints) == 1
    assert f"--split-by {name}" in hints[0]


def test_other_columns_whose_values_come_back_are_not():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"identity": np.arange(100) // 4, "IDE": np.arange(100) // 4, "users": range(100)})
    assert _hints(Table(frame), rng.permutation(100) < 30) == []
