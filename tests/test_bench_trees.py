"""How far from the best curve: by hand, on four rows whose posterior is known."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import bench_trees_posterior as bench


def test_distances_by_hand():
    """Posteriors 1, 1/2, 1/2, 0.

    Of two positives in all the first row is one, each of the next two half of one; of two negatives the last
    row is one. Corners of the best curve: (0, 1/2), (1/2, 1), (1, 1); the area is 7/8. Scores that are all
    equal make the diagonal: 3/8 are missing, and it is 1/2 below the best at most.
    """
    posterior = np.array([1.0, 0.5, 0.5, 0.0])
    assert bench.distances(posterior, posterior) == (0.0, 0.0)
    assert bench.distances(posterior, np.zeros(4)) == pytest.approx((3 / 8, 1 / 2))
    # Upside down: the area is 1/8, and at 1/2 there is nothing where the best has all.
    assert bench.distances(posterior, -posterior) == pytest.approx((6 / 8, 1.0))


def test_every_posterior_is_a_probability():
    X = np.random.default_rng(0).normal(size=(1000, bench.FEATURES))
    for posterior in bench.POSTERIORS.values():
        assert 0 <= posterior(X).min() < posterior(X).max() <= 1
