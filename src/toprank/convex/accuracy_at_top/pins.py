"""The items of Accuracy at the Top, their quantile, and what pinning the quantile to one of them says.

The paper's algorithm solves problem (2) for every item k and takes the w_k under which the score of item k
is closest to the quantile; the smaller objective decides between equal distances (Boyd, Cortes, Mohri and
Radovanovic 2012, Section 3.2). Equal means equal up to `TIE` here, in score units in which the margin is
one, and the first item in the order of the rows decides between equal objectives, so that the rounding of a
solver never does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toprank.convex.algebra.box_program import BoxSolution, box_program
from toprank.convex.algebra.row_systems import FeatureSystem, GramSystem, RowSystem

__all__ = ["TIE", "Items", "PinTable", "choose", "examine", "excluded", "quantile"]

Floats = NDArray[np.float64]
TIE = 1e-6
"""Distances this close are equal, in units of the margin; objectives, relative to themselves."""
ROUNDING = 1e-9


def quantile(scores: Floats, mass: Floats, top: float) -> float:
    """The highest value with at least the mass `top` at or above it: the largest top quantile.

    >>> quantile(np.array([5.0, 3.0, 4.0, 1.0]), np.ones(4), 2.0)
    4.0
    """
    if mass.min() == mass.max():
        position = int(np.ceil(top / mass[0] * (1.0 - ROUNDING)))
        return float(-np.partition(-scores, position - 1)[position - 1])
    falling = np.argsort(-scores, kind="stable")
    reached = np.cumsum(mass[falling])
    return float(scores[falling[np.searchsorted(reached, top * (1.0 - ROUNDING))]])


@dataclass(frozen=True)
class Items:
    """Everything the problem depends on: distinct items, their prices and their share of the list.

    Parameters
    ----------
    points : array of shape (n, d) or None
        Features, relative to their mean; None when only inner products are known.
    gram : array of shape (n, n) or None
        Inner products, where there are no points or more features than items.
    up, down : arrays of shape (n,)
        Price of one unit of margin that an item lacks above (preferred) or below (not preferred) the
        quantile.
    mass : array of shape (n,)
        How much each item counts in the quantile.
    top : float
        The mass above the quantile.
    query : array of shape (n,) or None
        The list that each item belongs to, where there are several: 0, 1, ...; each has its own quantile.
    tops : array or None
        The mass above the quantile of each list; `top` is their sum.
    """

    points: Floats | None
    gram: Floats | None
    up: Floats
    down: Floats
    mass: Floats
    top: float
    query: NDArray[np.int64] | None = None
    tops: Floats | None = None

    def __len__(self) -> int:
        return len(self.mass)

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The item of each row of the pinned problems: the preferred ones first."""
        return np.concatenate([np.flatnonzero(self.up > 0), np.flatnonzero(self.down > 0)])

    @cached_property
    def sign(self) -> Floats:
        """+1 for preferred, -1 for not preferred rows."""
        n_up = int(np.count_nonzero(self.up > 0))
        return np.concatenate([np.ones(n_up), -np.ones(len(self.owner) - n_up)])

    @cached_property
    def costs(self) -> Floats:
        """The price of each row."""
        return np.concatenate([self.up[self.up > 0], self.down[self.down > 0]])

    def rows(self, pin: int) -> RowSystem:
        """y_i (z_i - z_k) for the pin k, or their inner products K_k (Eq. 4) from the one Gram matrix."""
        if self.gram is None:
            assert self.points is not None
            rows = self.points[self.owner]
            rows -= self.points[pin]
            rows *= self.sign[:, np.newaxis]
            return FeatureSystem(rows)
        shift = self.gram[pin] - 0.5 * self.gram[pin, pin]
        pinned = self.gram - shift - shift[:, np.newaxis]
        pinned = pinned[np.ix_(self.owner, self.owner)]
        pinned *= self.sign * self.sign[:, np.newaxis]
        return GramSystem(pinned)

    def distances(self, pin: int) -> Floats:
        """|z_i - z_k| of every item."""
        if self.gram is None:
            assert self.points is not None
            return np.sqrt(((self.points - self.points[pin]) ** 2).sum(axis=1))
        squares = np.diag(self.gram) - 2.0 * self.gram[pin] + self.gram[pin, pin]
        return np.sqrt(np.maximum(squares, 0.0))

    def solve(self, pin: int, tol: float) -> BoxSolution:
        """Problem (2) with the quantile pinned to an item."""
        return box_program(self.rows(pin), self.costs, tol=tol)

    def heights(self, solution: BoxSolution) -> Floats:
        """w.(z_i - z_k) of every item: how far its score is above the pin's."""
        heights = np.zeros(len(self))
        heights[self.owner] = self.sign * solution.margins
        return heights

    def weights(self, pin: int, solution: BoxSolution) -> Floats:
        """The weight of each item in w = sum of weights times items; they sum to zero."""
        signed = self.sign * solution.dual
        weights = np.bincount(self.owner, weights=signed, minlength=len(self))
        weights[pin] -= signed.sum()
        return np.asarray(weights, dtype=np.float64)

    def objective(self, half_square: float, scores: Floats) -> float:
        """Problem (1): 1/2 |w|^2 (given) plus the losses against the true quantile of the scores."""
        lead = scores - self.levels(scores)
        losses = self.up @ np.maximum(1.0 - lead, 0.0) + self.down @ np.maximum(1.0 + lead, 0.0)
        return half_square + float(losses)

    def levels(self, scores: Floats) -> Floats:
        """The quantile of the list of each item."""
        levels = np.empty(len(self))
        for members, top in self.lists:
            levels[members] = quantile(scores[members], self.mass[members], top)
        return levels

    @cached_property
    def number(self) -> NDArray[np.intp]:
        """The list of each item, as numbered by `lists`."""
        number = np.zeros(len(self), dtype=np.intp)
        for one, (members, _) in enumerate(self.lists):
            number[members] = one
        return number

    @cached_property
    def lists(self) -> list[tuple[NDArray[np.intp], float]]:
        """The items of each list and the mass above its quantile."""
        if self.query is None or self.tops is None:
            return [(np.arange(len(self)), self.top)]
        order = np.argsort(self.query, kind="stable")
        starts = np.flatnonzero(np.diff(self.query[order], prepend=-1))
        members = np.split(order, starts[1:])
        return [(rows, float(self.tops[self.query[rows[0]]])) for rows in members]

    def fingerprint(self) -> str:
        """SHA-256 of everything the answer depends on."""
        digest = hashlib.sha256(repr(float(self.top)).encode())
        for array in (self.points, self.gram, self.up, self.down, self.mass):
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


