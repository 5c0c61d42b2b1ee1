"""`toprank score`: a saved model on a new table. Over many files it is `toprank.workflow.ranking.stream`."""

from __future__ import annotations

import math
from collections.abc import Collection

from toprank.datasets import InputError, Table, warning_sentences
from toprank.datasets.roles import binary_labels, number_labels
from toprank.model import RankingModel, load_model
from toprank.workflow.asking.aims import aim_of
from toprank.workflow.flags import in_flags, notes_in_flags
from toprank.workflow.judging.held_out import chance_value
from toprank.workflow.learning.fitting import value_of
from toprank.workflow.listing.places import plain_list
from toprank.workflow.listing.report import ScoreReport
from toprank.workflow.reading.source import read_items, read_select

__all__ = ["score_file"]


def score_file(
    model_path: str,
    data: str | None,
    *,
    top: int | None = None,
    trusted: Collection[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
    sql: str | None = None,
) -> ScoreReport:
    """Rank the rows of a file (or a named data set, or for None the example) with a saved model.

    The listing holds all of them, or the `top` best (of each query). With `sql`, the rows are those that this
    SELECT gives: see `toprank.datasets.database`.
    """
    model = load_model(model_path, trusted=trusted)
    if sql is None:
        table = read_items(data, text_columns=model.text_columns, encoding=encoding, separator=separator)
    else:
        table = read_select(sql, beside=data)
    X, notes = model.encoder.encode(model.roles.features(table))
    listing = plain_list(model, table, X)
    if top is not None:
        rank = "rank" if "rank" not in table.columns else "toprank_rank"
        listing = listing[listing[rank] <= top].reset_index(drop=True)
    value, chance = _value(model, table)
    remarks = [*map(in_flags, [*table.remarks, *warning_sentences(notes)]), *_missing_id(model, table)]
    return ScoreReport(
        model, listing, table.source, value, chance, notes_in_flags(notes), remarks, len(table)
    )


def _missing_id(model: RankingModel, table: Table) -> list[str]:
    """What to say when the new table lacks the identifiers the old one had."""
    name = model.roles.id
    if name is None or name in table.columns:
        return []
    return [f"{table.source} has no column {name!r}: its rows go by their number."]


def _value(model: RankingModel, table: Table) -> tuple[float | None, float]:
    """The statistic on labelled rows, and by chance; None without usable labels, as new items are."""
    if model.roles.target not in table.columns:
        return None, math.nan
    labels = table.frame[model.roles.target]
    kind = model.provenance.get("labels", "binary")
    try:
        y = binary_labels(labels, positive=model.positive)[0] if kind == "binary" else number_labels(labels)
    except InputError:
        return None, math.nan
    scores, _ = model.scores(table)
    qid = model.roles.queries(table) if model.roles.qid in table.columns else None
    statistic = aim_of(model.statistic, len(y), kind).measured
    return value_of(statistic, y, scores, qid), chance_value(statistic, y, qid)
