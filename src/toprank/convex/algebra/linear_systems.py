"""Positive definite systems: factorised, or solved by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

__all__ = ["Factor", "conjugate_gradients", "refined"]

Floats = NDArray[np.float64]
LIFTS = 6
"""Rounding of 1e-15 times the trace, thirty times more each time: the last lift is 2e-8 of it."""
MAX_STEPS = 500
TINY = float(np.finfo(np.float64).tiny)


class Factor:
    """A positive definite matrix, factorised once.

    A matrix that rounding made indefinite is lifted by as much as rounding can take, a little more each time;
    LinAlgError where that does not help.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Symmetric; may be overwritten.

    Examples
    --------
    >>> Factor(np.array([[4.0, 0.0], [0.0, 2.0]])).solve(np.array([4.0, 4.0]))
    array([1., 2.])
    """

    def __init__(self, matrix: Floats) -> None:
        self._factor = _cholesky(matrix) if len(matrix) else matrix

    def solve(self, right: Floats) -> Floats:
        """The solution for a vector, or each column of a matrix."""
        if not right.size:  # LAPACK refuses nothing
            return np.zeros_like(right)
        return np.asarray(dpotrs(self._factor, right, lower=1)[0])


def _cholesky(matrix: Floats) -> Floats:
    # LAPACK itself: scipy's wrappers take longer than the small matrices that come by the thousand.
    lift = 1e-15 * float(np.trace(matrix))
    for _ in range(LIFTS + 1):
        factor, failed = dpotrf(matrix.T, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
        matrix.flat[:: len(matrix) + 1] += lift
        lift *= 30.0
    raise LinAlgError(f"leading minor {failed} is not positive definite")


def refined(
    solve: Callable[[Floats], Floats], product: Callable[[Floats], Floats], right: Floats, times: int
) -> Floats:
    """A solution, and as many corrections by its residual: they give back the digits that `solve` lost.

    >>> rough = lambda v: 0.49 * v
    >>> float(refined(rough, lambda v: 2.0 * v, np.array([2.0]), times=5).round(9)[0])
    1.0
    """
    solution = solve(right)
    for _ in range(times):
        solution += solve(right - product(solution))
    return solution


def conjugate_gradients(
    product: Callable[[Floats], Floats], right: Floats, diagonal: Floats, accuracy: float
) -> Floats:
    """Solve a positive definite system, preconditioned by `diagonal`, for a vector or columns of a matrix.

    A column is done when its residual has shrunk to `accuracy` of the right-hand side.

    >>> conjugate_gradients(lambda v: 2.0 * v, np.array([2.0, 4.0]), np.ones(2), 1e-9)
    array([1., 2.])
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    scaled = residual / diagonal
    direction = scaled
    power = _dots(residual, scaled)
    goal = accuracy**2 * _dots(right, right)
    for _ in range(MAX_STEPS):
        going = _dots(residual, residual) > goal
        if not going.any():
            break
        image = product(direction)
        length = np.where(going, power / np.maximum(_dots(direction, image), TINY), 0.0)
        solution += length * direction
        residual -= length * image
        scaled = residual / diagonal
        last, power = power, _dots(residual, scaled)
        direction = scaled + power / np.maximum(last, TINY) * direction
    return solution


def _dots(left: Floats, right: Floats) -> Floats:
    """The inner product of two vectors, or of each pair of columns."""
    return np.asarray(np.einsum("i...,i...->...", left, right))
