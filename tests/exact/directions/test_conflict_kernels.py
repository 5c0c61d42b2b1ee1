"""Pairs that cannot be won together in a box."""

import numpy as np
import pytest
from scipy.optimize import linprog

from toprank.exact.directions._conflict_kernels import conflict


@pytest.mark.parametrize("seed", range(150))
def test_conflicts_are_those_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n, axes = int(rng.integers(1, 14)), int(rng.integers(1, 6))
    rows = np.zeros((n, axes + 1))
    if seed % 2:
        rows[:] = rng.normal(size=rows.shape)
        rows[:, 0] += 0.5 * axes - 0.4
    else:  # many ties and opposite pairs, a small margin deciding
        rows[:] = rng.integers(-1, 2, size=rows.shape)
        rows[:, 0] = rng.integers(-1, 2, size=n) * (rng.random(n) < 0.3) - 1e-6
    flags, lp = np.zeros((4, 64), np.int64), np.zeros((axes + 6, axes + 2))
    flags[0, :n] = rng.random(n) < 0.9
    live = rows[flags[0, :n] == 1]
    answer = conflict(n, axes, rows, flags, lp, 1e-12)
    if not len(live):
        assert answer == 0
        return
    truth = linprog(
        np.append(np.zeros(axes), -1.0),
        A_ub=np.column_stack([-live[:, 1:], np.ones(len(live))]),
        b_ub=live[:, 0],
        bounds=[(-1, 1)] * axes + [(None, None)],
    )
    if truth.x[-1] < -1e-9:
        assert answer == 1
        members = [q for i, q in enumerate(flags[2, : axes + 1]) if q >= 0 and lp[i, 0] > 0]
        chosen = rows[members]
        again = linprog(
            np.append(np.zeros(axes), -1.0),
            A_ub=np.column_stack([-chosen[:, 1:], np.ones(len(chosen))]),
            b_ub=chosen[:, 0],
            bounds=[(-1, 1)] * axes + [(None, None)],
        )
        assert again.x[-1] < 0
    elif truth.x[-1] > 1e-9:
        assert answer == 0
        point = -lp[axes + 4, 1 : axes + 1]
        assert np.abs(point).max() <= 1 + 1e-9
        assert (live[:, 0] + live[:, 1:] @ point).min() >= -1e-9
