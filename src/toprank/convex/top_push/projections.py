"""Nearest points in simplices and in the set of the Infinite Push's dual.

Each projection finds the one number that its constraint hides in a piecewise linear equation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_capped_simplex", "project_l1_inf", "project_simplex"]

Floats = NDArray[np.float64]


def project_simplex(point: Floats, total: float = 1.0) -> Floats:
    """The nearest point with non-negative entries that sum to `total`.

    >>> project_simplex(np.array([0.9, 0.6, -1.0]))
    array([0.65, 0.35, 0.  ])
    """
    falling = -np.sort(-point)
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(point) + 1)
    last = np.flatnonzero(falling > shifts)[-1]
    return np.maximum(point - shifts[last], 0.0)


def project_capped_simplex(point: Floats, caps: Floats, total: float = 1.0) -> Floats:
    """The nearest point with entries between 0 and `caps` that sum to `total`.

    >>> project_capped_simplex(np.array([3.0, 1.0, 0.0]), np.array([0.5, 0.5, 0.5]))
    array([0.5, 0.5, 0. ])
    """
    if total > caps.sum() * (1 + 1e-12):
        raise ValueError(f"total={total} is more than the caps allow ({caps.sum()}).")
    # sum clip(point - shift, 0, caps) falls linearly between these breakpoints.
    breaks = np.sort(np.concatenate([point, point - caps]))
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(point - breaks[middle], 0.0, caps).sum() >= total:
            low = middle
        else:
            high = middle
    sums = [float(np.clip(point - breaks[k], 0.0, caps).sum()) for k in (low, high)]
    part = 0.0 if sums[0] == sums[1] else (sums[0] - total) / (sums[0] - sums[1])
    shift = breaks[low] + min(max(part, 0.0), 1.0) * (breaks[high] - breaks[low])
    return np.clip(point - shift, 0.0, caps)


def project_l1_inf(matrix: Floats, radius: float) -> Floats:
    """The nearest non-negative matrix whose column maxima sum to at most `radius`.

    With theta >= 0 and column limits mu_j that solve

        sum_i (matrix_ij - mu_j)_+ = theta  (or mu_j = 0),      sum_j mu_j = radius,

    the answer is min(matrix, mu) with negative entries set to zero first, which makes it the exact projection
    on both constraints together (Quattoni et al. 2009; used for Agarwal 2011, Eq. 3.9). Sorting each column
    costs O(mn log m), each Newton step on theta O(mn).

    >>> project_l1_inf(np.array([[3.0, 1.0], [1.0, -1.0]]), 2.0)
    array([[2., 0.],
           [1., 0.]])
    """
    matrix = np.maximum(matrix, 0.0)
    if matrix.max(axis=0).sum() <= radius:
        return matrix
    if radius <= 0.0:
        return np.zeros_like(matrix)
    falling = -np.sort(-matrix, axis=0)
    sums = np.cumsum(falling, axis=0)
    counts = np.arange(1, len(matrix) + 1)[:, np.newaxis]
    # Mass above the k-th largest entry of each column: the limit passes that entry when theta exceeds it.
    above = sums - counts * falling
    theta = 0.0
    while True:
        active = np.maximum((above <= theta).sum(axis=0), 1)
        limits = (np.take_along_axis(sums, active[np.newaxis] - 1, axis=0)[0] - theta) / active
        alive = limits > 0.0
        excess = limits[alive].sum() - radius
        # The sum of limits is convex and falling in theta, so Newton's steps go up and stop at the root.
        if excess <= 1e-15 * radius:
            break
        step = excess / (1.0 / active[alive]).sum()
        if theta + step == theta:
            break
        theta += step
    limits = np.maximum(limits, 0.0)
    # Rounding of theta is large next to a tiny radius: make the sum right.
    return np.minimum(matrix, limits * (radius / max(limits.sum(), radius)))
