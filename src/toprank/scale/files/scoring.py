"""A saved model over rows that do not fit into memory: the best of them, or every score."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import keep_best_on_interrupt, worker_count
from toprank.datasets import InputError, Note, Table
from toprank.model import RankingModel
from toprank.scale.files.batches import BatchScorer, Place, missing_columns
from toprank.scale.files.best import Best, Candidates
from toprank.scale.files.parts import Part
from toprank.scale.files.score_files import ScoreFiles

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Found", "score_parts"]

Told = Callable[[int], Any]
"""Called now and then with the rows that are done so far."""
_LOOK = 0.1
"""Seconds between two looks at the stop button."""


@dataclass(frozen=True)
class Found:
    """The best rows of a stream.

    Parameters
    ----------
    table : Table or None
        The rows with all their columns, in the order of the stream; None where none were wanted or found.
    file : list of str
        Which file each is from.
    row : array of int
        Its row there, from 1.
    rows : int
        How many rows were scored.
    notes : list of Note
        What had to be done to the columns.
    interrupted : bool
        Ctrl-C came before all rows were scored.
    """

    table: Table | None
    file: list[str]
    row: NDArray[np.int64]
    rows: int
    notes: list[Note]
    interrupted: bool


def score_parts(
    model: RankingModel,
    parts: Sequence[Part],
    *,
    top: int = 0,
    every: ScoreFiles | None = None,
    told: Told | None = None,
    n_jobs: int = -1,
) -> Found:
    """Score all rows of some parts; keep the best, write every score, or both.

    Parameters
    ----------
    model : RankingModel
        Over named columns, without queries.
    parts : sequence of Part
        From `toprank.scale.files.parts.open_parts`.
    top : int
        How many of the best rows to keep.
    every : ScoreFiles, optional
        Where every score is written.
    told : callable, optional
        Called now and then with the rows that are done so far.
    n_jobs : int
        Threads; -1: one for each processor.
    """
    scorer = BatchScorer(model)
    check_columns(parts, scorer.columns)
    work = _Work(scorer, parts, scorer.best(top) if top else None, every)
    interrupted = work.run(worker_count(n_jobs), told or (lambda rows: None))
    winners = {} if work.best is None else work.best.settled()
    if not winners:
        return Found(None, [], np.zeros(0, dtype=np.int64), work.rows, scorer.notes, interrupted)
    table, file, row = _gathered(winners, parts, scorer)
    return Found(table, file, row, work.rows, scorer.notes, interrupted)


def check_columns(parts: Sequence[Part], wanted: Sequence[str]) -> None:
    """Refuse files that lack a column, before anything is read."""
    for part in parts:
        missing = missing_columns(part, wanted)
        if missing:
            names = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise InputError(f"{part.name} lacks columns the model wants: {names}.")


class _Work:
    """Parts dealt to threads, until all are done, one fails or Ctrl-C comes."""

    def __init__(
        self, scorer: BatchScorer, parts: Sequence[Part], best: Best | None, every: ScoreFiles | None
    ) -> None:
        self.scorer, self.parts, self.best, self.every = scorer, parts, best, every
        self.rows = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._id = scorer.model.roles.id

    def run(self, threads: int, told: Told) -> bool:
        """Do it; whether it was interrupted."""
        with keep_best_on_interrupt() as kept, ThreadPoolExecutor(threads) as pool:
            waiting = {pool.submit(self._part, number) for number in range(len(self.parts))}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=_LOOK)
                    for one in done:
                        one.result()
                    told(self.rows)
                    if kept.interrupted:
                        break
            finally:
                self._stop.set()
                _cancel(waiting)
            return kept.interrupted

    def _part(self, number: int) -> None:
        if self._stop.is_set():
            return
        part = self.parts[number]
        if self.every is None:
            self._batches(number, part, None)
            return
        with self.every.part(number, part) as scores:
            scores.whole = self._batches(number, part, scores)

    def _batches(self, number: int, part: Part, scores: Any) -> bool:
        """Go through the batches of a part; whether it came to the end."""
        first = 0
        named = [self._id] if self._id is not None and self._id in part.columns else []
        columns = list(dict.fromkeys([*self.scorer.columns, *named]))
        for batch in part.batches(columns):
            if self._stop.is_set():
                return False
            if not len(batch):
                continue
            place = Place(part, number, first)
            if self.best is not None:
                self.scorer.offer(batch, place, self.best)
            if scores is not None:
                scores.add(batch, self.scorer.scores(batch, place, quiet=self.best is not None))
            first += len(batch)
            with self._lock:
                self.rows += len(batch)
        return True


def _cancel(waiting: set[Future[None]]) -> None:
    for one in waiting:
        one.cancel()


def _gathered(
    winners: dict[int, Candidates], parts: Sequence[Part], scorer: BatchScorer
) -> tuple[Table, list[str], NDArray[np.int64]]:
    """The winners with all their columns; those the model does not want are read now, for these rows only."""
    import pandas as pd

    frames, files, rows = [], [], []
    for number, some in winners.items():
        part = parts[number]
        frames.append(_whole_rows(part, some, scorer))
        files += [part.file.name] * len(some)
        rows.append(some.row + part.before + 1)
    frame = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    names = list(dict.fromkeys(part.file.name for part in parts))
    source = names[0] if len(names) == 1 else f"{len(names)} files"
    return Table(frame, source=source), files, np.concatenate(rows)


def _whole_rows(part: Part, some: Candidates, scorer: BatchScorer) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    rest = [name for name in part.columns if name not in some.cells.column_names]
    read = scorer.read(some.cells.combine_chunks().to_batches()[0]).to_pandas(ignore_metadata=True)
    if not rest:
        return read[part.columns]
    first, pieces = 0, []
    for batch in part.batches(rest):
        inside = some.row[(some.row >= first) & (some.row < first + len(batch))] - first
        if len(inside):
            pieces.append(batch.take(inside))
        first += len(batch)
        if first > some.row[-1]:
            break
    others = pa.Table.from_batches(pieces).to_pandas(ignore_metadata=True)
    return pd.concat([read, others], axis=1)[part.columns]
