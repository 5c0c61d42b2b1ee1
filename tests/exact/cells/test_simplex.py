"""What the simplex method claims is checked: an infeasible set needs a proof."""

import numpy as np
from numba import njit

from toprank.exact.arithmetic.dependence import ledger
from toprank.exact.cells import _layout as layout
from toprank.exact.cells._simplex import certify


@njit
def certified(facts, lp, literal, found):
    return certify(facts, lp, literal, found)


def claim(first, second, price, margin):
    """Whether "unit 1 cannot be won where unit 0 is" is accepted with this multiplier."""
    units = np.array([first, second])
    d = units.shape[1]
    size = np.abs(units).sum(axis=1)
    thresholds = np.array([[margin] * 2, [margin] * 2, [margin] * 2, size, [margin] * 2])
    vertex = np.zeros((d + 2, d))
    vertex[d + 1, 0] = -price
    ids = np.array([0, *[-1] * (d - 1)])
    lp = layout.Simplex(np.zeros((d, d)), np.zeros((5, d)), ids, np.arange(d), vertex)
    found = np.zeros((2, d + 4), dtype=np.int32)
    book = ledger(np.vstack((units, np.zeros(d))), [0, 1], [2, 2])
    scratch = np.empty((2 * d + 6, d + 1))
    facts = layout.Facts(units, np.ascontiguousarray(units.T), thresholds, np.zeros(2), book, scratch)
    return bool(certified(facts, lp, 2, found))


def test_an_infeasible_set_needs_a_proof_beyond_rounding():
    opposite = ([1.0, 0.5], [-1.0, -0.5])
    assert claim(*opposite, 1.0, 1e-6)
    assert not claim(*opposite, 0.5, 1e-6)  # the wrong multiplier
    assert not claim(*opposite, 0.0, 1e-6)  # none at all
    assert not claim([1.0, 0.5], [1.0, -0.5], 1.0, 1e-6)  # both can be won
    assert not claim([1.0, 0.5], [-1.0 + 4e-6, -0.5], 1.0, 1e-6)  # the wider lead is within the box
    assert not claim(*opposite, 1.0, 1e-16)  # true, but within rounding


def test_without_a_margin_dependence_must_be_exact():
    assert claim([1.0, 0.5], [-1.0, -0.5], 1.0, 0.0)
    assert claim([1.0, 0.5], [-2.0, -1.0], 2.0, 0.0)
    assert not claim([1.0, 0.5], [-1.0, np.nextafter(-0.5, 0.0)], 1.0, 0.0)  # a sliver between the two
    assert not claim([1.0, 0.5], [1.0, -0.5], 1.0, 0.0)
