"""Go through a search over cells again, slowly and by other means: was every direction excluded?

The log of `toprank.exact.cells.search` tells, node by node, which sets of pairs were found impossible, what
followed, and where the search branched. Here every such set is shown impossible anew: its differences are
exactly dependent, by elimination in whole numbers, or, with a margin, multipliers of a linear program of
HiGHS show it in fractions. All that followed is recomputed in fractions; and the nodes must cover everything,
since each branch leads to both sides of a pair. Which pairs count as one unit the log says itself; that they
win and lose together is checked. Nothing here is code of the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from toprank.exact.cells.judge import LOST, UNDECIDED, WON, Judge, LogError, Packing, States
from toprank.exact.pairs import PairArrays

__all__ = ["replay_cells"]

ENTER, LOST_SET, WIN, RESET, PACK, BRANCH, CLOSE, FROM = range(1, 9)
LISTS = (LOST_SET, RESET, PACK, FROM)
"""Records that say how many numbers follow."""


@dataclass(slots=True)
class _Node:
    """What is known of a node: states of its units, its best bound, its children."""

    known: States
    bound: Fraction | None = None
    empty: bool = False
    children: tuple[int, int] | None = None


def replay_cells(arrays: PairArrays, log: dict[bytes, bytes], target: float) -> list[str]:
    """What the log of a finished `CellSearch` fails to show: that no coefficients are worth the target.

    Nothing is missing when the list is empty: the claim is proved anew.

    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.cells.search import CellSearch
    >>> X, circle = [[0.0, 0.4], [1.0, 0.0], [0.3, 1.0]], [[0, 1], [1, 2], [2, 0]]
    >>> arrays = RankingProblem.from_preferences(X, circle).arrays()
    >>> search = CellSearch(arrays, keep_log=True)
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> [replay_cells(arrays, search.log, target) for target in (2.001, 1.999)]
    [[], ['a node may be worth the target']]
    """
    try:
        judge = Judge(arrays, _units(log, len(arrays.differences)), Fraction(target))
        nodes = _read(judge, log)
    except (LogError, IndexError) as error:
        return [f"the log is damaged: {error}"]
    waiting = [0]
    while waiting:
        node = nodes[waiting.pop()]
        # A node that was never entered is worth what its pairs are.
        bound = judge.value(node.known) if node.bound is None else node.bound
        if node.empty or bound < judge.target:
            continue
        if node.children is None:
            return ["a node may be worth the target"]
        waiting += node.children
    return []


def _units(log: dict[bytes, bytes], n_pairs: int) -> list[int]:
    """The unit of each pair, as the log lists them."""
    listed = log.get(b"units", b"")
    if len(listed) != 8 * n_pairs:
        raise LogError("it does not list the units of all pairs")
    return np.frombuffer(listed, dtype="<i8").tolist()


def _read(judge: Judge, log: dict[bytes, bytes]) -> dict[int, _Node]:
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
        raise LogError("half a number")
    numbers = np.frombuffer(stream, dtype="<i8").tolist()
    at = 0
    while at < len(numbers):
        code, value = numbers[at], numbers[at + 1]
        at += 2
        if code not in LISTS:
            yield code, [value]
            continue
        if not 0 <= value <= len(numbers) - at:
            raise LogError("a record without end")
        yield code, numbers[at : at + value]
        at += value


def _follow(judge: Judge, nodes: dict[int, _Node], records: Iterator[tuple[int, list[int]]]) -> None:
    """Check the records of one subtree one by one."""
    node, state, packing = nodes[0], nodes[0].known.copy(), Packing(judge.value(nodes[0].known))
    for code, numbers in records:
        if code == ENTER:
            if numbers[0] not in nodes:
                raise LogError("a node from nowhere")
            node = nodes[numbers[0]]
            state, packing = node.known.copy(), Packing(judge.value(node.known))
        elif code == FROM:
            state = _taken_up(judge, node, numbers)
            packing = Packing(judge.value(state))
        elif code in (LOST_SET, PACK):
            node.empty |= judge.apply(code == LOST_SET, numbers, state, packing)
        elif code == WIN:
            judge.must_win(numbers[0], state, packing)
        elif code == RESET:
            packing = judge.packing(numbers, state)
        elif code == BRANCH:
            _branch(judge, nodes, node, state, numbers[0], next(records, (0, [-1])))
        elif code != CLOSE:
            raise LogError("an unknown record")
        best = min(packing.bound, judge.value(state))
        node.bound = best if node.bound is None else min(node.bound, best)
        # What was shown once stays shown: a node that is taken up again may rely on it.
        node.known = np.where(node.known == UNDECIDED, state, node.known)


def _taken_up(judge: Judge, node: _Node, literals: list[int]) -> States:
    """The states with which a search took a node up again: some of what is known of it."""
    state = np.zeros_like(node.known)
    for literal in literals:
        judge.check(literal)
        side = LOST if literal & 1 else WON
        if node.known[literal >> 1] != side:
            raise LogError("a node taken up with more than is known of it")
        state[literal >> 1] = side
    return state


def _branch(
    judge: Judge,
    nodes: dict[int, _Node],
    node: _Node,
    state: States,
    unit: int,
    second: tuple[int, list[int]],
) -> None:
    """Both sides of a unit become nodes."""
    first = second[1][0]
    if second[0] != BRANCH or first in nodes or first + 1 in nodes or first < 1:
        raise LogError("a branch that leads nowhere")
    judge.check(2 * unit)
    for number, side in ((first, WON), (first + 1, LOST)):
        start = state.copy()
        start[unit] = side
        nodes[number] = _Node(start)
    node.children = (first, first + 1)
