"""All sectors of a short interval of directions, in exact order: where few pairs change sides."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.exact.angles.listed import AngleRows
from toprank.exact.angles.orders import CLOSE, Face, Order

__all__ = ["Stand", "best_between", "stand_at"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]
Places = NDArray[np.int64]


class Stand(NamedTuple):
    """How all items stand just before or just after a direction."""

    order: Order
    """Rows from the top down."""
    above: Counts
    """Of each positive: negatives of its list at or above it."""
    place: Counts
    """Of each negative: its place among those of its list."""
    value: int
    """In whole numbers."""


def stand_at(listed: AngleRows, order: Order) -> Stand:
    """How items stand in an order of the rows."""
    from toprank.exact.angles._angle_kernels import stand, value_of

    above, place = np.empty(len(listed.upper), np.int32), np.empty(len(listed.lower), np.int32)
    stand(order, listed.lists, above, place)
    return Stand(order, above, place, int(value_of(above, listed.lists)))


def best_between(
    listed: AngleRows, face: Face, ends: tuple[float, float], first: Stand, last: Stand, crossings: int
) -> tuple[int, tuple[Fraction, Fraction]]:
    """The largest value of any direction between two, and the sector that has it, between its two ends.

    Parameters
    ----------
    listed : AngleRows
    face : Face
    ends : (float, float)
        The two directions.
    first, last : Stand
        How items stand just after the first of them and just before the last.
    crossings : int
        Number of pairs that change sides between them.
    """
    from toprank.exact.angles._angle_kernels import crossing_pairs, walk

    found = first.above, first.place, last.above, last.place, listed.lists, crossings
    positive, negative, gained = crossing_pairs(*found)
    upper, lower = listed.upper[positive], listed.lower[negative]
    events, groups = _exactly(face, upper, lower)
    best, place = walk(first.above, positive, gained, events, groups, listed.lists)
    low, high = Fraction(ends[0]), Fraction(ends[1])
    if place >= 0:
        before = events[groups[place] - 1]
        low = face.crossing(upper[before], lower[before])
    if place + 1 < len(groups):
        after = events[groups[place]] if place >= 0 else events[0]
        high = face.crossing(upper[after], lower[after])
    return int(best), (low, high)


def _exactly(face: Face, upper: Places, lower: Places) -> tuple[Places, Places]:
    """Pairs by where they change sides, exactly, and where each set of those that do so together ends."""
    at = face.crossings(upper, lower)
    events = np.argsort(at)
    apart = np.diff(at[events]) > CLOSE
    ends = np.append(apart, True)[: len(events)]
    crowded = np.flatnonzero(~(ends & np.append(True, ends[:-1])))
    if len(crowded):
        # In floats a crowd is apart from the next: in exact order all of them fill the same places.
        rank = _ranks(face, upper[events[crowded]], lower[events[crowded]])
        order = np.argsort(rank, kind="stable")
        events[crowded] = events[crowded][order]
        ends[crowded] = np.append(np.diff(rank[order]) > 0, True)
    return events, np.flatnonzero(ends) + 1


def _ranks(face: Face, upper: Places, lower: Places) -> Places:
    """Numbers that compare as the exact places do at which pairs of rows change sides."""
    pairs, number = np.unique(upper * len(face.p) + lower, return_inverse=True)
    keys = face.exact_crossings(*np.divmod(pairs, len(face.p)))
    rank = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys])[number]
