"""Go through a search in slices again, slowly and by other means: was every direction excluded?

The log says how boxes were cut off at their ends and halved. This module does so again, so nothing can be
left out, and has each end cut off and each last box looked at by itself (`directions.judge`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.judge import Judge, LogError, StrictJudge
from toprank.exact.directions.replay import OPEN, Ends, faces, replayed, subtrees
from toprank.exact.pairs import PairArrays

__all__ = ["replay"]

Floats = NDArray[np.float64]
SLICES = 32
SHRUNK, SWEPT, STAR, STUCK, HANDED = 64, 128, 252, 253, 254
"""Codes below SHRUNK halve a box along an axis; from there on an axis and two bytes say which slices are left
of it; from SWEPT on none are; a star has a centre and goes on at its boundary; others end a box."""
NO_CENTRE = "a box of directions has no point at which all that is undecided in it is tied"


def replay(arrays: PairArrays, log: dict[bytes, bytes], target: float) -> list[str]:
    """What a log fails to show of the claim that all coefficients are worth less than the target.

    An empty list means that the claim is proved anew.

    Parameters
    ----------
    arrays : PairArrays
        The problem.
    log : dict
        `SliceSearch.log` of a finished search.
    target : float
        The value no coefficients are said to reach: a little above the best one.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.slices.search import SliceSearch
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> arrays = RankingProblem.from_labels(X, np.arange(12) % 3 == 0, "auc").arrays()
    >>> search = SliceSearch(arrays, keep_log=True)
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> replay(arrays, search.log, search.bound + 1e-9)
    []
    >>> replay(arrays, search.log, search.bound - 1e-3)[0]
    'a box of directions may be worth the target'
    """

    def look(judge: Judge, basis: Floats) -> list[str]:
        for (low, high), axis in _leaves(basis, log):
            if axis == STAR:
                if not (isinstance(judge, StrictJudge) and judge.has_centre(low, high)):
                    return [NO_CENTRE]
                continue
            middle = 0.5 * (low + high)
            if not judge.excluded((middle, np.maximum(high - middle, middle - low)), axis):
                return [OPEN]
        return []

    return replayed(arrays, log, target, look)


def _leaves(basis: Floats, log: dict[bytes, bytes]) -> Iterator[tuple[Ends, int | None]]:
    """The last boxes of the division, from the faces of the cube down, and along which axis to sweep them."""
    waiting = faces(basis)
    for box, codes in subtrees(waiting, log):
        yield from _walk(box, iter(codes), waiting, log)


def _walk(
    box: Ends, codes: Iterator[int], waiting: list[Ends], log: dict[bytes, bytes]
) -> Iterator[tuple[Ends, int | None]]:
    """The last boxes of one subtree; those handed on are put with the waiting ones.

    So are those that were left open once and taken up again.
    """
    first = box
    stack = [box]
    for code in codes:
        if not stack:
            raise LogError("the log goes on after its end")
        box = stack.pop()
        axis = code % SHRUNK if code < SWEPT else 0
        if code < SWEPT and (axis >= len(box[0]) or not box[0][axis] < box[1][axis]):
            raise LogError("the log splits a box where it cannot be split")
        if code < SHRUNK:
            stack += _cut(box, axis, 0.5 * (box[0][axis] + box[1][axis]))[::-1]
        elif code < SWEPT:
            kept, ends = _shrunk(box, axis, next(codes, SLICES), next(codes, SLICES))
            stack.append(kept)
            yield from ((end, axis) for end in ends)
        elif code == STAR:
            stack += _faces(box)[::-1]
            yield box, STAR
        elif code == HANDED or (code == STUCK and box is not first and np.concatenate(box).tobytes() in log):
            waiting.append(box)
        else:
            swept = code < STUCK and code - SWEPT < len(box[0])
            yield box, code - SWEPT if swept else None
    if stack:
        raise LogError("the log ends too early")


def _cut(box: Ends, axis: int, place: float) -> list[Ends]:
    """The two parts of a box on either side of a place along an axis, the lower one first."""
    low, high = box[0].copy(), box[1].copy()
    low[axis] = high[axis] = place
    return [(box[0], high), (low, box[1])]


def _faces(box: Ends) -> list[Ends]:
    """The boundary of a box: for each axis of some extent its lower and its upper end."""
    found = []
    for axis in np.flatnonzero(box[0] < box[1]):
        for end in box:
            low, high = box[0].copy(), box[1].copy()
            low[axis] = high[axis] = end[axis]
            found.append((low, high))
    return found


def _shrunk(box: Ends, axis: int, first: int, last: int) -> tuple[Ends, list[Ends]]:
    """What is left of a box from one slice to another, and the ends cut off."""
    if not first <= last < SLICES:
        raise LogError("the log keeps slices that do not exist")
    low, high = box[0][axis], box[1][axis]
    step = (high - low) / SLICES
    ends = []
    if last < SLICES - 1:
        box, end = _cut(box, axis, low + (last + 1) * step)
        ends.append(end)
    if first > 0:
        end, box = _cut(box, axis, low + first * step)
        ends.append(end)
    return box, ends
