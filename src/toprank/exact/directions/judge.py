"""Whether a box of directions can be worth a target: plain arrays, and linear programs by HiGHS.

For the replay of a search's log. A box is swept over all times of one coordinate; where that leaves it open,
pairs that cannot be won together are looked for, and multipliers that show it are recomputed; then the box is
halved. Nothing here is shared with the searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.directions.strict_judge import (
    complaint_about,
    exact_pairs,
    opposed,
    rounded,
    sectors,
    tied_within,
)
from toprank.exact.pairs import PairArrays

__all__ = ["Judge", "LogError", "StrictJudge", "halves", "make_judge", "read_basis"]

Floats = NDArray[np.float64]
Value = Callable[[NDArray[np.bool_]], Floats]
Box = tuple[Floats, Floats]
MOST_TRIES, MOST_HALVINGS = 200, 12
"""Linear programs for one box, and how often it is halved further than the search did, before the replay says
that the box may be worth the target. Not tuned."""


class LogError(ValueError):
    """The log does not describe a division of the cube."""


def read_basis(arrays: PairArrays, log: dict[bytes, bytes]) -> Floats:
    """The coordinates in which a log was written."""
    d = arrays.differences.shape[1]
    if b"basis" not in log or len(log[b"basis"]) % (8 * d):
        raise LogError("the log does not say in which coordinates it was written")
    return np.frombuffer(log[b"basis"]).reshape(d, len(log[b"basis"]) // (8 * d))


def make_judge(arrays: PairArrays, basis: Floats, target: float) -> Judge:
    """Who decides about boxes of directions in these coordinates."""
    return Judge(arrays, basis, target) if arrays.margin else StrictJudge(arrays, basis, target)


def halves(box: Box, axis: int) -> list[Box]:
    """The two halves of a box, the lower one last."""
    middle, half = box
    if axis >= len(half) or half[axis] < 2.0**-45:
        raise LogError("the log splits a box where it cannot be split")
    shorter = half.copy()
    shorter[axis] /= 2
    move = np.zeros(len(half))
    move[axis] = shorter[axis]
    return [(middle + move, shorter), (middle - move, shorter)]


class Judge:
    """Whether a box of directions can be worth the target."""

    def __init__(self, arrays: PairArrays, basis: Floats, target: float) -> None:
        used, live = basis.any(axis=1), basis.any(axis=0)
        D, B = arrays.differences, basis[np.ix_(used, live)]
        possible = np.abs(D).sum(axis=1) * (1 + 1e-12) >= arrays.margin
        if D[possible][:, ~used].any():
            raise LogError("the coordinates of the log do not see all features")
        if B.shape[0] != B.shape[1] or (len(B) and not np.linalg.cond(B) < 1e10):
            raise LogError("the coordinates of the log do not reach all directions")
        self.value = _value_function(arrays)
        self.margin, self.target = arrays.margin, target - 1e-14 * abs(target)
        if self.value(np.zeros((1, len(D)), dtype=bool))[0] >= self.target:
            raise LogError("the target is reached without winning a pair")
        self.E = D[:, used] @ basis[used]
        self.error = 1e-13 * np.abs(D).sum(axis=1) * np.abs(basis).sum() + 1e-300
        readings = np.vstack([np.eye(len(B)), np.linalg.inv(B)])
        readings /= np.abs(readings).sum(axis=1, keepdims=True)
        self.norm = (1 - 1e-9) * (readings @ basis[used])
        self._never = ~possible

    def excluded(self, box: Box, axis: int | None = None) -> bool:
        """Whether no direction of the box is worth the target, halving the box where that helps.

        The box is swept along the axis given, or the one along which the pairs change most.
        """
        waiting = [(box, 0)]
        while waiting:
            box, depth = waiting.pop()
            if self._excluded_at_once(box, axis):
                continue
            spread = np.abs(self.E).sum(axis=0) * box[1]
            if depth == MOST_HALVINGS or not spread.any():
                return False
            waiting += [(half, depth + 1) for half in halves(box, int(np.argmax(spread)))]
        return True

    def _excluded_at_once(self, box: Box, along: int | None) -> bool:
        middle, half = box
        least = np.abs(self.norm @ middle) - np.abs(self.norm) @ half - 1e-13 * np.abs(self.norm).sum(axis=1)
        need = self.margin * max(0.0, float(least.max()))
        axis = int(np.argmax(np.abs(self.E).sum(axis=0) * half)) if along is None else along
        slope, rest = self.E[:, axis], half.copy()
        rest[axis] = 0.0
        lead = self.E @ middle - slope * middle[axis]
        top = lead + np.abs(self.E) @ rest + self.error - need
        low, high = middle[axis] - half[axis], middle[axis] + half[axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(slope != 0.0, -top / slope, low)
        times = np.unique(np.append(times[(times > low) & (times < high)], [low, high]))
        open_times = times[self._values_at(times, top, slope) >= self.target]
        if not len(open_times):
            return True
        first, last = float(open_times.min()), float(open_times.max())
        rest[axis] = 0.5 * (last - first) + 1e-15
        centre = lead + slope * 0.5 * (first + last) + self.error - need
        return self._closed(centre, self.E * rest)

    def _values_at(self, times: Floats, top: Floats, slope: Floats) -> Floats:
        """Largest value at each time if every pair that can be won then is."""
        step = max(1, 2_000_000 // max(1, len(top)))
        parts = [
            self.value((top + slope * times[a : a + step, None] + self.error >= 0.0) & ~self._never)
            for a in range(0, len(times), step)
        ]
        return np.concatenate(parts)

    def _closed(self, centre: Floats, ranges: Floats) -> bool:
        """Whether every set of pairs that can be won together is worth less than the target."""
        reach = np.abs(ranges).sum(axis=1)
        possible = centre + reach >= 0.0
        doubtful = possible & (centre - reach < 0.0)
        tries = 0
        waiting = [(possible, np.zeros(len(centre), dtype=bool))]
        while waiting:
            won, fixed = waiting.pop()
            if self.value(won[None])[0] < self.target:
                continue
            tries += 1
            members = self._conflict(np.flatnonzero(won & doubtful), centre, ranges)
            if members is None or tries > MOST_TRIES:
                return False
            for member in members[~fixed[members]]:
                without = won.copy()
                without[member] = False
                waiting.append((without, fixed.copy()))
                fixed[member] = True
        return True

    def _conflict(self, live: NDArray[np.intp], centre: Floats, ranges: Floats) -> NDArray[np.intp] | None:
        """Pairs that cannot all be won in the box, shown by their multipliers; None where none are found."""
        if not len(live):
            return None
        r = ranges.shape[1]
        answer = linprog(
            np.append(np.zeros(r), -1.0),
            A_ub=np.column_stack([-ranges[live], np.ones(len(live))]),
            b_ub=centre[live],
            bounds=[(-1.0, 1.0)] * r + [(None, None)],
        )
        if answer.x is None:
            return None
        weight = np.maximum(0.0, -answer.ineqlin.marginals)
        most = weight @ centre[live] + np.abs(weight @ ranges[live]).sum()
        slack = weight @ self.error[live]
        return live[weight > 0] if most + slack < 0.0 else None


class StrictJudge(Judge):
    """The same without a margin: pairs that are exactly opposed cannot be won together either."""

    def __init__(self, arrays: PairArrays, basis: Floats, target: float) -> None:
        complaint = complaint_about(arrays, basis)
        if complaint:
            raise LogError(complaint)
        self.value = _value_function(arrays)
        self.margin, self.target = 0.0, target - 1e-14 * abs(target)
        self._pairs = exact_pairs(arrays, basis)
        self.E = rounded(self._pairs)
        if self.value(np.zeros((1, len(self.E)), dtype=bool))[0] >= self.target:
            raise LogError("the target is reached without winning a pair")
        self.error = 1e-14 * (1 + basis.shape[1]) * np.abs(self.E).sum(axis=1) + 1e-300
        self.norm = np.zeros((1, basis.shape[1]))
        self._never = ~self.E.any(axis=1)

    def no_sector(self) -> bool:
        """With two coordinates: whether no sector is worth the target."""
        found = sectors(self._pairs)
        return not found or bool(self.value(np.array(found)).max() < self.target)

    def has_centre(self, low: Floats, high: Floats) -> bool:
        """Whether all pairs that are undecided in a box are tied at some point of it."""
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        lead, reach = self.E @ middle, np.abs(self.E) @ half + 2 * self.error
        undecided = (lead + reach >= 0) & (lead - reach <= 0) & ~self._never
        return tied_within(self._pairs[undecided], low, high)

    def _closed(self, centre: Floats, ranges: Floats) -> bool:
        return super()._closed(np.where(self._never, -1.0, centre), ranges)

    def _conflict(self, live: NDArray[np.intp], centre: Floats, ranges: Floats) -> NDArray[np.intp] | None:
        found = super()._conflict(live, centre, ranges)
        return opposed(self._pairs, self.E, live) if found is None and len(live) else found


def _value_function(arrays: PairArrays) -> Value:
    """The value of sets of won pairs, one set a row, never below the exact one by more than rounding."""
    if arrays.objective.by_pairs:
        gain, offset = arrays.objective.worth, arrays.objective.offset
        return lambda won: np.array([math.fsum([offset, *gain[row]]) for row in won])
    queries = []
    for q in range(len(arrays.objective.tables)):
        own = np.flatnonzero(arrays.positive_query == q)
        pairs = [np.flatnonzero(arrays.positive == i) for i in own]
        queries.append((np.array(pairs), arrays.objective.table(q)))

    def value(won: NDArray[np.bool_]) -> Floats:
        total = np.zeros(len(won))
        for pairs, table in queries:
            lost = np.sort((~won[:, pairs]).sum(axis=2), axis=1)
            total += table[np.arange(lost.shape[1]), lost].sum(axis=1)
        return total

    return value
