"""`toprank rank --pairs`: a list learned from comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toprank.cli.options import print_json, start_bars

if TYPE_CHECKING:
    from toprank.workflow.by_pairs import PairOptions
    from toprank.workflow.reading.source import Columns

__all__ = ["rank_pairs", "refuse_beside_pairs"]

# What has no meaning where there are no labels.
_OF_LABELS = ("budget", "statistic", "prefer", "depth", "new", "positive", "qid", "group", "split_by", "base")
_MORE_OF_LABELS = ("splits", "held_out", "report_page", "report", "labels", "threshold", "constraints")


def refuse_beside_pairs(context: typer.Context) -> None:
    """Name an option that was given beside `--pairs` and has no meaning there."""
    from toprank.errors import InputError

    if context.params.get("sql") is not None:
        raise InputError("--sql gives labelled items; with --pairs the items come from a file.")
    for name in (*_OF_LABELS, *_MORE_OF_LABELS):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"--{name.replace('_', '-')} is about labels, and with --pairs there are none: leave it out."
            )


def rank_pairs(
    data: str | None,
    pairs: str,
    columns: Columns,
    options: PairOptions,
    *,
    out: Path | None,
    model: Path | None,
    head: int,
    json_output: bool,
    quiet: bool,
) -> bool:
    """Learn from comparisons, write and show the list; whether Ctrl-C cut it short."""
    from toprank.workflow.by_pairs import pairs_summary, rank_by_pairs
    from toprank.workflow.writing.deliver import Delivery

    delivery = Delivery(out, model)
    delivery.check([data, pairs], linear=True)
    with start_bars(quiet) as bars:
        bars.stage("Reading")
        report = rank_by_pairs(data, pairs, columns, options, watch=bars)
    files = delivery.write(report.listing, report.model)
    if json_output:
        print_json(pairs_summary(report, files, head=head))
    elif not quiet:
        from toprank.screen.pairs import show_pairs

        show_pairs(report, files, head=head)
    return report.interrupted
