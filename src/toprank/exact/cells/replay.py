"""Go through a search over cells again, slowly and by other means: was every direction excluded?

The log of `toprank.exact.cells.search` tells, node by node, which sets of pairs were found impossible, what
followed, and where the search branched. Here every such set is shown impossible anew: its differences are
exactly dependent, by elimination in whole numbers, or, with a margin, multipliers of a linear program of
HiGHS show it in fractions. All that followed is recomputed in fractions; and the nodes must cover everything,
since each branch leads to both sides of a pair. It shares no code with the search but the numbering of the
pairs, which is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from toprank.exact.arithmetic.elimination import exact_reach, null_vectors, same_direction, whole_difference
from toprank.exact.cells.units import group
from toprank.exact.pairs import PairArrays

__all__ = ["replay_cells"]

Floats = NDArray[np.float64]
States = NDArray[np.int8]
ENTER, LOST_SET, WIN, RESET, PACK, BRANCH, CLOSE = range(1, 8)
UNDECIDED, WON, LOST = range(3)


class _LogError(ValueError):
    """The log does not describe a search."""


@dataclass(slots=True)
class _Node:
    """What is known of a node: states of the units at its start, its best bound, its children."""

    start: States
    bound: Fraction | None = None
    empty: bool = False
    children: tuple[int, int] | None = None


@dataclass(slots=True)
class _Packing:
    """A bound being lowered, and what each unit can still pay."""

    bound: Fraction
    left: dict[int, Fraction] = field(default_factory=dict)


def replay_cells(arrays: PairArrays, log: dict[bytes, bytes], target: float) -> list[str]:
    """What a log fails to show of the claim that all coefficients are worth less than the target.

    An empty list means that the claim is proved anew.

    Parameters
    ----------
    arrays : PairArrays
        The problem.
    log : dict
        `CellSearch.log` of a finished search.
    target : float
        The value no coefficients are said to reach: a little above the best one.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.cells.search import CellSearch
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> arrays = RankingProblem.from_labels(X, np.arange(12) % 3 == 0, "auc").arrays()
    >>> search = CellSearch(arrays, keep_log=True)
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> replay_cells(arrays, search.log, search.bound + 1e-9)
    []
    >>> replay_cells(arrays, search.log, search.bound - 1e-3)[0]
    'a node may be worth the target'
    """
    try:
        judge = _Judge(arrays, Fraction(target))
        nodes = _read(judge, log)
    except (_LogError, IndexError) as error:
        return [f"the log is damaged: {error}"]
    waiting = [0]
    while waiting:
        node = nodes[waiting.pop()]
        # A node that was never entered is worth what its pairs are.
        bound = judge.value(node.start) if node.bound is None else node.bound
        if node.empty or bound < judge.target:
            continue
        if node.children is None:
            return ["a node may be worth the target"]
        waiting += node.children
    return []


def _read(judge: _Judge, log: dict[bytes, bytes]) -> dict[int, _Node]:
    """All nodes of the log with what its records show of them."""
    nodes = {0: _Node(np.zeros(judge.size, dtype=np.int8))}
    ready = [0]
    while ready:
        stream = log.get(ready.pop().to_bytes(8, "little"))
        if stream is None:
            continue
        known = set(nodes)
        _follow(judge, nodes, _records(stream))
        ready += sorted(set(nodes) - known)
    return nodes


def _records(stream: bytes) -> Iterator[tuple[int, list[int]]]:
    """Code and numbers of each record."""
    if len(stream) % 8:
        raise _LogError("half a number")
    numbers = np.frombuffer(stream, dtype="<i8").tolist()
    at = 0
    while at < len(numbers):
        code, value = numbers[at], numbers[at + 1]
        at += 2
        if code not in (LOST_SET, RESET, PACK):
            yield code, [value]
            continue
        if not 0 <= value <= len(numbers) - at:
            raise _LogError("a record without end")
        yield code, numbers[at : at + value]
        at += value


def _follow(judge: _Judge, nodes: dict[int, _Node], records: Iterator[tuple[int, list[int]]]) -> None:
    """Check the records of one subtree one by one."""
    node, state, packing = nodes[0], nodes[0].start, _Packing(judge.value(nodes[0].start))
    for code, numbers in records:
        if code == ENTER:
            if numbers[0] not in nodes:
                raise _LogError("a node from nowhere")
            node = nodes[numbers[0]]
            state, packing = node.start.copy(), _Packing(judge.value(node.start))
        elif code in (LOST_SET, PACK):
            node.empty |= judge.apply(code, numbers, state, packing)
        elif code == WIN:
            judge.must_win(numbers[0], state, packing)
        elif code == RESET:
            packing = judge.packing(numbers, state)
        elif code == BRANCH:
            _branch(judge, nodes, node, state, numbers[0], next(records, (0, [-1])))
        elif code != CLOSE:
            raise _LogError("an unknown record")
        best = min(packing.bound, judge.value(state))
        node.bound = best if node.bound is None else min(node.bound, best)


def _branch(
    judge: _Judge,
    nodes: dict[int, _Node],
    node: _Node,
    state: States,
    unit: int,
    second: tuple[int, list[int]],
) -> None:
    """Both sides of a unit become nodes."""
    first = second[1][0]
    if second[0] != BRANCH or first in nodes or first + 1 in nodes or first < 1:
        raise _LogError("a branch that leads nowhere")
    judge.check(2 * unit)
    for number, side in ((first, WON), (first + 1, LOST)):
        start = state.copy()
        start[unit] = side
        nodes[number] = _Node(start)
    node.children = (first, first + 1)


class _Judge:
    """The problem in fractions: values, packings, and which sets of units are impossible."""

    def __init__(self, arrays: PairArrays, target: Fraction) -> None:
        self._unit, first = group(arrays)
        self._rows = arrays.differences[first]
        self._arrays, self.target, self.size = arrays, target, len(first)
        self._whole = [whole_difference(arrays, pair) for pair in first.tolist()]
        self._known: dict[frozenset[int], bool] = {}
        self._values: dict[bytes, Fraction] = {}
        self._pairs_of: list[list[int]] = [[] for _ in range(self.size)]
        for pair in np.flatnonzero(self._unit >= 0).tolist():
            self._pairs_of[self._unit[pair]].append(pair)
        self._check_units()
        self._queries = np.unique(arrays.positive_query).tolist()
        self._weights = [Fraction(w) for w in arrays.weights.tolist()]
        self._worth = [Fraction(w) for w in arrays.objective.worth.tolist()]
        self._convex = {q: _convex_below(self._weights_of(q)) for q in self._queries}

    def _check_units(self) -> None:
        """Pairs of a unit differ by the same; those of none can never be won."""
        for pair, unit in enumerate(self._unit.tolist()):
            row = whole_difference(self._arrays, pair)
            if unit >= 0 and not same_direction(row, self._whole[unit]):
                raise _LogError("pairs of one unit that differ")
            if unit < 0 and any(row) and exact_reach(self._arrays, pair) >= Fraction(self._arrays.margin):
                raise _LogError("a pair left out that may be won")

    def _weights_of(self, q: int) -> list[Fraction]:
        start = self._arrays.weight_start
        return self._weights[start[q] : start[q + 1]]

    def check(self, literal: int) -> None:
        """A literal must name a unit."""
        if not 0 <= literal < 2 * self.size:
            raise _LogError("a pair that does not exist")

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
            return sum((self._worth[p] for p in np.flatnonzero(~lost)), start=Fraction(0))
        counts = np.bincount(self._arrays.positive[lost], minlength=len(self._arrays.positive_query))
        total = Fraction(0)
        for q in self._queries:
            weights = self._weights_of(q)
            for j, c in enumerate(sorted(counts[self._arrays.positive_query == q].tolist())):
                total += weights[j + c]
        return total

    # -- packings -----------------------------------------------------------------------------

    def packing(self, numbers: list[int], state: States) -> _Packing:
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
        return _Packing(bound, left)

    def _price(self, pair: int) -> Fraction:
        return self._worth[pair] if self._worth else Fraction(0)

    def _tangent(self, numbers: list[int], state: States) -> tuple[Fraction, list[Fraction]]:
        """Bound and slope per negative: total - sum_k weight[rank_k + b_k], never less than the value."""
        query = self._arrays.negative_query
        if len(numbers) != 2 * len(query):
            raise _LogError("not one count for each negative")
        counts, ranks = np.array(numbers[::2]), np.array(numbers[1::2])
        lost = self._lost(state)
        bound, slopes = Fraction(0), [Fraction(0)] * len(query)
        for q in self._queries:
            own = np.flatnonzero(query == q)
            if sorted(ranks[own].tolist()) != list(range(len(own))):
                raise _LogError("two negatives at one rank")
            bound += sum(self._weights_of(q), start=Fraction(0))
            positives = int((self._arrays.positive_query == q).sum())
            for k in own.tolist():
                won = positives - int(lost[self._arrays.negative == k].sum())
                b, at = int(counts[k]), int(ranks[k] + counts[k])
                if not 0 <= b <= won:
                    raise _LogError("a count out of range")
                convex = self._convex[q]
                slopes[k] = convex[at - 1] - convex[at] if b else convex[at] - convex[at + 1]
                bound -= convex[at] + (b - won) * slopes[k]
        return bound, slopes

    # -- deductions ---------------------------------------------------------------------------

    def apply(self, code: int, literals: list[int], state: States, packing: _Packing) -> bool:
        """An impossible set: a unit is lost, or the members pay; True when nothing in it is open."""
        for literal in literals:
            self.check(literal)
            wanted = (LOST,) if literal & 1 else (UNDECIDED, WON)
            if state[literal >> 1] not in wanted:
                raise _LogError("a set of pairs that says nothing here")
        if not self._impossible(frozenset(literals)):
            raise _LogError("a set of pairs that may be possible")
        members = [literal >> 1 for literal in literals if state[literal >> 1] == UNDECIDED]
        if not members:
            return True
        if code == LOST_SET:
            if len(members) > 1:
                raise _LogError("a pair called lost without reason")
            state[members[0]] = LOST
            return False
        paid = min(packing.left.get(unit, Fraction(0)) for unit in members)
        packing.bound -= paid
        for unit in members:
            packing.left[unit] = packing.left.get(unit, Fraction(0)) - paid
        return False

    def must_win(self, unit: int, state: States, packing: _Packing) -> None:
        """A unit whose loss would bring the node below the target."""
        self.check(2 * unit)
        fallen = state.copy()
        fallen[unit] = LOST
        short = packing.bound - packing.left.get(unit, Fraction(0)) < self.target
        if state[unit] == LOST or not (short or self.value(fallen) < self.target):
            raise _LogError("a pair called won without reason")
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
