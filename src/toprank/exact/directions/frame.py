"""Coordinates and whole-number values in which boxes of directions are searched.

Pairs become rows E[p] = B' D_p in coordinates u of the direction w = B u, chosen so that the best answer so
far lies in the middle of a face of the cube and the pairs it nearly loses change along few axes each. Values
become whole numbers: position weights times a power of two, rounded up, so that sums of them are exact and
never too small. Every rounding on the way is covered by one number per pair, `error`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from toprank.control.threads import threads_for
from toprank.exact.arithmetic.dependence import (
    Ledger,
    independent_columns,
    is_regular,
    ledger,
    pairs_in,
    plain_basis,
    slanted,
)
from toprank.exact.pairs import PairArrays
from toprank.exact.rounding import UNIT, Scale, value_scale

if TYPE_CHECKING:
    from toprank.exact.directions._counting import Problem

__all__ = [
    "SMALLEST_BOX",
    "Frame",
    "Geometry",
    "build_frame",
    "idle_directions",
    "roundings",
    "turn_axes",
]

Floats = NDArray[np.float64]
SMALLEST_BOX = 2.0**-40
"""Boxes are not split along an axis on which they are this small: halved 40 times, so that the stack of
`boxes.search` has room for 41 r + 64 levels and middles are exact."""
SMALLEST_STRICT_BOX = 2.0**-36
"""The same without a margin: rounding, some 2**-43 of a lead (`roundings`), must stay well below the size of
a box."""
VALUE_BITS = 60
"""Sums of weights fit into 61 bits."""
FEWEST_SHAPING_PAIRS, MAX_SHAPING_PAIRS = 200, 4000
"""Pairs by which axes are shaped: more would take longer than what better axes save (not tuned), and with
fewer the search is over before the axes are found: with 12 to 60 of them it took half as long without."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One problem in the coordinates of the search.

    Parameters
    ----------
    problem : Problem
        What the compiled search reads.
    basis : (d, r) array
        B: coefficients are ``basis @ u``.
    margin : float
        Margin in units of the rescaled differences.
    scale : Scale
        Of the values.
    value : int
        Value with every pair that can be won at all won.
    floor : Fraction
        Value with every pair lost.
    noise : float
        Largest change of any pair along the directions that were left out, summed over them.
    exact_norm : bool
        Whether u are the coefficients themselves, one or two, so that max|w_j| = 1 on every face.
    """

    problem: Problem
    basis: Floats
    margin: float
    scale: Scale
    value: int
    floor: Fraction
    noise: float
    exact_norm: bool

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.basis.shape[1])

    def roots(self) -> list[Floats]:
        """One open node for each face: middle, half width, and range of the swept coordinate."""
        r = self.size
        nodes = []
        for face in np.flatnonzero(self.basis.any(axis=0)):
            for sign in (1.0, -1.0):
                middle, half = np.zeros(r), np.ones(r)
                middle[face], half[face] = sign, 0.0
                nodes.append(np.concatenate([middle, half, [-1.0, 1.0]]))
        return nodes

    def swept(self, node: Floats) -> int:
        """The coordinate that is swept on the node's face."""
        r = self.size
        face = int(np.argmin(node[r : 2 * r]))
        return 1 if face != 1 else (2 if r > 2 else 0)

    def coefficients(self, point: Floats) -> Floats:
        """Coefficients, largest one 1 (two of them without a margin, exactly: at least 1/2), of a point u."""
        coef = self.basis @ point
        if self.exact_norm and self.margin == 0:
            return np.asarray(np.ldexp(coef, -np.frexp(np.abs(coef).max())[1]))
        used = self.basis.any(axis=1)
        basis = self.basis[np.ix_(used, self.basis.any(axis=0))]
        if basis.shape[0] > basis.shape[1]:
            coef[used] = _shortest(coef[used], idle_directions(basis))
        return np.asarray(coef / np.abs(coef).max())


class Geometry(NamedTuple):
    """Pairs in the coordinates of a search, and all that is known of their rounding: see `Problem`."""

    used: NDArray[Any]
    """Features that matter."""
    reduced: Floats
    """The basis on those."""
    E: Floats
    error: Floats
    norm: Floats
    norm_error: Floats
    doubt: Floats
    ledger: Ledger
    margin: float
    noise: float
    exact_norm: bool


