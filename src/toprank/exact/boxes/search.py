"""Exact search over boxes of directions, bounded by sweeping one coordinate: best for few features.

All directions w are covered by the faces of a cube in the coordinates of `directions.frame`. On each box
of a face one coordinate is swept exactly: every pair can be won only on one side of some point of it, so
sorting these points and counting gives the largest value any direction of the box could have. Boxes that
cannot reach the target are dropped, small ones are closed by finding pairs that cannot be won together, the
rest are halved.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.boxes.plane import best_sector
from toprank.exact.boxes.worker import BoxWorker, sweep_face
from toprank.exact.directions.frame import Frame, build_frame
from toprank.exact.directions.search import Box, DirectionSearch
from toprank.exact.pairs import PairArrays
from toprank.exact.sharing import Crew

__all__ = ["BoxSearch"]

Floats = NDArray[np.float64]


class BoxSearch(DirectionSearch[BoxWorker]):
    """A search for directions worth at least `target`, advanced in small steps.

    Parameters as for `toprank.exact.directions.search.DirectionSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.exact import RankingProblem
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> problem = RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "auc")
    >>> search = BoxSearch(problem.arrays())
    >>> while not search.done:
    ...     search.advance(0.1)
    >>> best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    >>> round(best, 3), search.bound - best < 1e-9
    (0.685, True)
    """

    name = "boxes"

    @staticmethod
    def _build(arrays: PairArrays, **options: Any) -> Frame:
        return build_frame(arrays, **options)

    def _roots(self) -> list[Floats]:
        return self._frame.roots()

    def _name(self, place: Floats) -> bytes:
        return place[: 2 * self._frame.size].tobytes()

    def share(self, crew: Crew) -> None:
        """From now on leave the searching to others, unless it is done in no time here."""
        if not self._frame.exact_norm:
            super().share(crew)

    def _explore(self, deadline: float) -> None:
        if self._frame.exact_norm:
            self._explore_faces(deadline)
        else:
            super()._explore(deadline)

    def _make_workers(self) -> list[BoxWorker]:
        return [BoxWorker(self._frame, self.log is not None) for _ in range(self._n_jobs)]

    def _explore_faces(self, deadline: float) -> None:
        """One or two coefficients: each face of the box is one sweep; without a margin, all are."""
        if self._frame.margin == 0:
            self._explore_plane()
            return
        while time.perf_counter() < deadline:
            face = self._next()
            if face is None:
                return
            self._close(face)
            bound, point = sweep_face(self._frame, face.place, self._target, safe=False)
            self._nodes += 1
            if bound >= self._target:
                self._consider(point)
            if bound >= self._target:  # in doubt: settle for the best that is sure
                self._consider(sweep_face(self._frame, face.place, self._target, safe=True)[1])
            if bound >= self._target:
                self._stuck.append(Box(bound, face.place))

    def _explore_plane(self) -> None:
        """Two coordinates without a margin: the best of all sectors, exactly."""
        faces = [box for _, _, box in self._heap]
        self._heap = []
        if not faces:
            return
        for face in faces:
            self._close(face)
        bound, point = best_sector(self._frame)
        self._nodes += 1
        if bound >= self._target:
            # Whether floats can tell or not: what is offered is counted exactly.
            self._consider(point)
            self._stuck.append(Box(bound, faces[0].place))
