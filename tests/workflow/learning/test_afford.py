import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from toprank.datasets import Table
from toprank.ensemble.members import default_members
from toprank.workflow.learning.afford import COSTS, affordable_members, seconds_of
from toprank.workflow.learning.fitting import Items


def _items(rows, columns, values=1, flags=0, sparse=None):
    cells = np.arange(rows)[:, None] % np.repeat([values, 2], [columns - flags, flags])
    frame = pd.DataFrame(cells).rename(columns=str)
    return Items(Table(frame, sparse), (np.arange(rows) % 3 == 0).astype(np.int8), None)


def test_small_tables_and_no_limit_allow_all_members():
    assert affordable_members(_items(700, 8), 1.0, 20) is None
    assert affordable_members(_items(5000, 20), None, 20) is None
    assert affordable_members(_items(5000, 20), 1e9, 20) is None


def test_large_tables_allow_what_the_time_does():
    items = _items(150, 3000, values=1000)
    assert affordable_members(items, 4.0, 16) == ("logistic",)
    some = affordable_members(items, 120.0, 16)
    assert 1 < len(some) < len(default_members("dcg"))
    assert sum(16 * seconds_of(name, 150, 3000) for name in some[1:]) <= 120.0


def test_what_can_be_done_in_a_minute_is():
    """Measured on one core: all members of a table of this size, 16 times over, take half a minute."""
    assert affordable_members(_items(2458, 16, values=1000, flags=7), 60.0, 16) is None
    assert affordable_members(_items(5591, 6, values=1000), 60.0, 16) is None


def test_a_wide_table_of_few_rows_is_not_small():
    """CatBoost takes minutes for one fit of a thousand columns, however few the rows."""
    pytest.importorskip("catboost")
    members = affordable_members(_items(25, 1000, values=1000), 60.0, 16)
    assert "catboost" not in members
    assert "forest" in members


def test_columns_of_two_values_are_little_work_for_those_that_bundle_them():
    pytest.importorskip("catboost")
    flags, numbers = (affordable_members(_items(6000, 200, values), 60.0, 16) for values in (2, 1000))
    assert "catboost" in flags
    assert "catboost" not in numbers


def test_members_that_take_no_sparse_rows_stay_out():
    members = affordable_members(_items(50, 1, sparse=sp.csr_matrix((50, 9))), 60.0, 16)
    assert "boosting" not in members
    assert "logistic" in members


def test_every_member_has_a_cost():
    assert {name for name, _ in default_members("dcg")} <= {"logistic", *COSTS}
