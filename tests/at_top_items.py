"""Random items for tests of Accuracy at the Top."""

import numpy as np

from toprank.convex.accuracy_at_top.pins import Items


def random_items(seed, n, d, C, top):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    positive = points[:, 0] + 0.7 * rng.normal(size=n) > 0.5
    positive[:2] = True, False
    up, down = np.where(positive, C, 0.0), np.where(positive, 0.0, C)
    return Items(points - points.mean(axis=0), None, up, down, np.ones(n), float(top))
