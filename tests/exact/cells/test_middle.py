"""The middle of a cell, and rows that cannot all reach their margins."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from toprank.exact.cells.middle import clash, middle


def widest(rows):
    """The largest smallest product with all rows over the box, by one program."""
    n, d = rows.shape
    found = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack((-rows, np.ones(n))),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * d + [(None, None)],
    )
    return found.x[-1]


@pytest.mark.parametrize("seed", range(20))
def test_the_middle_is_as_far_from_all_rows_as_can_be(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 600)), int(rng.integers(1, 6))
    rows = rng.normal(size=(n, d))
    if seed % 2:
        rows *= np.where(rows @ rng.normal(size=d) > 0, 1.0, -1.0)[:, None]
    w, multipliers = middle(rows)
    assert np.abs(w).max() <= 1.0
    assert (rows @ w).min() == pytest.approx(widest(rows), abs=1e-8)
    assert (multipliers >= 0).all()
    # The multipliers show that no point does better: the best of their sum over the box is no more.
    if multipliers.sum() > 0:
        assert np.abs(multipliers @ rows).sum() / multipliers.sum() <= (rows @ w).min() + 1e-8


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_clash_do_so_in_fractions(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    rows = rng.integers(-2, 3, size=(int(rng.integers(2, 12)), d)).astype(float)
    rows = rows[rows.any(axis=1)]
    margins = np.full(len(rows), 1e-6)
    _, multipliers = middle(rows) if len(rows) else (None, np.zeros(0))
    found = clash(rows, multipliers, margins)
    if found is None:
        assert not len(rows) or widest(rows) > -1e-9
        return
    t = [Fraction(float(v)) for v in multipliers[found]]
    total = [
        sum(a * Fraction(v) for a, v in zip(t, column, strict=True)) for column in rows[found].T.tolist()
    ]
    assert sum(map(abs, total)) < sum(t) * Fraction(1e-6)
    assert widest(rows[found]) < 1e-6


def test_a_contradiction_within_rounding_is_none():
    rows = np.array([[1.0], [-1.0]])
    assert clash(rows, np.array([1.0, 1.0]), np.full(2, 1e-6)) is not None
    assert clash(rows, np.array([1.0, 1.0]), np.full(2, 1e-17)) is None
    assert clash(rows, np.array([1.0, 0.5]), np.full(2, 1e-6)) is None
