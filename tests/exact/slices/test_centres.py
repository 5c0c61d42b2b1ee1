"""Directions at which many pairs are tied: found exactly, boxes around them closed at their boundary."""

import math

import numpy as np
import pytest

from box_problems import solve
from toprank.exact import RankingProblem
from toprank.exact.directions.frame import build_frame
from toprank.exact.directions.strict_judge import tied_within
from toprank.exact.slices import _star_kernels as kernels
from toprank.exact.slices.centres import Centres, tied_directions
from toprank.exact.slices.replay import replay
from toprank.exact.slices.search import SliceSearch


def flags(seed, n=26, d=4):
    """Flags, and smooth features so that no small whole numbers are left; half of the rows are positive."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, (n, d - 2)), rng.normal(size=(n, 2))])
    score = X @ rng.normal(size=d) + 2 * rng.normal(size=n)
    return RankingProblem.from_labels(X, score > np.median(score), "dcg")


@pytest.mark.parametrize("seed", range(4))
def test_tied_directions_are_all_there_are(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(-2, 3, (6, 2)).dot(rng.integers(-3, 4, (2, 5))).astype(object)
    found = tied_directions(pairs)
    assert len(found) == 5 - np.linalg.matrix_rank(pairs.astype(float))
    for direction in found:
        assert not pairs.dot(direction).any()
    assert np.linalg.matrix_rank(np.array(found, dtype=float)) == len(found)


@pytest.mark.parametrize("seed", range(6))
def test_a_centre_that_the_kernel_sees_is_there(seed):
    """Boxes around combinations of centres, some with fixed coordinates: fractions confirm them all."""
    rng = np.random.default_rng(seed)
    arrays = flags(seed, d=5).arrays()
    frame = build_frame(arrays, np.ones(5), plane=False)
    centres = Centres(arrays, frame)
    exact = centres._pairs()
    tied = np.flatnonzero((arrays.differences[:, 0] == 0) & (arrays.differences[:, 1] == 0))
    number = sum(centres._add(direction) for direction in tied_directions(exact[tied]))
    assert number >= 2
    ids, undecided = np.arange(len(exact), dtype=np.int32), np.zeros(len(exact), np.float32)
    undecided[tied] = 1.0
    space = np.zeros((6, 6))
    seen = 0
    for _ in range(60):
        middle = rng.normal(size=number) @ centres.stars.point[:number]
        middle /= middle[np.argmax(np.abs(middle))]
        half = 10.0 ** rng.uniform(-9, -1) * rng.uniform(0.5, 1, 5)
        low, high = middle - half * rng.uniform(-0.2, 1, 5), middle + half
        face = int(np.argmax(np.abs(middle)))
        low[face] = high[face] = middle[face]
        if rng.random() < 0.5:
            axis = (face + 1) % 5
            low[axis] = high[axis] = rng.choice([low[axis], high[axis], 0.5 * (low[axis] + high[axis])])
        ends = np.vstack([low, high])
        mid, spread = 0.5 * (low + high), 0.5 * (high - low)
        box = ends[:1], ends[1:], 0, mid, spread, space
        if kernels.has_centre(centres.stars, number, ids, 0, len(ids), undecided, *box):
            seen += 1
            assert tied_within(exact[tied], low, high)
    assert seen > 5


def test_a_pair_that_is_not_tied_counts():
    arrays = flags(0).arrays()
    frame = build_frame(arrays, np.ones(4), plane=False)
    centres = Centres(arrays, frame)
    tied = np.flatnonzero((arrays.differences[:, :2] == 0).all(axis=1))
    (direction, *_) = tied_directions(centres._pairs()[tied])
    centres._add(direction)
    other = np.flatnonzero(centres._pairs().dot(direction))[0]
    number = len(frame.problem.E)
    ids, undecided = np.arange(number, dtype=np.int32), np.zeros(number, np.float32)
    undecided[tied] = 1.0
    assert kernels.tied_at(centres.stars.tied, 0, ids, 0, len(ids), undecided)
    undecided[other] = 1.0
    assert not kernels.tied_at(centres.stars.tied, 0, ids, 0, len(ids), undecided)


@pytest.mark.parametrize("seed", [0, 10, 11, 13, 15])
def test_flags_leave_nothing_undecided(seed):
    """Without centres each of these ends with boxes that cannot be split further."""
    problem = flags(seed)
    found = solve(problem, SliceSearch)
    assert found._centres.number > 0
    assert found.unresolved == -math.inf
    best = max(problem.evaluate(problem.unscale(w)) for w in found.candidates)
    assert found.bound == pytest.approx(best, abs=1e-8)
    rng = np.random.default_rng(seed)
    tilted = rng.normal(size=(300, 4)) * 10.0 ** rng.uniform(-6, 0, (300, 4))  # near the centres, too
    assert max(problem.evaluate(w) for w in tilted) <= best + 1e-12


def test_a_proof_with_stars_is_replayed():
    for seed in range(8):
        problem = flags(seed, n=16)
        found = solve(problem, SliceSearch, keep_log=True)
        if found._centres.number and any(b"\xfc" in log for key, log in found.log.items() if key != b"basis"):
            break
    else:
        pytest.fail("no problem had a star")
    best = max(problem.evaluate(problem.unscale(w)) for w in found.candidates)
    assert replay(problem.arrays(), found.log, found.bound + 1e-9) == []
    assert replay(problem.arrays(), found.log, best - 1e-6) != []
