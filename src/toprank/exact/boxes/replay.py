"""Go through a search over boxes again, slowly and by other means: was every direction excluded?

The log of `boxes.search` says how the cube of directions was divided. This module divides it again in
the same way, so nothing can be left out, and has each last box looked at by itself (`directions.judge`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.judge import Box, LogError, halves
from toprank.exact.directions.replay import OPEN, faces, replayed, subtrees
from toprank.exact.pairs import PairArrays

__all__ = ["replay"]

Floats = NDArray[np.float64]
HANDED, FIRST_CODE = 254, 253


def replay(arrays: PairArrays, log: dict[bytes, bytes], target: float) -> list[str]:
    """What a log fails to show of the claim that all coefficients are worth less than the target.

    An empty list means that the claim is proved anew.

    Parameters
    ----------
    arrays : PairArrays
        The problem.
    log : dict
        `BoxSearch.log` of a finished search.
    target : float
        The value no coefficients are said to reach: a little above the best one.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> from toprank.exact.boxes.search import BoxSearch
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> arrays = RankingProblem.from_labels(X, np.arange(12) % 3 == 0, "auc").arrays()
    >>> search = BoxSearch(arrays, keep_log=True)
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> replay(arrays, search.log, search.bound + 1e-9)
    []
    >>> replay(arrays, search.log, search.bound - 1e-3)[0]
    'a box of directions may be worth the target'
    """
    return replayed(
        arrays,
        log,
        target,
        lambda judge, basis: [] if all(map(judge.excluded, _leaves(basis, log))) else [OPEN],
    )


def _leaves(basis: Floats, log: dict[bytes, bytes]) -> Iterator[Box]:
    """The last boxes of the division, from the faces of the cube down."""
    waiting: list[Box] = [(0.5 * (low + high), 0.5 * (high - low)) for low, high in faces(basis)]
    for box, codes in subtrees(waiting, log):
        stack = [box]
        for code in codes:
            if not stack:
                raise LogError("the log goes on after its end")
            part = stack.pop()
            if code < FIRST_CODE:
                stack += halves(part, code)
            elif code == HANDED:
                waiting.append(part)
            else:
                yield part
        if stack:
            raise LogError("the log ends too early")
