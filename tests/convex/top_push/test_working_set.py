"""Which rows are undecided."""

import numpy as np

from toprank.convex.top_push.working_set import FREE, LOWER, UPPER, WorkingSet, pick_worst


def test_rows_that_come_back_stay_longer():
    rows = WorkingSet(np.array([FREE, FREE, UPPER, LOWER]))
    lack = np.array([-1.0, 1.0, -1.0, 2.0])
    assert rows.wrong(lack).tolist() == [-np.inf, -np.inf, 1.0, 2.0]
    assert rows.release(np.array([0, 1]), np.array([0.0, 1.0]), lack[:2]) == 2
    assert rows.state.tolist() == [LOWER, UPPER, UPPER, LOWER]
    rows.admit(np.array([0]))
    assert rows.release(np.array([0]), np.array([0.0]), lack[:1]) == 0
    assert rows.release(np.array([0]), np.array([0.0]), lack[:1]) == 1


def test_the_worst_are_picked_and_copies_left():
    wrong = np.array([5.0, 4.0, 4.0, 3.0, 2.0, 1.0, -1.0])
    assert sorted(pick_worst(wrong, 100).tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(pick_worst(wrong, 100, distinct=True).tolist()) == [0, 1, 3, 4, 5]
    assert set(pick_worst(wrong, 2).tolist()) >= {0}
    assert len(pick_worst(wrong, 2)) == 2


def test_a_row_that_may_not_be_at_its_upper_end_stays():
    rows = WorkingSet(np.array([FREE, FREE]))
    assert rows.release(np.arange(2), np.array([1.0, 0.0]), np.array([1.0, -1.0]), may_be_upper=False) == 1
    assert rows.state.tolist() == [FREE, LOWER]
    assert rows.free.tolist() == [0]
    assert rows.upper.tolist() == []
