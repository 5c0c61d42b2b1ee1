"""Every pin, or those that matter: the same choice whenever it is called certified."""

import numpy as np
import pytest

from at_top_items import random_items
from toprank.control import Run
from toprank.convex.accuracy_at_top.pin_search import Progressed, search_all, search_screened


@pytest.mark.parametrize("certify", [False, True])
def test_screened_equals_exhaustive_whenever_it_says_certified(certify):
    certified = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n, C = int(rng.integers(8, 45)), 10.0 ** rng.uniform(-3, 1)
        items = random_items(seed, n, int(rng.integers(1, 5)), C, int(rng.integers(1, n // 2)))
        with Run() as run:
            every = search_all(Progressed(items, 1e-10), run, None)
            some = search_screened(Progressed(items, 1e-10), run, None, candidates=3, certify=certify)
        if some.certified:
            certified += 1
            assert some.pin == every.pin
        assert (some.table.bound <= every.table.value + 1e-9).all()
        assert (some.table.nearest <= every.table.distance + 1e-6).all()
    assert certified == 50 if certify else 5 <= certified < 50


def test_what_was_solved_is_taken_from_the_file_and_other_items_are_refused(tmp_path):
    items, file = random_items(0, 20, 2, 0.3, 4), tmp_path / "pins.npz"
    with Run() as run:
        state = Progressed(items, 1e-8, file)
        whole = search_all(state, run, None)
        state.save(force=True)
        again = Progressed(items, 1e-8, file)
        assert np.array_equal(again.tables["exact"].numbers, whole.table.numbers)
        assert search_all(again, run, None).pin == whole.pin
    with pytest.raises(ValueError, match="other data or parameters"):
        Progressed(random_items(1, 20, 2, 0.3, 4), 1e-8, file)
    with pytest.raises(ValueError, match="other data or parameters"):
        Progressed(items, 1e-6, file)


def test_out_of_time_before_the_first_answer_there_is_none():
    with Run() as run:
        run.stop()
        state = Progressed(random_items(0, 20, 2, 0.3, 4), 1e-8)
        assert search_all(state, run, None) is None
        assert search_screened(state, run, None, candidates=3, certify=True) is None
