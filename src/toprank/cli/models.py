"""The commands that use a saved model: `toprank score`, `explain` and `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from toprank.cli.options import Head, Json, Out, Quiet, print_json, start_bars
from toprank.cli.reading import Encoding, Separator, Sql

__all__ = ["explain", "score", "verify"]

UNSOUND = 3
INTERRUPTED = 130

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model written by toprank rank --model.")]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="Type in a .skops model to trust, or all, for a file whose origin you know; repeatable.",
    ),
]


def score(
    model: Model,
    new: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NEW...",
            help="Items to rank, with the columns the model was learned from: a file, or the name of a data"
            " set; with --top or --all also several Parquet or CSV files, folders, patterns such as"
            " 'items/*.parquet', and addresses such as s3://bucket/items. Without it the embedded example is"
            " used.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="List the best items only; files are read in batches, of any size."
        ),
    ] = None,
    out: Out = None,
    every: Annotated[
        Path | None,
        typer.Option(
            "--all", metavar="FOLDER", help="Write every score, in the order of the files, as Parquet files."
        ),
    ] = None,
    sql: Sql = None,
    trust: Trust = None,
    encoding: Encoding = None,
    separator: Separator = None,
    head: Head = 10,
    json_output: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank items with a saved model.

    With --top or --all the files need not fit into memory. Ctrl-C leaves what was found by then.
    """
    from toprank.workflow.ranking.stream import is_stream, score_stream
    from toprank.workflow.score import score_file
    from toprank.workflow.writing.deliver import Delivery
    from toprank.workflow.writing.summary import scores_summary

    delivery, data = Delivery(out), list(new or ())
    delivery.check([model, *data])
    how: dict[str, Any] = {"trusted": trust or (), "encoding": encoding, "separator": separator}
    with start_bars(quiet) as bars:
        bars.stage("Scoring")
        if sql is None and is_stream(data, top=top, every=every, out=out):
            report = score_stream(model, data, top=top, every=every, watch=bars, **how)
        else:
            refuse_all_of_query(sql, every)
            report = score_file(model, data[0] if data else None, top=top, sql=sql, **how)
    files = delivery.write(report.listing, report.model)
    if every is not None:
        files[str(every)] = "the scores, row by row"
    if json_output:
        print_json(scores_summary(report, files, head=head))
    elif not quiet:
        from toprank.screen.ranking import show_scores

        show_scores(report, files, head=head)
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)


def refuse_all_of_query(sql: str | None, every: Path | None) -> None:
    """Scores in the order of the files are of files."""
    from toprank.errors import InputError

    if sql is not None and every is not None:
        raise InputError("--all is for files; use --out with --sql.")


def explain(
    model: Model,
    items: Annotated[
        str | None,
        typer.Argument(
            metavar="ITEMS",
            help="The file that holds the item, or the name of a data set. Without it the embedded example is"
            " used.",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="NAME", help="Which item, by the column that names the items."),
    ] = None,
    row: Annotated[int | None, typer.Option(metavar="NUMBER", help="Which item, by its row, from 1.")] = None,
    trust: Trust = None,
    encoding: Encoding = None,
    separator: Separator = None,
    json_output: Json = False,
) -> None:
    """Say why an item stands where the model puts it.

    Each column adds something to the score: what the score would lose if the item had the usual value there,
    the median of numbers and dates, the most frequent of words.
    """
    from toprank.workflow.explain import explain_item
    from toprank.workflow.writing.summary import explanation_summary

    found = explain_item(model, items, id, row, trusted=trust or (), encoding=encoding, separator=separator)
    if json_output:
        print_json(explanation_summary(found))
        return
    from toprank.screen.ranking import show_explanation

    show_explanation(found)


def verify(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="The labelled items it was learned from: a file, or the name of a data set. Without it the"
            " embedded example is used.",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="How long to try to prove or refute a bound whose proof was not kept.")
    ] = 5.0,
    trust: Trust = None,
    encoding: Encoding = None,
    separator: Separator = None,
    json_output: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check the certificate inside a model against the data.

    The problem is rebuilt from the data and the value recomputed in exact arithmetic. A proof kept with
    rank --keep-proof is replayed by code of its own. Without one the search tries for some seconds to prove
    the bound again or to refute it. Printed is what was checked and what was not. Exit code 3 when something
    does not hold.
    """
    from toprank.workflow.verify import verify_file
    from toprank.workflow.writing.summary import verification_summary

    with start_bars(quiet) as bars:
        bars.stage("Checking")
        report = verify_file(
            model, data, trusted=trust or (), seconds=seconds, encoding=encoding, separator=separator
        )
    if json_output:
        print_json(verification_summary(report))
    elif not quiet:
        from toprank.screen.tables import show_verification

        show_verification(report)
    if not report.checked.passed:
        raise typer.Exit(UNSOUND)
