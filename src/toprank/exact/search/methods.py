"""What a branch and bound over directions looks like to the driver, and which one to choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.exact.pairs import PairArrays
from toprank.exact.problem import RankingProblem

__all__ = [
    "Method",
    "MethodName",
    "attainable_bound",
    "choose",
    "companion",
    "make_method",
    "resume_method",
    "within_reach",
]

Floats = NDArray[np.float64]
Chosen = Literal["sweep", "cells"]
MethodName = Literal["auto", "sweep", "cells"]
MOST_ENTRIES = 12_000_000
"""Pairs times features beyond which no proof is tried: the differences alone would fill 100 MB."""
SWEEP_UP_TO = 3
"""Features up to which the sweep is always the better method."""
MANY_ZEROS, ZEROS_UP_TO = 0.05, 3000
"""Share of pairs that agree in some feature from which, without a margin, many change sides at the same
directions; up to so many pairs the cells then take a second where the sweep may take minutes."""
SWEEP_SMOOTH_UP_TO = 9
"""Features up to which it is where each of them takes more than a few values."""
FEW_VALUES, MOST_LOOKED_AT = 9, 2000
HARD_FROM, HARD_PAIRS = 7, (1000, 50_000)
"""Features from which, and pairs between which, neither method is sure to get through: both take turns."""
SWEEP_HARD_UP_TO, FEW_POSITIVES = 7, 20
"""There the sweep goes first up to so many features, or for so few positives; otherwise the cells do."""


class Method(Protocol):
    """A branch and bound that is advanced in chunks, on as many threads as it was made with.

    Attributes
    ----------
    bound : float
        No coefficients not yet excluded reach more; never rises.
    candidates : list of arrays
        Coefficients in the box, found on the way; the driver takes them out.
    should_stop : callable
        Asked now and then while `advance` works: whether to be done as soon as that can be.
    """

    bound: float
    candidates: list[Floats]
    should_stop: Callable[[], bool]

    @property
    def name(self) -> str:
        """What `resume_method` and the replay of the log know it by."""

    @property
    def log(self) -> dict[bytes, bytes] | None:
        """The partition searched so far, where it is kept."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def nodes(self) -> int:
        """Nodes so far."""

    @property
    def unresolved(self) -> float:
        """Largest bound of what cannot be decided in floating point; minus infinity, as a rule."""

    def advance(self, max_seconds: float, target: float) -> None:
        """Work for about so long; what cannot reach the target is left out for good."""

    def checkpoint(self) -> dict[str, Any]:
        """Arrays and numbers from which `resume` goes on."""


def within_reach(problem: RankingProblem) -> bool:
    """Whether a proof is tried at all: the differences of all pairs must fit in memory."""
    return problem.n_pairs * problem.n_features <= MOST_ENTRIES


def choose(method: MethodName, arrays: PairArrays) -> Chosen:
    """The method to use on these pairs: the sweep, unless there are many features, or some with few values.

    Features with few values (flags, one-hot columns) make many pairs change sides at the same directions,
    which boxes never separate; the cells between the pairs' hyperplanes do not mind. Nor do they mind pairs
    that agree in some features and not in others (mostly zeros, say). On hard problems the
    cells' bound falls at once and then slowly, that of the sweep late and then fast, soonest where positives
    are few; see `companion`.

    >>> X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    >>> smooth, coarse = (RankingProblem.from_labels(Z, y).arrays() for Z in (X, np.sign(X)))
    >>> choose("auto", smooth), choose("auto", coarse), choose("sweep", coarse)
    ('sweep', 'cells', 'sweep')
    """
    if method != "auto":
        return method
    d = arrays.differences.shape[1]
    if d > 2 and _meets_at_axes(arrays):
        return "cells"
    if d <= SWEEP_UP_TO or (d <= SWEEP_SMOOTH_UP_TO and _sweep_first(arrays)):
        return "sweep"
    return "cells"


def companion(method: MethodName, arrays: PairArrays) -> Chosen | None:
    """The method to take turns with the one chosen, where it is not clear which will get further.

    >>> X, y = np.random.default_rng(0).normal(size=(200, 8)), np.arange(200) % 20 == 0
    >>> arrays = RankingProblem.from_labels(X, y).arrays()
    >>> choose("auto", arrays), companion("auto", arrays), companion("sweep", arrays)
    ('sweep', 'cells', None)
    """
    if method != "auto" or not _hard(arrays):
        return None
    return "cells" if choose(method, arrays) == "sweep" else "sweep"


def _hard(arrays: PairArrays) -> bool:
    pairs, d = arrays.differences.shape
    return HARD_FROM <= d <= SWEEP_SMOOTH_UP_TO and HARD_PAIRS[0] <= pairs <= HARD_PAIRS[1]


def _meets_at_axes(arrays: PairArrays) -> bool:
    """Whether many of a few pairs are decided by some features alone, with no margin to tell them apart."""
    D = arrays.differences
    if arrays.margin > 0 or len(D) > ZEROS_UP_TO:
        return False
    partly = (D == 0).any(axis=1) & D.any(axis=1)
    return bool(partly.mean() > MANY_ZEROS)


def _sweep_first(arrays: PairArrays) -> bool:
    """Whether the sweep is the better bet with a moderate number of features."""
    smooth = _smooth(arrays.differences)
    if not _hard(arrays):
        return smooth
    few = arrays.pair_weight is None and len(arrays.positive_query) <= FEW_POSITIVES
    return few or (smooth and arrays.differences.shape[1] <= SWEEP_HARD_UP_TO)


def _smooth(differences: Floats) -> bool:
    """Whether no column takes few values only."""
    return all(len(np.unique(column)) > FEW_VALUES for column in differences[:MOST_LOOKED_AT].T)


def make_method(name: str, arrays: PairArrays, **options: Any) -> Method:
    """A fresh search by name."""
    return _class(name)(arrays, **options)


def resume_method(name: str, arrays: PairArrays, saved: dict[str, Any], n_jobs: int) -> Method:
    """The search that a checkpoint was taken from."""
    return _class(name).resume(arrays, saved, n_jobs=n_jobs)


def _class(name: str) -> Any:
    if name == "cells":
        from toprank.exact.cells.search import CellSearch

        return CellSearch
    from toprank.exact.boxes.sweep import SweepSearch

    return SweepSearch


def attainable_bound(arrays: PairArrays) -> float:
    """Value when every pair is won that can be won by itself; no answer is better.

    Pairs of equal rows are lost.

    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [0.0]], [0, 1, 1], "auc")
    >>> problem.trivial_bound, attainable_bound(problem.arrays())
    (1.0, 0.5)
    """
    possible = arrays.winnable()
    if arrays.pair_weight is not None:
        return math.fsum(arrays.pair_weight[possible].tolist())
    lost = np.bincount(arrays.positive[~possible], minlength=len(arrays.positive_query))
    order = np.lexsort((lost, arrays.positive_query))
    query = arrays.positive_query[order]
    place = np.arange(len(query)) - np.searchsorted(query, query)
    return math.fsum(arrays.weights[arrays.weight_start[query] + place + lost[order]].tolist())