# Matrices have a row for each feature. On two cores beside other busy processes axes took a second or two to
# find with two BLAS threads, with one some hundredths.
@threads_for(1)
def build_frame(
    arrays: PairArrays,
    direction: Floats | None = None,
    *,
    given: tuple[Floats, float] | None = None,
    reduce: bool = True,
    plane: bool = True,
) -> Frame:
    """The problem in good coordinates, `direction` (coefficients) in the middle of a face.

    Parameters
    ----------
    arrays : PairArrays
    direction : (d,) array, optional
    given : (basis, noise), optional
        Those of an earlier frame of the same problem, to have it again.
    reduce : bool
        Whether directions along which no pair changes may be left out.
    plane : bool
        Whether one or two coordinates without a margin are left as they are, to be compared exactly;
        otherwise they are slanted like more of them, for boxes.
    """
    from toprank.exact.directions._counting import Problem

    possible = arrays.winnable()
    if arrays.margin == 0:
        geometry = _strict_geometry(arrays, possible, direction, None if given is None else given[0], plane)
    else:
        from toprank.exact.directions.margin_frame import margin_geometry

        geometry = margin_geometry(arrays, possible, direction, given, reduce)
    scale = value_scale(arrays.objective.size, VALUE_BITS)
    value, floor, (gain, weight, stride, shift, count, at_most) = _values(arrays, possible, scale)
    problem = Problem(
        E=np.ascontiguousarray(geometry.E),
        error=geometry.error,
        owner=np.ascontiguousarray(
            arrays.positive if possible.all() else arrays.positive[possible], dtype=np.int32
        ),
        gain=gain,
        weight=weight,
        stride=stride,
        shift=shift,
        norm=np.ascontiguousarray(geometry.norm),
        norm_error=geometry.norm_error,
        count=count,
        at_most=at_most,
        doubt=geometry.doubt,
        ledger=geometry.ledger,
    )
    basis = np.zeros((arrays.differences.shape[1], geometry.reduced.shape[1]))
    basis[geometry.used] = geometry.reduced
    return Frame(problem, basis, geometry.margin, scale, value, floor, geometry.noise, geometry.exact_norm)


def _strict_geometry(
    arrays: PairArrays,
    possible: NDArray[np.bool_],
    direction: Floats | None,
    given: Floats | None,
    plane: bool,
) -> Geometry:
    """The pairs without a margin, on columns that no others add up to."""
    upper, lower = arrays.upper[possible], arrays.lower[possible]
    used = np.zeros(0, dtype=np.int64)
    if possible.any():
        used = independent_columns(arrays.rows, upper, lower)
    rows = np.ascontiguousarray(arrays.rows[:, used])
    r = max(2, len(used))
    flat = len(used) < 2 or (plane and len(used) == 2)
    if given is not None:
        reduced = given[used]
    elif flat:
        reduced = np.eye(len(used), r)
    else:
        start = None if direction is None else np.asarray(direction, dtype=np.float64)[used]
        reduced = _strict_basis(rows, upper, lower, start)
    E, doubt = pairs_in(rows, upper, lower, reduced)
    error = np.abs(E).sum(axis=1) * roundings(r) * UNIT + 2 * r * doubt + 1e-300
    # Two coordinates are compared without primes.
    book = _plain_ledger(rows, upper, lower) if flat else ledger(rows, upper, lower)
    norm, norm_error = np.zeros((0, r)), np.zeros(0)
    return Geometry(used, reduced, E, error, norm, norm_error, doubt, book, 0.0, 0.0, flat)


def roundings(r: int) -> int:
    """How often a lead over a box is rounded at most, in r coordinates.

    Twice at each of the 41 r + 64 levels (`boxes.search`), and some for each product along the way.
    """
    return 2 * (41 * r + 64) + 8 * r + 64


def _plain_ledger(rows: Floats, upper: NDArray[np.int32], lower: NDArray[np.int32]) -> Ledger:
    """Features and pairs alone."""
    book = ledger(rows, upper[:1], lower[:1])
    return (book[0], book[1], upper.astype(np.int64), lower.astype(np.int64), *book[4:])


def _strict_basis(
    rows: Floats, upper: NDArray[np.int32], lower: NDArray[np.int32], direction: Floats | None
) -> Floats:
    """Good coordinates, the best answer so far in the middle of a face, nothing aligned with the data."""
    plain = plain_basis(rows, upper, lower)
    first = None
    if direction is not None and direction.any():
        first = np.linalg.solve(plain / np.abs(plain).max(axis=0), direction) / np.abs(plain).max(axis=0)
        first = first / np.abs(first).max() if np.isfinite(first).all() else None
    E = pairs_in(rows, upper, lower, plain)[0]
    for turn in (turn_axes(E, np.eye(len(plain)), first), np.eye(len(plain))):
        basis = slanted(plain @ turn)
        basis /= np.abs(basis).max()
        if np.isfinite(basis).all() and np.linalg.cond(turn) < 1e6 and is_regular(basis):
            return basis
    return plain


