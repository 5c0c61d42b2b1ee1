"""One or two features without a margin: every sector between neighbouring lines, exactly."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.boxes.plane import best_sector
from toprank.exact.directions.frame import build_frame


def sector_directions(differences):
    """A direction in every sector: sums of two half-lines on which a pair ties, and half-lines turned."""
    rays = [(-b, a) for a, b in differences if a or b] + [(b, -a) for a, b in differences if a or b]
    yield from ((-b, a) for a, b in rays)
    for a, b in itertools.combinations(rays, 2):
        yield a[0] + b[0], a[1] + b[1]


def best_of_all(X, y, weights):
    """Largest value of any direction, in fractions."""
    rows = [[Fraction(v) for v in (*row, 0.0)[:2]] for row in X.tolist()]
    upper, lower = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    differences = [[a - b for a, b in zip(rows[i], rows[k], strict=True)] for i in upper for k in lower]
    best = 0.0
    for w in sector_directions(differences):
        scores = [row[0] * w[0] + row[1] * w[1] for row in rows]
        lost = sorted(sum(scores[k] >= scores[i] for k in lower) for i in upper)
        best = max(best, sum(weights[j + c] for j, c in enumerate(lost)))
    return best


@pytest.mark.parametrize("seed", range(24))
def test_the_best_sector_is_that_of_all_directions(seed):
    rng = np.random.default_rng(seed)
    d, n = 1 + (seed % 4 > 0), int(rng.integers(3, 9))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 4, size=(n, d)).astype(float)
    if seed % 3 == 0:  # lines too close for floats
        X = 1.0 + X * 2.0**-45
    y = rng.permutation(np.concatenate(([0, 1], rng.integers(0, 2, n - 2))))
    problem = RankingProblem.from_labels(X, y, "dcg", scales=np.ones(d))
    frame = build_frame(replace(problem.arrays(), margin=0.0))
    value, w = best_sector(frame)
    best = best_of_all(X, y, problem.objective.weights)
    floor = float(frame.floor)
    assert frame.scale.value(value) == pytest.approx(max(best, floor), abs=1e-12)
    if best > floor:
        assert problem.evaluate(frame.coefficients(w)) == pytest.approx(best, abs=1e-12)
