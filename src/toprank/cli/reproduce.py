"""The arguments of ``toprank reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.cli.options import Cluster

__all__ = ["reproduce"]

FAILED = 1
INTERRUPTED = 130


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="A paper, such as rudin-wang-2018; without it, all of them."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Tables, data sets, rankers or single cells, separated by commas: table1, table1:gaussians,"
            " gaussians:lr, table1:gaussians:lr:3, figure4.",
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(metavar="FACTOR", help="Multiplies all time limits: 0.05 to try, 10 to go deep.")
    ] = 1.0,
    results: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Where results and pages are kept; the next call goes on there."),
    ] = Path("reproduction"),
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", help="Processes of one thread; -1: one per processor.")
    ] = -1,
    cluster: Cluster = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Only list the tables with their status and the time they take.")
    ] = False,
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a Markdown page for each paper in the folder of this name, with an overview.",
        ),
    ] = None,
    paper_limits: Annotated[
        bool,
        typer.Option(
            "--paper-limits",
            help="Give the papers' own programs the papers' time: two hours for one cell of observation2.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Rerun the tables of the papers, our figures beside theirs.

    Each result is on disk as soon as it is computed: stop it with Ctrl-C whenever you like and call again to
    go on. Data sets are found through the environment variable TOPRANK_DATA.
    """
    from toprank.reproduce.command import Options, list_tables
    from toprank.reproduce.command import reproduce as run
    from toprank.screen.progress import Bars
    from toprank.screen.reproduction import show_reproduction, show_tables_to_reproduce

    options = Options(
        paper=paper,
        only=only or (),
        budget=budget,
        results=results,
        jobs=jobs,
        cluster=cluster,
        docs=docs,
        paper_limits=paper_limits,
    )
    if list_only:
        show_tables_to_reproduce(list_tables(options), jobs=jobs)
        return
    with Bars(quiet=quiet) as bars:
        report = run(options, watch=bars)
    if not quiet:
        show_reproduction(report, tables=bool(only))
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)
    if report.failures:
        raise typer.Exit(FAILED)
