"""Coordinates of directions in which all pairs are of a size, for problems without a margin.

Without a margin only signs matter, so the coefficients' own norm does not: any coordinates will do in which
the differences are told apart well. Rows are brought to unit length before their spread is measured, and
again in the new coordinates: neither an outlier nor columns that are nearly the same leave a direction flat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.whole import is_regular

__all__ = ["pairs_in", "plain_basis", "slanted"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
ROUNDS = 4
SLANT = 0.03
MOST_ROWS = 50_000


def pairs_in(rows: Floats, upper: Rows, lower: Rows, basis: Floats) -> tuple[Floats, Floats]:
    """Differences of pairs of rows in new coordinates, largest entry below 1; how far entries are off."""
    from toprank.exact.arithmetic._product_kernels import pairs_in_coordinates

    out, doubt = np.empty((len(upper), basis.shape[1])), np.empty(len(upper))
    pairs_in_coordinates(np.ascontiguousarray(rows), upper, lower, np.ascontiguousarray(basis), out, doubt)
    return out, doubt


def plain_basis(rows: Floats, upper: Rows, lower: Rows) -> Floats:
    """An invertible basis in which differences of unit length spread alike in all directions."""
    step = max(1, len(upper) // MOST_ROWS)
    some = np.ascontiguousarray(upper[::step]), np.ascontiguousarray(lower[::step])
    basis = np.eye(rows.shape[1])
    for _ in range(ROUNDS):
        E, doubt = pairs_in(rows, *some, basis)
        E = E[doubt < 0.5]
        E /= np.sqrt((E**2).sum(axis=1, keepdims=True))
        _, sizes, axes = np.linalg.svd(np.linalg.qr(E, mode="r") if len(E) > E.shape[1] else E)
        sizes = np.concatenate([sizes, np.zeros(len(axes) - len(sizes))]) / sizes[0]
        # Directions that this round cannot see are made visible for the next one.
        new = basis @ (axes.T / np.maximum(sizes, 2.0**-40))
        if not (np.isfinite(new).all() and is_regular(new)):
            break
        basis = new / np.abs(new).max()
        if sizes[-1] > 0.2:
            break
    return basis


def slanted(basis: Floats) -> Floats:
    """A basis turned a little: no face or split of a box lies exactly in the hyperplane of a pair."""
    r = basis.shape[1]
    turn = np.eye(r) + SLANT * np.random.default_rng(0).uniform(-1.0, 1.0, (r, r))
    return basis @ turn
