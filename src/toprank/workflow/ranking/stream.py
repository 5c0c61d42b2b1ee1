"""A saved model over many files: `toprank score` with `--top` or `--all`."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.datasets import InputError, Table, warning_sentences
from toprank.datasets.content import STANDARD_INPUT
from toprank.datasets.table import table_format
from toprank.model import RankingModel, load_model
from toprank.model.ranking import frame_in_order, ordered_by
from toprank.scale.files.addresses import STREAMED, called, is_many, list_files
from toprank.scale.files.parts import Part, open_parts
from toprank.scale.files.score_files import ScoreFiles
from toprank.scale.files.scoring import Found, score_parts
from toprank.workflow.flags import in_flags, notes_in_flags
from toprank.workflow.listing.places import reasons_in_words
from toprank.workflow.listing.report import ScoreReport
from toprank.workflow.reading.source import is_name
from toprank.workflow.watch import Silent, Watch

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Speed", "best_listing", "is_stream", "score_stream"]


def is_stream(data: Sequence[str], *, top: int | None, every: Path | None, out: Path | None) -> bool:
    """Whether items are scored in batches; refuses what does not go together.

    Parameters
    ----------
    data : sequence of str
        What the user named; nothing stands for the embedded example.
    top, every, out
        As the user gave them.
    """
    if every is not None and out is not None and top is None:
        raise InputError("--out is for the best items: say how many with --top NUMBER, or leave it out.")
    if is_many(data):
        if top is None and every is None:
            raise InputError(
                f"{data[0]!r}: of several files the whole list is not put in order; say --top NUMBER for the"
                " best items, or --all FOLDER for every score."
            )
        return True
    in_batches = bool(data) and data[0] != STANDARD_INPUT and not is_name(data[0])
    in_batches = in_batches and table_format(data[0]) in STREAMED
    if every is not None and not in_batches:
        raise InputError("--all is for Parquet and CSV files; --out writes the whole list of any other.")
    return in_batches and (top is not None or every is not None)


def score_stream(
    model_path: str,
    data: Sequence[str],
    *,
    top: int | None = None,
    every: Path | None = None,
    trusted: Collection[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
    watch: Watch | None = None,
) -> ScoreReport:
    """Score the rows of files that need not fit into memory.

    Parameters
    ----------
    model_path : str
    data : sequence of str
        Parquet and CSV files, folders, patterns, addresses (`toprank.scale.files.addresses.list_files`).
    top : int, optional
        How many of the best rows to list.
    every : Path, optional
        A folder for every score.
    trusted : collection of str
        Types in the model file to trust.
    encoding, separator : str, optional
        Of CSV files, where they should not be found out.
    watch : Watch, optional
    """
    watch = watch or Silent()
    model = load_model(model_path, trusted=trusted)
    parts = open_parts(list_files(data), encoding=encoding, separator=separator)
    files = None if every is None else ScoreFiles(every, model.roles.id)
    try:
        found = score_parts(model, parts, top=top or 0, every=files, told=Speed(parts, watch))
        if not found.rows and not found.interrupted:
            raise InputError(f"{', '.join(map(repr, data))}: there are no rows.")
        listing = _listing(model, found, parts)
        if files is not None:
            files.deliver()
    finally:
        if files is not None:
            files.discard()
    notes = notes_in_flags(found.notes)
    remarks = [in_flags(one) for one in [*warning_sentences(found.notes), *_remarks(model, found, parts)]]
    listed = called([part.file for part in parts])
    return ScoreReport(model, listing, listed, None, math.nan, notes, remarks, found.rows, found.interrupted)


class Speed:
    """Tells the watch how far the scoring is, and how fast."""

    def __init__(self, parts: Sequence[Part], watch: Watch) -> None:
        counts = [part.rows for part in parts]
        known = None if any(count is None for count in counts) else sum(count or 0 for count in counts)
        self._watch, self._done, self._began = watch, 0, time.perf_counter()
        watch.stage("Scoring", steps=known)

    def __call__(self, rows: int) -> None:
        if not rows:
            return
        self._watch.step(rows - self._done)
        self._done = rows
        seconds = max(time.perf_counter() - self._began, 1e-9)
        self._watch.note(f"{rows:,} rows, {rows / seconds:,.0f} rows/s")


def best_listing(
    model: RankingModel, found: Found, parts: Sequence[Part], first: Mapping[str, Any] | None = None
) -> tuple[pd.DataFrame, Table, Any, NDArray[np.intp]]:
    """The best rows, best first, with the file and the row each came from; their table, features and order.

    Parameters
    ----------
    model : RankingModel
    found : Found
        With rows.
    parts : sequence of Part
        Where they were found.
    first : mapping, optional
        Further columns of ours.
    """
    assert found.table is not None
    table = found.table
    X, _ = model.encoder.encode(model.roles.features(table))
    order = ordered_by(model.ranker, X, None)
    more: dict[str, Any] = {**(first or {}), "why": reasons_in_words(model, table, X, order)}
    if len({part.file.path for part in parts}) > 1:
        more = {"file": found.file, **more}
    # Whether identifiers repeat cannot be known from the best rows alone.
    name = model.roles.id
    ids = None if name is None or name not in table.columns else table.frame[name]
    scores = ranking_scores(model.ranker, X)
    listing = frame_in_order(table, order, scores, ids=ids, qid=None, more=more, row=found.row)
    return listing, table, X, order


def _listing(model: RankingModel, found: Found, parts: Sequence[Part]) -> pd.DataFrame:
    import pandas as pd

    if found.table is None:
        return pd.DataFrame({"rank": [], "score": []})
    return best_listing(model, found, parts)[0]


def _remarks(model: RankingModel, found: Found, parts: Sequence[Part]) -> list[str]:
    said = []
    name = model.roles.id
    lacking = [part.file.name for part in parts if name is not None and name not in part.columns]
    if lacking:
        said.append(f"{lacking[0]} has no column {name!r}: its rows go by their number.")
    if model.roles.qid is not None:
        said.append(f"All rows are one list here, whatever their {model.roles.qid!r}.")
    if found.interrupted:
        said.append(f"Interrupted after {found.rows:,} rows: this is what was found among them.")
    return said
