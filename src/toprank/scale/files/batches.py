"""One batch of rows: read as the model reads its columns, estimated, scored."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.datasets import Note, Table
from toprank.datasets.columns import NumberColumn
from toprank.datasets.encode import ColumnEncoder
from toprank.datasets.readings import NumberReading
from toprank.errors import InputError
from toprank.model import RankingModel
from toprank.model.ranking import ordered_by
from toprank.scale.files.best import Best, Candidates
from toprank.scale.files.parts import Part
from toprank.scale.files.screen import linear_screen

__all__ = ["BatchScorer", "Place", "encoded", "is_text", "missing_columns", "numbers_in", "read_batch"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """Where a batch comes from.

    Parameters
    ----------
    part : Part
    number : int
        Of that part.
    first : int
        Number of its first row in the part.
    """

    part: Part
    number: int
    first: int

    @property
    def order(self) -> tuple[int, int]:
        """Sorts batches as the stream has them, whichever thread comes first."""
        return self.number, self.first


@dataclass
class _Seen:
    """A note about a column, where it was due for the first time, and for how many batches it was."""

    note: Note
    place: Place
    batches: int = 1

    def told(self) -> Note:
        """The note as a user should read it: its figures are those of the first batch."""
        more = f", and in {self.batches - 1} more batches" if self.batches > 1 else ""
        return replace(self.note, text=f"{self.note.text} (in {self.place.part.name}{more})")


class BatchScorer:
    """A saved model on batches of rows; safe to use from several threads.

    Parameters
    ----------
    model : RankingModel
        Over named columns, without queries.
    """

    def __init__(self, model: RankingModel) -> None:
        if not isinstance(model.encoder, ColumnEncoder):
            raise InputError("The model was learned from an svmlight file, which cannot be read in batches.")
        if getattr(model.ranker, "by_query_", False):
            raise InputError(
                "The model ranks within queries, whose rows belong together: score a whole file."
            )
        self.model = model
        self.columns = [column.name for column in model.encoder.columns]
        self._encoder = model.encoder
        self._screen = linear_screen(model.ranker, model.encoder)
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._lock = threading.Lock()

    def best(self, wanted: int) -> Best:
        """A place for the best rows by this model."""
        ceiling = np.inf if self._screen is None else self._screen.ceiling
        return Best(wanted, order=lambda X: ordered_by(self.model.ranker, X, None), ceiling=ceiling)

    @property
    def notes(self) -> list[Note]:
        """What had to be done to the columns so far."""
        names = {name: place for place, name in enumerate(self.columns)}
        return [self._seen[key].told() for key in sorted(self._seen, key=lambda key: (names[key[0]], key[1]))]

    def offer(self, batch: Any, place: Place, best: Best) -> None:
        """Show the rows of a batch that can be among the best to where these are kept."""
        read = self.read(batch)
        estimate = None if self._screen is None else self._screen.estimate(read)
        if estimate is None:
            X = self._encoded(read, place)
            scores = ranking_scores(self.model.ranker, X)
            # Estimates of a screen are of the base; a batch it cannot judge has no say about the cut.
            low = scores if self._screen is None else np.full(len(scores), -np.inf)
            chosen = np.flatnonzero(scores >= best.cut) if self._screen is None else np.arange(len(scores))
            X = X[chosen]
        else:
            low = estimate.scores - estimate.error
            chosen = np.flatnonzero(estimate.scores + estimate.error >= best.cut)
            self._note(estimate.noted, read, place)
            if not len(chosen):
                return
            X = self._encoded(read.take(chosen), place, quiet=True)
        cells = _as_table(batch.take(chosen))
        best.add(place.number, Candidates(chosen.astype(np.int64) + place.first, X, low[chosen], cells))

    def scores(self, batch: Any, place: Place, *, quiet: bool = False) -> Floats:
        """The scores of all rows of a batch; `quiet` where its columns have been noted already."""
        X = self._encoded(self.read(batch), place, quiet=quiet)
        return ranking_scores(self.model.ranker, X)

    def read(self, batch: Any) -> Any:
        """Text in the place of numbers as numbers, where it is nothing but plain numbers."""
        return read_batch(self._encoder, batch)

    def _encoded(self, read: Any, place: Place, *, quiet: bool = False) -> Any:
        X, notes = encoded(self._encoder, read, place)
        if not quiet:
            for note in notes:
                self._keep(note, place)
        return X

    def _note(self, noted: set[tuple[str, str]], read: Any, place: Place) -> None:
        """Keep what had to be done to columns; the words are those of the column's own encoding."""
        for name, action in sorted(noted):
            with self._lock:
                seen = self._seen.get((name, action))
                if seen is not None and seen.place.order < place.order:
                    seen.batches += 1
                    continue
            column = next(one for one in self._encoder.columns if one.name == name)
            cells = read.select([name]).to_pandas(ignore_metadata=True)[name]
            for note in column.encode(cells)[1]:
                if note.action == action:
                    self._keep(note, place)

    def _keep(self, note: Note, place: Place) -> None:
        key = (note.column, note.action)
        with self._lock:
            seen = self._seen.get(key)
            batches = 1 if seen is None else seen.batches + 1
            if seen is None or place.order < seen.place.order:
                self._seen[key] = _Seen(note, place, batches)
            else:
                seen.batches = batches


