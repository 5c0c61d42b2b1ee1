"""Comparisons, certificates and catalogs on the screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from toprank.screen import pieces

if TYPE_CHECKING:
    from rich.console import Console

    from toprank.datasets import Entry
    from toprank.workflow.asking.aims import KnownStatistic
    from toprank.workflow.compare import CompareReport
    from toprank.workflow.judging.advice import Figures
    from toprank.workflow.verify import VerifyReport

__all__ = ["show_catalog", "show_comparison", "show_statistics", "show_verification"]


def show_comparison(report: CompareReport, files: Mapping[str, str] | None = None) -> None:
    """Print the table of rankers, best first, and the advice."""
    from toprank.workflow.compare import NOT_RUN

    console = pieces.console()
    positive = "" if report.positives is None else f", {report.positives} positive"
    console.print(
        f"{report.statistic} of {report.rows} items{positive}, over {report.splits} random"
        f" splits: mean ± deviation; by chance {pieces.number(report.chance)}."
    )
    pieces.remarks(console, report.remarks)
    _show_rankers(console, report)
    if report.not_run:
        console.print(f"{NOT_RUN}: the clock left no time for it; --time-limit sets more seconds.")
    console.print(report.tested)
    cut = sum(one.stopped for one in report.figures)
    if cut:
        console.print(f"The clock cut {cut} fits short; another run may give other figures for those.")
    console.print(report.advice)
    pieces.show_files(console, files or {})


def _show_rankers(console: Console, report: CompareReport) -> None:
    """Figures of all rankers; where the screen is narrow, each below its name."""
    from toprank.workflow.compare import NOT_RUN

    heads = ("train", "test", "p", "s per fit")
    rows = [(one.name, _figures(one)) for one in report.figures]
    rows += [(name, ("", NOT_RUN, "", "")) for name in report.not_run]
    if console.width < pieces.WIDE:
        for name, figures in rows:
            console.print(name)
            said = [f"{head} {shown}" for head, shown in zip(heads, figures, strict=True) if shown]
            for two in (said[:2], said[2:]):
                console.print(f"  {', '.join(two)}") if two else None
        return
    grid = pieces.grid()
    grid.add_column("", no_wrap=True)
    for name in heads:
        grid.add_column(name, justify="right")
    for name, figures in rows:
        grid.add_row(name, *figures)
    console.print(grid)


def _figures(one: Figures) -> tuple[str, str, str, str]:
    """Of a ranker, as they are shown."""
    return (
        pieces.with_deviation(one.train_mean, one.train_deviation),
        pieces.with_deviation(one.test_mean, one.test_deviation),
        "" if math.isnan(one.p_value) else f"{one.p_value:.2g}",
        f"{one.seconds:.2f}{f' ({one.stopped} cut)' if one.stopped else ''}",
    )


def show_verification(report: VerifyReport) -> None:
    """Print what a certificate claims, what of it was checked, and what was not."""
    console = pieces.console()
    claim, checked = report.certificate, report.checked
    console.print(f"{report.rows} items at the top; the file claims: {claim.summary()}.")
    for mark, sentences in (
        ("holds", checked.held),
        ("FAILS", checked.failed),
        ("not checked", checked.unchecked),
    ):
        for sentence in sentences:
            console.print(f"  {mark}: {sentence.removesuffix('.')}.", markup=False)
    console.print(checked.summary())


def show_catalog(entries: Iterable[Entry]) -> None:
    """Print the data sets, one a line."""
    console = pieces.console()
    grid = pieces.grid()
    for name in ("name", "rows", "features", "positives", "about"):
        grid.add_column(name, justify="left" if name in ("name", "about") else "right")
    for one in entries:
        positives = "graded" if one.positives is None else str(one.positives)
        grid.add_row(one.name, str(one.rows), str(one.features), positives, one.about)
    console.print(grid)


def show_statistics(known: Iterable[KnownStatistic]) -> None:
    """Print the statistics, one a line: those that can be optimised, by all or by few, then all others."""
    console = pieces.console()
    known = list(known)
    for optimised, exactly, title in (
        (True, False, "Can be optimised and measured (--statistic):"),
        (
            False,
            True,
            "\nThe exact ranker (--ranker rerank or exact) optimises it, others the nearest above:",
        ),
        (False, False, "\nCan be measured; --statistic shows it and optimises the nearest of the first:"),
    ):
        console.print(title)
        rows = [
            (one.name, one.about + (f" Also: {', '.join(one.also)}." if one.also else ""))
            for one in known
            if (one.optimised, one.exactly) == (optimised, exactly)
        ]
        _show_lines(console, rows)
    console.print("\n@k: the first k items, or with %, as in precision@5%, a share of the list.", style="dim")


def _show_lines(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Names and what is said of each; where no terminal breaks lines each has one, which grep finds whole."""
    if not console.is_terminal:
        width = max(len(name) for name, _ in rows)
        for name, about in rows:
            console.print(f"{name:<{width}}  {about}", soft_wrap=True)
        return
    grid = pieces.grid()
    grid.show_header = False
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    console.print(grid)
