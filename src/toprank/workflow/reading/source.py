"""Where the labelled items come from: a file, a data set of the catalog, or the embedded example."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import toprank
from toprank import datasets
from toprank.datasets import Declared, InputError, Labelled, Roles, Table
from toprank.datasets.content import STANDARD_INPUT
from toprank.datasets.load import Dataset
from toprank.datasets.table import SVMLIGHT_QUERY, SVMLIGHT_TARGET
from toprank.labels import LabelKind
from toprank.workflow.flags import in_flags
from toprank.workflow.reading.split_by import split_column

__all__ = [
    "Columns",
    "Source",
    "about_unlabelled",
    "is_name",
    "open_source",
    "provenance",
    "read_items",
    "read_new",
    "read_select",
    "source_of",
    "text_columns_of",
    "with_and_without_label",
]


FEWEST_NUMBERS = 8
"""Rows with numbers as labels that can be parted to learn from and to judge."""
FEW_WITHOUT_LABEL = 0.05
"""As a share of the labelled rows: so few without a label may be an oversight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the user said about the columns.

    Parameters
    ----------
    target, id, qid, group : str or None
    ignore, categorical, positive : sequences of str
        Columns to leave out, columns whose numbers are categories, label values that belong at the top.
    missing, read : sequences of str
        Values that stand for missing ones, as ``COLUMN=VALUE`` or ``VALUE``; how to read a column, as
        ``COLUMN=WAY`` (`toprank.datasets.declared.WAYS`).
    encoding, separator : str or None
        Of a text file, where they should not be found out.
    split_by : str or None
        Column by which rows are held out: the latest ones where it says when, else whole groups.
    labels : {"binary", "ordinal", "continuous"} or None
        What the labels are, where their values should not tell.
    sql : str or None
        A SELECT that gives the items, in the place of a file: see `toprank.datasets.database`.
    """

    target: str | None = None
    id: str | None = None
    qid: str | None = None
    group: str | None = None
    split_by: str | None = None
    labels: str | None = None
    sql: str | None = None
    ignore: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: Sequence[str] = ()
    missing: Sequence[str] = ()
    read: Sequence[str] = ()
    encoding: str | None = None
    separator: str | None = None


@dataclass(frozen=True)
class Source:
    """A labelled table, taken apart, and where it came from.

    Parameters
    ----------
    table : Table
        The labelled rows as they came, label and identifiers included.
    labelled : Labelled
    roles : Roles
    categorical : tuple of str
    fingerprint : str
        SHA-256 of the file; empty where there is no file.
    remarks : tuple of str
        Plain sentences about the source, warnings about its columns included.
    unlabelled : Table or None
        Rows whose label is empty: those to be ranked.
    times : array or None
        When each labelled row was, where the latest are to be held out.
    """

    table: Table
    labelled: Labelled
    roles: Roles
    categorical: tuple[str, ...]
    fingerprint: str = ""
    remarks: tuple[str, ...] = ()
    unlabelled: Table | None = None
    times: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """How many items there are."""
        return len(self.table)

    @property
    def kind(self) -> LabelKind:
        """What their labels are."""
        return self.labelled.kind

    @property
    def positives(self) -> int | None:
        """How many of them belong at the top; None where labels are numbers."""
        return int(self.labelled.y.sum()) if self.kind == "binary" else None

    @property
    def span(self) -> tuple[float, float] | None:
        """The smallest and the largest label, where they are numbers."""
        y = self.labelled.y
        return None if self.kind == "binary" else (float(y.min()), float(y.max()))

    @property
    def can_be_held_out(self) -> bool:
        """Whether there are two rows at least to learn from and to judge, of either class."""
        positives = self.positives
        return self.rows >= FEWEST_NUMBERS if positives is None else 2 <= positives <= self.rows - 2


def provenance(source: Source, budget: int, seed: int) -> dict[str, Any]:
    """Where figures come from, as plain values: file, rows, seed, versions."""
    import sklearn

    return {
        "data": source.table.source,
        "data_sha256": source.fingerprint,
        "rows": source.rows,
        "positives": source.positives,
        "labels": source.kind,
        "budget": budget,
        "seed": seed,
        "scikit_learn": sklearn.__version__,
        "toprank": toprank.__version__,
    }


def open_source(data: str | None, columns: Columns) -> Source:
    """Read and check the labelled items.

    Parameters
    ----------
    data : str or None
        A file, else the name of a data set of the catalog, else (None) the embedded example.
    columns : Columns
    """
    if columns.sql is not None:
        table = read_select(columns.sql, beside=data)
        return source_of(table, columns, table.fingerprint)
    if data is None:
        return _example(columns)
    if is_name(data):
        return _from_catalog(datasets.load(data), columns)
    table = datasets.read_table(
        data,
        text_columns=text_columns_of(columns),
        encoding=columns.encoding,
        separator=columns.separator,
    )
    return source_of(table, columns, table.fingerprint or _fingerprint(Path(data)))


def source_of(table: Table, columns: Columns, fingerprint: str) -> Source:
    """A table that was read, checked and taken apart as the user says."""
    is_svmlight = table.sparse is not None
    target = columns.target or (SVMLIGHT_TARGET if is_svmlight else None)
    if target is None:
        raise InputError(f"--target is missing: name the column with the labels, one of {_names(table)}.")
    # The queries of an svmlight file are there to be used; elsewhere they have to be named.
    qid = columns.qid or (SVMLIGHT_QUERY if is_svmlight and SVMLIGHT_QUERY in table.columns else None)
    roles = Roles(target, columns.id, qid, _held_together(columns), tuple(dict.fromkeys(columns.ignore)))
    return _source(table, roles, columns, fingerprint=fingerprint)


def read_select(sql: str, *, beside: str | None = None) -> Table:
    """Items that a SELECT gives; a file beside it is one source too many."""
    from toprank.datasets.database import read_query

    if beside is not None:
        raise InputError(f"--sql and {beside!r}: the items come from one of them.")
    frame, fingerprint = read_query(sql)
    return Table(frame, source="the query", fingerprint=fingerprint)


def read_new(data: str, source: Source, columns: Columns | None = None) -> Table:
    """Unseen items, read the way the labelled ones were."""
    columns = columns or Columns()
    if data == STANDARD_INPUT and source.table.fingerprint:
        raise InputError("--new '-': standard input has been read already, for the labelled items.")
    description = source.labelled.features.description
    readings = {} if description is None else description.readings
    text = [name for name, reading in readings.items() if reading.needs_text]
    return read_items(
        data,
        text_columns=[*text, *source.categorical, *([source.roles.id] if source.roles.id else [])],
        encoding=columns.encoding,
        separator=columns.separator,
    )


def read_items(
    data: str | None,
    *,
    text_columns: Sequence[str],
    encoding: str | None = None,
    separator: str | None = None,
) -> Table:
    """Items that need no labels: from a file, a data set of the catalog by name, or (None) the example.

    Parameters
    ----------
    data : str or None
        As in `open_source`.
    text_columns : sequence of str
        Columns that are to stay text when a file is read.
    encoding, separator : str or None
        Of a text file, where they should not be found out.
    """
    if data is None:
        return _example_table()
    if is_name(data):
        return _catalog_table(datasets.load(data))
    return datasets.read_table(data, text_columns=text_columns, encoding=encoding, separator=separator)


def is_name(data: str) -> bool:
    """Whether this is a data set of the catalog and no file."""
    path = Path(data)
    return not path.exists() and not path.suffix and data in datasets.names()


def text_columns_of(columns: Columns) -> list[str]:
    """Columns whose text matters, whatever it looks like: 1.234 may be a thousand or one."""
    said = [one.rpartition("=")[0] for one in columns.read if "=" in one]
    return [name for name in (columns.id, *columns.categorical, *said) if name]


def _example_table() -> Table:
    return Table(datasets.inspections(), source="the embedded example")


def _example(columns: Columns) -> Source:
    roles = Roles(
        columns.target or "failed",
        columns.id or "pump",
        columns.qid,
        _held_together(columns),
        tuple(columns.ignore),
    )
    table = _example_table()
    remark = "No DATA given: an embedded example is used, a made-up year of pump inspections."
    return _source(table, roles, columns, remarks=(remark,))


def _catalog_table(data: Dataset) -> Table:
    import pandas as pd
    import scipy.sparse as sp

    sparse = sp.issparse(data.X)
    frame = pd.DataFrame() if sparse else pd.DataFrame(data.X, columns=list(data.feature_names))
    frame[SVMLIGHT_TARGET] = data.y
    if data.qid is not None:
        frame[SVMLIGHT_QUERY] = data.qid
    return Table(frame, data.X if sparse else None, source=data.entry.name)


def _from_catalog(data: Dataset, columns: Columns) -> Source:
    table = _catalog_table(data)
    qid = columns.qid or (SVMLIGHT_QUERY if data.qid is not None else None)
    target = columns.target or SVMLIGHT_TARGET
    roles = Roles(target, columns.id, qid, _held_together(columns), tuple(columns.ignore))
    remarks = (f"{data.entry.name}: {data.entry.caution}",) if data.entry.caution else ()
    return _source(
        table,
        roles,
        columns,
        categorical=tuple(name for name in data.entry.nominal if name in roles.features(table).columns),
        fingerprint=data.entry.sha256,
        remarks=remarks,
        groups=data.groups,
    )


def _source(
    table: Table,
    roles: Roles,
    columns: Columns,
    *,
    categorical: tuple[str, ...] = (),
    fingerprint: str = "",
    remarks: tuple[str, ...] = (),
    groups: NDArray[Any] | None = None,
) -> Source:
    table, unlabelled = with_and_without_label(table, roles.target)
    times, said = (None, "") if columns.split_by is None else split_column(table, columns.split_by)
    labelled = Labelled.of(table, roles, positive=columns.positive, labels=_checked_kind(columns.labels))
    if groups is not None and labelled.groups is None:
        labelled = replace(labelled, groups=groups)
    nominal = tuple(dict.fromkeys((*categorical, *columns.categorical)))
    for name in nominal:
        labelled.features.column(name, argument="categorical")
    remarks = (*table.remarks, *remarks, *([said] if said else []))
    if unlabelled is not None:
        remarks += (about_unlabelled(unlabelled, roles.target, len(table)),)
    if labelled.features.sparse is None:
        # How columns are read is decided on all rows, once; halves of the table are then read alike.
        declared = Declared.of(
            labelled.features.columns, categorical=nominal, missing=columns.missing, read=columns.read
        )
        labelled = replace(labelled, features=datasets.described(labelled.features, declared))
        _, notes = datasets.learn_encoder(labelled.features)
        remarks += tuple(datasets.warning_sentences(notes))
    said_so = tuple(map(in_flags, remarks))
    return Source(table, labelled, roles, nominal, fingerprint, said_so, unlabelled, times)


def _checked_kind(labels: str | None) -> LabelKind | None:
    if labels is None:
        return None
    for kind in get_args(LabelKind):
        if labels == kind:
            return kind
    raise InputError(f"--labels {labels!r} is not one of {', '.join(get_args(LabelKind))}.")


def _held_together(columns: Columns) -> str | None:
    """The column that is not learned from because rows are held out by it."""
    if columns.split_by is None:
        return columns.group
    if columns.group not in (None, columns.split_by):
        raise InputError(
            f"--split-by {columns.split_by!r} and --group {columns.group!r}: rows are held out by one column."
        )
    return columns.split_by


def with_and_without_label(table: Table, target: str) -> tuple[Table, Table | None]:
    """The rows with a label, and those whose label is empty (None if there are none such, or no label)."""
    labels = table.column(target, argument="target")
    empty = (labels.isna() | labels.map(lambda cell: isinstance(cell, str) and not cell.strip())).to_numpy()
    if not empty.any() or empty.all():
        return table, None
    return table.take(np.flatnonzero(~empty)), table.take(np.flatnonzero(empty))


def about_unlabelled(unlabelled: Table, target: str, labelled: int) -> str:
    """That rows without a label are what is ranked; few of them may be oversights, so it says which."""
    count, first = len(unlabelled), unlabelled.row_numbers[0]
    which = f"1 row has no label in {target!r}" if count == 1 else f"{count} rows have no label in {target!r}"
    ranked = "it is what is ranked" if count == 1 else "they are what is ranked"
    if count > FEW_WITHOUT_LABEL * labelled:
        return f"{which}: {ranked}."
    said = f"row {first}" if count == 1 else f"the first is row {first}"
    them = "it" if count == 1 else "them"
    return f"{which} ({said}): {ranked}. Without {them} in the file, the {labelled} others would be."


def _fingerprint(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _names(table: Table, most: int = 12) -> str:
    names = table.columns
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
