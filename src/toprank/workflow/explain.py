"""Why one item stands where a saved model puts it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from toprank.base import ranking_scores
from toprank.datasets import InputError, Table
from toprank.datasets.columns import NumberColumn
from toprank.datasets.encode import ColumnEncoder
from toprank.datasets.roles import label_text
from toprank.ensemble.top_ensemble import TopEnsemble
from toprank.model import RankingModel, load_model
from toprank.model.ranking import ordered_by, ranks_of
from toprank.workflow.judging.importance import features_of
from toprank.workflow.listing.contributions import cells_in_words, contributions
from toprank.workflow.reading.source import read_items

__all__ = ["Explanation", "Part", "explain_item"]


@dataclass(frozen=True, slots=True)
class Part:
    """What one column adds to the score: its value, the usual one, and the difference this makes."""

    column: str
    value: str
    usual: str
    adds: float


@dataclass(frozen=True)
class Explanation:
    """Where an item stands and why.

    Parameters
    ----------
    name : str
        What the item is called.
    listed : str
        Name of the file.
    rank, items : int
        Its place, and of how many.
    score : float
    parts : list of Part
        The largest first.
    remarks : list of str
    """

    name: str
    listed: str
    rank: int
    items: int
    score: float
    parts: list[Part]
    remarks: list[str]


def explain_item(
    model_path: str,
    data: str | None,
    item: str | None,
    row: int | None,
    *,
    trusted: Collection[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
) -> Explanation:
    """What the columns of one item, named by its identifier or by the number of its row, add to its score."""
    model = load_model(model_path, trusted=trusted)
    table = read_items(data, text_columns=model.text_columns, encoding=encoding, separator=separator)
    number = _find(model, table, item, row)
    X, _ = model.encoder.encode(model.roles.features(table))
    qid = model.roles.queries(table) if model.roles.qid in table.columns else None
    order = ordered_by(model.ranker, X, qid)
    alone = table.take(np.array([number]))
    added = contributions(model.ranker, X[[number]], model.encoder)[0]
    values = [cells_in_words(alone, model.encoder, k)[0] for k in range(len(added))]
    usual = _usual_words(model)
    parts = [
        Part(feature.name, values[k], usual[k], float(added[k]))
        for k, feature in enumerate(features_of(model.encoder))
    ]
    return Explanation(
        name=f"row {row}" if item is None else item,
        listed=table.source,
        rank=int(ranks_of(order, qid)[number]),
        items=len(table) if qid is None else int((qid == qid[number]).sum()),
        score=float(ranking_scores(model.ranker, X, qid)[number]),
        parts=sorted((one for one in parts if one.adds), key=lambda one: -abs(one.adds)),
        remarks=_members(model, X, number),
    )


def _find(model: RankingModel, table: Table, item: str | None, row: int | None) -> int:
    """The number of the wanted row, from 0."""
    if (item is None) == (row is None):
        raise InputError("Say which item to explain: --id NAME, or --row NUMBER.")
    if row is not None:
        numbers = table.row_numbers
        if row not in numbers:
            raise InputError(
                f"--row {row}: give a number from {numbers[0]} to {numbers[-1]}, the rows of {table.source}."
            )
        return int(np.flatnonzero(numbers == row)[0])
    ids = model.roles.identifiers(table) if model.roles.id in table.columns else None
    if ids is None:
        raise InputError(
            f"--id {item!r}: the model knows no identifiers in {table.source}; use --row NUMBER."
        )
    found = np.flatnonzero(ids.map(label_text) == label_text(item))
    if not len(found):
        raise InputError(f"--id {item!r}: {table.source} has no such {model.roles.id!r}.")
    return int(found[0])


def _usual_words(model: RankingModel) -> list[str]:
    if not isinstance(model.encoder, ColumnEncoder):
        return ["0"] * len(model.encoder.feature_names)
    return [
        column.show(column.fill) if isinstance(column, NumberColumn) else column.fill
        for column in model.encoder.columns
    ]


def _members(model: RankingModel, X: object, number: int) -> list[str]:
    """Where each member of an ensemble would put the item by itself."""
    if not isinstance(model.ranker, TopEnsemble):
        return []
    weights = model.ranker.weights_
    size = sum(abs(weight) for weight in weights.values()) or 1.0
    places = [
        f"{name} {int((scores > scores[number]).sum()) + 1} ({100 * weights[name] / size:.0f} % of the blend)"
        for name, member in model.ranker.members_.items()
        for scores in [ranking_scores(member, X)]
    ]
    return [f"Place by each member alone: {', '.join(places)}."]
