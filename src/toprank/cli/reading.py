"""The arguments that say what is read, how, and which column is what."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "Categorical",
    "Data",
    "Encoding",
    "Files",
    "Group",
    "Identifier",
    "Ignore",
    "LabelsKind",
    "Missing",
    "Positive",
    "Query",
    "Read",
    "Separator",
    "SplitBy",
    "Sql",
    "Target",
]

_NAMED = {"\\t": "\t", "tab": "\t", "pipe": "|", "semicolon": ";", "comma": ","}


def _character(given: str | None) -> str | None:
    """No shell makes it easy to type a tab."""
    return given if given is None else _NAMED.get(given, given)


Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Labelled items: .csv, .tsv, .xlsx, .parquet or .svm (text also .gz), - for standard input, or"
        " the name of a data set (toprank data). Without it an embedded example is used.",
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        help="Labelled items: .csv, .tsv, .xlsx, .parquet or .svm (text also .gz), - for standard input, or"
        " the name of a data set (toprank data); also several Parquet or CSV files, folders, patterns such as"
        " 'train/*.parquet', and addresses such as s3://bucket/train. What is too large to be read as a whole"
        " is learned from in passes. Without it an embedded example is used.",
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column with the labels.")
]
Positive = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL",
        help="Label that belongs at the top; repeatable. Default: the larger number, the yes of yes and no."
        " Also '>=3', or 'top10%' of the numbers in the target.",
    ),
]
Identifier = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the items.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out; repeatable.")]
Categorical = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column whose numbers are categories; repeatable.")
]
Query = Annotated[
    str | None,
    typer.Option("--qid", metavar="COLUMN", help="Column with the query; items compete within it."),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column whose equal values are held out together: patient, household."
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that says how items are held out: the latest ones where it holds dates or numbers in"
        " order, whole groups where its values repeat.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=VALUE",
        help="Value that stands for a missing one, such as age=-999; without COLUMN= in every column;"
        " repeatable.",
    ),
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=WAY",
        help="How to read a column: number, 'decimal comma', 'decimal point', date, 'day first',"
        " 'month first', text or 'exact text'; repeatable. Default: found out, and said.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of the text: utf-8, latin-1, utf-16, ... Default: found out."
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        callback=_character,
        help="What separates the cells of a text file. Default: found out.",
    ),
]

Sql = Annotated[
    str | None,
    typer.Option(
        metavar="SELECT",
        help="Read the items from a database instead: what this SELECT gives. The database is named by the"
        " environment variable TOPRANK_DATABASE; nothing is written to it.",
    ),
]
LabelsKind = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="KIND",
        help="What the labels are: binary, ordinal (grades) or continuous. Default: found out.",
    ),
]
