"""What going through a kept division of the directions again begins with, whatever the division."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.judge import Judge, LogError, StrictJudge, make_judge, read_basis
from toprank.exact.pairs import PairArrays

__all__ = ["OPEN", "faces", "replayed", "subtrees"]

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]
Log = dict[bytes, bytes]
OPEN = "a box of directions may be worth the target"


def replayed(
    arrays: PairArrays, log: Log, target: float, look: Callable[[Judge, Floats], list[str]]
) -> list[str]:
    """What a log fails to show of the claim that all coefficients are worth less than the target.

    Parameters
    ----------
    arrays : PairArrays
        The problem.
    log : dict
        The division as the search kept it.
    target : float
        The value no coefficients are said to reach: a little above the best one.
    look : callable
        Divides again: of the judge and the basis of directions the complaints; two directions are judged
        without a division.
    """
    try:
        basis = read_basis(arrays, log)
        judge = make_judge(arrays, basis, target)
        if isinstance(judge, StrictJudge) and basis.shape[1] <= 2:
            return [] if judge.no_sector() else [OPEN]
        return look(judge, basis)
    except LogError as error:
        return [str(error)]


def faces(basis: Floats) -> list[Ends]:
    """The faces of the cube of directions, as their lowest and highest corners.

    >>> [(low.tolist(), high.tolist()) for low, high in faces(np.eye(2))][:2]
    [([1.0, -1.0], [1.0, 1.0]), ([-1.0, -1.0], [-1.0, 1.0])]
    """
    found = []
    for face in np.flatnonzero(basis.any(axis=0)):
        for sign in (1.0, -1.0):
            low, high = -np.ones(basis.shape[1]), np.ones(basis.shape[1])
            low[face] = high[face] = sign
            found.append((low, high))
    return found


def subtrees(waiting: list[Ends], log: Log) -> Iterator[tuple[Ends, bytes]]:
    """Each waiting box with what the log says of its division; more may be put with the waiting ones."""
    while waiting:
        box = waiting.pop()
        codes = log.get(np.concatenate(box).tobytes())
        if codes is None:
            raise LogError("a box of directions is missing from the log")
        yield box, codes
