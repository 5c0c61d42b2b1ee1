"""What a proof over cells claims, checked in whole numbers and fractions: values, packings, impossible sets.

It shares no code with the search: that differences are dependent is shown by elimination in whole numbers;
with a margin, multipliers of a linear program of HiGHS show in fractions that a set has no point in the box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.arithmetic.elimination import exact_reach, null_vectors, same_direction, whole_difference
from toprank.exact.pairs import PairArrays

__all__ = ["LOST", "UNDECIDED", "WON", "Judge", "LogError", "Packing", "States"]

States = NDArray[np.int8]
UNDECIDED, WON, LOST = range(3)


class LogError(ValueError):
    """The log does not describe a search."""


@dataclass(slots=True)
class Packing:
    """A bound being lowered, and what each unit can still pay."""

    bound: Fraction
    left: dict[int, Fraction] = field(default_factory=dict)


class Judge:
    """The problem in fractions: values, packings, and which sets of units are impossible."""

    def __init__(self, arrays: PairArrays, units: list[int], target: Fraction) -> None:
        self._unit = np.array(units, dtype=np.int64)
        names, first = np.unique(self._unit[self._unit >= 0], return_index=True)
        first = np.flatnonzero(self._unit >= 0)[first]
        if names.tolist() != list(range(len(names))):
            raise LogError("units that are not numbered from zero on")
        self._rows = arrays.differences[first]
        self._arrays, self.target, self.size = arrays, target, len(first)
        self._first: list[int] = first.tolist()
        self._whole = [whole_difference(arrays, pair) for pair in self._first]
        self._known: dict[frozenset[int], bool] = {}
        self._values: dict[bytes, Fraction] = {}
        self._pairs_of: list[list[int]] = [[] for _ in range(self.size)]
        for pair in np.flatnonzero(self._unit >= 0).tolist():
            self._pairs_of[self._unit[pair]].append(pair)
        self._check_units()
        self._queries = range(len(arrays.objective.tables))
        self._weights = [Fraction(w) for w in arrays.objective.weights.tolist()]
        self._worth = [Fraction(w) for w in arrays.objective.worth.tolist()]
        self._losses = [self._losses_of(q) for q in self._queries]

    def _check_units(self) -> None:
        """Pairs of a unit win and lose together; those of none can never be won."""
        for pair, unit in enumerate(self._unit.tolist()):
            row = whole_difference(self._arrays, pair)
            if unit >= 0 and not self._alike(pair, row, unit):
                raise LogError("pairs of one unit that differ")
            if unit < 0 and any(row) and exact_reach(self._arrays, pair) >= Fraction(self._arrays.margin):
                raise LogError("a pair left out that may be won")

    def _alike(self, pair: int, row: list[int], unit: int) -> bool:
        """Whether a pair wins whenever its unit does: with a margin its lead must be as large as well."""
        if pair == self._first[unit]:
            return any(row)
        margin, first = self._arrays.margin, self._first[unit]
        same_size = not margin or exact_reach(self._arrays, pair) == exact_reach(self._arrays, first)
        return same_size and same_direction(row, self._whole[unit])

    def _gain(self, q: int, j: int, c: int) -> Fraction:
        """What the j-th best positive of a list is worth when it loses c pairs."""
        objective = self._arrays.objective
        return self._weights[objective.weight_start[q] + objective.stride[q] * j + c]

    def _losses_of(self, q: int) -> tuple[Fraction, list[list[Fraction]]]:
        """A value, and what each negative takes off it at least, by its place and the positives above.

        Of position weights, all of them and the weight of the negative's own position. Otherwise the value
        of a perfect order, and what the positives below the negative lose to it; of every place the lower
        convex envelope, its steps no larger than those of the place before.
        """
        m, n = (int(side[q]) for side in self._arrays.objective.shapes)
        if self._arrays.objective.tables[q].linear:
            start = int(self._arrays.objective.weight_start[q])
            weights = self._weights[start : start + m + n]
            envelope = _convex_below(weights)
            return sum(weights, start=Fraction(0)), [envelope[v : v + m + 1] for v in range(n)]
        rows: list[list[Fraction]] = []
        steps: list[Fraction] = []
        for v in range(n):
            falls = [self._gain(q, j, v) - self._gain(q, j, v + 1) for j in range(m)]
            row = _convex_below([sum(falls[b:], start=Fraction(0)) for b in range(m + 1)])
            own = [row[b] - row[b + 1] for b in range(m)]
            steps = [min(pair) for pair in zip(steps, own, strict=True)] if steps else own
            rows.append([sum(steps[b:], start=Fraction(0)) for b in range(m + 1)])
        return sum((self._gain(q, j, 0) for j in range(m)), start=Fraction(0)), rows

    def check(self, literal: int) -> None:
        """A literal must name a unit."""
        if not 0 <= literal < 2 * self.size:
            raise LogError("a pair that does not exist")

    # -- values -------------------------------------------------------------------------------

    def _lost(self, state: States) -> NDArray[np.bool_]:
        return np.where(self._unit < 0, True, np.append(state == LOST, True)[self._unit])

    def value(self, state: States) -> Fraction:
        """Value when all units win that are not lost."""
        key = (state == LOST).tobytes()
        if key not in self._values:
            self._values[key] = self._value(self._lost(state))
        return self._values[key]

    def _value(self, lost: NDArray[np.bool_]) -> Fraction:
        if self._worth:
            offset = Fraction(self._arrays.objective.offset)
            return sum((self._worth[p] for p in np.flatnonzero(~lost)), start=offset)
        counts = np.bincount(self._arrays.positive[lost], minlength=len(self._arrays.positive_query))
        total = Fraction(0)
        for q in self._queries:
            for j, c in enumerate(sorted(counts[self._arrays.positive_query == q].tolist())):
                total += self._gain(q, j, c)
        return total

    # -- packings -----------------------------------------------------------------------------

    def packing(self, numbers: list[int], state: States) -> Packing:
        """A fresh packing: the tangent of the negatives' form at the counts and ranks of the record."""
        slopes: list[Fraction] = []
        bound = self.value(state)
        if not self._worth:
            bound, slopes = self._tangent(numbers, state)
        left = {}
        for unit in np.flatnonzero(state == UNDECIDED).tolist():
            pairs = self._pairs_of[unit]
            costs = [slopes[self._arrays.negative[p]] if slopes else self._price(p) for p in pairs]
            left[unit] = sum(costs, start=Fraction(0))
        return Packing(bound, left)

    def _price(self, pair: int) -> Fraction:
        return self._worth[pair] if self._worth else Fraction(0)

    def _tangent(self, numbers: list[int], state: States) -> tuple[Fraction, list[Fraction]]:
        """Bound and slope per negative: total - sum_k loss[rank_k, b_k], never less than the value."""
        query = self._arrays.negative_query
        if len(numbers) != 2 * len(query):
            raise LogError("not one count for each negative")
        counts, ranks = np.array(numbers[::2]), np.array(numbers[1::2])
        lost = self._lost(state)
        bound, slopes = Fraction(0), [Fraction(0)] * len(query)
        for q in self._queries:
            own = np.flatnonzero(query == q)
            if sorted(ranks[own].tolist()) != list(range(len(own))):
                raise LogError("two negatives at one rank")
            total, rows = self._losses[q]
            bound += total
            positives = int((self._arrays.positive_query == q).sum())
            for k in own.tolist():
                won = positives - int(lost[self._arrays.negative == k].sum())
                b = int(counts[k])
                if not 0 <= b <= won:
                    raise LogError("a count out of range")
                loss = rows[int(ranks[k])]
                slopes[k] = loss[b - 1] - loss[b] if b else loss[0] - loss[1]
                bound -= loss[b] + (b - won) * slopes[k]
        return bound, slopes

    # -- deductions ---------------------------------------------------------------------------

    def apply(self, loses: bool, literals: list[int], state: States, packing: Packing) -> bool:
        """An impossible set: a unit is lost, or the members pay; True when nothing in it is open."""
        for literal in literals:
            self.check(literal)
            wanted = (LOST,) if literal & 1 else (UNDECIDED, WON)
            if state[literal >> 1] not in wanted:
                raise LogError("a set of pairs that says nothing here")
        if not self._impossible(frozenset(literals)):
            raise LogError("a set of pairs that may be possible")
        members = [literal >> 1 for literal in literals if state[literal >> 1] == UNDECIDED]
        if not members:
            return True
        if loses:
            if len(members) > 1:
                raise LogError("a pair called lost without reason")
            state[members[0]] = LOST
            return False
        paid = min(packing.left.get(unit, Fraction(0)) for unit in members)
        packing.bound -= paid
        for unit in members:
            packing.left[unit] = packing.left.get(unit, Fraction(0)) - paid
        return False

    def must_win(self, unit: int, state: States, packing: Packing) -> None:
        """A unit whose loss would bring the node below the target."""
        self.check(2 * unit)
        fallen = state.copy()
        fallen[unit] = LOST
        short = packing.bound - packing.left.get(unit, Fraction(0)) < self.target
        if state[unit] == LOST or not (short or self.value(fallen) < self.target):
            raise LogError("a pair called won without reason")
        state[unit] = WON

    def _impossible(self, literals: frozenset[int]) -> bool:
        if literals not in self._known:
            decide = self._excluded if self._arrays.margin > 0 else self._dependent
            self._known[literals] = decide(sorted(literals))
        return self._known[literals]

    def _dependent(self, literals: list[int]) -> bool:
        """Whether just one combination of the signed differences vanishes, and its terms have one sign.

        Then no direction wins all of them; a lost pair may be taken for one that loses by something, since
        moving a little turns all ties and costs no pair that is won.
        """
        rows = [[-v for v in self._whole[u >> 1]] if u & 1 else self._whole[u >> 1] for u in literals]
        null = null_vectors(rows)
        return len(null) == 1 and (min(null[0]) > 0 or max(null[0]) < 0)

    def _excluded(self, literals: list[int]) -> bool:
        """Multipliers t with sum |g_j| < sum t_r rhs_r, g = sum t_r row_r, beyond the rows' rounding."""
        signs = np.array([-1.0 if literal & 1 else 1.0 for literal in literals])
        rows = signs[:, None] * self._rows[[literal >> 1 for literal in literals]]
        size = np.abs(rows).max(axis=1)
        rhs = signs * self._arrays.margin
        # The multipliers of the least violation: minimise |g| - t @ rhs over t >= 0 of sum one.
        n, d = rows.shape
        result = linprog(
            np.concatenate((-rhs / size, np.ones(2 * d))),
            A_eq=np.block(
                [[(rows / size[:, None]).T, -np.eye(d), np.eye(d)], [np.ones((1, n)), np.zeros((1, 2 * d))]]
            ),
            b_eq=np.append(np.zeros(d), 1.0),
            method="highs",
        )
        if result.x is None:
            return False
        t = [Fraction(max(float(v), 0.0)) for v in result.x[:n] / size]
        exact = [[Fraction(v) for v in row] for row in rows.tolist()]
        gradient = [
            sum((a * row[j] for a, row in zip(t, exact, strict=True)), start=Fraction(0)) for j in range(d)
        ]
        mass = sum((a * sum(map(abs, row)) for a, row in zip(t, exact, strict=True)), start=Fraction(0))
        wanted = sum((a * Fraction(b) for a, b in zip(t, rhs.tolist(), strict=True)), start=Fraction(0))
        return sum(map(abs, gradient)) + mass * Fraction(1, 2**52) < wanted


def _convex_below(values: list[Fraction]) -> list[Fraction]:
    """The lower convex envelope of a sequence."""
    hull: list[int] = []
    for i, value in enumerate(values):
        while len(hull) > 1 and (values[hull[-1]] - values[hull[-2]]) * (i - hull[-1]) >= (
            value - values[hull[-1]]
        ) * (hull[-1] - hull[-2]):
            hull.pop()
        hull.append(i)
    envelope = [values[0]] if values else []
    for a, b in pairwise(hull):
        envelope += [
            values[a] + (values[b] - values[a]) * Fraction(i - a, b - a) for i in range(a + 1, b + 1)
        ]
    return envelope
