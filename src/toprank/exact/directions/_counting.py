"""Compiled counting of lost pairs, and what it reads of a problem.

Values are whole numbers (`directions.frame`), so adding and subtracting them is exact. ``count[i]`` is the
number of lost pairs of positive i, offset by the place of its query in `at_most`; ``at_most[c]`` is how many
positives of the query have lost at most c. With `gain` not empty a pair is worth what it gains, and the
positions do not matter. E[p] is pair p in the coordinates u of the search, ``error[p]`` covers all rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit
from toprank.exact.arithmetic.dependence import Ledger

JIT: dict[str, Any] = {"cache": True, "nogil": True}
STEP: dict[str, Any] = {**JIT, "inline": "always"}
"""For parts of a kernel with a name of their own: they are compiled into their caller, since handing all the
arrays of a worker to a function takes as long as many a box does."""
NOTHING = -(2**62)
"""Less than any value."""


class Problem(NamedTuple):
    """What stays the same for the whole search."""

    E: NDArray[np.float64]
    """(P, r): pairs in the coordinates of the search."""
    error: NDArray[np.float64]
    """Covers all rounding of a pair's lead."""
    owner: NDArray[np.int32]
    """Positive of each pair."""
    gain: NDArray[np.int64]
    """What each pair is worth where positions do not matter; else empty."""
    weight: NDArray[np.int64]
    """What positives are worth by their places and lost pairs, all queries."""
    stride: NDArray[np.int64]
    """Of each positive: from one place of its query to the next in `weight`."""
    shift: NDArray[np.int64]
    """Of each positive: from its place in `at_most` to that of its query's weights."""
    norm: NDArray[np.float64]
    """Rows n with max|w_j| >= |n . u| - `norm_error`."""
    norm_error: NDArray[np.float64]
    count: NDArray[np.int32]
    """At the start, with every pair won that can be: lost pairs of each positive, ..."""
    at_most: NDArray[np.int32]
    """... and how many positives have lost at most so many."""
    doubt: NDArray[np.float64]
    """How far the entries of each row of E may be off; without a margin only."""
    ledger: Ledger
    """The features themselves, to decide in whole numbers what floats cannot."""


class Tally(NamedTuple):
    """Which pairs are lost, as counts, and what they are worth: see `Problem`."""

    owner: NDArray[np.int32]
    gain: NDArray[np.int64]
    weight: NDArray[np.int64]
    stride: NDArray[np.int64]
    shift: NDArray[np.int64]
    count: NDArray[np.int32]
    at_most: NDArray[np.int32]


@njit(**STEP)
def fresh_tally(problem, count, at_most):
    """The counts of a problem, kept in these arrays."""
    return Tally(problem.owner, problem.gain, problem.weight, problem.stride, problem.shift, count, at_most)


@njit(**JIT)
def lose(p, tally, value):
    """Count pair p as lost; the new value."""
    if tally.gain.size > 0:
        return value - tally.gain[p]
    i = tally.owner[p]
    c = tally.count[i]
    j = tally.at_most[c] - 1
    tally.at_most[c] = j
    tally.count[i] = c + 1
    place = j * tally.stride[i] + c + tally.shift[i]
    return value + tally.weight[place + 1] - tally.weight[place]


@njit(**JIT)
def regain(p, tally, value):
    """Take back `lose`."""
    if tally.gain.size > 0:
        return value + tally.gain[p]
    i = tally.owner[p]
    c = tally.count[i] - 1
    j = tally.at_most[c]
    tally.at_most[c] = j + 1
    tally.count[i] = c
    place = j * tally.stride[i] + c + tally.shift[i]
    return value + tally.weight[place] - tally.weight[place + 1]