def turn_axes(D: Floats, basis: Floats, direction: Floats | None) -> Floats:
    """A basis with `direction` first and other axes of which close pairs feel few."""
    r = basis.shape[1]
    first = np.zeros(r) if direction is None else np.linalg.lstsq(basis, direction, rcond=None)[0]
    if r < 3 or not first.any():
        return basis
    turned = basis @ np.linalg.qr(np.column_stack([first, np.eye(r)]))[0][:, :r]
    E = (D @ turned)[:: max(1, len(D) // MAX_SHAPING_PAIRS)]
    lead = np.abs(E[:, 0])
    if len(E) >= FEWEST_SHAPING_PAIRS:
        closeness = 0.1 + np.exp(-0.5 * (lead / max(float(np.quantile(lead, 0.1)), 1e-12)) ** 2)
        turned[:, 1:] = turned[:, 1:] @ _sparse_axes(E[:, 1:], closeness / closeness.sum())
    turned[:, 0] /= max(lead.mean(), 1e-12)
    turned[:, 1:] /= np.maximum(np.abs(D @ turned[:, 1:]).mean(axis=0), 1e-12)
    return np.asarray(turned / np.abs(turned).max())


def _sparse_axes(rows: Floats, weight: Floats) -> Floats:
    """Axes A along which the rows change little for the volume they span.

    Minimises ``sum log mean|rows A| - log|det A|``: the fewer pairs change over a box, the larger it can be,
    and how the axes are scaled does not matter. This is independent component analysis with a Laplace prior,
    by a smooth approximation of the absolute value.
    """
    size = rows.shape[1]
    sizes, axes = np.linalg.eigh((rows * weight[:, None]).T @ rows)
    start = axes / np.sqrt(np.maximum(sizes, 1e-6 * max(float(sizes[-1]), 1e-300)))

    def misfit(flat: Floats) -> tuple[float, Floats]:
        A = flat.reshape(size, size)
        changes = rows @ A
        smooth = np.sqrt(changes**2 + 1e-6)
        mean = weight @ smooth
        sign, volume = np.linalg.slogdet(A)
        if sign == 0:
            return math.inf, np.zeros_like(flat)
        slope = rows.T @ (weight[:, None] * (changes / smooth) / mean) - np.linalg.inv(A).T
        return float(np.log(mean).sum() - volume), slope.ravel()

    found = minimize(misfit, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    A = found.x.reshape(size, size)
    return A if np.isfinite(A).all() and np.linalg.cond(A) < 1e4 else start


def idle_directions(basis: Floats) -> Floats:
    """Orthonormal directions orthogonal to the columns of a basis."""
    return np.asarray(np.linalg.svd(basis.T)[2][basis.shape[1] :].T)


def _shortest(coef: Floats, idle: Floats) -> Floats:
    """The same scores on all pairs with the largest coefficient as small as can be."""
    d, n = idle.shape
    wall = np.vstack([np.column_stack([idle, -np.ones(d)]), np.column_stack([-idle, -np.ones(d)])])
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=wall,
        b_ub=np.concatenate([-coef, coef]),
        bounds=[(None, None)] * n + [(0, None)],
    )
    return coef if answer.x is None else np.asarray(coef + idle @ answer.x[:n])


def _values(
    arrays: PairArrays, possible: NDArray[np.bool_], scale: Scale
) -> tuple[int, Fraction, tuple[Any, ...]]:
    """Value of winning all that can be won, a floor, and (gain, weight, stride, shift, count, at_most)."""
    objective, none = arrays.objective, np.empty(0, dtype=np.int64)
    if objective.by_pairs:
        gain = scale.ups(objective.worth[possible])
        empty = np.empty(0, dtype=np.int32)
        value = int(gain.sum()) + scale.up(objective.offset)
        return value, objective.floor, (gain, none, none, none, empty, empty)
    weight = scale.ups(objective.weights)
    lost = np.bincount(arrays.positive[~possible], minlength=len(arrays.positive_query))
    count, shift, at_most = np.zeros(len(lost), np.int32), np.zeros(len(lost), np.int64), []
    value, offset = 0, 0
    for q, (positives, rivals) in enumerate(zip(*objective.shapes, strict=True)):
        own = np.flatnonzero(arrays.positive_query == q)
        start, ranked = int(objective.weight_start[q]), np.sort(lost[own])
        shift[own] = start - offset
        count[own] = offset + lost[own]
        at_most.append(np.searchsorted(ranked, np.arange(rivals + 1), side="right"))
        value += int(weight[start + objective.stride[q] * np.arange(positives) + ranked].sum())
        offset += int(rivals) + 1
    stride = objective.stride[arrays.positive_query]
    counts = count, np.concatenate(at_most).astype(np.int32)
    return value, objective.floor, (none, weight, stride, shift, *counts)