COLUMNS = ("value", "bound", "distance", "nearest", "spread")


@dataclass(frozen=True)
class PinTable:
    """What is known of each pin; nan where it was not solved.

    Attributes
    ----------
    numbers : array of shape (n_items, 5)
        The columns below.
    """

    numbers: Floats

    @classmethod
    def empty(cls, n_items: int) -> PinTable:
        """A table without any answer."""
        return cls(np.full((n_items, len(COLUMNS)), np.nan))

    @property
    def value(self) -> Floats:
        """Objective (2)."""
        return self.numbers[:, 0]

    @property
    def bound(self) -> Floats:
        """Dual objective (3): no w does better with this pin."""
        return self.numbers[:, 1]

    @property
    def distance(self) -> Floats:
        """Between the pin's own score and the quantile of the scores, in score units."""
        return self.numbers[:, 2]

    @property
    def nearest(self) -> Floats:
        """The smallest distance the exact solution can have, given the duality gap."""
        return self.numbers[:, 3]

    @property
    def spread(self) -> Floats:
        """Standard deviation of the scores: the unit of the relative distance."""
        return self.numbers[:, 4]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Which pins have an answer."""
        return ~np.isnan(self.value)

    @property
    def relative_distance(self) -> Floats:
        """The distance in standard deviations of the scores; zero for scores that are all equal."""
        spread = np.where(self.spread > 0, self.spread, 1.0)
        return np.where(self.spread > 0, self.distance / spread, 0.0)


def examine(items: Items, pin: int, tol: float) -> tuple[float, float, float, float, float]:
    """Solve for one pin: its objective, bound, distance, smallest possible distance and spread of scores."""
    solution = items.solve(pin, tol)
    heights = items.heights(solution)
    distance = abs(quantile(heights, items.mass, items.top))
    # |w - w*| <= radius moves w.(z_i - z_k) by at most radius |z_i - z_k|, and the quantile moves with them.
    room = solution.radius * items.distances(pin)
    lowest = quantile(heights - room, items.mass, items.top)
    highest = quantile(heights + room, items.mass, items.top)
    mean = np.average(heights, weights=items.mass)
    spread = float(np.sqrt(np.average((heights - mean) ** 2, weights=items.mass)))
    return solution.value, solution.bound, distance, max(0.0, lowest, -highest), spread


def choose(table: PinTable, among: NDArray[np.bool_] | None = None) -> int:
    """The paper's choice: the smallest distance, then the smallest objective, then the first item.

    >>> table = PinTable(np.array([[3.0, 3, 0.5, 0, 1], [2.0, 2, 0.0, 0, 1], [1.0, 1, 1e-9, 0, 1]]))
    >>> choose(table)
    2
    """
    pins = np.flatnonzero(table.solved if among is None else among)
    distance, value = table.distance[pins], table.value[pins]
    near = distance <= distance.min() + TIE
    cheapest = value[near].min()
    return int(pins[near][np.argmax(value[near] <= cheapest * (1.0 + TIE))])


def excluded(table: PinTable, best: int) -> NDArray[np.bool_]:
    """Pins that cannot be chosen before `best`, however exactly they are solved.

    Either no w within the ball around theirs is near enough; or no distance can be smaller than the best
    one, and no objective as small.
    """
    far = table.nearest > table.distance[best] + TIE
    if table.distance[best] <= TIE:
        far |= table.bound > table.value[best] * (1.0 + TIE)
    return far
