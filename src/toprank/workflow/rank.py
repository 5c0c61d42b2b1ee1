"""`toprank rank` of what the user named: one file or several, read as a whole or in passes."""

from __future__ import annotations

from collections.abc import Sequence

from toprank.datasets import InputError
from toprank.scale.files.addresses import is_many
from toprank.workflow.asking.options import RankOptions, in_passes
from toprank.workflow.listing.report import RankReport
from toprank.workflow.ranking.in_memory import rank_items
from toprank.workflow.reading.many_files import read_many, too_large
from toprank.workflow.reading.source import Columns, Source, open_source, read_new, source_of, text_columns_of
from toprank.workflow.watch import Watch

__all__ = ["only_one", "open_files", "rank_files", "way_to_learn"]


def rank_files(
    data: Sequence[str],
    columns: Columns,
    options: RankOptions,
    *,
    new: str | None = None,
    large: bool = False,
    watch: Watch | None = None,
) -> RankReport:
    """Learn from labelled items, rank them or others, and say what the ranking is worth.

    Parameters
    ----------
    data : sequence of str
        A file, several, folders, patterns, addresses, the name of a data set; nothing for the example.
    columns : Columns
    options : RankOptions
    new : str, optional
        A file of unseen items to rank instead; where the labelled ones are large, also a folder or a pattern.
    large : bool
        Whether they are learned from in passes, see `toprank.workflow.reading.many_files.too_large`.
    watch : Watch, optional
        Told about the progress.
    """
    if large and columns.sql is None:
        from toprank.workflow.ranking.in_passes import rank_parts

        return rank_parts(data, columns, options, new=[] if new is None else [new], watch=watch)
    source = open_files(data, columns)
    unseen = None if new is None else read_new(new, source, columns)
    return rank_items(source, options, new=unseen, watch=watch)


def way_to_learn(data: Sequence[str], columns: Columns, options: RankOptions) -> tuple[RankOptions, bool]:
    """Whether the files are so large that they are learned from in passes, and the options for that."""
    large = too_large(data, columns)
    return in_passes(options) if large else options, large


def open_files(data: Sequence[str], columns: Columns) -> Source:
    """Read and check labelled items that fit; several files are one table."""
    if columns.sql is not None or not is_many(data):
        return open_source(only_one(data), columns)
    table, fingerprint = read_many(data, columns, text_columns=text_columns_of(columns))
    return source_of(table, columns, fingerprint)


def only_one(data: Sequence[str] | None) -> str | None:
    """The one file that was named; None for the example."""
    if data and len(data) > 1:
        raise InputError(f"{data[1]!r}: one file is wanted here, and several were given.")
    return data[0] if data else None
