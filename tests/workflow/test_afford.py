import numpy as np
import pandas as pd
import scipy.sparse as sp

from toprank.datasets import Table
from toprank.ensemble.members import default_members
from toprank.workflow.afford import COSTS, affordable_members
from toprank.workflow.fitting import Items


def _items(rows, columns, sparse=None):
    frame = pd.DataFrame(np.zeros((rows, columns))).rename(columns=str)
    return Items(Table(frame, sparse), (np.arange(rows) % 3 == 0).astype(np.int8), None)


def test_small_tables_and_no_limit_allow_all_members():
    assert affordable_members(_items(700, 8), 1.0, 20) is None
    assert affordable_members(_items(5000, 20), None, 20) is None
    assert affordable_members(_items(5000, 20), 1e9, 20) is None


def test_large_tables_allow_what_the_time_does():
    items = _items(150, 3000)
    assert affordable_members(items, 4.0, 16) == ("logistic",)
    some = affordable_members(items, 250.0, 16)
    assert 1 < len(some) < len(COSTS)
    rows, columns = 150, 3000
    spent = sum(
        16 * (once + column * columns + cell * rows * columns)
        for once, column, cell in (COSTS[name] for name in some[1:])
    )
    assert spent <= 250.0


def test_members_that_take_no_sparse_rows_stay_out():
    members = affordable_members(_items(50, 1, sp.csr_matrix((50, 9))), 60.0, 16)
    assert "boosting" not in members
    assert "logistic" in members


def test_every_member_has_a_cost():
    assert {name for name, _ in default_members("dcg")} <= {"logistic", *COSTS}
