import numpy as np
import pytest

from toprank.statistics import get
from toprank.workflow.judging.held_out import chance_by_lot


def test_chance_by_lot_is_near_what_formulas_say():
    y = np.arange(400) % 4 == 0
    assert chance_by_lot(get("precision@40"), y) == pytest.approx(0.25, abs=0.03)
    assert chance_by_lot(get("average_precision"), y) == pytest.approx(0.26, abs=0.02)
