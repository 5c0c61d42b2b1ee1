"""Quantiles, the choice between pins, and what may be excluded."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from at_top_oracles import top_quantile
from toprank.convex.accuracy_at_top.pins import PinTable, choose, excluded, quantile


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=12), st.data())
def test_quantile_is_the_largest_minimiser_of_the_pinball_loss(values, data):
    scores = np.array(values, dtype=float)
    mass = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values))), float)
    top = data.draw(st.integers(1, int(mass.sum()) - 1))
    assert quantile(scores, mass, top) == top_quantile(scores, top / mass.sum(), mass)


def table(*rows):
    return PinTable(np.array([[value, value, distance, 0.0, 1.0] for value, distance in rows]))


def test_the_choice_is_by_distance_then_objective_then_order():
    assert choose(table((5.0, 0.2), (1.0, 0.3))) == 0
    assert choose(table((5.0, 0.2), (1.0, 0.2 + 1e-9))) == 1
    assert choose(table((1.0 + 1e-9, 0.2), (1.0, 0.2))) == 0
    unsolved = table((5.0, 0.2), (1.0, 0.1))
    unsolved.numbers[1] = np.nan
    assert choose(unsolved) == 0


def test_only_hopeless_pins_are_excluded():
    known = PinTable(
        np.array([[2.0, 2.0, 0.1, 0.1, 1.0], [1.0, 0.5, 0.5, 0.3, 1.0], [1.0, 0.5, 0.5, 0.05, 1.0]])
    )
    assert excluded(known, 0).tolist() == [False, True, False]
    at_quantile = PinTable(
        np.array([[2.0, 2.0, 0.0, 0.0, 1.0], [3.0, 2.5, 0.0, 0.0, 1.0], [3.0, 1.5, 0.0, 0.0, 1.0]])
    )
    assert excluded(at_quantile, 0).tolist() == [False, True, False]
