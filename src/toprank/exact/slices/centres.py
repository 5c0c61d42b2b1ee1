"""Directions at which many pairs are exactly tied, found in whole numbers where a search meets them.

Features that take few values make many pairs change sides at the same directions. A box of directions around
one is never closed by halving; `slices._star_kernels` says what is done instead.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.rational import whole_numbers
from toprank.exact.directions.frame import Frame
from toprank.exact.pairs import PairArrays

__all__ = ["Centres", "tied_directions"]

Floats = NDArray[np.float64]
Whole = NDArray[Any]
MOST_CENTRES, MOST_BYTES = 2048, 1 << 26
"""How many are remembered at most, and the memory for which pairs are tied there."""
MOST_FAILURES = 64
"""So many boxes without a new centre are enough to stop looking for them. Not tuned."""
SAME = 1e-12


class Centres:
    """The centres met so far.

    Parameters
    ----------
    arrays : PairArrays
    frame : Frame
        Without a margin: with one, ties are lost and nothing is gained by them.

    Attributes
    ----------
    stars : Stars
        As the kernels read them.
    number : int
        How many there are.
    """

    def __init__(self, arrays: PairArrays, frame: Frame) -> None:
        from toprank.exact.slices._star_kernels import Stars

        self._arrays, self._frame = arrays, frame
        P, r = frame.problem.E.shape
        self.number, self._failures = 0, 0
        self.most = 0 if frame.margin > 0 else min(MOST_CENTRES, MOST_BYTES // max(P, 1))
        self.stars = Stars(np.zeros((self.most, r)), np.zeros((self.most, P), np.uint8))
        self._exact: Whole | None = None

    @property
    def learning(self) -> bool:
        """Whether boxes too small to split are worth a look: not where most have no centre."""
        return self.number < self.most and self._failures < MOST_FAILURES

    def learn(self, place: Floats) -> bool:
        """Look for directions at which all pairs that are undecided in a small box are tied; any new ones?"""
        if self.number == self.most:
            return False
        undecided = self._undecided(place)
        if not len(undecided):
            return False
        added = sum(self._add(found) for found in tied_directions(self._pairs()[undecided])) > 0
        self._failures += not added
        return added

    def _undecided(self, place: Floats) -> NDArray[np.intp]:
        E, error, r = self._frame.problem.E, self._frame.problem.error, self._frame.size
        middle, half = 0.5 * (place[:r] + place[r:]), 0.5 * (place[r:] - place[:r])
        lead, change = E @ middle, np.abs(E) @ half + error
        return np.flatnonzero((lead + change >= 0) & (lead - change < 0))

    def _pairs(self) -> Whole:
        """The pairs in the coordinates of the search, times a positive number, in whole numbers."""
        if self._exact is None:
            arrays = self._arrays
            rows, basis = whole_numbers(arrays.rows)[0], whole_numbers(self._frame.basis)[0]
            items, possible = rows.dot(basis), arrays.winnable()
            self._exact = np.asarray(items[arrays.upper[possible]] - items[arrays.lower[possible]])
        return self._exact

    def _add(self, direction: Whole) -> bool:
        largest = max(direction.tolist(), key=abs)
        point = np.array([float(Fraction(int(v), int(largest))) for v in direction])
        known = self.stars.point[: self.number]
        if self.number == self.most or (np.abs(known - point) < SAME).all(axis=1).any():
            return False
        self.stars.point[self.number] = point
        self.stars.tied[self.number] = self._pairs().dot(direction) == 0
        self.number += 1
        return True


def tied_directions(pairs: Whole) -> list[Whole]:
    """Independent directions at which all of some pairs are tied, in whole numbers.

    >>> rows = np.array([[1, -1, 0], [2, -2, 0]], dtype=object)
    >>> [direction.tolist() for direction in tied_directions(rows)]
    [[1, 1, 0], [0, 0, 1]]
    """
    found: list[Whole] = list(np.eye(pairs.shape[1], dtype=int).astype(object))
    for row in pairs:
        leads = [row.dot(direction) for direction in found]
        pivot = next((i for i, lead in enumerate(leads) if lead), None)
        if pivot is None:
            continue
        first, taken = found[pivot], leads[pivot]
        rest = [
            _shortened(taken * direction - lead * first)
            for i, (direction, lead) in enumerate(zip(found, leads, strict=True))
            if i != pivot
        ]
        found = rest
        if not found:
            break
    return found


def _shortened(direction: Whole) -> Whole:
    """Without common factors, the largest entry above zero."""
    whole = [int(v) for v in direction]
    factor = math.gcd(*whole) * (1 if max(whole, key=abs) > 0 else -1)
    return np.array([v // factor for v in whole], dtype=object)
