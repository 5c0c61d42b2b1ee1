"""What can be asked of the exact ranker: `toprank rank --penalty`, `--margin`, `--constraints`, ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Backend", "ConstraintFile", "Margin", "Penalty", "SolverName", "Threshold"]

Penalty = Annotated[
    float | None,
    typer.Option(
        metavar="PRICE",
        help="Price of each feature that counts, in units of the statistic, for --ranker rerank or exact.",
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="By how much the exact ranker must win a pair, as a share of the pair's distance. Default: any.",
    ),
]
SolverName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the exact ranker searches: search (the default), or a mixed-integer program: mip (ours),"
        " mip-subrank, mip-resolved or, for the AUC, mip-auc (Rudin & Wang's).",
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who solves such a program: highs (the default), scip or gurobi."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="SCORE", help="Rerank the items whose first score is at least this, instead of --depth."
    ),
]
ConstraintFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A TOML file of demands on the exact ranker of the whole list: signs, most_features, points,"
        " must-haves at the top.",
    ),
]
