"""What several commands take and do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.screen.terminal import json_text

if TYPE_CHECKING:
    from toprank.screen.progress import Bars

__all__ = ["Head", "Json", "Out", "Quiet", "ReportPage", "command_line", "print_json", "start_bars"]

Head = Annotated[int, typer.Option(min=0, help="Rows of the list to print.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and JSON).")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write the whole list: .csv, .csv.gz, .tsv or .parquet."
    ),
]
ReportPage = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a page to look at, print or send: .html, all in one file."
    ),
]


def command_line(context: typer.Context) -> str:
    """What the user typed, for the page and for --json: it can be pasted into a shell again."""
    import shlex

    return shlex.join(["toprank", *context.obj]) if context.obj else ""


def start_bars(quiet: bool) -> Bars:
    """Progress bars on standard error, or none; says first when kernels have to be compiled."""
    from toprank.screen.progress import Bars, announce_compilation

    if not quiet:
        announce_compilation()
    return Bars(quiet=quiet)


def print_json(value: Any) -> None:
    """Print a value for machines."""
    print(json_text(value))
