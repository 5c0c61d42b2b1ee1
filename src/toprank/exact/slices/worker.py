"""One thread's share of the search in slices: its arrays and its calls of the compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.directions.frame import SMALLEST_BOX, SMALLEST_STRICT_BOX, Frame
from toprank.exact.directions.search import BOXES_ASIDE, LARGEST_CLOSE, LOG_BYTES, Box, SubtreeWorker
from toprank.exact.objective import Objective, losses_by_rivals
from toprank.exact.pairs import PairArrays
from toprank.exact.slices.centres import Centres

__all__ = ["MOST_IN_A_BYTE", "SliceWorker", "WholeValues"]

Floats = NDArray[np.float64]
MOST_IN_A_BYTE = 255
"""Positives and negatives of a list at most: their counts are bytes."""
CLOSE_SIZE, CLOSE_TRIES = 16, 12
"""Boxes with so few undecided pairs are closed by linear programs, so many at most: with 40 pairs a proof of
Pima, K = 50 has 7 % fewer boxes and takes a fifth longer."""
ROUNDS, FEW_SLICES = 2, 16
"""A box is swept again, up to so often, while no more than so many slices were left."""
SPARSE = 0.7
"""Undecided pairs are packed anew when fewer than this share of a pack is left."""
PACKS = 96
"""Packs that may lie one behind the other."""


class WholeValues:
    """Values in whole numbers as the slices read them, the same for all workers.

    Parameters
    ----------
    arrays : PairArrays
    frame : Frame

    Attributes
    ----------
    lists : Lists
    base : array of bytes
        Pairs of each positive that cannot be won at all.
    rivals : int
        Negatives of all lists together.
    order : array of int32
        All pairs, those of one negative together: neighbours belong to different positives, so that adding
        to their counts need not wait.
    """

    def __init__(self, arrays: PairArrays, frame: Frame) -> None:
        from toprank.exact.slices._slice_kernels import Lists

        possible = arrays.winnable()
        self.order = np.argsort(arrays.negative[possible], kind="stable").astype(np.int32)
        positives = 0 if arrays.objective.by_pairs else len(arrays.positive_query)
        self.base = np.zeros((positives // 32 + 1) * 32, dtype=np.uint8)
        if positives:
            lost = np.bincount(arrays.positive[~possible], minlength=positives)
            self.base[:positives] = lost
        queries, losses, most, first, begin = [], [np.empty(0, dtype=np.int64)], 0, 0, 0
        for q, (m, n) in enumerate(zip(*(side.tolist() for side in arrays.objective.shapes), strict=True)):
            loss, stride, best = _losses(arrays.objective, q, frame.problem.weight)
            queries.append((first, first + m, n, begin, stride))
            losses.append(loss)
            most, first, begin = most + best, first + m, begin + len(loss)
        table = np.array(queries, dtype=np.int64).reshape(-1, 5)
        self.lists = Lists(table, np.concatenate(losses), most)
        self.rivals = int(table[:, 2].sum())


def _losses(objective: Objective, q: int, whole: NDArray[np.int64]) -> tuple[NDArray[np.int64], int, int]:
    """What negatives of a list take off by place and positives above, its stride, and from which value."""
    start, stride = int(objective.weight_start[q]), int(objective.stride[q])
    m, n = int(objective.shapes[0][q]), int(objective.shapes[1][q])
    if objective.tables[q].linear:
        weight = whole[start : start + m + n]
        last = int(weight[-1])
        return weight - last, 1, int((weight - last).sum()) + last * m
    table = whole[start + stride * np.arange(m)[:, None] + np.arange(n + 1)[None, :]]
    return losses_by_rivals(table).reshape(-1), m + 1, int(table[:, 0].sum())


def _fresh_work(frame: Frame, values: WholeValues, levels: int, log_bytes: int) -> Any:
    """An empty stack of so many levels, and the scratch of one worker."""
    from toprank.exact.slices import _stack_kernels as stack
    from toprank.exact.slices._pack_kernels import fresh_packs
    from toprank.exact.slices._slice_kernels import fresh_slices

    P, r = frame.problem.E.shape
    room = max(4 * P, min(64 * P, 1 << 21)) + 4096
    close = min(LARGEST_CLOSE, P)
    return stack.Work(
        low=np.zeros((levels, r)),
        high=np.zeros((levels, r)),
        plan=np.zeros((levels, 6), np.int64),
        total=np.zeros((levels, r)),
        axes=np.zeros(r - 1, np.int64),
        places=np.zeros(r, np.int64),
        mid=np.zeros(r),
        half=np.zeros(r),
        across=np.ascontiguousarray(frame.problem.norm.T).ravel(),
        leads=np.zeros(2 * len(frame.problem.norm)),
        chosen=np.zeros(P + 64, np.uint32),
        regs=np.zeros(16, np.int64),
        point=np.zeros((2, r)),
        log=np.zeros(log_bytes, np.uint8),
        spare=np.zeros((BOXES_ASIDE, 2 * r)),
        spare_info=np.zeros((BOXES_ASIDE, 2), np.int64),
        ids=np.zeros(P + 64, np.int32),
        count=np.empty_like(frame.problem.count),
        at_most=np.empty_like(frame.problem.at_most),
        counts=np.zeros_like(values.base),
        rows=np.zeros((close + 1, r + 1)),
        wide=np.zeros((close + r + 7, r + 1)),
        flags=np.zeros((5, 8 * LARGEST_CLOSE), np.int64),
        lp=np.zeros((r + 6, r + 1)),
        space=np.zeros((r + 1, r + 1)),
        slices=fresh_slices(P + 64, len(values.base), values.rivals),
        packs=fresh_packs(PACKS, room, r, len(values.base)),
    )


class SliceWorker(SubtreeWorker):
    """Searches one subtree of boxes at a time, in short runs.

    Parameters
    ----------
    frame : Frame
        The problem.
    values : WholeValues
    centres : Centres
        Those known, which it shares with others.
    keep_log : bool
        Whether to write down every split.
    """

    def __init__(self, frame: Frame, values: WholeValues, centres: Centres, keep_log: bool) -> None:
        from toprank.exact.slices import _search_kernels as kernels
        from toprank.exact.slices import _stack_kernels as stack

        self._kernels, self._frame, self._values, self._centres = kernels, frame, values, centres
        self._root: Box | None = None
        r = frame.size
        levels = 41 * r + 64
        work = _fresh_work(frame, values, levels, LOG_BYTES if keep_log else 0)
        smallest = SMALLEST_BOX if frame.margin else SMALLEST_STRICT_BOX
        self._rules = kernels.Rules(
            frame.margin, CLOSE_SIZE, CLOSE_TRIES, smallest, ROUNDS, FEW_SLICES, SPARSE
        )
        super().__init__(stack, work, 2 * r, levels)

    @property
    def sweeps(self) -> tuple[int, int]:
        """Sweeps so far, and the pairs looked at in them."""
        return int(self._work.regs[self._stack.SWEEPS]), int(self._work.regs[self._stack.VISITS])

    def puzzles(self) -> list[Box]:
        """Boxes the last run put aside that are too small to split; perhaps they have a centre."""
        work, stack = self._work, self._stack
        found = np.flatnonzero(work.spare_info[: work.regs[stack.SPARED], 1] == stack.PUZZLE)
        return [Box(int(work.spare_info[i, 0]), work.spare[i].copy()) for i in found]

    def forget(self) -> Box:
        """Drop the subtree with all that was put aside by the last run; the box it began with."""
        assert self._root is not None
        self._work.regs[self._stack.SPARED] = 0
        self._key, self.busy = None, False
        return self._root

    def _begin(self, node: Box) -> bytes:
        self._root = node
        values, value = self._values, self._frame.value
        self._stack.load(
            self._frame.problem, self._work, node.place, values.base, value, node.bound, values.order
        )
        return node.place.tobytes()

    def _go_on(self, target: int, max_work: int) -> bool:
        code = self._kernels.search(
            self._frame.problem,
            self._values.lists,
            self._work,
            self._rules,
            self._centres.stars,
            self._centres.number,
            self._centres.learning,
            target,
            max_work,
        )
        return bool(code == self._kernels.PAUSED)

    def _hand_over(self, nodes: Floats, bounds: NDArray[np.int64]) -> int:
        return int(self._stack.hand_over(self._work, nodes, bounds))
