"""Coordinates of a search over boxes with a margin: directions that cannot matter are left out."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.dependence import ledger
from toprank.exact.directions.frame import Geometry, idle_directions, roundings, turn_axes
from toprank.exact.pairs import PairArrays
from toprank.exact.rounding import UNIT, largest_leads

__all__ = ["margin_geometry"]

Floats = NDArray[np.float64]
MAX_NORM_ROWS = 130
"""Rows that bound the largest coefficient: each is multiplied out at every box. Not tuned."""


def margin_geometry(
    arrays: PairArrays,
    possible: NDArray[np.bool_],
    direction: Floats | None,
    given: tuple[Floats, float] | None,
    reduce: bool,
) -> Geometry:
    """The pairs that can be won, in coordinates for boxes: see `directions.frame.build_frame`."""
    D, margin, used = _winnable(arrays, possible)
    if given is None:
        start = None if direction is None else np.asarray(direction, dtype=np.float64)[used]
        reduced, noise = _coordinates(D, margin, start, reduce)
    else:
        reduced, noise = given[0][used][:, given[0].any(axis=0)], given[1]
    exact_norm = len(used) <= 2
    E, norm, norm_error = D, reduced, np.zeros(len(used))
    if not exact_norm:
        E, (norm, norm_error) = D @ reduced, _norm_rows(reduced)
    if reduced.shape[1] == 1:  # a coordinate to sweep along, though nothing changes with it
        reduced, E, norm = (np.column_stack([a, np.zeros(len(a))]) for a in (reduced, E, norm))
    d, r = reduced.shape
    error = largest_leads(D, np.abs(reduced).sum(axis=1))
    error *= (16 if exact_norm else roundings(r) + 8 * d) * UNIT
    error += 2 * d * noise * np.abs(reduced).sum() + 1e-300
    doubt, book = np.zeros(len(E)), ledger(np.zeros((1, 1)), [0], [0])
    margin -= 4 * d * noise
    return Geometry(used, reduced, E, error, norm, norm_error, doubt, book, margin, noise, exact_norm)


def _coordinates(D: Floats, margin: float, direction: Floats | None, reduce: bool) -> tuple[Floats, float]:
    """The basis of the search and what is neglected by it; one or two coefficients are left as they are."""
    if D.shape[1] <= 2:
        return np.eye(D.shape[1]), 0.0
    plain, noise = _reduced_basis(D, margin if reduce else 0.0)
    turned = turn_axes(D, plain, direction)
    sizes = np.linalg.svd(turned, compute_uv=False)
    return (turned if sizes[-1] > 1e-9 * sizes[0] else plain), noise


def _winnable(arrays: PairArrays, possible: NDArray[np.bool_]) -> tuple[Floats, float, NDArray[np.intp]]:
    """Differences of pairs that can be won, on features that matter; the margin; which features.

    More than two features are rescaled by a power of two, the largest difference near 1.
    """
    D, margin = arrays.differences, arrays.margin
    kept = D if possible.all() else D[possible]
    used = np.flatnonzero(kept.any(axis=0))
    if len(used) < D.shape[1]:
        kept = np.ascontiguousarray(kept[:, used])
    if len(used) <= 2:
        return kept, margin, used
    exponent = math.frexp(float(np.abs(kept).max()))[1]
    return np.ldexp(kept, -exponent), math.ldexp(margin, -exponent), used


def _reduced_basis(D: Floats, margin: float) -> tuple[Floats, float]:
    """Basis of the directions in which some pair changes, all of them alike; what is neglected at most.

    Directions in which every difference vanishes, up to far less than the margin, cannot matter.
    """
    _, sizes, vectors = np.linalg.svd(np.linalg.qr(D, mode="r") if len(D) > D.shape[1] else D)
    sizes = np.concatenate([sizes, np.zeros(len(vectors) - len(sizes))])
    idle = sizes <= 1e-12 * sizes[0]
    noise = float(np.abs(D @ vectors[idle].T).sum(axis=1).max()) + 1e-15 * len(vectors) ** 2
    if not idle.any() or 8 * len(vectors) * noise > 1e-3 * margin:
        idle[:] = False
        noise = 0.0
    kept = np.maximum(sizes[~idle], 1e-3 * sizes[0])
    return np.asarray(vectors[~idle].T * (kept[-1] / kept)), noise


def _norm_rows(basis: Floats) -> tuple[Floats, Floats]:
    """Rows n_i and errors e_i with max|w_j| >= |n_i . u| - e_i for every w that agrees with u on the pairs.

    n_i = B' c for combinations c of coefficients with absolute sum 1. With d = r all single coefficients
    serve. Otherwise w may be changed by any vector orthogonal to the basis and c must not feel this: the
    extreme ones, which have at most d - r + 1 terms, make the bound tight; there are projections when they
    are too many. Those that see one coordinate only are added: they are constant on a face.
    """
    d, r = basis.shape
    idle = idle_directions(basis)
    blind = np.eye(d) - idle @ idle.T
    if math.comb(d, d - r + 1) <= MAX_NORM_ROWS:
        blind = np.zeros((math.comb(d, d - r + 1), d))
        for row, support in zip(blind, itertools.combinations(range(d), d - r + 1), strict=True):
            row[list(support)] = np.linalg.svd(idle[list(support)].T)[2][-1]
    blind = np.vstack([blind, np.linalg.pinv(basis)])
    blind = blind[np.abs(blind).sum(axis=1) > 1e-6]
    blind *= (1.0 - 1e-12) / np.abs(blind).sum(axis=1, keepdims=True)
    leak = np.abs(blind @ idle).sum(axis=1)
    room = np.abs(basis).sum()
    return blind @ basis, 1e-14 * d * room + 2 * d * (leak + 1e-15 * (d - r)) * (1.0 + room)
