"""One or two features: all directions, sorted by angle exactly; with a margin, one sweep for each face.

The line of directions orthogonal to a pair divides the plane; between neighbouring lines the pairs won stay
the same, and on a line no pair is won that is not won beside it. Angles are compared in floats where these
tell them apart and in whole numbers where not, so every sector is visited and nothing is left open.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from toprank.exact.arithmetic.rational import simplest_between, whole_numbers
from toprank.exact.directions.frame import Frame

__all__ = ["best_sector", "sweep_face"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Ray = tuple[int, int]
CLOSE = 1e-13
"""Angles closer than this are compared in whole numbers: some hundred roundings of an angle up to 2 pi."""
MANY_PAIRS = 1_000_000
"""With more, a face is swept in pieces: the events of all of them at once would take much memory."""


def best_sector(frame: Frame) -> tuple[int, Floats]:
    """The largest value of any direction, in whole-number values, and a direction that has it.

    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.directions.frame import build_frame
    >>> X = [[0.1, 0.7], [0.3, 0.2], [0.9, 0.4]]
    >>> frame = build_frame(RankingProblem.from_labels(X, [0, 1, 0], "auc").arrays())
    >>> value, w = best_sector(frame)
    >>> frame.scale.value(value), bool(w @ [0.2, -0.5] > 0), bool(w @ [-0.6, -0.2] > 0)
    (1.0, True, True)
    """
    from toprank.exact.boxes._plane_kernels import walk_sectors

    P = len(frame.problem.E)
    if not P:
        return frame.value, np.array([1.0, 0.0])
    rays = _Rays(frame)
    events, angles = _sorted_events(frame.problem.E)
    events, ends = _exactly(events, angles, rays)
    best, place = walk_sectors(frame.problem, events, ends, frame.value)
    first = rays.of(int(events[ends[place] - 1]))
    last = rays.of(int(events[ends[place] % len(events)]))
    between = [
        Fraction(v) / Fraction(2) ** int(e)
        for v, e in zip(_between(first, last), rays.exponents, strict=True)
    ]
    largest = max(map(abs, between))
    return int(best), np.array([float(v / Fraction(2) ** _size(largest)) for v in between])


def _size(number: Fraction) -> int:
    """Exponent of a power of two near a positive number."""
    return number.numerator.bit_length() - number.denominator.bit_length()


class _Rays:
    """Where each event's half-line points, in whole numbers; event p wins pair p, event p + P loses it."""

    def __init__(self, frame: Frame) -> None:
        rows, _, self._upper, self._lower, *_ = frame.problem.ledger
        self.pairs = len(self._upper)
        self._columns, self.exponents = [], np.zeros(2, dtype=np.int64)
        for j in range(2):
            if j < rows.shape[1]:
                whole, self.exponents[j] = whole_numbers(rows[:, j])
                self._columns.append(whole)
            else:
                self._columns.append(np.zeros(len(rows), dtype=object))

    def of(self, event: int) -> Ray:
        """The half-line on which the event takes place, going around counter-clockwise."""
        p = event % self.pairs
        i, k = self._upper[p], self._lower[p]
        a, b = (int(column[i]) - int(column[k]) for column in self._columns)
        return (b, -a) if event < self.pairs else (-b, a)


def _sorted_events(E: Floats) -> tuple[Places, Floats]:
    """Events by angle, beginning after the widest gap, and the angles.

    Each line is met twice, half a turn apart, so that half of the events tell the order of all.
    """
    P = len(E)
    turns, angles = np.divmod(np.arctan2(E[:, 1], E[:, 0]) - np.pi / 2, np.pi)
    order = np.argsort(angles)
    angles = angles[order]
    begin = int(np.argmax(np.diff(angles, append=angles[0] + np.pi))) + 1
    lost_first = (turns[order] % 2).astype(np.int64)
    half = np.concatenate([order + lost_first * P, order + (1 - lost_first) * P])
    both = np.concatenate([angles, angles + np.pi, angles[:begin] + 2 * np.pi])
    return np.concatenate([half[begin:], half[:begin]]), both[begin:]


def _exactly(events: Places, angles: Floats, rays: _Rays) -> tuple[Places, Places]:
    """Events in the exact order, and where each set of equal angles ends."""
    events = events.copy()
    apart = np.diff(angles) > CLOSE
    ends = np.append(apart, True)
    crowded = np.flatnonzero(np.diff(np.concatenate(([True], apart, [True])).astype(np.int8)))
    for first, last in zip(crowded[::2].tolist(), (crowded[1::2] + 1).tolist(), strict=True):
        known = {event: rays.of(event) for event in events[first:last].tolist()}
        along = cmp_to_key(_compare)
        ranked = sorted(known, key=lambda event, rays=known: along(rays[event]))  # type: ignore[misc]
        events[first:last] = ranked
        ends[first : last - 1] = [_compare(known[a], known[b]) != 0 for a, b in pairwise(ranked)]
    return events, np.flatnonzero(ends) + 1


def _compare(a: Ray, b: Ray) -> int:
    """-1 when a comes before b, counter-clockwise, 0 when they are one; they are known to be close."""
    cross = a[0] * b[1] - a[1] * b[0]
    return (cross < 0) - (cross > 0)


def _between(a: Ray, b: Ray) -> tuple[int, int]:
    """A vector of small whole numbers strictly between two half-lines, counter-clockwise from a to b."""
    cross, dot = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    if cross < 0 or dot <= 0:  # a quarter turn apart or more: half of one is between
        return a[0] - a[1], a[0] + a[1]
    # Less than a quarter turn: slopes in one of four frames, in which both half-lines point forward.
    turns = next(t for t in range(4) if _turned(a, t)[0] > 0 and _turned(b, t)[0] > 0)
    low, high = (Fraction(ray[1], ray[0]) for ray in (_turned(a, turns), _turned(b, turns)))
    slope = simplest_between(low, high)
    return _turned((slope.denominator, slope.numerator), -turns % 4)


def _turned(ray: Ray, quarters: int) -> Ray:
    """A half-line after some quarter turns clockwise."""
    for _ in range(quarters):
        ray = (ray[1], -ray[0])
    return ray


# -- with a margin ------------------------------------------------------------------------------------


def sweep_face(frame: Frame, node: Floats, target: int, *, safe: bool) -> tuple[int, Floats]:
    """Largest value on one face when the coordinates are one or two coefficients, and where it is.

    With `safe`, pairs in doubt count as lost; otherwise as won.
    """
    from toprank.exact.boxes import _plane_kernels as kernels
    from toprank.exact.directions._counting import NOTHING

    P, r = frame.problem.E.shape
    k = frame.swept(node)
    fixed = 1 - k
    best, point, out = NOTHING, np.zeros(r), np.zeros(3)
    point[fixed] = node[fixed]
    pieces = 8 if P > MANY_PAIRS else 1
    work = _face_work(P // pieces + 1)
    for low, high in pairwise(np.linspace(-1.0, 1.0, pieces + 1).tolist()):
        place = (frame.problem, fixed, node[fixed], k, low, high, frame.margin, safe)
        found = kernels.sweep_face(*place, max(target, best), frame.value, *work, out)
        if out[1] > work[0].shape[1]:  # more pairs change sides here than there was room for
            work = _face_work(int(out[1]))
            found = kernels.sweep_face(*place, max(target, best), frame.value, *work, out)
        if found > best:
            best, point[k] = found, out[0]
    return int(best), point


def _face_work(room: int) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Arrays for sorting so many events."""
    return np.empty((2, room)), np.empty((2, room), np.int32), np.zeros(min(1 << 20, room // 2 + 2), np.int64)
