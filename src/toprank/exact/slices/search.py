"""Exact search over boxes of directions, cut into slices: best for lists of some dozens of rows.

All directions are covered by the faces of a cube in the coordinates of `directions.frame`. In a box the
coordinate along which the undecided pairs change most is cut into slices, each is bounded by counting
(`slices._slice_kernels`), and the box shrinks to those that may reach the target: none are left, or what is
left is halved along another coordinate. Counts are bytes: a list has 255 positives and 255 negatives at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.frame import Frame, build_frame
from toprank.exact.directions.search import DirectionSearch
from toprank.exact.pairs import PairArrays
from toprank.exact.slices.centres import Centres
from toprank.exact.slices.worker import MOST_IN_A_BYTE, SliceWorker, WholeValues

__all__ = ["SliceSearch", "why_not"]

Floats = NDArray[np.float64]
MOST_FEATURES = 63
"""Axes have so many codes in the log."""
ROUNDINGS = 4
"""How many times the roundings of a sweep of one or two coefficients those of a box are."""


def why_not(arrays: PairArrays) -> str | None:
    """What keeps a problem from being searched in slices; None if nothing does.

    >>> from toprank.exact import RankingProblem
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(600, 3)), np.arange(600) % 2
    >>> why_not(RankingProblem.from_labels(X, y).arrays())
    'a list has 300 positives and 300 negatives, and no more than 255 of either are counted in a byte'
    >>> why_not(RankingProblem.from_labels(X[:90], y[:90]).arrays()) is None
    True
    """
    if arrays.differences.shape[1] > MOST_FEATURES:
        return f"there are more than {MOST_FEATURES} features"
    if arrays.objective.by_pairs:
        return None
    sides = arrays.objective.shapes
    worst = int(np.maximum(*sides).argmax())
    if max(sides[0][worst], sides[1][worst]) <= MOST_IN_A_BYTE:
        return None
    return (
        f"a list has {sides[0][worst]} positives and {sides[1][worst]} negatives, and no more than"
        f" {MOST_IN_A_BYTE} of either are counted in a byte"
    )


class SliceSearch(DirectionSearch[SliceWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters as for `toprank.exact.directions.search.DirectionSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> problem = RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "auc")
    >>> search = SliceSearch(problem.arrays())
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    >>> round(best, 3), search.bound - best < 1e-9
    (0.685, True)
    """

    name = "slices"

    @staticmethod
    def _build(arrays: PairArrays, **options: Any) -> Frame:
        frame = build_frame(arrays, plane=False, **options)
        if frame.exact_norm:
            frame.problem.error[:] *= ROUNDINGS
        return frame

    def _roots(self) -> list[Floats]:
        """One box for each face of the cube: its low ends, then its high ones."""
        r = self._frame.size
        roots = []
        for face in np.flatnonzero(self._frame.basis.any(axis=0)):
            for sign in (1.0, -1.0):
                low, high = -np.ones(r), np.ones(r)
                low[face] = high[face] = sign
                roots.append(np.concatenate([low, high]))
        return roots

    def _name(self, place: Floats) -> bytes:
        return place.tobytes()

    def _make_workers(self) -> list[SliceWorker]:
        values = WholeValues(self._arrays, self._frame)
        self._centres = Centres(self._arrays, self._frame)
        keep = self.log is not None
        return [SliceWorker(self._frame, values, self._centres, keep) for _ in range(self._n_jobs)]

    @property
    def sweeps(self) -> tuple[int, int]:
        """Sweeps so far, and the pairs looked at in them."""
        each = [worker.sweeps for worker in self._workers]
        return sum(sweeps for sweeps, _ in each), sum(pairs for _, pairs in each)

    def _after(self, worker: SliceWorker, result: Floats | None) -> bool:
        """Learn centres from boxes too small to split, and begin again where any is new."""
        puzzles, known = worker.puzzles(), len(self._stuck)
        if sum(self._centres.learn(box.place) for box in puzzles):
            self._push(worker.forget())
        else:
            for box in puzzles:
                self._push(box)
        over = super()._after(worker, result)
        if sum(self._centres.learn(box.place) for box in self._stuck[known:]):  # they are no longer alone
            for box in self._stuck:
                self._push(box)
            self._stuck = []
        return over