def read_batch(encoder: ColumnEncoder, batch: Any) -> Any:
    """Text in the place of numbers as numbers, where it is nothing but plain numbers."""
    import pyarrow as pa

    arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
    for column in encoder.columns:
        cells = arrays[column.name]
        if isinstance(column, NumberColumn) and not column.reading.needs_text and is_text(cells):
            values = numbers_in(cells)
            arrays[column.name] = cells if values is None else values
    return pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))


def encoded(encoder: ColumnEncoder, read: Any, place: Place) -> tuple[Floats, list[Note]]:
    """The features of a batch, and what had to be done to it; complaints name the file and the rows."""
    name = place.part.name
    quick = _standardised(encoder, read)
    if quick is not None:
        return quick, []
    try:
        return encoder.encode(Table(read.to_pandas(ignore_metadata=True), source=name))
    except InputError as error:
        begin = place.part.before + place.first
        raise InputError(f"{name}, of rows {begin + 1} to {begin + len(read)}: {error}") from None


def _standardised(encoder: ColumnEncoder, read: Any) -> Floats | None:
    """The features of a batch that holds nothing but finite numbers, the same ones and sooner; else None."""
    import pyarrow as pa

    by_column = np.empty((len(encoder.columns), len(read)))
    for place, column in enumerate(encoder.columns):
        cells = read.column(column.name)
        if not isinstance(column, NumberColumn) or not isinstance(column.reading, NumberReading):
            return None
        if column.reading.missing or cells.null_count:
            return None
        if not (pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type)):
            return None
        values = by_column[place]
        values[:] = cells.to_numpy()
        values -= column.mean
        values /= column.scale
        if not np.isfinite(values.sum()):  # where one is not, the sum is not either
            return None
    return by_column.T


def missing_columns(part: Part, wanted: Sequence[str]) -> list[str]:
    """Columns that a part lacks."""
    present = set(part.columns)
    return [name for name in wanted if name not in present]


def is_text(cells: Any) -> bool:
    """Whether the cells of an Arrow array are text."""
    import pyarrow as pa

    return bool(pa.types.is_string(cells.type))


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def numbers_in(cells: Any) -> Any:
    """Text as numbers, or as the truth values pandas would see in it; None where a cell is neither."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(cells)
    for kind in (pa.float64(), pa.bool_()):
        try:
            return compute.cast(trimmed, kind)
        except pa.ArrowInvalid:
            continue
    return None
