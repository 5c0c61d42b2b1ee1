"""The commands that list what there is: `toprank statistics` and `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.cli.options import Json, print_json

__all__ = ["list_data", "list_statistics"]


def list_statistics(json_output: Json = False) -> None:
    """List the statistics by name, a line each."""
    from toprank.workflow.asking.aims import known_statistics

    known = known_statistics()
    if json_output:
        from dataclasses import asdict

        print_json([asdict(one) for one in known])
    else:
        from toprank.screen.tables import show_statistics

        show_statistics(known)


def list_data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Tell all about this one.")] = None,
    example: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the embedded example to a .csv file instead.")
    ] = None,
    json_output: Json = False,
) -> None:
    """List the data sets known by name, or tell about one.

    A name can stand instead of DATA when the environment variable TOPRANK_DATA names the folder with the
    files, or OpenML has the set.
    """
    from dataclasses import asdict

    from toprank import datasets

    if example is not None:
        _write_example(example)
        return
    if json_output:
        entries = datasets.catalog() if name is None else {name: datasets.entry(name)}
        print_json({key: asdict(one) for key, one in entries.items()})
    elif name is None:
        from toprank.screen.tables import show_catalog

        show_catalog(datasets.catalog().values())
    else:
        for key, value in asdict(datasets.entry(name)).items():
            if value not in ("", (), 0, None):
                print(f"{key}: {', '.join(value) if isinstance(value, tuple) else value}")


def _write_example(path: Path) -> None:
    from toprank import datasets
    from toprank.output import check_writable, table_bytes, write_whole

    pumps = datasets.inspections()
    check_writable(path, argument="--example")
    write_whole({path: table_bytes(pumps, path, argument="--example")})
    print(f"{path}: {len(pumps)} pumps, whether each failed within a year")
