"""One thread's share of the search over boxes."""

import numpy as np
import pytest

from box_problems import medium_problem
from toprank.exact import RankingProblem
from toprank.exact.boxes.plane import sweep_face
from toprank.exact.boxes.search import BoxWorker
from toprank.exact.directions.frame import build_frame
from toprank.exact.directions.search import Box


def volume(frame, place):
    half = place[frame.size : 2 * frame.size]
    return float(np.prod(half[half > 0]))


@pytest.mark.parametrize("work", [1, 500, 20_000])
def test_what_is_given_back_is_all_that_was_not_closed(work):
    """With nothing excluded, the boxes given back and put aside fill the box begun with."""
    frame = build_frame(medium_problem(0, n=16, d=3).arrays(), np.ones(3))
    root = frame.roots()[0]
    worker = BoxWorker(frame, keep_log=False)
    worker.load(Box(frame.value, root))
    worker.run(-(2**61), 10.0, work)
    spilled, stuck = worker.put_aside()
    _, opened, _ = worker.give_back()
    boxes = [*opened, *spilled, *stuck]
    assert sum(volume(frame, box.place) for box in boxes) == pytest.approx(volume(frame, root))
    assert not worker.busy
    assert worker.give_back() == (None, [], b"")


def test_no_direction_worth_the_target_is_lost_on_the_way():
    problem = medium_problem(2, n=24, d=3)
    frame = build_frame(problem.arrays(), np.ones(3))
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(400, 3))
    points[:, 0] = 1.0
    # Bounds are sums without rounding, and may be met without anything to spare.
    values = [problem.evaluate_exact(problem.unscale(frame.basis @ u)) for u in points]
    target = frame.scale.up(float(np.quantile(np.array(values, dtype=float), 0.9)))
    worker = BoxWorker(frame, keep_log=False)
    worker.load(Box(frame.value, frame.roots()[0]))
    left = []
    for _ in range(50):
        worker.run(target, 1.0, 300)
        worker.expect(target)
        spilled, stuck = worker.put_aside()
        left += [*spilled, *stuck]
    assert worker.busy
    left += worker.give_back()[1]
    for u, value in zip(points, values, strict=True):
        if frame.scale.up(value) > target:
            inside = [box for box in left if (np.abs(u - box.place[:3]) <= box.place[3:6] + 1e-12).all()]
            assert any(box.bound >= frame.scale.up(value) for box in inside)


@pytest.mark.parametrize("seed", range(6))
def test_a_face_of_two_coefficients_is_swept_exactly(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(9, 2)).astype(float)
    y = rng.permutation(np.arange(9) % 2)
    problem = RankingProblem.from_labels(X, y, "dcg", margin=0.1, scales=[1.0, 1.0])
    frame = build_frame(problem.arrays())
    for root in frame.roots():
        surely, point = sweep_face(frame, root, -(2**61), safe=True)
        perhaps, _ = sweep_face(frame, root, -(2**61), safe=False)
        found = problem.evaluate(problem.unscale(frame.coefficients(point)))
        assert found >= frame.scale.value(surely) - 1e-12
        fixed, swept = 1 - frame.swept(root), frame.swept(root)
        for t in np.linspace(-1, 1, 401):
            w = np.zeros(2)
            w[fixed], w[swept] = root[fixed], t
            assert problem.evaluate(problem.unscale(w)) <= frame.scale.value(perhaps) + 1e-12
