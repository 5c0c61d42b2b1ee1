"""Pairs that cannot be won together in a box."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from toprank.exact import RankingProblem
from toprank.exact.directions._conflict_kernels import close, conflict, is_conflict
from toprank.exact.directions.frame import build_frame


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


def room_for_pairs(rows, ids, half):
    """Undecided pairs as `close` reads them, and the arrays it works in."""
    n, axes, r = len(ids), int((half > 0).sum()), len(half)
    wide, lp = np.zeros((n + r + 7, r + 1)), np.zeros((r + 6, r + 1))
    padded = np.zeros((n + 1, r + 1))
    padded[:n, : axes + 1] = rows
    return axes, ids, padded, wide, np.zeros((5, 2048), np.int64), lp


def best_won_together(rows, gains):
    """The largest sum of gains of pairs that one point of the box wins, by a linear program for each set."""
    n, axes = len(rows), rows.shape[1] - 1
    best = 0
    for chosen in itertools.product([False, True], repeat=n):
        some = rows[list(chosen)]
        if gains[list(chosen)].sum() > best:
            found = linprog(
                np.append(np.zeros(axes), -1.0),
                A_ub=np.column_stack([-some[:, 1:], np.ones(len(some))]),
                b_ub=some[:, 0],
                bounds=[(-1, 1)] * axes + [(None, 1)],
            )
            if found.x[-1] > 1e-9:
                best = gains[list(chosen)].sum()
    return best


@pytest.mark.parametrize("seed", range(40))
def test_a_box_is_closed_exactly_where_no_set_of_pairs_won_together_is_worth_the_target(seed):
    rng = np.random.default_rng(seed)
    # Few items, so that pairs make circles: such can never be won together, and no rounding tells.
    X, every = rng.normal(size=(4, 3)), list(itertools.permutations(range(4), 2))
    pairs = [every[i] for i in rng.choice(len(every), size=7, replace=False)]
    problem = RankingProblem.from_preferences(X, pairs, rng.integers(1, 9, size=7))
    frame = build_frame(problem.arrays(), plane=False)
    E, error, gains = frame.problem.E, frame.problem.error, frame.problem.gain
    middle, half = rng.uniform(-0.5, 0.5, size=3), rng.uniform(0.1, 1.0, size=3) * (1.0 if seed % 3 else 0.2)
    middle[0], half[0] = 1.0, 0.0
    rows = np.column_stack([E @ middle + 2.0 * error, E[:, 1:] * half[1:]])
    best = best_won_together(rows, gains)
    ids, doubt = np.arange(7, dtype=np.int32), 2.0 * error.max() + 1e-10
    for target in (best + 1, best, best - int(gains.min())):
        axes, *arrays = room_for_pairs(rows, ids, half)
        flags, lp = arrays[-2:]
        rest = frame.problem.count.copy(), frame.problem.at_most.copy()
        total = int(gains.sum())
        answer, value = close(total, target, 7, axes, 2000, 0, *arrays, doubt, frame.problem, *rest)
        assert value == total
        assert answer == (1 if target > best else 0)
        if answer == 0:
            live, point = flags[0, :7] == 1, -lp[axes + 4, 1 : axes + 1]
            assert gains[live].sum() >= target
            assert np.abs(point).max() <= 1 + 1e-9
            assert (rows[live, 0] + rows[live, 1:] @ point).min() >= -1e-9


def test_a_box_is_not_closed_in_fewer_tries_than_it_takes():
    rng = np.random.default_rng(3)
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
    problem = RankingProblem.from_preferences(rng.normal(size=(4, 3)), pairs, [4, 3, 2, 1])
    frame = build_frame(problem.arrays(), plane=False)
    E, error = frame.problem.E, frame.problem.error
    rows = np.column_stack([E[:, 0] + 2.0 * error, E[:, 1:]])
    gains, ids, half = frame.problem.gain, np.arange(4, dtype=np.int32), np.ones(E.shape[1])
    half[0] = 0.0
    target = int(gains[0] + gains[2]) + 1  # two of them are lost in any case
    answers = []
    for tries in range(8):
        axes, *arrays = room_for_pairs(rows, ids, half)
        rest = frame.problem.count.copy(), frame.problem.at_most.copy()
        total = int(gains.sum())
        answer, value = close(total, target, 4, axes, tries, 0, *arrays, 1e-10, frame.problem, *rest)
        assert value == total
        answers.append(answer)
    assert answers[0] == -1
    assert answers[-1] == 1
    assert answers == sorted(answers)


@pytest.mark.parametrize("seed", range(60))
def test_a_combination_of_pairs_is_a_conflict_where_it_is_below_zero_at_every_corner(seed):
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 5))
    rows = rng.integers(-3, 4, size=(4, axes + 1)).astype(float)
    rows[:, 0] -= 2 * axes - 1
    basis, inverse = np.full(axes + 1, -2), np.zeros((axes + 1, axes + 1))
    chosen = rng.choice(axes + 1, size=min(3, axes + 1), replace=False)
    basis[chosen] = rng.choice(4, size=len(chosen), replace=False)
    inverse[:, 0] = rng.integers(0, 3, size=axes + 1)  # those of axes do not count
    together = sum((inverse[i, 0] * rows[basis[i]] for i in chosen), start=np.zeros(axes + 1))
    corners = itertools.product((-1.0, 1.0), repeat=axes)
    highest = max(together[0] + together[1:] @ corner for corner in corners)
    assert is_conflict(axes + 1, rows, basis, inverse, np.empty(axes + 1)) == (highest < 0.0)


@pytest.mark.parametrize("power", [40, 48, 51])
def test_pairs_that_are_all_but_opposed_are_no_conflict(power):
    """Both are won in a sliver that no float can tell from nothing; only whole numbers know of it."""
    a, b, c, *others = np.random.default_rng(5).integers(-(2**20), 2**20, size=(9, 3)) / 2.0**21
    X = np.array([a, b, c + b, c + a + [0.0, 2.0**-power, 0.0], *others])
    # The others are there for the coordinates, which would pull two pairs alone apart.
    problem = RankingProblem.from_preferences(X, [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (5, 8)])
    frame = build_frame(problem.arrays(), plane=False)
    E, error, gains = frame.problem.E, frame.problem.error, frame.problem.gain
    total, doubt, answers = int(gains[:2].sum()), 2.0 * error.max() + 1e-10, []
    for face, sign in itertools.product(range(E.shape[1]), (1.0, -1.0)):
        half = np.where(np.arange(E.shape[1]) == face, 0.0, 1.0)
        rows = np.column_stack([sign * E[:2, face] + 2.0 * error[:2], np.delete(E[:2], face, axis=1)])
        axes, *arrays = room_for_pairs(rows, np.arange(2, dtype=np.int32), half)
        rest = frame.problem.count.copy(), frame.problem.at_most.copy()
        answers.append(close(total, total, 2, axes, 100, 0, *arrays, doubt, frame.problem, *rest)[0])
    assert min(answers) < 1  # the sliver is on one of the faces, if not on two
