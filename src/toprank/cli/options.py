"""What several commands take and do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from toprank.screen.terminal import json_text

if TYPE_CHECKING:
    from toprank.screen.progress import Bars

__all__ = [
    "Base",
    "Budget",
    "Cluster",
    "Depth",
    "Head",
    "HeldOut",
    "Json",
    "Out",
    "Quiet",
    "ReportPage",
    "Seed",
    "Statistic",
    "asked",
    "command_line",
    "print_json",
    "start_bars",
]

T = TypeVar("T")

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

Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        "-k",
        help="How many items (of each query) can be acted on. Default: 50, or a tenth of a shorter list.",
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(help="How many items a reranker orders anew. Default: found out, several times the budget."),
]
Statistic = Annotated[
    str | None,
    typer.Option(
        "--statistic",
        "-s",
        metavar="NAME",
        help="What to optimise (toprank statistics lists them). Default: dcg@BUDGET, which counts hits within"
        " the budget, the first ones most.",
    ),
]
Base = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Who makes the list that a reranker orders anew: logistic, forest or boosting."
    ),
]
HeldOut = Annotated[float, typer.Option(metavar="SHARE", help="Share of the items held out in a split.")]
Seed = Annotated[int, typer.Option(help="Same seed, same answer, unless the clock stops the search.")]

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local",
        help="Compute on a Dask cluster: its scheduler, as tcp://10.0.0.5:8786, or processes of this machine."
        " A worker that is lost costs the work it was at.",
    ),
]


def asked(context: typer.Context, kind: type[T], **more: Any) -> T:
    """What a part of the work is asked to do, from those parameters of the command that it has a name for.

    Parameters
    ----------
    context : typer.Context
    kind : dataclass
        Its defaults stand for what was not said.
    **more
        Values that do not come from a parameter as it is.
    """
    from dataclasses import fields

    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    said = {name: value for name, value in context.params.items() if name in names and value is not None}
    return kind(**{**said, **more})


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
